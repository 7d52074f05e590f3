# test.dsl - truth values about floats; the argument's type is as it is, nothing is rounded.

@jit
def isnan(x):
    return x != x

@jit
def isinf(x):
    return abs(x) == inf
