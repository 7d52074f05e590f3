@autotune(configs=[Config({"B": 128}, num_warps=2), Config({"B": 512}, num_warps=4)], key=["n"])
@kernel(grid=(cdiv(n, B),))
def double(y: *fp32[n], x: *fp32[n], n: i32, B: constexpr):
    i = program_id(0) * B + arange(0, B)
    store(y + i, load(x + i, mask=i < n) * 2.0, mask=i < n)
