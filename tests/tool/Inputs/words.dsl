# Constexprs that are no numbers.
@jit
def twice(a):
    return a * 2

@jit
def thrice(a):
    return a * 3

@kernel(grid=(1,))
def words(y: *fp32[64], x: *fp32[64], MODE: constexpr = "tf32", BIAS: constexpr = None, F: constexpr = twice):
    i = arange(0, 64)
    v = F(load(x + i))
    if MODE == "tf32":
        v = v + 1
    if BIAS is not None:
        v = v + BIAS
    store(y + i, v)
