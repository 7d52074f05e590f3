# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# The walrus is not part of the language.
# CHECK: bad_walrus.dsl:[[#@LINE+6]]:11: error: ':=' cannot stand here [E0119]
# CHECK: note: assign on a line of its own
# CHECK: bad_walrus.dsl:[[#@LINE+6]]:13: error: ':=' is not part of the kernel language [E0116]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    if (x := n) > 0:
        pass
    y = g(x := 1)
