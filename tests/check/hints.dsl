# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# What assume and multiple_of say of parameters reaches the function; other hints are accepted.
# CHECK: func @k(%x: *fp32 {divisible = 64}, %n: i32 {divisible = 16}, %m: i32 {divisible = 8, nonnegative})
@kernel(grid=(1,))
def k(x: *fp32, n: i32, m: i32):
    assume(n % 16 == 0)
    assume(m >= 0)
    multiple_of(m, 8)
    multiple_of(x, 64)
    i = max_contiguous(multiple_of(arange(0, 16), 16), 16)
    # CHECK: barrier block
    debug_barrier()
    # CHECK: store
    store(x + i, 1.0)
