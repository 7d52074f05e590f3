# Loaded offsets: the offsets' load is plain, the elements' a gather.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: load <16 x i32>
# CHECK: sext <16 x i32> %{{.*}} to <16 x i64>
# CHECK: getelementptr float, ptr %{{.*}}, <16 x i64>
# CHECK: @llvm.masked.gather.v16i32.v16p0(
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, at: *i32):
    i = arange(0, 64)
    store(y + i, load(x + load(at + i)))
