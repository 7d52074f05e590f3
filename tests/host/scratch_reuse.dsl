# exp is dear and used twice: computed once, into scratch behind what was loaded.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: getelementptr inbounds{{.*}} i8, ptr %3, i64 1024
# CHECK: exp:
# CHECK: fcmp
# CHECK: store <16 x float>
# CHECK: reduce
# CHECK-NOT: fcmp
# CHECK: store
# CHECK-NOT: fcmp
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 256)
    e = exp(load(x + i))
    store(y + i, e * sum(e, axis=0))
