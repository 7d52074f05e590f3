# GELU, element by element: x times the share of a normal distribution that lies below x.
#
#   y = x / 2 * (1 + erf(x / sqrt(2)))                                            TANH = False
#   y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))                     TANH = True, the older approximation
#
# (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where 1 + tanh(u) loses them all: far below 0.
#
#   fsc run gelu.dsl x=in.npy y=out.npy
#   fsc run gelu.dsl x=in.npy y=out.npy -D TANH=True
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024)
def gelu(y: *T[n], x: *T[n], n: i32, BLOCK: constexpr = 1024, TANH: constexpr = False, T: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = i < n
    v = load(x + i, mask=mask).to(fp32)
    if TANH:
        g = v * sigmoid(1.5957691216 * (v + 0.044715 * v * v * v))
    else:
        g = 0.5 * v * (1 + erf(v * 0.7071067812))
    store(y + i, g, mask=mask)
