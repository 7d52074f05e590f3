# y is x: all of a tile is loaded before any of it is stored, as the two statements say.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: load:
# CHECK: load <16 x float>, ptr
# CHECK-NOT: masked.scatter
# CHECK: br i1 %{{.*}}, label %load, label
# CHECK: store
# CHECK: @llvm.masked.scatter
@kernel(grid=(1,))
def k(x: *fp32):
    i = arange(0, 64)
    v = load(x + i)
    store(x + 63 - i, v * 2.0)
