# What is cheap is computed where it is used: scratch is written once, with what was loaded.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(ptr %0, ptr %1, ptr %2, ptr %3)
# CHECK: load:
# CHECK: [[AT:%[0-9]+]] = getelementptr inbounds float, ptr %3, i64 %i
# CHECK: store <16 x float> %{{[0-9]+}}, ptr [[AT]], align 4
# CHECK-NOT: {{ptr %3[,)]}}
# CHECK: store:
# CHECK: getelementptr inbounds float, ptr %3
# CHECK: load <16 x float>
# CHECK: fadd <16 x float>
# CHECK: fmul <16 x float>
# CHECK-NOT: {{ptr %3[,)]}}
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 64)
    v = load(x + i)
    store(y + i, (v + 1.0) * v)
