# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# The innermost open bracket is the one to look at.
# CHECK: bad_unclosed_inner.dsl:[[#@LINE+5]]:20: error: ')' does not close '{' [E0105]
# CHECK: '{' was opened here
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = [g(a, {b: 1)
    y = 2
