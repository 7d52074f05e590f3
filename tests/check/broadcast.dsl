# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Shapes are matched from the last dimension; scalars are spread, ones repeat.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    i = arange(0, 16)
    j = arange(0, 32)
    # CHECK: expand_dims %i {axis = 1} : tile<16x1xi32>
    # CHECK: expand_dims %j {axis = 0} : tile<1x32xi32>
    # CHECK: broadcast %{{.*}} : tile<16x32x
    # CHECK: broadcast %{{.*}} : tile<16x32x
    p = x + (i[:, None] * n + j[None, :])
    v = load(p)
    # A row meets the last dimension.
    # CHECK: [[R:%.*]] = load %{{.*}} : tile<32xfp32>
    # CHECK: [[E:%.*]] = expand_dims [[R]] {axis = 0} : tile<1x32xfp32>
    # CHECK: broadcast [[E]] : tile<16x32xfp32>
    store(p, v + load(x + j))
