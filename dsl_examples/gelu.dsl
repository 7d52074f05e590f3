# GELU, element by element: x times the share of a normal distribution that lies below x.
#
#   y = x / 2 * (1 + erf(x / sqrt(2)))                                            TANH = False
#   y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))                     TANH = True, the older approximation
#
# Both are written so that they keep their digits far below 0, where 1 + erf and 1 + tanh lose them all:
# (1 + tanh(u)) / 2 is sigmoid(2 u), and for 1 + erf there is `tail`.
#
#   fsc run gelu.dsl x=in.npy y=out.npy
#   fsc run gelu.dsl x=in.npy y=out.npy -D TANH=True

# The share below -a, for a >= 0: exp(-a^2 / 2) times t times a polynomial in t = 1 / (1 + 0.35 a), a minimax fit up to
# 14. Beyond, the share is less than any number of fp32. s + r is a^2 to the last bit: exp multiplies what is missing.
@jit
def tail(a):
    a = minimum(a, 20.0)
    t = 1 / (1 + 0.35 * a)
    p = ((((-0.0291578777 * t + 0.144030881) * t - 0.255838925) * t + 0.159319607) * t - 0.0232122939) * t
    p = (((p + 0.105552478) * t + 0.119821294) * t + 0.139863515) * t + 0.139621307
    s = a * a
    r = fma(a, a, -s)
    e = exp(-0.5 * s)
    return (e - e * (0.5 * r)) * (t * p)

# The same for fp16 and bf16 in half the instructions: 2 to a polynomial in a, a minimax fit up to 13.2, off by 2^-14 of
# the share at most. Beyond, it keeps falling. The polynomial is -1 at most: so 1 less the share has the share's error,
# and the exponential may be a quick one.
@jit
def tail_narrow(a):
    a = minimum(a, 20.0)
    p = (((-1.92336658e-09 * a + 1.40333043e-07) * a - 4.50273365e-06) * a + 8.41045548e-05) * a - 0.00102408649
    p = ((((p * a + 0.00867957808) * a - 0.0539847352) * a - 0.458760709) * a - 1.1509937) * a - 1.00002956
    return exp2(minimum(p, -1.0))

# A thread takes 32 bytes: two vectors on their way, and blocks enough for the last wave.
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024 if T.primitive_bitwidth > 16 else 2048, num_warps=4)
def gelu(y: *T[n], x: *T[n], n: i32, BLOCK: constexpr = 2048, TANH: constexpr = False, T: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = i < n
    v = load(x + i, mask=mask).to(fp32)
    if TANH:
        g = v * sigmoid(1.5957691216 * (v + 0.044715 * v * v * v))
    else:
        q = tail_narrow(abs(v)) if T == fp16 or T == bf16 else tail(abs(v))
        g = v * where(v < 0, q, 1 - q)
    store(y + i, g, mask=mask)

# test: x=random:0:fp32[1000] --rtol=3e-6 --atol=0
# expect y: x / 2 * (1 + erf(x / sqrt(2)))
# test the older approximation: x=random:0:fp32[1000] -D TANH=True --rtol=3e-6 --atol=0
# expect y: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))
# test halves: x=random:0:fp16[1000]
# expect y: x / 2 * (1 + erf(x / sqrt(2)))
