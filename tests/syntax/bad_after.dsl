# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# After an error in a block's head the block is skipped, and what follows is read.
# CHECK: bad_after.dsl:[[#@LINE+7]]:11: error: ':' cannot stand here [E0119]
# CHECK: bad_after.dsl:[[#@LINE+9]]:11: error: an integer cannot stand here [E0119]
# CHECK: bad_after.dsl:[[#@LINE+9]]:13: error: 'n' cannot stand here [E0119]
# CHECK: bad_after.dsl:[[#@LINE+12]]:11: error: an integer cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    if n >:
        x = 1
        y = 2
    z = 1 1
    while n n:
        if n:
            x = 1
        y = 2
    w = 2 2
