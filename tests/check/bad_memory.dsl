# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# What cannot be loaded or stored, and words that no access knows.
@kernel(grid=(1,))
def k(x: *fp32, c: *const fp32, n: i32):
    i = arange(0, 16)
    # CHECK: error: 'load' needs a pointer or a tile of pointers, not tile<16xi32> [E0401]
    # CHECK: note: an address is a pointer parameter plus offsets
    a = load(i)
    # CHECK: error: store through a pointer that is declared *const [E0405]
    store(c + i, 1.0)
    # CHECK: error: 'value' of 'store' must be a number or a tile of numbers, not *fp32 [E0406]
    store(x, x)
    # CHECK: error: cache_modifier is the string ".xx" [E0407]
    # CHECK: note: it is one of "", ".ca", ".cg", ".cs", ".cv"
    b = load(x, cache_modifier=".xx")
    # CHECK: error: the literal 5000000000 does not fit i32 [E0308]
    d = load(x + i, mask=i < n, other=n + 5000000000)
    # CHECK: error: 'boundary_check' of 'load' without a block pointer [E0411]
    e = load(x, boundary_check=(0,))
    # CHECK-NOT: error:
