# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# The wide form goes through names and calls, and through widening casts; narrowing casts, // and % end it.
@jit
def start_of(row, stride):
    return row * stride

@kernel(grid=(1,))
def k(x: *fp32, stride: i32):
    pid = program_id(0)
    # CHECK: [[A:%.*]] = mul %{{.*}} : i64
    # CHECK: addptr %x, [[A]]
    a = start_of(pid, stride)
    store(x + a, 1.0)
    # CHECK: addptr %x, [[A]]
    store(x + a.to(i64), 1.0)
    # CHECK: [[Q:%.*]] = sdiv %a, %{{.*}} : i32
    # CHECK: addptr %x, [[Q]]
    store(x + a // 2, 1.0)
    # CHECK: [[T:%.*]] = trunc %a : i16
    # CHECK: [[E:%.*]] = sext [[T]] : i32
    # CHECK: addptr %x, [[E]]
    store(x + a.to(i16), 1.0)
