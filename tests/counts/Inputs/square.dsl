@kernel(grid=(1,))
def square(y: *fp16[64, 64], x: *const fp16[64, 64], BLOCK: constexpr = 64):
    at = arange(0, BLOCK)
    v = load(x + at[:, None] * BLOCK + at[None, :])
    store(y + at[:, None] * BLOCK + at[None, :], trans(v))
