# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Numbers that are none, or too large.
# CHECK: bad_number.dsl:[[#@LINE+9]]:9: error: '1abc' is neither a number nor a name [E0109]
# CHECK: bad_number.dsl:[[#@LINE+9]]:9: error: '0x' is neither a number nor a name [E0109]
# CHECK: bad_number.dsl:[[#@LINE+9]]:9: error: the integer does not fit 64 bits [E0111]
# CHECK: bad_number.dsl:[[#@LINE+9]]:9: error: the number does not fit 64-bit floating point; infinity is written inf or float("inf") [E0111]
# CHECK: bad_number.dsl:[[#@LINE+9]]:9: error: '1__0' is neither a number nor a name [E0109]
# CHECK: bad_number.dsl:[[#@LINE+9]]:9: error: '0b12' is neither a number nor a name [E0109]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = 1abc
    x = 0x
    x = 18446744073709551616
    x = 1e400
    x = 1__0
    x = 0b12
