# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Values of the wrong kind: what a tuple, a text, None or a pointer cannot be.
@kernel(grid=(1,))
def k(x: *fp32, y: *fp32, n: i32):
    # CHECK: bad_values.dsl:[[#@LINE+1]]:23: error: '*' takes a tuple, not i32 [E0211]
    a = maximum(1, 2, *n)
    # CHECK: error: None does not convert to fp32 [E0307]
    b = fp32(None)
    # CHECK: error: bitcast from i32 (32 bits) to fp64 (64 bits) [E0309]
    c = n.to(fp64, bitcast=True)
    # CHECK: error: 'input' of 'broadcast_to' must be a number, a pointer or a tile, not the string "one" [E0310]
    d = broadcast_to("one", (16,))
    # CHECK: error: 'shape' of 'zeros' must be a tuple of ints known at compile time, such as (64, 128), not i32 [E0315]
    e = zeros(n, fp32)
    # CHECK: error: fp_downcast_rounding is the string "up" [E0327]
    f = load(x).to(fp16, fp_downcast_rounding="up")
    # CHECK: error: 'mask' of 'load' must be truth values (i1), not *fp32 [E0403]
    g = load(x, mask=x)
    # CHECK: error: 'other' of 'load' must be a number or a tile of numbers, not *fp32 [E0404]
    h = load(x, mask=n > 0, other=y)
    # CHECK: error: a tuple of 2 has no 'to' [E0209]
    i = (n, n).to(fp32)
    # CHECK-NOT: error:
