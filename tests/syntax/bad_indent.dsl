# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A line further in than the one above, without a colon.
# CHECK: bad_indent.dsl:[[#@LINE+6]]:9: error: this line is indented further than the one above [E0103]
# CHECK: note: only the lines after a ':' are indented further
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = 1
        y = 2
    z = 3
