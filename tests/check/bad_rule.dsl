# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A launch rule that makes no sense.
# CHECK: error: the launch rule has no 'gird'; did you mean 'grid'? [E0503]
# CHECK: error: 'n' is no constexpr parameter, and the launch rule gives values to those only [E0503]
# CHECK: error: 'm' is no parameter of the kernel [E0504]
# CHECK: error: a grid of 4 axes; it has 1 to 3 [E0505]
@kernel(gird=(1,), n=3, BLOCK=m + 1, grid=(1, 2, 3, 4))
def k(x: *fp32, n: i32, BLOCK: constexpr = 16):
    store(x + arange(0, BLOCK), n)
