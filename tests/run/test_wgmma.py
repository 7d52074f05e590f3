"""test_wgmma.py - products by instructions of four warps (sm_90a), which go on while the program does.

In: tiles, warps, stages, both operands along rows and along columns. Small integers, every partial sum of which is
exact: the bits are NumPy's. On emu the operands are read where their descriptors say, a sum is a NaN until it is waited
for, and stores to what a product still reads, or that no fence shows to it, are findings. Another card than sm_90 runs
its own instructions.
"""
import numpy as np

from case import Skip, case, same_bits
from fsc import decode
from primitives import fsc_threads, tests

LOOP = """
@kernel(grid=(cdiv(M, BM) * cdiv(N, BN),))
def f(r: *fp32, x: *const T, y: *const T, M: i32, N: i32, K: i32, BM: constexpr = 64, BN: constexpr = 64,
      BK: constexpr = 32, AR: constexpr = 1, BR: constexpr = 1, T: dtype = fp16):
    m, n = program_id(0) // cdiv(N, BN) * BM, program_id(0) % cdiv(N, BN) * BN
    rows, cols = m + arange(0, BM), n + arange(0, BN)
    sum = zeros((BM, BN), fp32)
    for k in range(0, K, BK):
        ks = k + arange(0, BK)
        a = load(x + (rows[:, None] * K + ks[None, :] if AR else rows[:, None] + ks[None, :] * M),
                 mask=(rows < M)[:, None] & (ks < K)[None, :])
        b = load(y + (ks[:, None] * N + cols[None, :] if BR else ks[:, None] + cols[None, :] * K),
                 mask=(ks < K)[:, None] & (cols < N)[None, :])
        sum = dot(a, b, sum)
    store(r + rows[:, None] * N + cols[None, :], sum, mask=(rows < M)[:, None] & (cols < N)[None, :])
"""
# Two sums of one loop, one of which takes an operand transposed; a sum that each round reads; an operand from before
# the loop; a product that a branch makes.
TWO = """
@kernel(grid=(1,))
def f(r: *fp32, x: *const T, y: *const T, K: i32, T: dtype = fp16):
    i, j = arange(0, 64), arange(0, 32)
    s, t = zeros((64, 64), fp32), zeros((64, 64), fp32)
    for k in range(0, K, 32):
        a = load(x + i[:, None] * K + (k + j)[None, :], mask=(k + j < K)[None, :])
        b = load(y + i[:, None] * K + (k + j)[None, :], mask=(k + j < K)[None, :])
        s, t = dot(a, b.T, s), dot(b, a.T, t)
    at = i[:, None] * 64 + i[None, :]
    store(r + at, s)
    store(r + 4096 + at, t)
"""
READ = """
@kernel(grid=(1,))
def f(r: *fp32, x: *const T, y: *const T, K: i32, T: dtype = fp16):
    i, j = arange(0, 64), arange(0, 32)
    first = load(y + i[:, None] * K + j[None, :], mask=(j < K)[None, :])
    s, t, most = zeros((64, 64), fp32), zeros((64, 64), fp32), zeros((64, 64), fp32)
    for k in range(0, K, 32):
        a = load(x + i[:, None] * K + (k + j)[None, :], mask=(k + j < K)[None, :])
        b = load(y + i[:, None] * K + (k + j)[None, :], mask=(k + j < K)[None, :])
        s = dot(a, b.T, s)
        most = maximum(most, s)
        if k % 64 == 0:
            t = dot(a, first.T, t)
    at = i[:, None] * 64 + i[None, :]
    store(r + at, most)
    store(r + 4096 + at, t)
"""
# A product's result is the next one's first operand, in registers; two such chains, whose products go on beside each
# other.
CHAIN = """
@kernel(grid=(cdiv(M, BM),))
def f(r: *fp32, x: *const T, y: *const T, z: *const T, M: i32, N: i32, BM: constexpr = 64, BN: constexpr = 64,
      D: constexpr = 32, E: constexpr = 32, T: dtype = fp16):
    m, d, e = program_id(0) * BM + arange(0, BM), arange(0, D), arange(0, E)
    a = load(x + m[:, None] * D + d[None, :], mask=(m < M)[:, None])
    s, t = zeros((BM, E), fp32), zeros((BM, E), fp32)
    for start in range(0, N, BN):
        n = start + arange(0, BN)
        b = load(y + n[:, None] * D + d[None, :], mask=(n < N)[:, None])
        c = load(z + n[:, None] * E + e[None, :], mask=(n < N)[:, None])
        p = dot(a, b.T)
        q = dot(a + a, b.T)
        s = dot(p.to(T), c, s)
        t = dot(maximum(q, 0.0).to(T), c, t - s)
    at = m[:, None] * E + e[None, :]
    store(r + at, s, mask=(m < M)[:, None])
    store(r + M * E + at, t, mask=(m < M)[:, None])
"""
# Weights by exponentials, multiplied a round later; pointers that the loop carries, or rounds downwards.
LATE = """
@kernel(grid=(cdiv(M, 64),))
def f(r: *fp32, x: *const T, y: *const T, z: *const T, M: i32, N: i32, DOWN: constexpr = False, BN: constexpr = 32,
      T: dtype = fp16):
    m, j, d, e = program_id(0) * 64 + arange(0, 64), arange(0, BN), arange(0, 16), arange(0, 128)
    a = load(x + m[:, None] * 16 + d[None, :], mask=(m < M)[:, None])
    t = zeros((64, 128), fp32)
    ys, zs = y + j[:, None] * 16 + d[None, :], z + j[:, None] * 128 + e[None, :]
    last = cdiv(N, BN) - 1
    for i in range(last if DOWN else 0, -1 if DOWN else last + 1, -1 if DOWN else 1):
        n = i * BN + j
        b = load(y + n[:, None] * 16 + d[None, :] if DOWN else ys, mask=(n < N)[:, None])
        c = load(z + n[:, None] * 128 + e[None, :] if DOWN else zs, mask=(n < N)[:, None])
        p = exp2(dot(a, b.T))
        t = dot(p.to(T), c, t * 0.5)
        ys, zs = ys + BN * 16, zs + BN * 128
    store(r + m[:, None] * 128 + e[None, :], t, mask=(m < M)[:, None])
"""


def called(source, name="wgmma.begin", **options):
    text = fsc_threads(source, "sm_90a", {}, **options)
    assert f"@fsc.{name}" in text, f"no product calls {name}"


def integers(bench, dtype, *shape):
    rng = np.random.default_rng(sum(shape))
    v = rng.integers(-8, 9, shape)
    return v, lambda as_rows: bench.buffer(dtype, v.size, (v if as_rows else v.T).ravel())


def run_loop(bench, dtype, sizes, tile, rows, **options):
    m, n, k = sizes
    (x, xb), (y, yb) = integers(bench, dtype, m, k), integers(bench, dtype, k, n)
    defines = dict(zip(("BM", "BN", "BK"), tile), AR=int(rows[0]), BR=int(rows[1]))
    rb = bench.buffer("fp32", m * n)
    called(LOOP, defines=defines, types={"T": dtype}, **options)
    bench.run(LOOP, rb, xb(rows[0]), yb(rows[1]), m, n, k, defines=defines, types={"T": dtype}, arch=b"sm_90a",
              **options)
    same_bits(decode(rb.raw(), "fp32").reshape(m, n), (x @ y).astype(np.float64), f"{sizes} {tile} {rows}")


BOTH = [(a, b) for a in (True, False) for b in (True, False)]


@tests("wgmma.fence", "wgmma.at", "wgmma.begin", "wgmma.commit", "wgmma.wait", "proxy.fence")(
    rows=BOTH, dtype=["fp16", "bf16"], tile=[(64, 64, 64), (64, 32, 16), (128, 16, 32), (64, 128, 32)])
def wgmma_majors(bench, rows, dtype, tile):
    """Rows of 128, 64 and 32 bytes; more than one of them across k; elements that the arrays' ends cut."""
    run_loop(bench, dtype, (tile[0] + 24, tile[1] + 8, 3 * tile[2] + 8), tile, rows)


# bytes: rows along k alone, which b's columns are
BYTES = [("i8", "i8"), ("i8", "u8"), ("u8", "i8"), ("u8", "u8"), ("fp8e4nv", "fp8e4nv"), ("fp8e4nv", "fp8e5"),
         ("fp8e5", "fp8e4nv"), ("fp8e5", "fp8e5")]


@tests("wgmma.begin")(types=BYTES, tile=[(64, 64, 128), (64, 32, 32), (128, 16, 64), (64, 256, 64)], warps=[4, 8],
                      stages=[1, 4])
def wgmma_bytes(bench, types, tile, warps, stages):
    """Rows of 128, 64 and 32 bytes; negative numbers and those above 127; elements that the arrays' ends cut."""
    m, n, k = tile[0] + 24, tile[1] + 8, 3 * tile[2] + 16
    rng = np.random.default_rng(m + n)
    signs = [rng.integers(0 if t == "u8" else -4, 4, s) for t, s in zip(types, ((m, k), (k, n)))]
    if types[0].endswith("8") and types[0][0] != "f":
        signs = [v * 30 + (v > 2) * (165 if t == "u8" else 37) for v, t in zip(signs, types)]
    x, y = signs
    result = "i32" if types[0][0] != "f" else "fp32"
    source = LOOP
    for old, new in (("*fp32", f"*{result}"), ("fp32)", f"{result})"), ("y: *const T", "y: *const U"),
                     ("dot(a, b, sum)", "dot(a, b, sum, max_num_imprecise_acc=BK)"),
                     ("T: dtype = fp16", "T: dtype = fp16, U: dtype = fp16")):
        source = source.replace(old, new)
    xb, yb = bench.buffer(types[0], x.size, x.ravel()), bench.buffer(types[1], y.size, y.T.ravel())
    rb = bench.buffer(result, m * n)
    options = dict(defines=dict(zip(("BM", "BN", "BK"), tile), AR=1, BR=0), types=dict(zip("TU", types)),
                   num_warps=warps, num_stages=stages)
    bench.run(source, rb, xb, yb, m, n, k, arch=b"sm_90a", **options)
    same_bits(decode(rb.raw(), result).reshape(m, n), (x @ y).astype(np.float64), f"{types} {tile}")


@case(warps=[4, 8, 16], tile=[(64, 64, 32), (128, 64, 32), (256, 16, 32), (64, 256, 16), (64, 512, 16)], rows=BOTH[:2])
def wgmma_warps(bench, warps, tile, rows):
    """Groups of four warps along rows, along columns, along both; several instructions for each."""
    if tile[0] * tile[1] > warps * 32 * 128:
        raise Skip("sums beyond a thread's registers, which is an error")
    run_loop(bench, "fp16", (tile[0], tile[1], 2 * tile[2]), tile, rows, num_warps=warps)


@case(stages=[1, 2, 3, 4, 5], k=[8, 16, 64, 72, 256], rows=[(True, False)])
def wgmma_stages(bench, stages, k, rows):
    """Rings with a stage for the products of the round before, and without; loops of fewer rounds than stages."""
    run_loop(bench, "bf16", (64, 32, k), (64, 32, 16), rows, num_stages=stages)


@case(source=["TWO", "READ"], k=[32, 72, 200], stages=[1, 4])
def wgmma_several(bench, source, k, stages):
    text = {"TWO": TWO, "READ": READ}[source]
    (x, xb), (y, _) = integers(bench, "fp16", 64, k), integers(bench, "fp16", 64, k)
    y = y[::-1]
    yb, rb = bench.buffer("fp16", y.size, y.ravel()), bench.buffer("fp32", 2 * 4096)
    called(text)
    bench.run(text, rb, xb(True), yb, k, arch=b"sm_90a", num_stages=stages)
    s = x @ y.T
    parts = [x[:, i:i + 32] @ y[:, i:i + 32].T for i in range(0, k, 32)]
    most = np.maximum(np.max(np.cumsum(parts, axis=0), axis=0), 0)
    pad = np.zeros((64, 32), int)
    first = np.concatenate([y, pad], axis=1)[:, :32]
    whole = np.concatenate([x, pad], axis=1)
    t = sum(whole[:, i:i + 32] @ first.T for i in range(0, k, 64))
    want = [s, s.T] if source == "TWO" else [most, t]
    same_bits(decode(rb.raw(), "fp32").reshape(2, 64, 64), np.stack(want).astype(np.float64), f"{source} {k}")


@tests("wgmma.held")(dtype=["fp16", "bf16"], tile=[(64, 64, 32, 32), (128, 32, 64, 16), (64, 128, 16, 64),
                                                   (256, 16, 32, 32)], warps=[4, 8], stages=[1, 2, 4])
def wgmma_chained(bench, dtype, tile, warps, stages):
    """Several rows of an instruction in a warp, steps of k; the first product's columns are the second one's k."""
    bm, bn, d, e = tile
    if warps * 16 > bm:
        raise Skip("fewer rows than the warps' instructions have: by mma.sync")
    m, n = bm + 24, 3 * bn - 8
    rng = np.random.default_rng(bm + bn + d)
    x, y, z = (rng.integers(-1, 2, shape) for shape in ((m, d), (n, d), (n, e)))
    xb, yb, zb = (bench.buffer(dtype, v.size, v.ravel()) for v in (x, y, z))
    rb = bench.buffer("fp32", 2 * m * e)
    options = dict(defines=dict(zip(("BM", "BN", "D", "E"), tile)), types={"T": dtype}, num_warps=warps,
                   num_stages=stages)
    called(CHAIN, "wgmma.held", **options)
    bench.run(CHAIN, rb, xb, yb, zb, m, n, arch=b"sm_90a", **options)
    s, t = np.zeros((m, e), int), np.zeros((m, e), int)
    for at in range(0, n, bn):
        p = x @ y[at:at + bn].T
        s = s + p @ z[at:at + bn]
        t = t - s + np.maximum(2 * p, 0) @ z[at:at + bn]
    same_bits(decode(rb.raw(), "fp32").reshape(2, m, e), np.stack([s, t]).astype(np.float64), f"{dtype} {tile}")


@case(down=[False, True], keys=[0, 20, 32, 33, 100, 250], stages=[1, 2, 4])
def wgmma_late(bench, down, keys, stages):
    """Loops of no round, of one and of more. Each row of x picks a column of y, so that weights are powers of two."""
    rng = np.random.default_rng(keys)
    x = np.eye(16, dtype=int)[rng.integers(0, 16, 100)]
    y, z = rng.integers(-3, 1, (keys, 16)), rng.integers(-2, 3, (keys, 128))
    xb, yb, zb = (bench.buffer("fp16", v.size, v.ravel()) for v in (x, y, z))
    rb = bench.buffer("fp32", 100 * 128)
    options = dict(defines={"DOWN": down}, num_stages=stages)
    text = fsc_threads(LATE, "sm_90a", {}, **options)
    assert text.count("call void @fsc.wgmma.commit") == 3, "no product is made late"
    bench.run(LATE, rb, xb, yb, zb, 100, keys, arch=b"sm_90a", **options)
    t, rounds = np.zeros((100, 128)), range(0, keys, 32)
    for at in reversed(rounds) if down else rounds:
        t = t * 0.5 + 2.0 ** (x @ y[at:at + 32].T) @ z[at:at + 32]
    same_bits(decode(rb.raw(), "fp32").reshape(100, 128), t, f"{keys} keys")
