# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A bracket that is never closed is shown where it was opened.
# CHECK: bad_unclosed.dsl:[[#@LINE+4]]:10: error: '(' is never closed [E0105]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = g(a,
    y = 2
