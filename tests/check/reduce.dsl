# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# sum, max and min over one axis, a negative axis or all; as functions and as methods; keep_dims.
@kernel(grid=(1,))
def k(x: *fp32):
    i = arange(0, 16)
    j = arange(0, 32)
    v = load(x + i[:, None] * 32 + j)
    # CHECK: reduce %v {axis = 1, combine = fadd} : tile<16xfp32>
    store(x + i, sum(v, axis=1))
    # CHECK: reduce %v {axis = 0, combine = fmax} : tile<32xfp32>
    store(x + j, v.max(0))
    # CHECK: reduce %v {axis = 1, combine = fmin} : tile<16xfp32>
    store(x + i, tl.min(v, -1))
    # CHECK: %[[R:.*]] = reduce %v {axis = 1, combine = fadd} : tile<16xfp32>
    # CHECK: reduce %[[R]] {axis = 0, combine = fadd} : fp32
    store(x, sum(v))
    # CHECK: %[[K:.*]] = reduce %v {axis = 1, combine = fmax} : tile<16xfp32>
    # CHECK: expand_dims %[[K]] {axis = 1} : tile<16x1xfp32>
    store(x + i[:, None] + j, v - max(v, axis=1, keep_dims=True))
    # CHECK: reduce %{{.*}} {axis = 0, combine = fmax_nan} : fp32
    store(x, max(load(x + i), axis=0, propagate_nan=True))
    # CHECK: splat %{{.*}} : tile<1x1xfp32>
    static_assert(sum(v, keep_dims=True).shape[0] == 1)
    store(x + zeros((1, 1), i32), sum(v, keep_dims=True))
