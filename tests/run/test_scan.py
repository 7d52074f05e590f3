"""Scans and reductions by any combine function, argmax and its kin: in order along the axis, whatever the layout."""
import numpy as np

from case import U, ULP, case, close, example, same_bits
from fsc import DTYPES, decode, encode
from sweep import FLOATS, INTS, seen, sweep

ROW = """
@kernel(grid=(1,), B=next_power_of_2(n))
def f(y: *R, x: *T, n: i32, B: constexpr = 128, REV: constexpr = False, T: dtype = fp32, R: dtype = fp32):
    i = arange(0, B)
    v = {scan}(load(x + i, mask=i < n, other={other}), 0, reverse=REV)
    store(y + i, v, mask=i < n)
"""

SIZES = [1, 2, 31, 33, 129, 781, 1025]


def is_float(dtype):
    return dtype.startswith("fp") or dtype == "bf16"


def numbers(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    if is_float(dtype):
        return decode(encode(rng.standard_normal(shape), dtype), dtype)
    info = np.iinfo(DTYPES[dtype][1])
    return rng.integers(info.min, info.max, shape, DTYPES[dtype][1], endpoint=True)


def scanned(function, x, axis, reverse):
    x = np.flip(x, axis) if reverse else x
    y = function(x, axis=axis, dtype=x.dtype if x.dtype.kind != "f" else np.float64)
    return np.flip(y, axis) if reverse else y


def bound_of(x, axis, reverse, dtype, want):
    """In fp32 (fp64): at most n roundings of partial sums, each of at most the sum of magnitudes;
    then one to the type."""
    u = 2.0 ** -53 if dtype == "fp64" else U
    half = ULP[dtype] / 2 * np.abs(want) if dtype in ("fp16", "bf16") else 0
    depth = 2 * np.log2(x.shape[axis] + 1) + 40
    return depth * u * scanned(np.cumsum, np.abs(x), axis, reverse) + half * (1 + 2.0 ** -10)


def cumsum_row(bench, dtype, n, reverse, warps=None):
    x = numbers(dtype, n)
    result = {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}.get(dtype, dtype)
    xb, yb = bench.buffer(dtype, n, x), bench.buffer(result, n)
    options = {"num_warps": warps} if warps else {}
    bench.run(ROW.format(scan="cumsum", other="0"), yb, xb, n, defines={"REV": reverse},
              types={"T": dtype, "R": result}, **options)
    if is_float(dtype):
        want = scanned(np.cumsum, x, 0, reverse)
        close(yb.read(), want, 0, bound_of(x, 0, reverse, dtype, want), f"cumsum of {n} {dtype}")
    else:
        same_bits(yb.raw(), scanned(np.cumsum, x.astype(DTYPES[result][1]), 0, reverse), f"cumsum of {n} {dtype}")


@case(dtype=["fp32", "i32", "fp16", "bf16"], n=SIZES, reverse=[False, True])
def cumsum(bench, dtype, n, reverse):
    cumsum_row(bench, dtype, n, reverse)


@case(dtype=["fp64", "i8", "i16", "i64", "u8", "u16", "u32", "u64"], n=[33, 781], reverse=[False, True])
def cumsum_types(bench, dtype, n, reverse):
    cumsum_row(bench, dtype, n, reverse)


@case(warps=[1, 4, 8], n=[1, 129, 2047, 4097], reverse=[False, True])
def cumsum_warps(bench, warps, n, reverse):
    cumsum_row(bench, "i32", n, reverse, warps)


@case(slow=True, n=[65537], reverse=[False, True])
def cumsum_long(bench, n, reverse):
    cumsum_row(bench, "fp32", n, reverse)


@case(dtype=["fp32", "i32", "fp64"], n=[2, 33, 130], reverse=[False, True])
def cumprod(bench, dtype, n, reverse):
    x = 1 + numbers(dtype, n) / 64 if is_float(dtype) else numbers(dtype, n) | 1
    x = decode(encode(x, dtype), dtype)
    xb, yb = bench.buffer(dtype, n, x), bench.buffer(dtype, n)
    bench.run(ROW.format(scan="cumprod", other="1"), yb, xb, n, defines={"REV": reverse},
              types={"T": dtype, "R": dtype})
    want = scanned(np.cumprod, x, 0, reverse)
    if is_float(dtype):
        close(yb.read(), want, 2 * n * (2.0 ** -53 if dtype == "fp64" else U), 0, f"cumprod of {n} {dtype}")
    else:
        same_bits(yb.raw(), want, f"cumprod of {n} {dtype}")


@case(n=[100, 3000])
def cumsum_dtype(bench, n):
    """dtype= says what is accumulated in, and is the result's."""
    source = ROW.replace("{scan}(", "cumsum(").replace("reverse=REV", "reverse=REV, dtype=fp32").format(other="0")
    x = numbers("fp16", n)
    xb, yb = bench.buffer("fp16", n, x), bench.buffer("fp32", n)
    bench.run(source, yb, xb, n, types={"T": "fp16", "R": "fp32"})
    want = scanned(np.cumsum, x, 0, False)
    close(yb.read(), want, 0, bound_of(x, 0, False, "fp32", want), "cumsum with dtype")


BOX = """
@jit
def affine(a, b, c, d):
    return a * c, b * c + d

@kernel(grid=(1,))
def f(p: *i32, q: *i32, x: *i32, y: *i32, AXIS: constexpr = 0, REV: constexpr = False, A: constexpr = 4,
      B: constexpr = 8, C: constexpr = 16):
    i = arange(0, A)[:, None, None] * (B * C) + arange(0, B)[None, :, None] * C + arange(0, C)[None, None, :]
    s, t = associative_scan((load(x + i), load(y + i)), AXIS, affine, reverse=REV)
    store(p + i, s)
    store(q + i, t)
"""


def affine(first, then):
    (a, b), (c, d) = first, then
    return a * c, b * c + d


def affine_scan(x, y, axis, reverse):
    """In order, one element after another: the function does not commute."""
    x, y = np.moveaxis(x, axis, 0).copy(), np.moveaxis(y, axis, 0).copy()
    order = list(range(len(x)))[::-1 if reverse else 1]
    for before, i in zip(order, order[1:]):
        with np.errstate(over="ignore"):
            x[i], y[i] = affine((x[before], y[before]), (x[i], y[i]))
    return np.moveaxis(x, 0, axis), np.moveaxis(y, 0, axis)


BOXES = [(4, 8, 16), (1, 2, 512), (64, 2, 2), (2, 256, 1), (16, 16, 8), (1, 1, 1)]


@case(axis=[0, 1, -1], shape=BOXES, reverse=[False, True], warps=[1, 4])
def scan_order(bench, axis, shape, reverse, warps):
    x, y = numbers("i32", shape, 2), numbers("i32", shape, 3)
    buffers = [bench.buffer("i32", x.size) for _ in range(2)] + [bench.buffer("i32", x.size, v.ravel()) for v in (x, y)]
    bench.run(BOX, *buffers, defines=dict(AXIS=axis, REV=reverse, A=shape[0], B=shape[1], C=shape[2]), num_warps=warps)
    want = affine_scan(x, y, axis, reverse)
    for k in range(2):
        same_bits(buffers[k].raw(), want[k].ravel(), f"value {k} of a scan over {axis} of {shape}")


REDUCE = """
@jit
def affine(a, b, c, d):
    return a * c, b * c + d

@kernel(grid=(1,))
def f(p: *i32, q: *i32, x: *i32, y: *i32, AXIS: constexpr = 0, A: constexpr = 4, B: constexpr = 8, C: constexpr = 16):
    i = arange(0, A)[:, None, None] * (B * C) + arange(0, B)[None, :, None] * C + arange(0, C)[None, None, :]
    s, t = reduce((load(x + i), load(y + i)), AXIS, affine, keep_dims=True)
    na: constexpr = 1 if AXIS is None or AXIS == 0 else A
    nb: constexpr = 1 if AXIS is None or AXIS == 1 else B
    nc: constexpr = 1 if AXIS is None or AXIS == 2 else C
    o = arange(0, na)[:, None, None] * (nb * nc) + arange(0, nb)[None, :, None] * nc + arange(0, nc)[None, None, :]
    store(p + o, s)
    store(q + o, t)
"""


def affine_reduce(x, y, axis):
    if axis is None:
        x, y, axis = x.ravel(), y.ravel(), 0
    x, y = affine_scan(x, y, axis, False)
    return np.take(x, -1, axis), np.take(y, -1, axis)


@case(axis=[0, 1, 2, None], shape=BOXES, warps=[1, 4])
def reduce_order(bench, axis, shape, warps):
    x, y = numbers("i32", shape, 2), numbers("i32", shape, 3)
    want = affine_reduce(x, y, axis)
    buffers = [bench.buffer("i32", want[0].size) for _ in range(2)] + [bench.buffer("i32", x.size, v.ravel())
                                                                       for v in (x, y)]
    bench.run(REDUCE, *buffers, defines=dict(AXIS=axis, A=shape[0], B=shape[1], C=shape[2]), num_warps=warps)
    for k in range(2):
        same_bits(buffers[k].raw(), want[k].ravel(), f"value {k} of a reduction over {axis} of {shape}")


LONG = """
@jit
def step(a, b):
    r = a
    if b != 0:
        r = b
    return r

@jit
def last(a, b):
    return step(a, b)

@kernel(grid=(1,), B=next_power_of_2(n))
def f(y: *i32, z: *i32, x: *i32, n: i32, B: constexpr = 128):
    i = arange(0, B)
    v = load(x + i, mask=i < n)
    store(y + i, associative_scan(v, 0, last), mask=i < n)
    store(z, reduce(v, 0, last))
"""


@case(n=[1, 32, 129, 781, 4097], warps=[1, 4, 8])
def branch_in_combine(bench, n, warps):
    """The last element that is not zero: a branch and a call within a combine function that does not commute."""
    rng = np.random.default_rng(n)
    x = rng.integers(-1000, 1000, n) * (rng.random(n) < 0.1)
    xb, yb, zb = bench.buffer("i32", n, x), bench.buffer("i32", n), bench.buffer("i32", 1)
    bench.run(LONG, yb, zb, xb, n, num_warps=warps)
    at = np.maximum.accumulate(np.where(x != 0, np.arange(n), -1))
    want = np.where(at >= 0, x[np.maximum(at, 0)], 0)
    same_bits(yb.raw(), want, "scan")
    same_bits(zb.raw(), want[-1:], "reduce")


ARG = """
@kernel(grid=(1,), B=next_power_of_2(n))
def f(r: *i32, v: *V, x: *T, n: i32, m: i32, M: constexpr = 4, B: constexpr = 128, NAN: constexpr = False,
      T: dtype = fp32, V: dtype = fp32):
    i = arange(0, M)[:, None]
    j = arange(0, B)[None, :]
    a = load(x + i * n + j, mask=(j < n) & (i < m), other={other})
    k = arange(0, M)
    store(r + k, arg{which}(a, 1, propagate_nan=NAN), mask=k < m)
    value, index = {which}(a, 1, return_indices=True, propagate_nan=NAN)
    store(v + k, value, mask=k < m)
    store(r + m + k, index, mask=k < m)
    store(r + 2 * m, a.arg{which}(axis=None))
"""


def arg_want(x, which, propagate):
    """The leftmost extreme; NaN loses unless it propagates; a row of NaN gives 0."""
    bad = np.isnan(x)
    if propagate:
        y = np.where(bad, np.inf if which == "max" else -np.inf, x)
        first_nan = np.argmax(bad, axis=-1)
        return np.where(bad.any(axis=-1), first_nan, (np.argmax if which == "max" else np.argmin)(y, axis=-1))
    lost = bad.all(axis=-1)
    y = np.where(bad, -np.inf if which == "max" else np.inf, x)
    extreme = (np.max if which == "max" else np.min)(y, axis=-1, keepdims=True)
    return np.where(lost, 0, np.argmax((y == extreme) & ~bad, axis=-1))


@case(which=["max", "min"], dtype=["fp32", "fp16", "bf16", "fp64", "i32", "u8", "i64"], n=[1, 32, 129, 781], m=[1, 3])
def arg_extreme(bench, which, dtype, n, m):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 40, (m, n)).astype(np.float64)  # many ties
    propagate = n == 129
    if is_float(dtype) and n > 1:
        x[rng.random((m, n)) < 0.1] = np.nan
        x[0] = np.nan if n == 32 else x[0]
    rows = 1 << (m - 1).bit_length()
    worst = {"fp16": 65504.0, "i32": 2 ** 31 - 1, "u8": 255, "i64": 2 ** 63 - 1}.get(dtype, 1e30)
    other = worst if which == "min" else -worst if is_float(dtype) else -worst - 1 if dtype != "u8" else 0
    value = {"fp16": "fp32", "bf16": "fp32", "u8": "u32"}.get(dtype, dtype)
    rb, vb, xb = bench.buffer("i32", 2 * m + 1), bench.buffer(value, m), bench.buffer(dtype, x.size, x.ravel())
    bench.run(ARG.format(which=which, other=other), rb, vb, xb, n, m, defines=dict(M=rows, NAN=propagate),
              types={"T": dtype, "V": value})
    want = arg_want(x, which, propagate)
    same_bits(rb.raw()[:2 * m], np.concatenate([want, want]), f"arg{which}")
    same_bits(vb.read(), x[np.arange(m), want].astype(vb.read().dtype), f"value of {which}")
    padded = np.full((rows, 1 << (n - 1).bit_length()), float(other))
    padded[:m, :n] = x
    same_bits(rb.raw()[2 * m:], arg_want(padded.reshape(1, -1), which, False), f"arg{which} over all")


BITS = """
@kernel(grid=(1,), B=next_power_of_2(n))
def f(y: *T, x: *T, n: i32, B: constexpr = 128, T: dtype = i32):
    v = load(x + arange(0, B), mask=arange(0, B) < n)
    store(y, xor_sum(v, 0))
    store(y + 1, reduce_or(v, 0))
    store(y + 2, tl.reduce_or(v.reshape(B, 1), axis=None))
    store(y + 3, (v > 100).reduce_or(0).to(T))
"""


@case(dtype=["i32", "u32", "i64", "i8"], n=[1, 33, 1025])
def reduced_bits(bench, dtype, n):
    x = numbers(dtype, n) & 0x55
    xb, yb = bench.buffer(dtype, n, x), bench.buffer(dtype, 4)
    bench.run(BITS, yb, xb, n, types={"T": dtype})
    either = np.bitwise_or.reduce(x)
    want = np.array([np.bitwise_xor.reduce(x), either, either, (x > 100).any()])
    same_bits(yb.raw(), want.astype(x.dtype), "xor_sum, reduce_or")


LOOP = """
@kernel(grid=(1,))
def f(y: *fp32, x: *fp32, n: i32, B: constexpr = 256):
    before = 0.0
    for start in range(0, n, B):
        i = start + arange(0, B)
        v = load(x + i, mask=i < n)
        s = cumsum(v, 0)
        store(y + i, s + before, mask=i < n)
        before += sum(v)
"""


@case(n=[1, 255, 1000], warps=[1, 4])
def scan_in_loop(bench, n, warps):
    x = numbers("fp32", n)
    xb, yb = bench.buffer("fp32", n, x), bench.buffer("fp32", n)
    bench.run(LOOP, yb, xb, n, num_warps=warps)
    want = np.cumsum(x)
    close(yb.read(), want, 0, bound_of(x, 0, False, "fp32", want), "scan in a loop")


@case(dtype=["fp32", "fp16", "bf16", "i32"], shape=[(1, 1), (3, 781), (2, 2048), (5, 4099)])
def prefix_sum_example(bench, dtype, shape):
    x = numbers(dtype, shape)
    xb, yb = bench.buffer(dtype, x.size, x.ravel()), bench.buffer(dtype, x.size)
    bench.run(example("prefix_sum.dsl"), yb, xb, *shape, types={"T": dtype, "SUM": "i32" if dtype == "i32" else "fp32"})
    want = scanned(np.cumsum, x, 1, False)
    if dtype == "i32":
        same_bits(yb.raw(), want.ravel(), "prefix_sum.dsl")
    else:
        close(yb.read(), want.ravel(), 0, bound_of(x, 1, False, dtype, want).ravel(), "prefix_sum.dsl")


@case(dtype=["fp32", "fp16", "bf16"], shape=[(1, 1), (3, 781), (7, 1025), (2, 4096)])
def argmax_example(bench, dtype, shape):
    rng = np.random.default_rng(7)
    x = rng.integers(-30, 30, shape).astype(np.float64)
    x[0, 0] = np.nan if shape[1] > 1 else x[0, 0]
    xb, yb = bench.buffer(dtype, x.size, x.ravel()), bench.buffer("i32", shape[0])
    bench.run(example("argmax.dsl"), yb, xb, *shape, types={"T": dtype})
    same_bits(yb.raw(), arg_want(x, "max", False), "argmax.dsl")


# ---- Everything at once, over warps, alignments, distances between rows, shapes and types ----------------------------

SCANS = """
@jit
def nonzero(a, b):
    return where(b != 0, b, a)

@kernel(grid=(2,))
def f(y: *T, z: *T, r: *i32, x: *T, ld: i32, A: constexpr, B: constexpr, T: dtype = fp32):
    first = program_id(0) * A
    i = first + arange(0, A)
    o = i[:, None] * ld + arange(0, B)[None, :]
    v = load(x + o)
    store(y + o, cumsum(v, 1) + associative_scan(v, 0, nonzero, reverse=True))
    store(z + o, cumprod(v, 1, reverse=True) + reduce(v, 1, nonzero, keep_dims=True))
    store(r + i, argmax(v, 1) * 1000 + v.argmin(axis=1))
    store(r + 2 * A + program_id(0) * B + arange(0, B), xor_sum(v.to(i32), 0) + 4 * reduce_or(v.to(i32), 0))
"""
SHAPES = [(16, 32), (1, 128), (64, 2), (8, 8), (128, 1), (2, 256), (32, 16), (4, 4), (1, 1)]


def last_nonzero(x, axis):
    return affine_like(lambda a, b: np.where(b != 0, b, a), x, axis)


def affine_like(function, x, axis):
    x = np.moveaxis(x, axis, 0).copy()
    for i in range(1, len(x)):
        x[i] = function(x[i - 1], x[i])
    return np.moveaxis(x, 0, axis)


@case()
def scans_everywhere(bench):
    for config in sweep(FLOATS + INTS, SHAPES, [0]):
        rows, columns = config.block
        d, ld = config.dtype, columns + config.pad
        x = np.random.default_rng(columns).integers(0 if d[0] == "u" else -1, 2, (2, rows, ld)).astype(np.int64)
        v = x[:, :, :columns]
        xb = bench.buffer(d, x.size, x.ravel(), offset=config.offsets[0])
        yb, zb = (bench.buffer(d, x.size, offset=config.offsets[1]) for _ in "yz")
        rb = bench.buffer("i32", 2 * rows + 2 * columns)
        bench.run(SCANS, yb, zb, rb, xb, ld, defines={"A": rows, "B": columns}, types={"T": d}, num_warps=config.warps)
        last = np.flip(last_nonzero(np.flip(v, 1), 1), 1)
        y = np.cumsum(v, axis=2) + last
        z = np.flip(np.cumprod(np.flip(v, 2), axis=2), 2) + last_nonzero(v, 2)[:, :, -1:]
        for got, want in ((yb, y), (zb, z)):
            got = decode(got.raw(), d).reshape(x.shape)[:, :, :columns]
            same_bits(np.ascontiguousarray(got), seen(want, d) + 0.0 if d in FLOATS else want.astype(DTYPES[d][1]),
                      str(config))
        index = (np.argmax(v, axis=2) * 1000 + np.argmin(v, axis=2)).ravel()
        same_bits(rb.raw(),
                  np.concatenate([index, (np.bitwise_xor.reduce(v, axis=1) +
                                          4 * np.bitwise_or.reduce(v, axis=1)).ravel()]).astype(np.int32), str(config))


HISTOGRAM = """
@kernel(grid=(1,), B=next_power_of_2(n))
def f(y: *i32, z: *i32, x: *T, n: i32, BINS: constexpr = 16, B: constexpr = 128, T: dtype = i32):
    i = arange(0, B)
    v = load(x + i, mask=i < n)
    o = arange(0, BINS)
    store(y + o, histogram(v, BINS, mask=i < n))
    store(z + o, v.histogram(BINS))
"""


@case(dtype=["i32", "u8", "i64"], n=[1, 33, 781, 4097], bins=[1, 16, 256])
def histogram(bench, dtype, n, bins):
    x = np.random.default_rng(n).integers(0, min(bins + 5, 127), n)
    xb, yb, zb = bench.buffer(dtype, n, x), bench.buffer("i32", bins), bench.buffer("i32", bins)
    bench.run(HISTOGRAM, yb, zb, xb, n, defines={"BINS": bins}, types={"T": dtype})
    want = np.bincount(x, minlength=bins)[:bins]
    same_bits(yb.raw(), want.astype(np.int32), "histogram")
    want[0] += (1 << (n - 1).bit_length()) - n  # without a mask the padding counts, as 0
    same_bits(zb.raw(), want.astype(np.int32), "histogram without a mask")
