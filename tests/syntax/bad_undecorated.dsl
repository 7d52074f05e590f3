# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Functions without a decorator.
# CHECK: bad_undecorated.dsl:[[#@LINE+5]]:5: error: function 'f' has no decorator [E0115]
# CHECK: note: write @kernel(grid=(…,)) above an entry point, @jit above a function that kernels call
# CHECK: bad_undecorated.dsl:[[#@LINE+8]]:5: error: function 'h' has no decorator [E0115]
# CHECK: note: write @kernel(grid=(…,)) above an entry point, @jit above a function that kernels call
# CHECK-NOT: {{error|warning}}:
def f(a):
    return a
@jit
def g(a):
    return a
def h(): pass
