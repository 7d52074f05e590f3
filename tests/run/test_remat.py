"""test_remat.py - tiles that wait for a reduction elsewhere than in registers: computed once more,
or spilled to shared memory.

Programs have more elements a thread than stay in registers as fp32 (passes/schedule/remat.c); each case first sees that
its kernel is one of those. What is used on three levels is stored on each, so that what waited can be compared with the
first, bit for bit.
"""
import numpy as np

from case import U, case, close, example, must_fail, same_bits
from primitives import calls, parameters
from test_softmax import judge, launch

LEVELS = """
@kernel(grid=(n_rows,), num_warps=8)
def f(a: *fp32, b: *fp32, c: *fp32, x: *T, n_rows: i32, n: i32, N: constexpr = 16384, T: dtype = fp16):
    row = program_id(0)
    i = arange(0, N)
    mask = i < n
    at = row * n + i
    v = load(x + at, mask=mask, other=0).to(fp32)
    e = exp(v * 0.125 - max(v, axis=0) * 0.125)
    s = sum(where(mask, e, 0.0), axis=0)
    t = sum(where(v > 0.0, e, v) * (s - s + 1.0), axis=0)
    store(a + at, e, mask=mask)
    store(b + at, e + (s - s), mask=mask)
    store(c + at, where(i % 2 == 0, e, v) + (t - t), mask=mask)
"""


def run_levels(bench, dtype, n, block=16384, warps=8, rows=2):
    source = LEVELS.replace("num_warps=8", f"num_warps={warps}")
    x = np.random.default_rng(n).integers(-40, 41, (rows, n)).astype(np.float64)
    xb = bench.buffer(dtype, rows * n, x)
    a, b, c = (bench.buffer("fp32", rows * n) for _ in range(3))
    options = {"defines": {"N": block}, "types": {"T": dtype}}
    for arch in ("sm_80", "emu"):
        called = calls(source, [a, b, c, xb, rows, n], parameters(source), arch, **options)
        assert "zero" in called, f"{arch}: {dtype} {block}: nothing is computed once more: {sorted(called)}"
    bench.run(source, a, b, c, xb, rows, n, **options)
    e = np.exp((x - x.max(axis=1, keepdims=True)) / 8)
    first = a.read().reshape(rows, n)
    close(first, e, 4 * U, 2.0 ** -126, f"{dtype} {n}: e")
    same_bits(np.float32(b.read().reshape(rows, n)), np.float32(first), f"{dtype} {n}: e behind its sum")
    want = np.where(np.arange(n) % 2 == 0, first, x)
    same_bits(np.float32(c.read().reshape(rows, n)), np.float32(want), f"{dtype} {n}: e and v behind two sums")


@case(dtype=["fp16", "bf16", "i8", "i16"], n=[16384, 16383, 10001])
def remat_levels(bench, dtype, n):
    run_levels(bench, dtype, n)


@case(dtype=["fp16"], n=[32768, 20001])
def remat_blocks(bench, dtype, n):
    """Reductions go through the shared memory of two blocks, where there are clusters."""
    run_levels(bench, dtype, n, 32768)


@case(dtype=["fp16", "bf16"], n=[8193, 9216, 16384])
def remat_softmax(bench, dtype, n):
    rng = np.random.default_rng(n)
    for xs, ys, offset in ((n, n, 0), (n + 3, n + 16 - n % 16, 1)):
        got, seen = launch(bench, example("softmax.dsl"), 4 * rng.standard_normal((2, n)), dtype, x_stride=xs,
                           y_stride=ys, offset=offset)
        judge(got, seen, dtype, f"softmax {dtype} {n} strides {xs} {ys} offset {offset}")


@case(n=[16384])
def remat_special(bench, n):
    """Infinities and NaN come out as they do without copies."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal((4, n))
    x[0, 17], x[1, n - 1], x[2, 5], x[3, :] = np.nan, -np.inf, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        got, seen = launch(bench, example("softmax.dsl"), x, "fp16")
    judge(got[1:2], seen[1:2], "fp16", "softmax with -inf")
    assert np.isnan(got[3]).all() and np.isnan(got[2]).any() and np.isnan(got[0, 17]), "NaN is lost"


EXTREMES = """
@kernel(grid=(n_rows,), num_warps=1)
def f(y: *fp32, x: *T, n_rows: i32, n: i32, N: constexpr = 256, T: dtype = fp16):
    i = arange(0, N)
    v = load(x + program_id(0) * n + i, mask=i < n, other=OTHER).to(fp32)
    store(y + 2 * program_id(0), max(v, axis=0))
    store(y + 2 * program_id(0) + 1, min(v, axis=0))
"""


@case(dtype=["fp16", "bf16"], n=[256, 255, 131])
def extremes_of_words(bench, dtype, n):
    """Packed elements are compared as they lie: signs of zero, infinities, subnormals, a NaN that loses,
    nothing but NaN."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal((8, n))
    x[1] = rng.choice([0.0, -0.0], n)
    x[2, ::3], x[2, 1::3], x[3, :], x[4, n // 2] = np.nan, -np.inf, np.nan, np.inf
    x[5] = rng.integers(-9, 10, n) * 2.0 ** -24
    x[6, : n - 1], x[7, 1:] = -1e4, 1e4
    for other in ("-inf", "3.0"):
        xb, y = bench.buffer(dtype, 8 * n, x), bench.buffer("fp32", 16)
        bench.run(EXTREMES.replace("OTHER", other), y, xb, 8, n, types={"T": dtype})
        seen = np.full((8, 256), float(other))
        seen[:, :n] = xb.read().reshape(8, n)
        want = np.stack([np.fmax.reduce(seen, axis=1), np.fmin.reduce(seen, axis=1)], axis=1)
        got = y.read().reshape(8, 2)
        close(got, want, 0.0, 0.0, f"{dtype} {n} other {other}")
        has = np.array([np.signbit(got[1, k]) for k in (0, 1)])
        zeros = seen[1][seen[1] == 0]
        if other == "-inf" and n == 256:
            assert (has == [np.signbit(zeros).all(), np.signbit(zeros).any()]).all(), f"{dtype}: the sign of zero"


@case()
def remat_checks_can_fail(bench):
    """Rows of fp32, and programs of four warps, of which a multiprocessor holds enough,
    are none of those that the cases above are for."""
    must_fail(lambda: run_levels(bench, "fp32", 16384), "computed once more")
    must_fail(lambda: run_levels(bench, "fp16", 8192, 8192, 4), "computed once more")
