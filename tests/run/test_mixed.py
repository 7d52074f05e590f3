"""test_mixed.py - products whose weights have fewer bits than what they are multiplied with: they become an operand in
the registers that an instruction takes it from, and come to them through a ring of what was loaded.

In: types, tiles, sizes that are no multiples. Small integers, every partial sum of which is exact: the bits are
NumPy's. On emu a read of what has not come, or a copy into what is read still, is a finding.
"""
import numpy as np

from case import case, same_bits
from fsc import decode

BYTES = """
@kernel(grid=(cdiv(N, BN), cdiv(M, BM)))
def f(r: *fp32, x: *const T, w: *const W, M: i32, N: i32, K: i32, FIRST: constexpr = True, BM: constexpr = 64,
      BN: constexpr = 64, BK: constexpr = 64, W: dtype = i8, T: dtype = fp16):
    m, n = program_id(1) * BM + arange(0, BM), program_id(0) * BN + arange(0, BN)
    sum = zeros((BN, BM) if FIRST else (BM, BN), fp32)
    for start in range(0, K, BK):
        k = start + arange(0, BK)
        a = load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        b = load(w + n[:, None] * K + k[None, :], mask=(n < N)[:, None] & (k < K)[None, :]).to(T)
        sum = dot(b, a.T, sum) if FIRST else dot(a, b.T, sum)
    sum = sum.T if FIRST else sum
    store(r + m[:, None] * N + n[None, :], sum, mask=(m < M)[:, None] & (n < N)[None, :])
"""
# Two weights a byte, less a zero point of their group and row, times the group's and row's scale.
HALVES = """
@kernel(grid=(cdiv(N, 64),))
def f(r: *fp32, x: *const T, w: *const u8, scale: *const T, zero: *const T, M: i32, N: i32, K: i32,
      BK: constexpr = 64, T: dtype = fp16):
    m, n = arange(0, 32), program_id(0) * 64 + arange(0, 64)
    groups = K // BK
    sum = zeros((64, 32), fp32)
    for start in range(0, K, BK):
        k, h = start + arange(0, BK), start // 2 + arange(0, BK // 2)
        a = load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        b = load(w + n[:, None] * (K // 2) + h[None, :], mask=(n < N)[:, None] & (h < K // 2)[None, :])
        s = load(scale + n * groups + start // BK, mask=n < N)
        z = load(zero + n * groups + start // BK, mask=n < N)
        q = (interleave(b & 15, b >> 4).to(T) - z[:, None]) * s[:, None]
        sum = dot(q, a.T, sum)
    store(r + m[:, None] * N + n[None, :], sum.T, mask=(m < M)[:, None] & (n < N)[None, :])
"""


def weights(rng, dtype, shape):
    if dtype == "u8":
        return rng.integers(0, 256, shape)
    return rng.integers(-128, 128, shape) if dtype == "i8" else rng.integers(-8, 9, shape)


@case(types=[("i8", "fp16"), ("i8", "bf16"), ("u8", "fp16"), ("u8", "bf16"), ("fp8e4nv", "bf16"), ("fp8e5", "fp16"),
             ("i8", "fp32")],
      tile=[(64, 64, 64), (16, 128, 32), (32, 64, 128), (128, 128, 64)], sizes=[(20, 33, 40), (70, 130, 208)],
      first=[True, False])
def mixed_bytes(bench, types, tile, sizes, first):
    (w_type, t), (bm, bn, bk), (m, n, k) = types, tile, sizes
    rng = np.random.default_rng(m + bk)
    x, w = rng.integers(-4, 5, (m, k)), weights(rng, w_type, (n, k))
    options = dict(defines=dict(BM=bm, BN=bn, BK=bk, FIRST=first), types={"T": t, "W": w_type})
    rb = bench.buffer("fp32", m * n)
    bench.run(BYTES, rb, bench.buffer(t, x.size, x.ravel()), bench.buffer(w_type, w.size, w.ravel()), m, n, k,
              arch=b"sm_90a", **options)
    same_bits(decode(rb.raw(), "fp32").reshape(m, n), (x @ w.T).astype(np.float64), f"{types} {tile} {sizes}")


@case(dtype=["fp16", "bf16"], m=[1, 20, 32], n=[64, 100], rounds=[1, 2, 5], bk=[32, 64, 128])
def mixed_halves(bench, dtype, m, n, rounds, bk):
    k = rounds * bk
    rng = np.random.default_rng(n + k)
    x, q = rng.integers(-2, 3, (m, k)), rng.integers(0, 16, (n, k))
    scale, zero = rng.integers(1, 4, (n, rounds)), rng.integers(0, 16, (n, rounds))
    wide = [v.repeat(bk, 1) for v in (zero, scale)]
    rb = bench.buffer("fp32", m * n)
    packed = q[:, ::2] | q[:, 1::2] << 4
    operands = ((dtype, x), ("u8", packed), (dtype, scale), (dtype, zero))
    buffers = [bench.buffer(t, v.size, v.ravel()) for t, v in operands]
    bench.run(HALVES, rb, *buffers, m, n, k, defines={"BK": bk}, types={"T": dtype}, arch=b"sm_90a")
    same_bits(decode(rb.raw(), "fp32").reshape(m, n), (x @ ((q - wide[0]) * wide[1]).T).astype(np.float64),
              f"{dtype} {m} {n} {k}")
