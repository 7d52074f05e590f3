# ptxas takes copies of 4, 8 and 16 bytes, in loops that nest, without spills.
# RUN: fsc %s --kernel=f --signature "*i32:16, *i32:16, *i16:16, *i8:16, i32" --arch=sm_80 -o %t.80.ptx \
# RUN:   && %ptxas -arch=sm_80 -v %t.80.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --kernel=f --signature "*i32:16, *i32:16, *i16:16, *i8:16, i32" --arch=sm_90 -o %t.90.ptx \
# RUN:   && %ptxas -arch=sm_90 -v %t.90.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: FileCheck --check-prefix=WIDE %s < %t.90.ptx
# RUN: fsc %s --kernel=g --arch=sm_80 -o %t.ptx && %ptxas -arch=sm_80 -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: FileCheck --check-prefix=SINGLE %s < %t.ptx
# REQUIRES: ptxas
# CHECK: 0 bytes spill stores
# WIDE: cp.async.cg.shared.global {{.*}}, 16
# SINGLE-DAG: cp.async.ca.shared.global {{.*}}, 8
# SINGLE-DAG: cp.async.ca.shared.global {{.*}}, 4
@kernel(grid=(4,), num_warps=4)
def f(y: *i32, x: *const i32, h: *const i16, b: *const i8, rounds: i32):
    c = arange(0, 512)
    total = c * 0
    for i in range(0, rounds, num_stages=3):
        u = load(b + i * 512 + c).to(i32)
        for j in range(0, rounds, num_stages=4):
            total = total * 3 + load(x + j * 512 + c) + load(h + j * 512 + c).to(i32) * u
    store(y + program_id(0) * 512 + c, total)

@kernel(grid=(4,), num_warps=4)
def g(y: *i64, x: *const i64, z: *const i32, rounds: i32):
    c = arange(0, 512)
    total = c.to(i64)
    for i in range(0, rounds, num_stages=3):
        total = total * 3 + load(x + i * 512 + c, mask=c < rounds) + load(z + i * 512 + c, mask=c % 3 == 1).to(i64)
    store(y + program_id(0) * 512 + c, total)
