"""test_rings.py - loops that multiply what they load: operands come by asynchronous copies, rounds ahead, into a ring
of stages that all threads read. Small integers, every partial sum of which is exact: the bits are NumPy's. On emu a
read before the wait, and a copy into a stage that somebody still reads, are findings.
"""
import numpy as np

from case import case, same_bits
from fsc import decode

POINTERS = """
    ks = arange(0, BK)
    for k in range(0, K, BK{stages}):
        a = load(x + rows[:, None] * SA + (k + ks)[None, :], mask=(rows < M)[:, None] & (k + ks < K)[None, :])
        b = load(y + (k + ks)[:, None] * SB + cols[None, :], mask=(k + ks < K)[:, None] & (cols < N)[None, :])
        acc = dot(a, b, acc)
"""
ADVANCED = """
    ks = arange(0, BK)
    p, q = x + rows[:, None] * SA + ks[None, :], y + ks[:, None] * SB + cols[None, :]
    for k in range(0, K, BK{stages}):
        a = load(p, mask=(rows < M)[:, None] & (ks < K - k)[None, :], other=0)
        b = load(q, mask=(ks < K - k)[:, None] & (cols < N)[None, :], other=0)
        acc = dot(a, b, acc)
        p += BK
        q += BK * SB
"""
BLOCKS = """
    p = make_block_ptr(x, (M, K), (SA, 1), (m * BM, 0), (BM, BK), (1, 0))
    q = make_block_ptr(y, (K, N), (SB, 1), (0, n * BN), (BK, BN), (1, 0))
    for k in range(0, K, BK{stages}):
        acc = dot(load(p, boundary_check=(0, 1)), load(q, boundary_check=(0, 1)), acc)
        p, q = advance(p, (0, BK)), advance(q, (BK, 0))
"""
DESCRIPTORS = """
    p = make_tensor_descriptor(x, (M, K), (SA, 1), (BM, BK))
    q = make_tensor_descriptor(y, (K, N), (SB, 1), (BK, BN))
    for k in range(0, K, BK{stages}):
        acc = dot(p.load((m * BM, k)), q.load((k, n * BN)), acc)
"""
BRANCH = POINTERS.replace("        acc = dot(a, b, acc)", "        if k < K - 1:\n            acc = dot(a, b, acc)\n"
                          "        else:\n            acc = dot(a, b, acc) + 0")
BACKWARD = POINTERS.replace("range(0, K, BK{stages})", "range((K - 1) // BK * BK, -1, -BK{stages})")
FORMS = {"pointers": POINTERS, "advanced": ADVANCED, "blocks": BLOCKS, "descriptors": DESCRIPTORS}

HEAD = """
@kernel(grid=(cdiv(M, BM) * cdiv(N, BN),))
def f(r: *fp32, x: *const T, y: *const T, SA: i32, SB: i32, M: i32, N: i32, K: i32, BM: constexpr = 32,
      BN: constexpr = 32, BK: constexpr = 32, T: dtype = fp16):
    m, n = program_id(0) // cdiv(N, BN), program_id(0) % cdiv(N, BN)
    rows, cols = m * BM + arange(0, BM), n * BN + arange(0, BN)
    acc = zeros((BM, BN), fp32)
"""
TAIL = "    store(r + rows[:, None] * N + cols[None, :], acc, mask=(rows < M)[:, None] & (cols < N)[None, :])\n"


def matrices(bench, dtype, sizes, pad):
    """Buffers end with the last row's last element: whatever is read beyond it is a finding."""
    m, n, k = sizes
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    low, high = (-4, 5) if dtype == "fp8e5" else (-8, 9)
    x, y = rng.integers(low, high, (m, k + pad)), rng.integers(low, high, (k, n + pad))
    cut = [v.ravel()[:max(v.size - pad, 1)] if v.size else np.zeros(1) for v in (x, y)]
    return x[:, :k] @ y[:, :n], [bench.buffer(dtype, v.size, v) for v in cut], (k + pad, n + pad)


def judge(bench, body, sizes, dtype="fp16", pad=0, stages="", **options):
    m, n, k = sizes
    want, buffers, strides = matrices(bench, dtype, sizes, pad)
    rb = bench.buffer("fp32", m * n)
    bench.run(HEAD + body.format(stages=stages) + TAIL, rb, *buffers, *strides, m, n, k, types={"T": dtype}, **options)
    same_bits(decode(rb.raw(), "fp32").reshape(m, n), want.astype(np.float64), f"{sizes}")


@case(form=list(FORMS), stages=[1, 2, 3, 4], sizes=[(32, 32, 256), (64, 96, 160), (40, 72, 104)])
def ring_forms(bench, form, stages, sizes):
    """Vectors of 16 bytes; tiles that the array's end cuts."""
    judge(bench, FORMS[form], sizes, stages=f", num_stages={stages}")


@case(form=list(FORMS), pad=[0, 1, 2, 3], sizes=[(33, 31, 65), (50, 46, 70)])
def ring_edges(bench, form, pad, sizes):
    """Rows that begin at multiples of 2, 4, 8 bytes: copies of fewer bytes, or none."""
    judge(bench, FORMS[form], sizes, pad=pad)


@case(dtype=["fp16", "bf16", "fp32", "fp8e5"], stages=[2, 4], tile=[(16, 16, 16), (64, 32, 64), (32, 128, 16)],
      warps=[1, 4])
def ring_types(bench, dtype, stages, tile, warps):
    judge(bench, POINTERS, (80, 144, 176), dtype, num_stages=stages, num_warps=warps,
          defines=dict(zip(("BM", "BN", "BK"), tile)))


@case(rounds=[0, 1, 2, 3, 5], stages=[2, 3, 4])
def ring_short(bench, rounds, stages):
    """Fewer rounds than stages, none at all, K below BK."""
    judge(bench, POINTERS, (32, 48, 32 * rounds), num_stages=stages)
    judge(bench, BLOCKS, (32, 48, 32 * rounds + 8), num_stages=stages)


@case(form=["branch", "backward"], sizes=[(32, 32, 192), (64, 32, 8)])
def ring_loops(bench, form, sizes):
    """A product in a branch; a loop that counts down."""
    judge(bench, {"branch": BRANCH, "backward": BACKWARD}[form], sizes)


TWO = """
@kernel(grid=(1,))
def f(r: *fp32, x: *const T, y: *const T, n: i32, m: i32, T: dtype = fp16):
    i, j = arange(0, 32)[:, None], arange(0, 32)[None, :]
    for turn in range(m):
        acc = zeros((32, 32), fp32)
        for k in range(n):
            acc = dot(load(x + (k * 32 + i) * 32 + j), load(y + (k * 32 + i) * 32 + j), acc)
        low = zeros((32, 32), fp32)
        for k in range(n):
            low = dot(load(y + (k * 32 + i) * 32 + j), load(x + (k * 32 + i) * 32 + j), low)
        store(r + (turn * 32 + i) * 32 + j, acc + low.T)
"""


@case(rounds=[0, 1, 4], turns=[1, 3], stages=[2, 4])
def ring_two(bench, rounds, turns, stages):
    """Two rings one behind the other, again and again: what the last rounds read is not written before."""
    rng = np.random.default_rng(rounds)
    x, y = rng.integers(-8, 9, (2, rounds, 32, 32))
    rb = bench.buffer("fp32", turns * 1024)
    bench.run(TWO, rb, *(bench.buffer("fp16", max(v.size, 1), v.ravel() if v.size else [0]) for v in (x, y)), rounds,
              turns, num_stages=stages)
    want = (x @ y).sum(0) + (y @ x).sum(0).T
    same_bits(decode(rb.raw(), "fp32").reshape(turns, 32, 32), np.broadcast_to(want, (turns, 32, 32)).astype(float))


ATTENTION = """
@kernel(grid=(1,))
def f(r: *fp32, q: *const T, k: *const T, v: *const T, s: *const T, n: i32, T: dtype = fp16):
    i, j = arange(0, 32)[:, None], arange(0, 32)[None, :]
    a = load(q + i * 32 + j)
    acc = zeros((32, 32), fp32)
    for at in range(n{stages}):
        p = dot(a, load(k + (at * 32 + i) * 32 + j).T)
        p -= p.max(1)[:, None]
        p = where(p > -100, p, -100) * load(s + at * 32 + arange(0, 32))[None, :]
        acc = dot(p.to(T), load(v + (at * 32 + i) * 32 + j), acc)
    store(r + i * 32 + j, acc)
"""


@case(rounds=[0, 1, 2, 7], stages=["", ", num_stages=2", ", num_stages=5"], warps=[1, 4])
def ring_attention(bench, rounds, stages, warps):
    """Keys and values in one ring; what is in between; a load that is no operand."""
    rng = np.random.default_rng(rounds)
    q = rng.integers(-2, 3, (32, 32))
    k, v = rng.integers(-2, 3, (2, rounds, 32, 32))
    s = rng.integers(-2, 3, (rounds, 32))
    want = np.zeros((32, 32), np.int64)
    for at in range(rounds):
        p = q @ k[at].T
        p = np.maximum(p - p.max(1, keepdims=True), -100) * s[at]
        want += p @ v[at]
    rb = bench.buffer("fp32", 1024)
    bench.run(ATTENTION.format(stages=stages), rb, *(bench.buffer("fp16", max(x.size, 1), x.ravel() if x.size else [0])
                                                     for x in (q, k, v, s)), rounds, num_warps=warps)
    same_bits(decode(rb.raw(), "fp32").reshape(32, 32), want.astype(float))


STORES = """
@kernel(grid=(1,))
def f(r: *fp32, x: *T, y: *T, n: i32, T: dtype = fp16):
    i, j = arange(0, 32)[:, None], arange(0, 32)[None, :]
    acc = zeros((32, 32), fp32)
    for k in range(n, num_stages=3):
        acc = dot(load(x + (k * 32 + i) * 32 + j), load(y + (k * 32 + i) * 32 + j), acc)
        store(y + ((k + 1) * 32 + i) * 32 + j, {value})
    store(r + i * 32 + j, acc)
"""


@case(same=[False, True])
def ring_stores(bench, same):
    """A round stores what the next one loads: nothing may be loaded before."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(-3, 4, (2, 5, 32, 32))
    source = STORES.format(value="(load(x + (k * 32 + i) * 32 + j) + 1).to(T)" if same else "(i - j + k).to(T)")
    rb = bench.buffer("fp32", 1024)
    bench.run(source, rb, bench.buffer("fp16", x.size, x.ravel()), bench.buffer("fp16", y.size, y.ravel()), 4)
    want, i, j = np.zeros((32, 32), np.int64), np.arange(32)[:, None], np.arange(32)[None, :]
    for k in range(4):
        want += x[k] @ y[k]
        y[k + 1] = x[k] + 1 if same else i - j + k
    same_bits(decode(rb.raw(), "fp32").reshape(32, 32), want.astype(float))
