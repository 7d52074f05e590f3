# Program indices are block indices.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK-DAG: %ctaid.x;
# CHECK-DAG: %ctaid.y;
# CHECK-DAG: %nctaid.z;
# CHECK: st.global
@kernel(grid=(1, 2, 3))
def k(y: *i32):
    store(y, program_id(0) + program_id(1) * 8 + num_programs(2))
