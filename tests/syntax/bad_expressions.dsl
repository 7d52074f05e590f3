# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Expressions that break off, one error a line.
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:12: error: the end of the line cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:12: error: the end of the line cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:11: error: 'b' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:15: error: the end of the line cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:15: error: found 'b' where 'in' is expected [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:11: error: ']' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:16: error: ':' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:13: error: 'b' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:11: error: ',' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:10: error: ',' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:13: error: '}' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:17: error: ']' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:17: error: a ':' is missing at the end of the line [E0118]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:10: error: a number cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:11: error: found the end of the line where a name is expected [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:12: error: '>' cannot stand here [E0119]
# CHECK: bad_expressions.dsl:[[#@LINE+20]]:8: error: the end of the line cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = a +
    x = * b
    x = a b
    x = a if b
    x = a not b
    x = a[]
    x = a[1:2:3:4]
    x = g(a b)
    x = g(,)
    x = {,}
    x = {a: }
    x = [a for b]
    x = lambda a
    x = a.1
    x = a.
    x = a <> b
    x =
