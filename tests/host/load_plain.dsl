# Without masks: plain vector loads and stores, of the element's alignment.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: load <16 x float>, ptr %{{.*}}, align 4
# CHECK: store <16 x float> %{{.*}}, ptr %{{.*}}, align 4
# CHECK-NOT: llvm.masked
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    store(y + i, load(x + i) * 2.0)
