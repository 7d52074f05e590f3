"""test_columns.py - reductions that leave several results in a thread: down the columns of tiles,
over many warps and blocks.

In one round or in two, as the compiler counts: shapes on both sides, integers whose bits tell,
columns of NaN and infinities.
"""
from types import SimpleNamespace

import numpy as np

from case import U, ULP, case, close, example, must_fail, same_bits
from rows import launch
from test_rows import KERNELS, LEAST, judge, softmax
from test_softmax import special_rows

# rows, columns, warps, blocks of a cluster: one warp to 16, columns of one thread and of many, more columns than lanes
SHAPES = [(64, 4, 1, 1), (256, 16, 4, 1), (1024, 16, 16, 1), (2048, 8, 16, 1), (512, 64, 8, 1), (64, 256, 8, 1),
          (1024, 16, 8, 4), (4096, 8, 16, 2), (2048, 16, 4, 16), (128, 128, 4, 4), (32, 16, 16, 2)]


@case(shape=SHAPES, odd=[0, 3])
def columns_integers(bench, shape, odd):
    """Sum, minimum and XOR of what lies within a mask; the sum also over the middle axis of three."""
    rows, cols, warps, blocks = shape
    source = """
@kernel(grid=(1,))
def f(y: *i32, x: *i32, n: i32, c: i32, R: constexpr, C: constexpr):
    i = arange(0, R)[:, None]
    j = arange(0, C)[None, :]
    at = arange(0, C)
    v = load(x + i * c + j, mask=(i < n) & (j < c), other=0)
    store(y + at, sum(v, axis=0))
    store(y + C + at, min(v, axis=0))
    store(y + 2 * C + at, xor_sum(v, axis=0))
    u = sum(v.reshape(2, R // 4, 2 * C), axis=1)
    store(y + 3 * C + arange(0, 4 * C), u.reshape(4 * C))
"""
    n, c = rows - 5 * odd, cols - odd
    x = np.random.default_rng(rows + cols).integers(-2 ** 31, 2 ** 31, (n, c)).astype(np.int32)
    y, xb = bench.buffer("i32", 7 * cols), bench.buffer("i32", x.size, x.ravel())
    bench.run(source, y, xb, n, c, defines={"R": rows, "C": cols}, num_warps=warps, num_ctas=blocks)
    tile = np.zeros((rows, cols), np.int32)
    tile[:n, :c] = x
    three = tile.reshape(2, rows // 4, 2 * cols).sum(axis=1, dtype=np.int32)
    same_bits(y.raw(), np.concatenate([tile.sum(axis=0, dtype=np.int32), tile.min(axis=0),
                                       np.bitwise_xor.reduce(tile, axis=0), three.ravel()]), "columns")


@case(shape=[s for s in SHAPES if s[0] > 64], dtype=["fp32", "fp16", "fp64"], nan=[False, True])
def columns_floats(bench, shape, dtype, nan):
    """Maxima with NaN passed on and passed over, sums, and what an index of the largest says of ties."""
    rows, cols, warps, blocks = shape
    source = """
@kernel(grid=(1,))
def f(y: *T, p: *i32, x: *T, R: constexpr, C: constexpr, FIRST: constexpr, T: dtype):
    at = arange(0, C)
    v = load(x + arange(0, R)[:, None] * C + at[None, :])
    store(y + at, max(v, axis=0))
    store(y + C + at, max(v, axis=0, propagate_nan=True))
    store(y + 2 * C + at, sum(v, axis=0))
    if FIRST:
        store(p + at, argmax(v, axis=0))
"""
    x = np.random.default_rng(rows).integers(-40, 40, (rows, cols)).astype(np.float64)
    x[rows // 3, 0], x[:, 1], x[rows - 1, 2] = np.inf, -np.inf, -np.inf
    if nan: x[rows // 2, ::3] = np.nan
    first = not nan and warps * blocks * cols < 512
    y, p = bench.buffer(dtype, 3 * cols), bench.buffer("i32", cols)
    bench.run(source, y, p, bench.buffer(dtype, x.size, x.ravel()), defines={"R": rows, "C": cols, "FIRST": first},
              types={"T": dtype}, num_warps=warps, num_ctas=blocks)
    got = np.asarray(y.read(), np.float64).reshape(3, cols)
    with np.errstate(invalid="ignore"):
        close(got, np.stack([np.fmax.reduce(x, axis=0), x.max(axis=0), x.sum(axis=0)]),
              rows * ULP[dtype] if dtype == "fp16" else 0, what="columns")
    if first: same_bits(p.raw(), x.argmax(axis=0).astype(np.int32), "first of the largest")


@case(shape=SHAPES, scale=["", " * 0.5"])
def columns_pairs(bench, shape, scale):
    """Maxima and sums of exponentials below them, exchanged together where a thread has many;
    each column with something special."""
    rows, cols, warps, blocks = shape
    source = f"""
@kernel(grid=(1,))
def f(y: *fp32, l: *fp32, x: *fp32, n: i32, R: constexpr, C: constexpr):
    i = arange(0, R)[:, None]
    at = i * C + arange(0, C)[None, :]
    v = load(x + at, mask=i < n, other=-inf){scale}
    m = max(v, axis=0, keep_dims=True)
    e = exp(v - m)
    s = sum(e, axis=0, keep_dims=True)
    store(y + at, e / s, mask=i < n)
    store(l + arange(0, C), (log(s) + m).reshape(C))
"""
    n = rows - 5
    special = list(special_rows(n).values())
    x = np.stack([special[k % len(special)] if k < 2 * len(special) else np.random.default_rng(k).normal(0, 5, n)
                  for k in range(cols)], axis=1)
    x = np.float32(x)
    y, l = bench.buffer("fp32", x.size), bench.buffer("fp32", cols)
    bench.run(source, y, l, bench.buffer("fp32", x.size, x.ravel()), n, defines={"R": rows, "C": cols}, num_warps=warps,
              num_ctas=blocks)
    z = x.astype(np.float64) * (0.5 if scale else 1)
    want, rtol = softmax(z, axis=0)
    got = y.read().reshape(n, cols)
    close(got, want, rtol + U * np.sqrt(n), LEAST["fp32"], "softmax down columns")  # the CPU sums one by one
    with np.errstate(invalid="ignore", divide="ignore"):
        top = z.max(axis=0)
        close(l.read(), np.where(np.isinf(top) & (top < 0), np.nan, np.log(np.exp(z - top).sum(axis=0)) + top), 8 * U,
              1e-6 + U * np.sqrt(n), "logarithm of the sum")


@case(config=[("fp32", 4096, 8, 8, 4), ("bf16", 4096, 16, 8, 8), ("fp16", 2048, 16, 16, 1)])
def columns_example(bench, config):
    """softmax_columns.dsl in two rounds, and that its judge sees a sum that lost a term's factor."""
    dtype, rows, cols, warps, blocks = config
    options = dict(defines={"COLS": cols, "ROWS": rows, "WHOLE": True, "EACH": 0}, num_warps=warps, num_ctas=blocks)
    x = np.random.default_rng(rows).normal(0, 4, (rows - 3, cols + 1))
    v = {"x": x, "n_rows": rows - 3, "n_cols": cols + 1}
    kernel = KERNELS["softmax_columns.dsl"]

    def judged(source):
        got, a = launch(bench, source, v, {"T": dtype}, **options)
        judge(kernel, got, a, dtype, f"{dtype} in {blocks} blocks of {warps} warps")

    source = example("softmax_columns.dsl").decode()
    judged(source)
    if dtype == "fp32":
        must_fail(lambda: judged(source.replace("e / sum(e,", "e / sum(e * (rows > 0),")),
                  "a sum without its first row")


@case(config=[("fp32", 100, 70), ("fp32", 900, 100), ("fp32", 1000, 65), ("fp32", 2100, 36), ("fp32", 4100, 35),
              ("fp16", 100, 129), ("bf16", 1500, 72), ("fp16", 300, 33), ("bf16", 2100, 33), ("fp16", 9000, 17),
              ("fp16", 9000, 48), ("bf16", 16384, 40), ("bf16", 20001, 24), ("fp32", 33000, 9), ("bf16", 40000, 40)])
def columns_by_rule(bench, config):
    """softmax_columns.dsl as its launch rule has it: strips of each width, in one block and in clusters."""
    dtype, rows, cols = config
    v = {"x": np.random.default_rng(cols).normal(0, 4, (rows, cols)), "n_rows": rows, "n_cols": cols}
    got, a = launch(bench, example("softmax_columns.dsl").decode(), v, {"T": dtype})
    judge(KERNELS["softmax_columns.dsl"], got, a, dtype, f"{rows} x {cols} of {dtype}")


# dtype, rows, columns, those of a strip, those that it shares with the next one: a sector
OVERLAPPING = [("fp32", 203, 77, 32, 8), ("bf16", 300, 129, 64, 16), ("fp16", 130, 50, 32, 16), ("fp32", 257, 8, 16, 8),
               ("fp32", 1100, 24, 32, 8)]


def overlapping(config, whole):
    dtype, rows, cols, width, shear = config
    x = np.random.default_rng(rows).normal(0, 4, (rows, cols))
    defines = {"ROWS": 1 << (rows - 1).bit_length(), "COLS": width, "SHEAR": shear, "WHOLE": whole, "EACH": 0}
    return {"x": x, "n_rows": rows, "n_cols": cols}, {"defines": defines, "num_warps": 4, "num_ctas": 2 if whole else 1}


@case(config=OVERLAPPING, whole=[True, False], pad=[0, 3])
def columns_overlapping(bench, config, whole, pad):
    """Strips that overlap by a sector and store whole ones: each element once, wherever its row begins."""
    v, options = overlapping(config, whole)
    kernel = KERNELS["softmax_columns.dsl"]

    def judged(source):
        got, a = launch(bench, source, v, {"T": config[0]}, pad=pad, **options)
        judge(kernel, got, a, config[0], f"strips of {config[3]} that overlap, of {config[:3]}, {pad} between rows")

    source = example("softmax_columns.dsl").decode()
    judged(source)
    if pad == 0 and whole and config == OVERLAPPING[0]:
        must_fail(lambda: judged(source.replace("mask=mask, other", "mask=mask & (places >= SHEAR), other")),
                  "strips that do not read what they share")


@case(wide=["x", "y"])
def columns_of_other_strides(bench, wide):
    """Sectors are those of y, wherever x has its rows."""
    rows, cols = 203, 77
    stride = {"x": cols, "y": cols, wide: cols + 3}
    x = np.full((rows, stride["x"]), 7.0)
    x[:, :cols] = np.random.default_rng(1).normal(0, 4, (rows, cols))
    xb, yb = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", rows * stride["y"])
    before = yb.raw().reshape(rows, stride["y"])
    options = overlapping(OVERLAPPING[0], True)[1]
    bench.run(example("softmax_columns.dsl"), yb, xb, stride["y"], stride["x"], rows, cols, types={"T": "fp32"},
              **options)
    y = np.float64(yb.read()).reshape(rows, stride["y"])
    same_bits(yb.raw().reshape(rows, stride["y"])[:, cols:], before[:, cols:], "between the rows")
    seen = SimpleNamespace(x=np.float64(np.float32(x[:, :cols])), T="fp32")
    judge(KERNELS["softmax_columns.dsl"], {"y": y[:, :cols]}, seen, "fp32", f"{wide} has longer rows")


@case(config=[("fp32", 300, 77), ("bf16", 1030, 65), ("fp16", 300, 33)])
def columns_in_place(bench, config):
    """y is x, by the launch rule: no strip reads what another one stores."""
    dtype, rows, cols = config
    b = bench.buffer(dtype, rows * cols, np.random.default_rng(rows).normal(0, 4, rows * cols))
    x = np.float64(b.read()).reshape(rows, cols)
    bench.run(example("softmax_columns.dsl"), b, b, cols, cols, rows, cols, types={"T": dtype})
    y = np.float64(b.read()).reshape(rows, cols)
    judge(KERNELS["softmax_columns.dsl"], {"y": y}, SimpleNamespace(x=x, T=dtype), dtype, "in place")
