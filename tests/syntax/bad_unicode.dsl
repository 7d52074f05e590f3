# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Letters beyond ASCII in a name.
# CHECK: bad_unicode.dsl:[[#@LINE+4]]:7: error: 'ö' outside of strings and comments; names are ASCII letters, digits and _ [E0110]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    größe = 1
