# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A long string that never ends.
# CHECK: bad_long_string.dsl:[[#@LINE+6]]:12: error: the end of the line cannot stand here
# CHECK: bad_long_string.dsl:[[#@LINE+6]]:9: error: the string that starts here is not closed
# CHECK: note: a string ends on its line with the quote it began with; """ opens one of several lines
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = 1 +
    y = '''abc
    z = 2
