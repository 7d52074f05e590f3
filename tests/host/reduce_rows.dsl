# One result for each row.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: outer
# CHECK: call <16 x float> @llvm.maximum.v16f32(
# CHECK: call <2 x float> @llvm.maximum.v2f32(
# CHECK: call float @llvm.maximum.f32(
# CHECK: store float
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    r = arange(0, 8)
    c = arange(0, 64)
    store(y + r, max(load(x + r[:, None] * 64 + c[None, :]), axis=1))
