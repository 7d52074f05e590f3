# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# The top level is not indented.
# CHECK: bad_indent_top.dsl:[[#@LINE+5]]:5: error: an indented block cannot stand here
# CHECK: note: only the lines after a ':' are indented further
# CHECK: bad_indent_top.dsl:[[#@LINE+5]]:5: error: function 'f' has no decorator
# CHECK: note: write @kernel(grid=(…,)) above an entry point, @jit above a function that kernels call
# CHECK-NOT: {{error|warning}}:
    x = 1
@jit
def f(): pass
