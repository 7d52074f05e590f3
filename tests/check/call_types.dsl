# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Two returns of different types show both places.
@jit
def f(a, x):
    if a > 0:
        return load(x)
    # CHECK: call_types.dsl:[[#@LINE+1]]:5: error: the function returns i32 here and fp32 elsewhere [E0325]
    return a
# CHECK: the other return
# CHECK: in the call of 'f' from here

@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    store(x, f(n, x))
