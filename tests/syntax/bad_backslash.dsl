# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A backslash that is not at the end of its line.
# CHECK: bad_backslash.dsl:[[#@LINE+4]]:11: error: a backslash joins two lines only at the very end of the first [E0108]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = a \ + b
