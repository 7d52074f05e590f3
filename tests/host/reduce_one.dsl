# An axis of size 1 leaves nothing to combine.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK-NOT: fadd
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    r = arange(0, 32)
    store(y + r, sum(load(x + r[:, None]), axis=1))
