# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Letters beyond ASCII in a name.
# CHECK: bad_unicode.dsl:[[#@LINE+5]]:7: error: 'ö' outside of strings and comments; names are ASCII letters, digits and _
# CHECK: bad_unicode.dsl:[[#@LINE+4]]:11: error: 'e' cannot stand here
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    größe = 1
