# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# where takes the common type; a condition of any integer type, a scalar or a tile.
@kernel(grid=(1,))
def k(x: *fp32, h: *fp16, n: i32):
    i = arange(0, 16)
    v = load(h + i)
    # CHECK: select %{{.*}}, %v, %{{.*}} : tile<16xfp16>
    store(h + i, where(i < n, v, 0.0))
    # CHECK: %[[C:.*]] = icmp ne %n
    # CHECK: select %[[C]], %{{.*}} : tile<16xfp16>
    store(h + i, where(n, v, 1))
    # Numbers alone give a scalar of their kind.
    # CHECK: select %{{.*}} : fp32
    store(x, where(n > 3, 1, 2.0))
