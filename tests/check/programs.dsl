# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Where a program stands in the grid.
@kernel(grid=(1, 1, 1))
def k(x: *i32):
    # CHECK: program_id 0 : i32
    # CHECK: program_id 1 : i32
    # CHECK: num_programs 2 : i32
    store(x, program_id(0) + tl.program_id(axis=1) + triton.language.num_programs(2))
