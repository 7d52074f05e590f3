@kernel(grid=(cdiv(n, 64),))
def double(y: *fp32[n], x: *fp32[n], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    store(y + i, load(x + i, mask=i < n) * 2)
