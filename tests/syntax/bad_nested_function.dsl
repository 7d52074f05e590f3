# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A function inside a function.
# CHECK: bad_nested_function.dsl:[[#@LINE+6]]:5: error: 'def' cannot stand here [E0119]
# CHECK: bad_nested_function.dsl:[[#@LINE+7]]:12: error: the end of the line cannot stand here [E0119]
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    x = 1
    def g(a):
        return a
    y = 1 +
