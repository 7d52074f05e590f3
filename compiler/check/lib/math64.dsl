# math64.dsl - mathematical functions of fp64; nothing passes through fp32.
# Every bound is in docs/numerics.md. Sums of a product and a term become one fma (the pass fma).

@jit
def sigmoid(x):
    e = exp(-abs(x))  # never overflows, and a subnormal result keeps its digits
    return where(x < 0, e, 1.0) / (1.0 + e)
