"""test_products.py - the examples that are products of matrices beside matmul.dsl (test_dot.py): 8-bit operands,
batches, groups, a K in parts. float64 is the judge; sums of small integers are exact in any order.
"""
import numpy as np

from case import U, ULP, case, close, example, must_fail, same_bits
from fsc import decode, encode
from matrix import Matrix
from test_dot import SIZES, cut


def of_real(bench, dtype, want, size, k, more=0):
    """What a sum of k products may be off by, made in fp32 and rounded to dtype; size is the sum of their amounts."""
    last = 0 if dtype == "fp32" else ULP[dtype] * np.abs(want)
    return 1.2 * (k + 2) * U * cut(bench, dtype) * size + more * U * np.abs(want) + last


def scales(bench, rng, n):
    x = np.float32(rng.uniform(0.01, 2, n))
    return bench.buffer("fp32", n, x), x.astype(float)


# ---- Operands of 8 bits ----------------------------------------------------------------------------------------------


def run_8_bits(bench, file, types, dtype, sizes, source=None, **defines):
    """Small integers: the sum is exact, so that the scales and the last rounding are all."""
    m, n, k = sizes
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    high = 8 if file == "matmul_fp8.dsl" else 127
    x, w = (Matrix(bench, t, s, rng.integers(-min(high, 4 if t == "fp8e5" else high), high // 2, s))
            for t, s in zip(types, ((m, k), (n, k))))
    (xb, xs), (wb, ws) = scales(bench, rng, m), scales(bench, rng, n)
    c = Matrix(bench, dtype, (m, n))
    named = {"T": dtype, **(dict(zip("AB", types)) if file == "matmul_fp8.dsl" else {})}
    bench.run(source or example(file), c.buffer, x.buffer, w.buffer, xb, wb, m, n, k, types=named, defines=defines)
    want = x.seen.astype(float) @ w.seen.T * xs[:, None] * ws
    close(c.read(), want, 2 * U + (0 if dtype == "fp32" else ULP[dtype] / 2 * 1.001), 2.0 ** -24, f"{file} {sizes}")


@case(types=[("fp8e4nv", "fp8e4nv"), ("fp8e5", "fp8e5"), ("fp8e4nv", "fp8e5")], dtype=["bf16", "fp32"], sizes=SIZES)
def matmul_fp8(bench, types, dtype, sizes):
    run_8_bits(bench, "matmul_fp8.dsl", types, dtype, sizes)


@case(types=[("fp8e4nv", "fp8e4nv"), ("fp8e4nv", "fp8e5")], sizes=[(130, 250, 144), (64, 128, 32)])
def matmul_fp8_fast(bench, types, sizes):
    """By four warps where a card has them; the sums are of 13 bits at most."""
    run_8_bits(bench, "matmul_fp8.dsl", types, "fp32", sizes, FAST="True", BM=64, BN=128, BK=32)


def run_blocks(bench, types, dtype, sizes, source=None, **defines):
    """Numbers of 4 bits, so that the sum of a group is exact, and sums of groups as exact as fp32."""
    m, n, k = sizes
    groups, rng = -(-k // 128), np.random.default_rng(m + 3 * n + 7 * k)
    x, w = (Matrix(bench, t, s, rng.integers(-4, 4, s)) for t, s in zip(types, ((m, k), (n, k))))
    (xb, xs), (wb, ws) = scales(bench, rng, groups * m), scales(bench, rng, -(-n // 128) * groups)
    xs, ws = xs.reshape(groups, m), ws.reshape(-1, groups)
    c = Matrix(bench, dtype, (m, n))
    bench.run(source or example("matmul_fp8_blocks.dsl"), c.buffer, x.buffer, w.buffer, xb, wb, m, n, k,
              types={"T": dtype, **dict(zip("AB", types))}, defines=defines)
    group = np.arange(k) // 128
    x64, w64 = x.seen * xs[group].T, w.seen * ws[np.arange(n)[:, None] // 128, group]
    want, size = x64 @ w64.T, np.abs(x64) @ np.abs(w64).T
    last = 0 if dtype == "fp32" else ULP[dtype] * np.abs(want)
    close(c.read(), want, 0, 1.2 * (groups + 4) * U * size + last, f"matmul_fp8_blocks {sizes} in {dtype}")


@case(types=[("fp8e4nv", "fp8e4nv"), ("fp8e5", "fp8e5"), ("fp8e4nv", "fp8e5")], dtype=["bf16", "fp32"],
      sizes=[*SIZES, (70, 257, 400)])
def matmul_fp8_blocks(bench, types, dtype, sizes):
    run_blocks(bench, types, dtype, sizes)


@case(tile=[(128, 128, 2), (64, 128, 1), (16, 32, 2), (64, 64, 2)], sizes=[(130, 390, 400), (128, 256, 512)])
def matmul_fp8_blocks_tiles(bench, tile, sizes):
    """By four warps where a card has them; 16 x 32 never."""
    run_blocks(bench, ("fp8e4nv", "fp8e4nv"), "bf16", sizes, BM=tile[0], BN=tile[1], HALVES=tile[2])


def run_imprecise(bench, source, ones, tiny, sizes=(64, 64, 32), rounds=20):
    """Sums of a large number and, round by round, of small ones that 14 bits beside it would lose."""
    m, n, k = sizes
    x, w = np.zeros((m, k * rounds)), np.ones((n, k * rounds))
    x[:, :k], x[:, k:] = ones, tiny
    xb, wb = (Matrix(bench, "fp8e4nv", a.shape, a) for a in (x, w))
    c = Matrix(bench, "fp32", (m, n))
    bench.run(source, c.buffer, xb.buffer, wb.buffer, rounds)
    return c.read(), xb.seen @ wb.seen.T


@case(most=[32, 64])
def sums_of_rounds_are_precise(bench, most):
    """max_num_imprecise_acc is of the products of a dot: what it is added to stays fp32."""
    source = f"""@kernel(grid=(1,), num_warps=4)
def f(c: *fp32[64, 64], x: *const fp8e4nv[64, 32 * rounds], w: *const fp8e4nv[64, 32 * rounds], rounds: i32):
    i, k = arange(0, 64), arange(0, 32)
    acc = zeros((64, 64), fp32)
    for r in range(0, rounds):
        at = i[:, None] * (32 * rounds) + (r * 32 + k)[None, :]
        acc = dot(load(x + at), load(w + at).T, acc, max_num_imprecise_acc={most})
    store(c + i[:, None] * 64 + i[None, :], acc)
"""
    got, want = run_imprecise(bench, source, 448, 0.0625)
    close(got, want, 0, 40 * U * want, "sums of rounds")


@case(dtype=["fp32", "bf16"], sizes=SIZES)
def matmul_int8(bench, dtype, sizes):
    run_8_bits(bench, "matmul_int8.dsl", ("i8", "i8"), dtype, sizes)


@case(file=["matmul_fp8.dsl", "matmul_int8.dsl"], tile=[(16, 16, 32), (128, 32, 64), (32, 128, 128)])
def matmul_8_tiles(bench, file, tile):
    types = ("i8", "i8") if "int8" in file else ("fp8e4nv", "fp8e4nv")
    run_8_bits(bench, file, types, "fp32", (70, 130, 140), BM=tile[0], BN=tile[1], BK=tile[2])


def run_dequantize(bench, dtype, sizes, source=None, w_type="i8", parts=0, **defines):
    m, n, k = sizes
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    x = Matrix(bench, dtype, (m, k), rng.standard_normal((m, k)))
    w = Matrix(bench, w_type, (n, k), rng.integers(-127, 128, (n, k)))
    sb, s = scales(bench, rng, n)
    c = Matrix(bench, dtype, (m, n))
    room = parts * m * n + 1000 if parts else 0
    scratch = [bench.buffer("fp32", room, np.zeros(room))] if parts else []
    fixed = {"zero": "None", **defines, **({"PARTS": parts} if parts else {"scratch": "None"})}
    bench.run(source or example("matmul_dequantize.dsl"), c.buffer, x.buffer, w.buffer, sb, *scratch, m, n, k, k, room,
              types={"T": dtype, "W": w_type}, defines=fixed)
    want, size = x.seen @ w.seen.T * s, np.abs(x.seen) @ np.abs(w.seen.astype(float)).T * s
    close(c.read(), want, 0, of_real(bench, dtype, want, size, k, 2), f"matmul_dequantize {sizes} in {dtype}")
    tiles = -(-n // 64)
    assert not parts or not scratch[0].raw().view(np.uint32)[-tiles:].any(), "counts are not 0 again"


@case(dtype=["bf16", "fp32"], sizes=SIZES)
def matmul_dequantize(bench, dtype, sizes):
    run_dequantize(bench, dtype, sizes)


@case(dtype=["bf16", "fp16"], w_type=["i8", "fp8e4nv"], parts=[2, 3, 8],
      sizes=[(1, 65, 300), (20, 100, 700), (50, 64, 33)])
def matmul_dequantize_parts(bench, dtype, w_type, parts, sizes):
    run_dequantize(bench, dtype, sizes, w_type=w_type, parts=parts)


@case(rows=[(20, 200), (200, 20)])
def matmul_dequantize_scratch(bench, rows):
    """One scratch for launches of other sizes: what the first leaves in it, the second does not count by."""
    n, k, parts = 33, 300, 4
    scratch = bench.buffer("fp32", 40000, np.zeros(40000))
    rng = np.random.default_rng(rows[0])
    for m in rows:
        x, w = (Matrix(bench, t, (r, k), rng.integers(-4, 5, (r, k))) for t, r in (("fp16", m), ("i8", n)))
        c = Matrix(bench, "fp16", (m, n))
        bench.run(example("matmul_dequantize.dsl"), c.buffer, x.buffer, w.buffer, bench.buffer("fp32", n, np.ones(n)),
                  scratch, m, n, k, k, 40000, types={"T": "fp16", "W": "i8"},
                  defines={"zero": "None", "PARTS": parts, "BM": 16, "BN": 64, "BK": 64})
        same_bits(c.read(), decode(encode(x.seen @ w.seen.T, "fp16"), "fp16").reshape(m, n), f"{m} rows")


def run_int4(bench, dtype, sizes, group, has_zero, parts=0, source=None, **defines):
    """Weights are rounded as the kernel rounds them: once, when their scale is multiplied."""
    m, n, k = sizes
    rng = np.random.default_rng(m + 5 * n + 3 * k + group)
    x = Matrix(bench, dtype, (m, k), rng.standard_normal((m, k)))
    q = rng.integers(0, 16, (n, k))
    s = Matrix(bench, dtype, (n, k // group), rng.random((n, k // group)) + 0.5)
    z = Matrix(bench, dtype, (n, k // group), rng.integers(0, 16, (n, k // group)))
    zeros = z.seen if has_zero else np.full_like(z.seen, 8)
    weights = decode(encode((q - zeros.repeat(group, 1)) * s.seen.repeat(group, 1), dtype), dtype).reshape(n, k)
    packed = bench.buffer("u8", n * k // 2, (q[:, ::2] | q[:, 1::2] << 4).ravel())
    c = Matrix(bench, dtype, (m, n))
    room = parts * m * n + 1000 if parts else 0
    optional = [z.buffer] * has_zero + [bench.buffer("fp32", room, np.zeros(room))] * (parts > 0)
    fixed = {"GROUP": group, **defines, **({} if has_zero else {"zero": "None"}),
             **({"PARTS": parts} if parts else {"scratch": "None"})}
    bench.run(source or example("matmul_dequantize.dsl"), c.buffer, x.buffer, packed, s.buffer, *optional, m, n, k,
              k // 2, room, types={"T": dtype, "W": "u8", "S": dtype}, defines=fixed)
    want, size = x.seen @ weights.T, np.abs(x.seen) @ np.abs(weights).T
    close(c.read(), want, 0, of_real(bench, dtype, want, size, k, 2), f"4 bits {sizes} {group} in {dtype}")


@case(dtype=["bf16", "fp16"], sizes=[(1, 65, 256), (20, 100, 512), (130, 200, 384)], group=[32, 64, 128],
      has_zero=[True, False], parts=[0, 3])
def matmul_int4(bench, dtype, sizes, group, has_zero, parts):
    run_int4(bench, dtype, sizes, group, has_zero, parts)


@case(tile=[(16, 16, 32), (128, 64, 32)])
def matmul_dequantize_tiles(bench, tile):
    run_dequantize(bench, "bf16", (130, 70, 100), BM=tile[0], BN=tile[1], BK=tile[2])


# ---- Batches, groups, parts ------------------------------------------------------------------------------------------


def run_batched(bench, dtype, batch, shared, sizes, source=None, warps=0, **defines):
    m, n, k = sizes
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    a, b = (Matrix(bench, dtype, (i * r, s), rng.standard_normal((i * r, s)))
            for i, r, s in ((batch, m, k), (1 if shared else batch, k, n)))
    c = Matrix(bench, dtype, (batch * m, n))
    bench.run(source or example("batched_matmul.dsl"), c.buffer, a.buffer, b.buffer, batch, 1 if shared else batch, m,
              n, k, types={"T": dtype}, num_warps=warps, defines=defines)
    x, y = a.seen.reshape(batch, m, k), b.seen.reshape(-1, k, n)
    want = x @ y
    close(c.read().reshape(want.shape), want, 0, of_real(bench, dtype, want, np.abs(x) @ np.abs(y), k),
          f"batched_matmul {batch} x {sizes} in {dtype}")


@case(dtype=["fp16", "bf16", "fp32"], batch=[1, 3], shared=[False, True], sizes=SIZES[1:])
def batched_matmul(bench, dtype, batch, shared, sizes):
    run_batched(bench, dtype, batch, shared, sizes)


def run_stream(bench, dtype, sizes, source=None, warps=0, **defines):
    """Twice with one scratch memory: the same bits, and flags are 0 again."""
    m, n, k = sizes
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    a, b = (Matrix(bench, dtype, s, rng.standard_normal(s)) for s in ((m, k), (k, n)))
    room = 1024 + defines.get("PROGRAMS", 140) * defines.get("BM", 128) * defines.get("BN", 128)
    c, scratch = Matrix(bench, dtype, (m, n)), bench.buffer("fp32", room, np.zeros(room))
    bits = []
    for _ in range(2):
        bench.run(source or example("stream_k.dsl"), c.buffer, a.buffer, b.buffer, scratch, m, n, k, room,
                  types={"T": dtype}, num_warps=warps, defines=defines)
        bits.append(c.buffer.raw().copy())
    want = a.seen @ b.seen
    close(c.read(), want, 0, of_real(bench, dtype, want, np.abs(a.seen) @ np.abs(b.seen), k),
          f"stream_k of {sizes} in {dtype}")
    assert (bits[0] == bits[1]).all(), "two launches have the same bits"
    assert not scratch.raw().view(np.uint32)[:1024].any(), "flags are 0 behind a launch"


@case(dtype=["fp16", "bf16", "fp32"], sizes=[(20, 33, 400), (1, 70, 45), (130, 129, 200), (64, 64, 16)])
def stream_k(bench, dtype, sizes):
    run_stream(bench, dtype, sizes)


@case(programs=[1, 2, 3, 5, 8, 13], tile=[(16, 16, 16, 1), (64, 64, 32, 4)], k=[16, 200, 333])
def stream_k_parts(bench, programs, tile, k):
    """Programs with many tiles, with parts of two, with one part in the middle of a tile."""
    for m, n in ((130, 70), (64, 64), (20, 150)):
        run_stream(bench, "fp16", (m, n, k), warps=tile[3], PROGRAMS=programs, BM=tile[0], BN=tile[1], BK=tile[2])


@case(programs=[2, 5], tile=[(128, 256, 64, 8), (128, 128, 64, 4)])
def stream_k_blocks(bench, programs, tile):
    """What a large product takes."""
    run_stream(bench, "bf16", (264, 512, 208), warps=tile[3], PROGRAMS=programs, BM=tile[0], BN=tile[1], BK=tile[2])


def run_grouped(bench, dtype, counts, n, k, source=None, warps=0, **defines):
    m, groups = sum(counts), len(counts)
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    ends = np.concatenate([[0], np.cumsum(counts)])
    x, w = (Matrix(bench, dtype, s, rng.standard_normal(s)) for s in ((m, k), (groups * k, n)))
    c, first = Matrix(bench, dtype, (m, n)), bench.buffer("i32", groups, ends[:-1])
    bench.run(source or example("grouped_matmul.dsl"), c.buffer, x.buffer, w.buffer, first, groups, m, n, k,
              types={"T": dtype}, num_warps=warps, defines=defines)
    each = [(x.seen[a:b], w.seen[i * k:(i + 1) * k]) for i, (a, b) in enumerate(zip(ends, ends[1:]))]
    want, size = (np.concatenate([f(y) @ f(z) for y, z in each]) for f in (lambda v: v, np.abs))
    close(c.read(), want, 0, of_real(bench, dtype, want, size, k), f"grouped_matmul of {counts} in {dtype}")


@case(dtype=["fp16", "bf16", "fp32"], counts=[[5], [0, 65, 1, 0, 130, 3], [64, 64], [1] * 20, [0, 0, 7]])
def grouped_matmul(bench, dtype, counts):
    run_grouped(bench, dtype, counts, 70, 45)


@case(tile=[(16, 128, 16), (128, 16, 64)])
def grouped_matmul_tiles(bench, tile):
    run_grouped(bench, "fp16", [20, 0, 150], 140, 40, BM=tile[0], BN=tile[1], BK=tile[2])


@case(tile=[(128, 256, 8), (128, 128, 4), (64, 64, 4)])
def grouped_matmul_blocks(bench, tile):
    """What many rows take; rows and columns are whole vectors."""
    run_grouped(bench, "bf16", [100, 0, 130, 7, 256], 136, 208, BM=tile[0], BN=tile[1], BK=64, warps=tile[2])


@case(tile=[(128, 256, 8), (128, 128, 4)], shared=[False, True])
def batched_matmul_blocks(bench, tile, shared):
    run_batched(bench, "bf16", 3, shared, (150, 136, 208), BM=tile[0], BN=tile[1], BK=64, warps=tile[2])


def run_split(bench, dtype, parts, sizes, source=None):
    m, n, k = sizes
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    a, b = (Matrix(bench, dtype, s, rng.standard_normal(s)) for s in ((m, k), (k, n)))
    sums, c = bench.buffer("fp32", parts * m * n), bench.buffer("fp32", m * n)
    bench.run(source or example("split_k.dsl"), sums, a.buffer, b.buffer, parts, m, n, k, types={"T": dtype})
    bench.run(example("column_sum.dsl"), c, sums, m * n, parts, m * n, types={"T": "fp32"})
    want, size = a.seen @ b.seen, np.abs(a.seen) @ np.abs(b.seen)
    bound = of_real(bench, "fp32", want, size, k + parts) * cut(bench, dtype)
    close(decode(c.raw(), "fp32").reshape(m, n), want, 0, bound,
          f"split_k {sizes} in {dtype}, {parts} parts")
    return sums.raw()


@case(dtype=["fp16", "bf16", "fp32"], parts=[1, 3, 8], sizes=[(20, 30, 500), (65, 70, 33), (1, 1, 1000), (16, 16, 0)])
def split_k(bench, dtype, parts, sizes):
    same_bits(run_split(bench, dtype, parts, sizes), run_split(bench, dtype, parts, sizes), "once more")


# ---- Planted mistakes ------------------------------------------------------------------------------------------------


@case()
def products_of_examples_can_fail(bench):
    """Kernels with one mistake each."""

    def planted(file, run, *mistakes):
        text = example(file).decode()
        for right, wrong in mistakes:
            assert right in text, right
            must_fail(lambda: run(text.replace(right, wrong)), wrong)

    planted("matmul_fp8.dsl",
            lambda s: run_8_bits(bench, "matmul_fp8.dsl", ("fp8e4nv", "fp8e4nv"), "fp32", (70, 65, 533), s),
            ("load((n, k)).T, acc,", "load((n, k)).T,"), ("x_scale + rows", "x_scale + rows // 2"))
    planted("matmul_fp8_blocks.dsl",
            lambda s: run_blocks(bench, ("fp8e4nv", "fp8e4nv"), "fp32", (70, 165, 333), s, BN=64, HALVES=2),
            ("x_scale + group * M + m", "x_scale + m"), ("first // 128 *", "0 *"),
            ("return acc + ", "return acc * 0 + "), ("first + BN, group", "first, group"))
    planted("matmul_int8.dsl", lambda s: run_8_bits(bench, "matmul_int8.dsl", ("i8", "i8"), "fp32", (70, 65, 33), s),
            ("range(0, K, BK)", "range(0, K - BK, BK)"), ("w_scale + columns", "w_scale + columns // 2"))
    planted("matmul_dequantize.dsl", lambda s: run_dequantize(bench, "fp32", (20, 65, 70), s),
            ("dot(q, a.T, acc,", "dot(q, a.T,"), ("acc *= load(scale + n", "acc += load(scale + n"))
    planted("matmul_dequantize.dsl", lambda s: run_int4(bench, "fp16", (20, 65, 512), 64, True, 3, s),
            ("interleave(b & 15, b >> 4)", "interleave(b >> 4, b & 15)"), ("start // GROUP\n", "start // GROUP // 2\n"),
            ("for i in static_range(PARTS)", "for i in static_range(PARTS - 1)"), ("- z[:, None]", "- 0 * z[:, None]"))
    planted("batched_matmul.dsl", lambda s: run_batched(bench, "fp32", 3, False, (20, 65, 70), s),
            ("i if b_batch > 1 else 0", "0"), ("(M, K), (K, 1)", "(M, K - 1), (K, 1)"))
    planted("grouped_matmul.dsl", lambda s: run_grouped(bench, "fp32", [30, 0, 70, 5], 70, 345, s),
            ("g * K + k", "k"), ("dot(a, b, acc,", "dot(a, b,"), ("K if row < end", "K - BK if row < end"))
    planted("stream_k.dsl", lambda s: run_stream(bench, "fp32", (40, 50, 100), s, PROGRAMS=5, BM=16, BN=16, BK=16),
            ("load(sums + other", "load(sums + program"), ("acc += load(sums", "acc = load(sums"),
            ("dot(x, y, acc,", "dot(x, y,"))
    planted("split_k.dsl", lambda s: run_split(bench, "fp32", 3, (20, 30, 800), s),
            ("min(K, (part + 1) * step)", "K"), ("cdiv(cdiv(K, BK), n_parts)", "(cdiv(K, BK) // n_parts)"))
