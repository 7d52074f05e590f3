# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Colons that are missing, each reported.
# CHECK: bad_colon.dsl:[[#@LINE+7]]:13: error: a ':' is missing at the end of the line [E0118]
# CHECK: bad_colon.dsl:[[#@LINE+10]]:15: error: a ':' is missing at the end of the line [E0118]
# CHECK: bad_colon.dsl:[[#@LINE+11]]:12: error: a ':' is missing at the end of the line [E0118]
# CHECK: bad_colon.dsl:[[#@LINE+13]]:8: error: a ':' is missing at the end of the line [E0118]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    if n > 0
        pass
    else
        pass
    for i in n
        pass
    while n
        pass
@jit
def f()
    pass
