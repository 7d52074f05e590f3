# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# One name, two types: the error shows both places.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    if n > 3:
        w = load(x)
    else:
        # CHECK: two_types.dsl:[[#@LINE+1]]:9: error: 'w' is tile<16xi32> on this path and fp32 on the other [E0325]
        w = arange(0, 16)
    # CHECK: the other path's value comes from here
    store(x, w)
    # CHECK: error: the value is i32 on one path and fp32 on the other [E0325]
    v = n if n > 3 else load(x)
    # CHECK-NOT: error:
    # CHECK: error: the value is the float 0.0 on one path and tile<16xfp32> on the other [E0325]
    # CHECK: note: where(condition, x, y) makes a tile of both
    z = 0.0 if n > 2 else load(x + arange(0, 16))
