# Pointers that are no neighbours: gather and scatter, under the mask.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: call <16 x i16> @llvm.masked.gather.v16i16.v16p0(<16 x ptr> align 2 %{{.*}}, <16 x i1> %[[#]], <16 x i16> zeroinitializer)
# CHECK: call void @llvm.masked.scatter.v16i16.v16p0(<16 x i16> %{{.*}}, <16 x ptr> align 2 %{{.*}}, <16 x i1> %[[#]])
# CHECK-NOT: llvm.masked.load
# CHECK-NOT: llvm.masked.store
@kernel(grid=(1,))
def k(y: *fp16, x: *fp16, n: i32):
    i = arange(0, 128)
    m = i < n
    store(y + i * 3, load(x + i * 3, mask=m), mask=m)
