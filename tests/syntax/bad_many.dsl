# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Independent errors of several functions, in the order of the file.
# CHECK: bad_many.dsl:[[#@LINE+11]]:9: error: '*' cannot stand here [E0119]
# CHECK: bad_many.dsl:[[#@LINE+12]]:13: error: the string that starts here is not closed [E0107]
# CHECK: note: a string ends on its line with the quote it began with; """ opens one of several lines
# CHECK: bad_many.dsl:[[#@LINE+11]]:15: error: '$' has no meaning here [E0110]
# CHECK: bad_many.dsl:[[#@LINE+12]]:15: error: 'n' cannot stand here [E0119]
# CHECK: bad_many.dsl:[[#@LINE+12]]:12: error: 'return' cannot stand here [E0119]
# CHECK: bad_many.dsl:[[#@LINE+14]]:14: error: 'a' cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = (1 +
        * 2)
    if n > 0:
        y = 'open
        z = 3 $
    else:
        w = n n
    return return
@jit
def g(a):
    return a a
