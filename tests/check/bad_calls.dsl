# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Calls that do not fit show the call and the definition.
@jit
def f(a, B: constexpr, c=1):
    return a

@jit
def maybe(a):
    if a > 0.0:
        return a

@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK-DAG: bad_calls.dsl:[[#@LINE+1]]:5: error: the call of 'f' lacks its argument 'B' [E0207]
    f(n)
    # CHECK-DAG: error: 'B' of 'f' is constexpr, and this argument is known only at run time [E0801]
    # CHECK-DAG: the parameter is declared here
    f(1, n)
    # CHECK-DAG: error: 'f' takes 3 arguments at most [E0205]
    f(1, 2, 3, 4)
    # CHECK-DAG: error: 'f' has no parameter 'd' [E0204]
    f(1, 2, d=3)
    # CHECK-DAG: error: 'f' is given its parameter 'a' twice [E0206]
    f(1, 2, a=3)
    # CHECK-DAG: error: 'maybe' returns fp32 here, and on another path it ends without a value [E0812]
    store(x, maybe(load(x)))
    # CHECK-DAG: error: i32 cannot be called [E0208]
    n(3)
    # CHECK-DAG: error: 'exp' takes 1 argument at most [E0205]
    exp(1.0, 2.0)
    # CHECK-DAG: error: 'where' lacks its argument 'y' [E0207]
    where(n > 0, 1)
    # CHECK-DAG: error: 'load' has no argument 'maks'; did you mean 'mask'? [E0204]
    load(x, maks=None)
    # CHECK-DAG: error: 'load' is given its argument 'pointer' twice [E0206]
    load(x, pointer=x)
