# RUN: bounded 2 512 not fsc %s -o - 2>&1 | FileCheck %s
# A static loop that ends, but becomes more code than LLVM compiles in a time that anybody waits.
# CHECK: static_limit_ops.dsl:[[@LINE+4]]:{{.*}} error: the kernel is too large once its calls are inlined and its static loops unrolled
@kernel(grid=(1,))
def k(x: *fp32):
    for i in static_range(32768):
        store(x + i, 0.0)
