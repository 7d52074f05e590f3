# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A line further in than the one above, without a colon.
# CHECK: bad_indent.dsl:[[#@LINE+7]]:9: error: an indented block cannot stand here
# CHECK: note: only the lines after a ':' are indented further
# CHECK: bad_indent.dsl:[[#@LINE+7]]:1: error: the end of the block cannot stand here
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = 1
        y = 2
    z = 3
