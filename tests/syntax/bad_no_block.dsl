# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A block is missing after the colon.
# CHECK: bad_no_block.dsl:[[#@LINE+6]]:5: error: found 'x' where an indented block is expected [E0119]
# CHECK: bad_no_block.dsl:[[#@LINE+7]]:5: error: found 'y' where an indented block is expected [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    if n:
    x = 1
    for i in n:
    y = 1
