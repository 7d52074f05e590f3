# Arguments are read through the array of their places, each with its type.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(ptr %0,
# CHECK: getelementptr inbounds{{.*}} i8, ptr %0, i64 8
# CHECK: load i64, ptr
# CHECK: getelementptr inbounds{{.*}} i8, ptr %0, i64 16
# CHECK: load float, ptr
@kernel(grid=(1,))
def k(y: *fp32, n: i64, a: fp32):
    store(y + n, a + 1.0)
