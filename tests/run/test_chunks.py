"""test_chunks.py - rows beyond a program's registers, which are strip-mined.

With one warp and one block a program holds 4096 elements of four bytes, so the rows here need not be long. One case has
rows for all blocks of a cluster.
"""
import numpy as np

import test_norms as norms
from case import U, case, close, example, same_bits
from fsc import Error
from test_losses import Shape, run_cross_entropy
from test_softmax import judge, launch, reference, special_rows

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
    """The last loop reads each chunk before it writes it."""
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
    """Integers to the bit; NaN rows, rows with a NaN, rows of -0: what a loop begins with is seen by nobody."""
    rng = np.random.default_rng(n)
    x = rng.integers(-2 ** 31, 2 ** 31, (3, n)).astype(np.int32)
    x[1] //= 2
    x[1] += 2 ** 20
    z = rng.integers(-9, 10, (3, n)).astype(np.float32)
    z[0] = np.nan
    z[1, 4099] = np.nan
    z[2] = -0.0
    xb, zb, r, s = bench.buffer("i32", x.size,
                                x.ravel()), bench.buffer("fp32", z.size,
                                                         z.ravel()), bench.buffer("i64", 24,
                                                                                  np.full(24, 7)), bench.buffer("fp32",
                                                                                                                12)
    bench.run(REDUCTIONS, r, s, xb, zb, 3, n, **ONE)
    wide = x.astype(np.int64)
    total = wide.sum(1)
    mean = np.array([int(abs(int(t)) // n * (1 if t >= 0 else -1)) for t in total])
    cols = np.arange(n)
    turned = ((wide - mean[:, None]) * (cols % 7)).sum(1)
    scaled = np.where(mean > 0, (wide * cols).sum(1), 7)
    want = np.stack([total, x.max(1), x.min(1), np.bitwise_xor.reduce(x, axis=1), x.view(np.uint32).min(1), turned,
                     scaled, mean], axis=1)
    same_bits(r.raw().reshape(3, 8), want, f"{n} integers")
    with np.errstate(invalid="ignore"):
        floats = np.stack([np.fmax.reduce(z, axis=1), np.fmin.reduce(z, axis=1), z.max(1), z.sum(1)], axis=1)
    floats[2] = -0.0
    got = s.raw().reshape(3, 4).view(np.float32)
    assert (np.isnan(got) == np.isnan(floats)).all(), got
    same_bits(np.nan_to_num(got), np.nan_to_num(floats), f"{n} floats")
    assert np.signbit(got[2]).all(), "the sign of zero"


ENDS = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n))
def f(s: *fp32, z: *fp32, n_rows: i32, n: i32, BLOCK: constexpr = 1, BEYOND: constexpr = 0.0):
    row = program_id(0)
    cols = arange(0, BLOCK)
    w = load(z + row * n + cols, mask=cols < n, other=-inf)
    store(s + row * 3, max(w, axis=0))
    u = load(z + row * n + cols, mask=cols < n, other=5.0)
    store(s + row * 3 + 1, min(u, axis=0))
    v = load(z + row * n + cols, mask=cols < n, other=BEYOND)
    store(s + row * 3 + 2, sum(v, axis=0))
"""


@case(n=[4608, 5003], beyond=[0.0, 1.0])
def chunks_beyond_the_row(bench, n, beyond):
    """What lies beyond the row counts, whether a loop goes there or not: -inf beside NaN, the least, a sum."""
    z = np.random.default_rng(n).integers(6, 10, (3, n)).astype(np.float32)
    z[0] = np.nan
    s = bench.buffer("fp32", 9)
    bench.run(ENDS, s, bench.buffer("fp32", z.size, z.ravel()), 3, n, defines={"BEYOND": beyond}, **ONE)
    sums = z.sum(1) + np.float32(beyond * (8192 - n))
    want = np.stack([np.array([-np.inf, 9, 9]), np.array([5, 5, 5]), sums], axis=1).astype(np.float32)
    same_bits(np.nan_to_num(s.read().reshape(3, 3), posinf=1, neginf=-1), np.nan_to_num(want, posinf=1, neginf=-1),
              f"{n} columns, {beyond} beyond")


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
    """What a strip-mined loop would not do the same stays whole: a store into the row that is still read,
    a turned copy of it."""
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


# ---- Rows kept in shared memory, sums below a maximum that is not known yet ------------------------------------------


@case(n=[8192, 5003], warps=[1, 4], name=["softmax.dsl", "log_softmax.dsl"])
def chunked_special(bench, n, warps, name):
    """NaN, infinities, rows of nothing but -inf: where they were. Chunks of nothing but -inf come first, between and
    last; the maximum grows late."""
    rows = special_rows(n * warps)
    rows["late"] = np.concatenate([np.full(n * warps - 5, -90.0), np.arange(5.0)])
    rows["gaps"] = np.where(np.arange(n * warps) // 1024 % 2, -np.inf, rows["wide"])
    rows["end"] = np.where(np.arange(n * warps) < 3000, -np.inf, rows["wide"])
    rows["begin"] = rows["end"][::-1]
    rows["late inf"] = np.where(np.arange(n * warps) == n * warps - 1, np.inf, 1.0)
    x = np.stack([np.float32(r).astype(np.float64) for r in rows.values()])
    got, seen = launch(bench, example(name), x, "fp32", x_stride=n * warps + 1, num_warps=warps, num_ctas=1)
    m = seen.max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        want = (reference(seen) if name == "softmax.dsl"
                else seen - m - np.log(np.exp(seen - m).sum(axis=1, keepdims=True)))
    for i, what in enumerate(rows):
        assert (np.isnan(got[i]) == np.isnan(want[i])).all(), f"{what}: NaN elsewhere than {want[i]}"
        if name == "softmax.dsl":
            judge(got[i:i + 1], seen[i:i + 1], "fp32", what)
        else:
            finite = np.isfinite(want[i])
            assert (got[i][~finite & ~np.isnan(want[i])] == want[i][~finite & ~np.isnan(want[i])]).all(), what
            close(got[i][finite], want[i][finite], 4 * U, 1e-6, what)


@case(n=[131072, 100003], dtype=["fp32", "fp16"])
def chunked_more_than_fits(bench, n, dtype):
    """What does not fit in shared memory is loaded again, by four warps."""
    x = np.random.default_rng(n).normal(0, 4, (2, n))
    got, seen = launch(bench, example("softmax.dsl"), x, dtype, x_stride=n + n % 2, num_warps=4, num_ctas=1)
    judge(got, seen, dtype, f"{n} columns of {dtype}")


AGAIN = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n))
def f(y: *fp32, s: *fp32, x: *T, stride: i32, n_rows: i32, n: i32, BLOCK: constexpr = 1, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    v = load(x + row * stride + cols, mask=cols < n, other=-inf).to(fp32)
    top = max(v, axis=0)
    near = sum(where(v > top - 1.0, 1.0, 0.0), axis=0)
    least = min(where(v > top - near, v, 0.0), axis=0)
    store(s + row * 3 + 0, top)
    store(s + row * 3 + 1, near)
    store(s + row * 3 + 2, least)
    store(y + row * n + cols, v - near, mask=cols < n)
"""


@case(n=[40000, 33001, 32768, 131072, 100000], dtype=["fp32", "fp16"], warps=[2, 4])
def chunked_again(bench, n, dtype, warps):
    """What loops find of a row that the first one has read: in shared memory, in registers, in memory. Beyond the row
    that is -inf, which all of them tell from 0; the row is below it."""
    rng, stride = np.random.default_rng(n), (n + 7) // 8 * 8
    x = (rng.integers(-4000, -2000, (2, stride)) / 64).astype(np.float32)
    xb, s, y = bench.buffer(dtype, x.size, x.ravel()), bench.buffer("fp32", 6), bench.buffer("fp32", 2 * n)
    bench.run(AGAIN, y, s, xb, stride, 2, n, defines={"T": dtype}, num_warps=warps, num_ctas=1)
    v = x[:, :n] if dtype == "fp32" else x[:, :n].astype(np.float16).astype(np.float32)
    top = v.max(1)
    near = (v > top[:, None] - 1).sum(1).astype(np.float32)
    least = np.where(v > (top - near)[:, None], v, 0).min(1)
    same_bits(s.read().reshape(2, 3), np.stack([top, near, least], axis=1), f"{n} columns of {dtype}")
    same_bits(y.read().reshape(2, n), v - near[:, None], f"{n} columns of {dtype}")


ARMS = {  # what an arm that stores nothing makes of the row: its first loop, or behind another one
    "behind": ("m = max(v, axis=0)", "m > -1000000.0", "s = sum(exp(v - m), axis=0)", "exp(v - m) / s"),
    "beside": ("t = sum(v, axis=0)", "flag > 0", "s = max(v, axis=0)", "v - t - s"),
    "first": ("t = 0.0", "flag > 0", "s = max(v, axis=0)", "v - t - s"),
}


@case(arm=list(ARMS), n=[40000, 131072])
def chunked_in_an_arm(bench, arm, n):
    """A row that the arm of an `if` reduces, with loops before and behind it."""
    before, condition, within, value = ARMS[arm]
    source = f"""
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n))
def f(y: *fp32, x: *fp32, n_rows: i32, n: i32, flag: i32, BLOCK: constexpr = 1):
    row = program_id(0)
    cols = arange(0, BLOCK)
    v = load(x + row * n + cols, mask=cols < n, other={"-inf" if arm == "behind" else 0})
    {before}
    if {condition}:
        {within}
    else:
        s = 1.0
    store(y + row * n + cols, {value}, mask=cols < n)
"""
    x = np.random.default_rng(n).integers(-9, 10, (2, n)).astype(np.float32)
    xb, y = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", x.size)
    bench.run(source, y, xb, 2, n, 1, num_warps=4, num_ctas=1)
    top, total = x.max(1, keepdims=True), x.sum(1, keepdims=True)
    e = np.exp(x.astype(np.float64) - top)
    want = {"behind": e / e.sum(1, keepdims=True), "beside": x - total - top, "first": x - top}[arm]
    close(y.read().reshape(2, n), want, 1e-5, 0, f"{n} columns, {arm}")


FORMS = {  # exponentials below a maximum, and what makes the sum of them
    "plain": "e = exp(v - m)",
    "scaled before": "w = v * 0.25; e = exp(w - max(w, axis=0))",
    "scaled behind": "e = exp((v - m) * 0.5)",
    "turned round": "e = exp((v - m) * -0.01)",
    "by a parameter": "e = exp((v - m) / scale)",
    "exp2": "e = exp2(v * 1.442695 - m * 1.442695)",
    "guarded": "e = exp(v - where(m == -inf, 0.0, m))",
    "a larger one": "e = exp(v - maximum(m, 1.5))",
}


@case(form=list(FORMS), warps=[1, 2])
def chunked_forms(bench, form, warps):
    lines = FORMS[form].replace("; ", "\n    ")
    source = f"""
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n))
def f(s: *fp32, y: *fp32, x: *fp32, n_rows: i32, n: i32, scale: fp32, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    v = load(x + program_id(0) * n + cols, mask=cols < n, other=-inf)
    m = max(v, axis=0)
    {lines}
    total = sum(e, axis=0)
    store(s + program_id(0), total)
    store(y + program_id(0) * n + cols, e / total, mask=cols < n)
"""
    n = (8192 if form == "turned round" else 8191) * warps  # behind the row's end e would be infinite
    rng = np.random.default_rng(len(form))
    x = np.float32(np.sort(rng.normal(0, 9, (3, n)), axis=1))
    x[1] = x[1][::-1]
    x[2] = rng.permutation(x[2])
    sb, yb, xb = bench.buffer("fp32", 3), bench.buffer("fp32", x.size), bench.buffer("fp32", x.size, x.ravel())
    bench.run(source, sb, yb, xb, 3, n, 3.0, num_warps=warps, num_ctas=1)
    v = x.astype(np.float64)
    m = v.max(axis=1, keepdims=True)
    scale, top = {"scaled before": (0.25, m), "scaled behind": (0.5, m), "turned round": (-0.01, m),
                  "by a parameter": (1 / 3, m), "exp2": (1.442695 * np.log(2), m),
                  "a larger one": (1, np.maximum(m, 1.5))}.get(form, (1, m))
    e = np.exp((v - top) * scale)
    rtol = (12 + 4 * np.abs((v - top) * scale).max()) * U
    close(sb.read(), e.sum(axis=1), rtol, 0, f"sums of {form}")
    close(yb.read().reshape(x.shape), e / e.sum(axis=1, keepdims=True), 2 * rtol, 2.0 ** -126, form)


@case(file=["layernorm.dsl", "add_rmsnorm.dsl"], dtype=["fp32", "fp16"], n=[8192, 9001])
def chunked_norms(bench, file, dtype, n):
    """Three loops or two; the row is kept, or two rows of which one is stored on the way."""
    got, seen = norms.run(bench, file, norms.inputs(file, 2, n, np.random.default_rng(n)), dtype, pad=n % 2, **ONE)
    norms.judge(file, got, seen, dtype, f"{dtype} of {n} in chunks")


@case(n=[8192, 5003], smoothing=[0.0, 0.25])
def chunked_cross_entropy(bench, n, smoothing):
    """A loop that stands in an arm of `if`, before the one that every row takes."""
    run_cross_entropy(bench, Shape("fp32", 3, n, 1, 1), smoothing, False, num_ctas=1)
