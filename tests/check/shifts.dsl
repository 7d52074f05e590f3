# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# >> fills with the sign of a signed type and with zeros of an unsigned one; ~ of truth values is not.
@kernel(grid=(1,))
def k(a: *i32, u: *u32):
    i = arange(0, 16)
    # CHECK: ashr %{{.*}} : tile<16xi32>
    store(a + i, load(a + i) >> 2)
    # CHECK: lshr %{{.*}} : tile<16xi32>
    store(u + i, load(u + i) >> 2)
    # CHECK: shl %{{.*}} : tile<16xi32>
    store(a + i, load(a + i) << 3)
    # CHECK: [[M:%.*]] = icmp slt
    # CHECK: [[T:%.*]] = const true : tile<16xi1>
    # CHECK: xor [[M]], [[T]] : tile<16xi1>
    store(a + i, 1, mask=~(i < 3))
