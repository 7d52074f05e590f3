# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# An offset that branches choose merges in 64 bits.
@kernel(grid=(1,))
def k(x: *fp32, n: i32, s: i32):
    # CHECK: [[R:%.*]] = if %{{.*}} : (i64) {
    if n > 3:
        o = n * s
    else:
        o = s
    # CHECK: addptr %x, [[R]]
    store(x + o, 1.0)
    # where, maximum and minimum keep it.
    # CHECK: [[W:%.*]] = select %{{.*}} : i64
    # CHECK: addptr %x, [[W]]
    store(x + where(n > s, n * s, n), 1.0)
    # CHECK: smax %{{.*}} : i64
    store(x + maximum(n * s, 0), 1.0)
