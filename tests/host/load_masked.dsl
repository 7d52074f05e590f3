# Neighbours under a mask: one masked access at the first pointer. `other` is the fill; without it, zero.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %{{.*}}, <16 x i1> %{{.*}}, <16 x i32> splat (i32 1065353216))
# CHECK: call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 4 %{{.*}}, <16 x i1> %{{.*}}, <16 x i32> zeroinitializer)
# CHECK: call void @llvm.masked.store.v16i32.p0(<16 x i32> %{{.*}}, ptr align 4 %{{.*}}, <16 x i1> %{{.*}})
# CHECK-NOT: gather
# CHECK-NOT: scatter
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 128)
    m = i < n
    store(y + i, load(x + i, mask=m, other=1.0) + load(x + n + i, mask=m), mask=m)
