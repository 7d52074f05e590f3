# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A bracket that closes nothing; the lines after it are still read.
# CHECK: bad_close.dsl:[[#@LINE+7]]:10: error: ')' closes nothing [E0105]
# CHECK: bad_close.dsl:[[#@LINE+7]]:10: error: ']' closes nothing [E0105]
# CHECK: bad_close.dsl:[[#@LINE+7]]:10: error: '}' closes nothing [E0105]
# CHECK: bad_close.dsl:[[#@LINE+7]]:12: error: the end of the line cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = a)
    y = b]
    z = c}
    w = 1 +
