# A chunk is 16 elements, whatever the type.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: load <16 x double>
# CHECK: add nuw i64 %{{.*}}, 16
# CHECK: load <16 x i8>
# CHECK: add nuw i64 %{{.*}}, 16
# CHECK-NOT: <32 x
@kernel(grid=(1,))
def k(y: *fp64, x: *fp64, b: *i8):
    i = arange(0, 256)
    store(y + i, load(x + i) + load(b + i).to(fp64))
