# ptxas takes bulk copies and their barriers, of rows of several types and in loops that nest, without spills; and the examples.
# RUN: fsc %s --passes=+bulk --signature "*i32:16, *const i32:16, *const i16:16, i32" --arch=sm_90 -o %t.ptx && %ptxas -arch=sm_90 -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: FileCheck --check-prefix=BULK %s < %t.ptx
# RUN: fsc %S/../../dsl_examples/softmax_tiled.dsl --passes=+bulk -D STAGES=3 --signature "*fp16:16, *fp16:16, i32:16, i32:16, i32, i32:16" --arch=sm_90 -o %t.ptx && %ptxas -arch=sm_90 -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: FileCheck --check-prefix=BULK %s < %t.ptx
# REQUIRES: ptxas
# CHECK: 0 bytes spill stores
# BULK-COUNT-3: cp.async.bulk.shared::cluster
@kernel(grid=(4,), num_warps=4)
def f(y: *i32, x: *const i32, h: *const i16, rounds: i32):
    c = arange(0, 1024)
    total = c * 0
    for i in range(0, rounds, num_stages=3):
        u = load(h + i * 1024 + c).to(i32)
        for j in range(0, rounds, num_stages=4):
            total = total * 3 + load(x + j * 1024 + c) * u
    store(y + program_id(0) * 1024 + c, total)
