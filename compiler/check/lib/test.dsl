# test.dsl - truth values about numbers and floats, as their types are, nothing is rounded; the only element of a tile.

@jit
def logical_and(x, y):
    return (x != 0) & (y != 0)

@jit
def logical_or(x, y):
    return (x != 0) | (y != 0)

@jit
def expect_zero(x, mask):
    device_assert((x == 0) | (mask == 0), "expect_zero: x is not 0 where the mask says so")
    return x

@jit
def first(a, b):
    return a

# The only element.
@jit
def item(x):
    static_assert(x.numel == 1, "item: a tile of one element has one")
    return reduce(x, None, first) if len(x.shape) > 0 else x

@jit
def isnan(x):
    return x != x

@jit
def isinf(x):
    return abs(x) == inf
