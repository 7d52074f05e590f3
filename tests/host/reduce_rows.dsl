# One result for each row.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: rows:
# CHECK: reduce:
# CHECK: [[MAX:%[0-9]+]] = phi <16 x float> [ splat (float 0x7FF8000000000000), %rows ]
# CHECK: fcmp ogt <16 x float> [[MAX]],
# CHECK: fcmp ogt <8 x float>
# CHECK: fcmp ogt <2 x float>
# CHECK: store float
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    r = arange(0, 8)
    c = arange(0, 64)
    store(y + r, max(load(x + r[:, None] * 64 + c[None, :]), axis=1))
