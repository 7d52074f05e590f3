# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Characters without a meaning.
# CHECK: bad_characters.dsl:[[#@LINE+8]]:11: error: '?' has no meaning here [E0110]
# CHECK: bad_characters.dsl:[[#@LINE+8]]:10: error: '$' has no meaning here [E0110]
# CHECK: bad_characters.dsl:[[#@LINE+8]]:9: error: '!' has no meaning here [E0110]
# CHECK: bad_characters.dsl:[[#@LINE+8]]:9: error: '`' has no meaning here [E0110]
# CHECK: bad_characters.dsl:[[#@LINE+7]]:11: error: '`' has no meaning here [E0110]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = a ? b
    x = a$
    x = !a
    x = `a`
