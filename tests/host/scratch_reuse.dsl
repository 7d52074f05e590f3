# exp is dear and needed by two loops: the first one, which sums it as it is loaded, keeps it in scratch for the second.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: reduce:
# CHECK: [[SUM:%[0-9]+]] = phi <16 x float>
# CHECK: load <16 x float>, ptr
# CHECK: [[AT:%[0-9]+]] = getelementptr inbounds float, ptr %3, i64 %i
# CHECK-NEXT: store <16 x float> [[E:%[0-9]+]], ptr [[AT]]
# CHECK-NEXT: fadd <16 x float> [[SUM]], [[E]]
# CHECK: store:
# CHECK-NOT: fcmp
# CHECK: load <16 x float>, ptr
# CHECK-NOT: fcmp
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 256)
    e = exp(load(x + i))
    store(y + i, e * sum(e, axis=0))
