# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A function without a body, at the end of the file.
# CHECK: bad_empty_function.dsl:[[#@LINE+4]]:1: error: found the end of the file where an indented block is expected [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
