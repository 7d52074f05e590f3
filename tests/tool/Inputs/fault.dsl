@kernel(grid=(cdiv(n, BLOCK),))
def scale(y: *fp32[n], x: *fp32[n], n: i32, BLOCK: constexpr = 64):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(y + i, load(x + i) * 2)
