# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# = where == was meant.
# CHECK: bad_equals.dsl:[[#@LINE+7]]:10: error: '=' cannot stand here [E0119]
# CHECK: note: '==' compares; '=' assigns, and stands behind a name at the start of a line
# CHECK: bad_equals.dsl:[[#@LINE+7]]:12: error: '=' cannot stand here [E0119]
# CHECK: note: '==' compares; '=' assigns, and stands behind a name at the start of a line
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    if n = 1:
        pass
    x = (n = 1)
