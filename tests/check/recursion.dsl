# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A function that calls itself, through another one, cannot be inlined.
@jit
def f(x):
    # CHECK: recursion.dsl:[[#@LINE+1]]:12: error: 'g' calls itself, and recursion cannot be compiled [E0212]
    return g(x)

@jit
def g(x):
    return f(x)

# CHECK: 'g' is defined here
# CHECK: in the call of 'f' from here
# CHECK: in the call of 'g' from here
@kernel(grid=(1,))
def k(x: *fp32):
    store(x, g(1))
