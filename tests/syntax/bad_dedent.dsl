# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A line between two levels.
# CHECK: bad_dedent.dsl:[[#@LINE+8]]:9: error: this line's indentation matches no line above [E0102]
# CHECK: note: it has 8 columns; the enclosing block has 4
# CHECK: bad_dedent.dsl:[[#@LINE+7]]:12: error: the end of the line cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    if n:
            x = 1
        y = 2
    z = 1 +
