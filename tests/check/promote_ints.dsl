# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Integers by width; at equal width unsigned wins. i1 computes as i32.
@kernel(grid=(1,))
def k(a: *i8, b: *i16, u: *u16, x: *i64, y: *u32):
    i = arange(0, 16)
    # CHECK: %s = add %{{.*}} : tile<16xi16>
    s = load(a + i) + load(b + i)
    # CHECK: %c = and %{{.*}} : tile<16xi16>
    c = load(u + i) & load(b + i)
    # Unsigned decides how the result widens.
    # CHECK: zext %c : tile<16xi64>
    store(x + i, c)
    # CHECK: sext %{{.*}} : tile<16xi64>
    store(x + i, s & 255)
    # CHECK: %flags = add %{{.*}} : tile<16xi32>
    flags = (i < 3) + (i > 1)
    store(y + i, flags)
