# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# The top level is not indented.
# CHECK: bad_indent_top.dsl:[[#@LINE+3]]:5: error: this line is indented further than the one above [E0103]
# CHECK: note: only the lines after a ':' are indented further
# CHECK-NOT: {{error|warning}}:
    x = 1
@jit
def f(): pass
