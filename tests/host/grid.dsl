# The program's index and the grid are read where they are given, and nowhere else.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(ptr %0, ptr %1, ptr %2, ptr %3)
# CHECK-DAG: getelementptr inbounds{{.*}} i8, ptr %1, i64 8
# CHECK-DAG: getelementptr inbounds{{.*}} i8, ptr %2, i64 16
# CHECK: ret void
@kernel(grid=(1, 1, 1))
def k(y: *i32):
    store(y, program_id(1) + num_programs(2))
