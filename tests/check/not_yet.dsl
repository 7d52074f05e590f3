# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Every builtin and form of the language that is not compiled yet says so, once, at its place.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    v = load(x + arange(0, 16))
    # CHECK: not_yet.dsl:[[#@LINE+1]]:9: error: a lambda is not compiled yet [E0901]
    f = lambda y: y
    # CHECK: error: a comprehension goes over a tuple known at compile time, not over i32 [E0809]
    g = [y for y in n]
    # CHECK: error: a dict is not compiled yet [E0901]
    h = {1: 2}
    # CHECK: error: '@' is not compiled yet [E0901]
    i = v @ v
    # CHECK-NOT: error:
