# Without a mask a gather takes all lanes.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: @llvm.masked.gather.v16i32.v16p0(<16 x ptr> align 4 %{{.*}}, <16 x i1> splat (i1 true), <16 x i32>
# CHECK: store <16 x i32>
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, stride: i32):
    i = arange(0, 64)
    store(y + i, load(x + i * stride))
