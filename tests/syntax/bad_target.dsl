# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# What cannot be assigned to.
# CHECK: bad_target.dsl:[[#@LINE+21]]:5: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+20]]:5: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+19]]:5: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+18]]:5: error: a comparison cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+17]]:9: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+16]]:5: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+15]]:5: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+14]]:9: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK: bad_target.dsl:[[#@LINE+13]]:5: error: this expression cannot be assigned to [E0112]
# CHECK: note: a name, or names separated by commas, stand on the left of '='
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    1 = x
    a + b = x
    f(x) = 1
    a == b = c
    (a, 1) = x
    -a += 1
    f(): i32 = 1
    for 1 in x: pass
    None = 1
