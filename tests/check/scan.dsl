# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A combine function becomes the region of the op, with calls inlined;
# 16-bit floats are summed in fp32 and rounded once.
@jit
def better(a, b):
    return a > b

@jit
def larger(v, i, w, j):
    keep = better(v, w)
    return where(keep, v, w), where(keep, i, j)

@kernel(grid=(1,))
def k(y: *fp16, r: *i32, x: *fp16):
    i = arange(0, 4)[:, None] * 32 + arange(0, 32)[None, :]
    v = load(x + i)
    # CHECK: = fpext
    # CHECK: = scan %{{[0-9]+}} by (%[[A:.*]], %[[B:.*]]) {axis = 1, reverse} : (tile<4x32xfp32>) {
    # CHECK-NEXT: %[[S:.*]] = fadd %[[A]], %[[B]] : fp32
    # CHECK-NEXT: yield %[[S]]
    # CHECK: = fptrunc {{.*}} : tile<4x32xfp16>
    store(y + i, v.cumsum(-1, reverse=True))
    # CHECK: = reduce_fn %v, %{{.*}} by (%{{.*}}) {axis = 1} : (tile<4xfp16>, tile<4xi32>) {
    # CHECK: fcmp gt
    # CHECK: yield
    value, index = reduce((v, broadcast_to(arange(0, 32)[None, :], (4, 32))), 1, larger)
    store(r + arange(0, 4), index)
    # CHECK: = reduce_fn {{.*}} {axis = 1} : (tile<4xfp32>, tile<4xi32>)
    # CHECK: = reduce_fn {{.*}} {axis = 0} : (fp32, i32)
    store(r, argmax(v, None))
