# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# The range of a comprehension takes its bounds by position.
@kernel(grid=(1,))
def k(x: *fp32):
    # CHECK: comprehension_range.dsl:[[@LINE+1]]:27: error: a bound given by its name is not compiled yet
    a = [i for i in range(stop=3)]
    # CHECK: comprehension_range.dsl:[[@LINE+1]]:27: error: '*' here is not compiled yet
    b = [i for i in range(*(0, 3))]
    # CHECK: comprehension_range.dsl:[[@LINE+1]]:27: error: '**' here is not compiled yet
    c = [i for i in range(**{"stop": 3})]
    store(x, 1.0)
