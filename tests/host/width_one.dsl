# A tile of one element has no vectors.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: fmul float
# CHECK-NOT: {{<[0-9]+ x}}
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 1)
    store(y + i, load(x + i) * 3.0)
