# Kernels for census.test: one that compiles, one that guesses wrongly at first, one with dot, one that cannot.
import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x * 2


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, helper(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


@triton.jit
def gather(x, where, y, stride, MODE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.load(where + i)
    if MODE == "twice":
        row += row
    tl.store(y + i, tl.load(x + row * stride))


@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BK: tl.constexpr):
    m, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), tl.float32)
    for start in range(0, K, BK):
        acc = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * BM + m[None, :]), acc)
        a += BK
        b += BK * BM
    tl.store(c + m[:, None] * BM + m[None, :], acc)


@triton.jit
def refused(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.bitonic_merge(i))
