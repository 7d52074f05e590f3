# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A bracket closed by another kind.
# CHECK: bad_mismatch.dsl:[[#@LINE+5]]:11: error: ']' does not close '(' [E0105]
# CHECK: '(' was opened here
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = (a]
