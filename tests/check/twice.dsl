# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A function that is defined twice: both places.
@jit
def f(x):
    return x

@jit
# CHECK: twice.dsl:[[#@LINE+2]]:5: error: the function 'f' is defined twice [E0210]
# CHECK: it is here first
def f(x):
    return x + 1

@kernel(grid=(1,))
def k(x: *fp32):
    store(x, f(1.0))
