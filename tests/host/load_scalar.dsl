# A scalar under a mask: a branch around the access.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: br i1 %{{[0-9]+}}, label %load, label %[[AFTER:[0-9]+]]
# CHECK: load:
# CHECK: load i32
# CHECK: [[AFTER]]:
# CHECK: phi i32 [ %{{[0-9]+}}, %load ], [ 1088421888, %entry ]
# CHECK: br i1 %{{[0-9]+}}, label %store
# CHECK: store:
# CHECK-NEXT: store i32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    store(y, load(x, mask=n > 0, other=7.0), mask=n > 1)
