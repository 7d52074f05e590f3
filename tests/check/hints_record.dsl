# RUN: fsc --emit=report %s -o - | FileCheck %s
# The record carries what was assumed, so that a launch can check it.
# CHECK: param pointer x fp32 divisible=64
# CHECK: param scalar n i32 divisible=16
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    assume(n % 16 == 0)
    multiple_of(x, 64)
    store(x + n, 1.0)
