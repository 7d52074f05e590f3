# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# num_warps is a power of two, at most 32.
# CHECK: bad_warps.dsl:[[#@LINE+1]]:30: error: num_warps is 3; it must be a power of two from 1 to 32 [E0506]
@kernel(grid=(1,), num_warps=N + 1)
def k(x: *fp32, N: constexpr = 2):
    store(x, 1.0)
