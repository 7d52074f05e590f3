# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A rule whose inputs are known and which has no value for them.
# CHECK: error: the launch rule cannot be evaluated: {{.*}} [E0507]
@kernel(grid=(1,), B=8 // N)
def k(x: *fp32, N: constexpr = 0, B: constexpr = 4):
    store(x + arange(0, B), 1.0)
