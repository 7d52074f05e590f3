# SiLU, also called swish, element by element: y = x * sigmoid(x) = x / (1 + exp(-x)).
#
#   fsc run silu.dsl x=in.npy y=out.npy
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024)
def silu(y: *T[n], x: *T[n], n: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = i < n
    v = load(x + i, mask=mask).to(fp32)
    store(y + i, v * sigmoid(v), mask=mask)

# test: x=random:0:fp32[1000]
# expect y: x * sigmoid(x)
