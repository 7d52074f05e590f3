# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A string behind an expression.
# CHECK: bad_string_operand.dsl:[[#@LINE+5]]:11: error: a string after an expression; an operator is missing [E0117]
# CHECK: bad_string_operand.dsl:[[#@LINE+5]]:11: error: a string after an expression; an operator is missing [E0117]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = a "b"
    x = 1 'c'
