# Weights, which all programs load and none writes, are loaded by the loop that needs them, behind the row's sum.
# The row itself is kept, as a store is between. Only of the row the next one is asked for.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=COUNT
# CHECK-LABEL: define void @k(
# CHECK: reduce:
# CHECK: call void @llvm.prefetch
# CHECK: load <16 x float>
# CHECK: store <16 x float>
# CHECK: store:
# CHECK: load <16 x float>
# CHECK: load <16 x float>
# CHECK-NOT: prefetch
# CHECK: ret void
# COUNT-COUNT-1: getelementptr inbounds float, ptr %3, i64 %i
# COUNT: store:
# COUNT-COUNT-1: getelementptr inbounds float, ptr %3, i64 %i
# COUNT-NOT: getelementptr inbounds float, ptr %3
@kernel(grid=(1,))
def k(y: *fp32, s: *fp32, x: *fp32, w: *const fp32):
    i = arange(0, 256)
    v = load(x + program_id(0) * 256 + i)
    r = sum(v * v, axis=0)
    u = load(w + i)
    store(s + program_id(0), r)
    store(y + program_id(0) * 256 + i, v * r * u)
