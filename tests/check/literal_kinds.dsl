# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Integers of every base, floats that stay fp32, inf and nan, strings for float().
@kernel(grid=(1,))
def k(x: *fp32, n: *u64):
    # CHECK: const 255 : i64
    store(n, 0xff)
    # CHECK: const -1 : i64
    store(n, 0xffffffffffffffff)
    # CHECK: const 1e-05 : fp32
    store(x, 1e-5)
    # CHECK: const -inf : fp32
    store(x, -float('inf'))
    # CHECK: const inf : fp32
    store(x, inf)
    # CHECK: const nan
    store(x, float("nan"))
    # CHECK: const 1000.0 : fp32
    store(x, 1_000)
