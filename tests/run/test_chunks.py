"""test_chunks.py - rows beyond a program's registers, which are walked in chunks.

With one warp and one block a program holds 4096 elements of four bytes, so the rows here need not be long. One case has rows
for all blocks of a cluster.
"""
import numpy as np

from case import case, example, same_bits
from fsc import Error
from test_softmax import judge, launch

ONE = {"num_warps": 1, "num_ctas": 1}


@case(n=[4097, 5003, 8192, 20011], dtype=["fp32", "fp16"], name=["softmax.dsl", "softmax_persistent.dsl"])
def chunked_softmax(bench, n, dtype, name):
    x = np.random.default_rng(n).normal(0, 4, (3, n))
    got, seen = launch(bench, example(name), x, dtype, x_stride=n + 1, y_stride=n + 3, file=name, **ONE)
    judge(got, seen, dtype, f"{name}, {n} columns")


@case()
def chunked_over_a_cluster(bench):
    x = np.random.default_rng(1).normal(0, 4, (2, 70001))
    got, seen = launch(bench, example("softmax.dsl"), x, "fp32", num_warps=1)
    judge(got, seen, "fp32", "70001 columns, one warp a block")


@case(n=[5003, 8192])
def chunked_in_place(bench, n):
    """The last walk reads each chunk before it writes it."""
    x = np.random.default_rng(n).normal(0, 4, (3, n)).astype(np.float32)
    b = bench.buffer("fp32", x.size, x.ravel())
    bench.run(example("softmax.dsl"), b, b, n, n, 3, n, **ONE)
    judge(b.read().reshape(x.shape), x.astype(np.float64), "fp32", f"in place, {n} columns")


REDUCTIONS = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n))
def f(r: *i64, s: *fp32, x: *i32, z: *fp32, n_rows: i32, n: i32, BLOCK: constexpr = 1):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n
    v = load(x + row * n + cols, mask=mask, other=0)
    store(r + row * 8 + 0, sum(v.to(i64), axis=0))
    store(r + row * 8 + 1, max(where(mask, v, -2147483648), axis=0))
    store(r + row * 8 + 2, min(where(mask, v, 2147483647), axis=0))
    store(r + row * 8 + 3, xor_sum(v, axis=0))
    u = load(x + row * n + cols, mask=mask, other=-1).to(u32, bitcast=True)
    store(r + row * 8 + 4, min(u, axis=0))
    mean = sum(v.to(i64), axis=0) // n
    store(r + row * 8 + 5, sum(where(mask, (v.to(i64) - mean) * (cols % 7), 0), axis=0))
    if mean > 0:
        store(r + row * 8 + 6, sum(v.to(i64) * cols, axis=0))
    store(r + row * 8 + 7, mean)
    w = load(z + row * n + cols, mask=mask, other=float("nan"))
    store(s + row * 4 + 0, max(w, axis=0))
    store(s + row * 4 + 1, min(w, axis=0))
    store(s + row * 4 + 2, max(where(mask, w, float("-inf")), axis=0, propagate_nan=True))
    store(s + row * 4 + 3, sum(where(mask, w, -0.0), axis=0))
"""


@case(n=[4100, 8191])
def chunked_reductions(bench, n):
    """Integers to the bit; NaN rows, rows with a NaN, rows of -0: what a walk begins with is seen by nobody."""
    rng = np.random.default_rng(n)
    x = rng.integers(-2 ** 31, 2 ** 31, (3, n)).astype(np.int32)
    x[1] //= 2
    x[1] += 2 ** 20
    z = rng.integers(-9, 10, (3, n)).astype(np.float32)
    z[0] = np.nan
    z[1, 4099] = np.nan
    z[2] = -0.0
    xb, zb, r, s = bench.buffer("i32", x.size, x.ravel()), bench.buffer("fp32", z.size, z.ravel()), bench.buffer("i64", 24, np.full(24, 7)), bench.buffer("fp32", 12)
    bench.run(REDUCTIONS, r, s, xb, zb, 3, n, **ONE)
    wide = x.astype(np.int64)
    total = wide.sum(1)
    mean = np.array([int(abs(int(t)) // n * (1 if t >= 0 else -1)) for t in total])
    cols = np.arange(n)
    turned = ((wide - mean[:, None]) * (cols % 7)).sum(1)
    scaled = np.where(mean > 0, (wide * cols).sum(1), 7)
    want = np.stack([total, x.max(1), x.min(1), np.bitwise_xor.reduce(x, axis=1), x.view(np.uint32).min(1), turned, scaled, mean], axis=1)
    same_bits(r.raw().reshape(3, 8), want, f"{n} integers")
    with np.errstate(invalid="ignore"):
        floats = np.stack([np.fmax.reduce(z, axis=1), np.fmin.reduce(z, axis=1), z.max(1), z.sum(1)], axis=1)
    floats[2] = -0.0
    got = s.raw().reshape(3, 4).view(np.float32)
    assert (np.isnan(got) == np.isnan(floats)).all(), got
    same_bits(np.nan_to_num(got), np.nan_to_num(floats), f"{n} floats")
    assert np.signbit(got[2]).all(), "the sign of zero"


SUMS = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n))
def f(y: *fp32, total: *fp32, x: *fp32, n_rows: i32, n: i32, BLOCK: constexpr = 1):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n
    v = load(x + row * n + cols, mask=mask, other=0.0)
    t = sum(v, axis=0)
    store(total + row, t)
    u = load(x + row * n + cols, mask=mask, other=0.0)
    store(y + row * n + cols, v + u + t, mask=mask)
"""


@case(n=[5003])
def chunked_buffers_differ(bench, n):
    """The total is stored before the row is read again: nobody could tell what to read if both were one buffer."""
    x = np.random.default_rng(n).integers(-9, 10, (2, n)).astype(np.float32)
    xb, y, total = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", x.size), bench.buffer("fp32", 2)
    bench.run(SUMS, y, total, xb, 2, n, **ONE)
    same_bits(y.read().astype(np.float32).reshape(x.shape), 2 * x + x.sum(1)[:, None], "sums")
    same_bits(total.read().astype(np.float32), x.sum(1), "totals")
    if bench.device.name != "cpu":
        try:
            bench.run(SUMS, y, xb, xb, 1, n, **ONE)
            raise AssertionError("one buffer for both was accepted")
        except Error as e:
            assert "total and x to be different buffers" in str(e), e


@case(n=[5003])
def chunked_not_at_all(bench, n):
    """What a walk in chunks would not do the same stays whole: a store into the row that is still read, a turned copy of it."""
    source = """
@kernel(grid=(1,), BLOCK=next_power_of_2(n))
def f(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    mask = cols < n
    v = load(x + cols, mask=mask, other=0.0)
    store(x + n - 1 - cols, v, mask=mask)
    store(y + cols, v + cumsum(v, axis=0), mask=mask)
"""
    x = np.random.default_rng(n).integers(-9, 10, n).astype(np.float32)
    xb, y = bench.buffer("fp32", n, x), bench.buffer("fp32", n)
    bench.run(source, y, xb, n, **ONE)
    same_bits(xb.read().astype(np.float32), x[::-1], "the row, turned round")
    same_bits(y.read().astype(np.float32), x + x.cumsum(dtype=np.float64).astype(np.float32), "the row and its sums")


@case(n=[4999])
def chunked_turned(bench, n):
    """In place and turned round: every chunk would read what another has written."""
    source = """
@kernel(grid=(1,), BLOCK=next_power_of_2(n))
def f(x: *fp32, n: i32, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    v = load(x + cols, mask=cols < n)
    store(x + n - 1 - cols, v + max(where(cols < n, v, -100.0), axis=0), mask=cols < n)
"""
    x = np.random.default_rng(n).integers(-9, 10, n).astype(np.float32)
    xb = bench.buffer("fp32", n, x)
    bench.run(source, xb, n, **ONE)
    same_bits(xb.read().astype(np.float32), x[::-1] + 9, "the row, turned round")
