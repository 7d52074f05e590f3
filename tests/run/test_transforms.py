"""test_transforms.py - the examples that transform rows: rotary embedding, lengths and angles, moments, moving sums,
gathered gradients, matrix times vector. Expected values are float64 formulas over what the kernel saw;
bounds are of their roundings.
"""
import numpy as np

from case import ULP, U, case, close, example, must_fail, same_bits
from matrix import SHAPES, Matrix, Shape, depth

SMALLEST = {"fp32": 2.0 ** -149, "fp16": 2.0 ** -24, "bf16": 2.0 ** -133}


def normal(shape, *sizes):
    return np.random.default_rng(shape.cols + shape.warps).standard_normal(sizes)


def rounding(dtype, want):
    """What the store may add: half an ulp of a narrow type, nothing of fp32, whose own is in the bound."""
    return 0 if dtype == "fp32" else ULP[dtype] / 2 * (1 + 2 ** -10) * np.abs(want) + SMALLEST[dtype]


def judge(got, want, bound, dtype, what):
    bound = bound + rounding(dtype, want)
    close(got, want, 0, np.where(np.isfinite(bound), bound, 0), what)


def launch(bench, file, shape, *args, source=None, defines=None, types=None):
    bench.run(source or example(file), *args, types={"T": shape.dtype, **(types or {})}, defines=defines or {},
              num_warps=shape.warps)


# ---- Lengths and angles ----------------------------------------------------------------------------------------------


def run_l2(bench, shape, x, source=None):
    xm, ym = Matrix(bench, shape.dtype, x.shape, x, shape.pad), Matrix(bench, shape.dtype, x.shape, pad=shape.pad)
    norm = bench.buffer("fp32", len(x))
    launch(bench, "l2_normalize.dsl", shape, ym.buffer, norm, xm.buffer, ym.stride, xm.stride, *x.shape, 1e-6,
           source=source)
    want_norm = np.sqrt((xm.seen ** 2).sum(axis=1))
    error = (depth(shape.cols, shape.warps) + 4) * U
    close(norm.read(), want_norm, error, 0, f"norm of {shape}")
    with np.errstate(invalid="ignore"):
        want = xm.seen / np.maximum(want_norm, float(np.float32(1e-6)))[:, None]
    judge(ym.read(), want, error * np.abs(want), shape.dtype, f"l2_normalize of {shape}")


@case(shape=SHAPES)
def l2_normalize(bench, shape):
    run_l2(bench, shape, normal(shape, shape.rows, shape.cols))


@case()
def l2_normalize_special(bench):
    x = np.tile(normal(SHAPES[3], 1, 100), (5, 1))
    x[0], x[1, 3], x[2, 5] = 0, np.nan, np.inf
    x[3] *= 1e-9  # below eps
    run_l2(bench, Shape("fp32", 5, 100, 4, 1), x)


def run_cosine(bench, shape, a, b):
    am, bm = (Matrix(bench, shape.dtype, x.shape, x, shape.pad) for x in (a, b))
    y = bench.buffer("fp32", len(a))
    launch(bench, "cosine_similarity.dsl", shape, y, am.buffer, bm.buffer, am.stride, bm.stride, *a.shape, 1e-6)
    a, b = am.seen, bm.seen
    lengths = np.sqrt((a * a).sum(axis=1)) * np.sqrt((b * b).sum(axis=1))
    scale = np.maximum(lengths, float(np.float32(1e-6)))
    with np.errstate(invalid="ignore"):
        want = (a * b).sum(axis=1) / scale
        bound = (2 * depth(shape.cols, shape.warps) + 6) * U * np.abs(a * b).sum(axis=1) / scale
    judge(y.read(), want, bound, "fp32", f"cosine of {shape}")


@case(shape=SHAPES)
def cosine_similarity(bench, shape):
    run_cosine(bench, shape, *normal(shape, 2, shape.rows, shape.cols))


@case()
def cosine_special(bench):
    a, b = normal(SHAPES[4], 2, 4, 100)
    a[0], b[1, 3], a[2] = 0, np.nan, -2 * b[2]
    run_cosine(bench, Shape("fp32", 4, 100, 4, 3), a, b)


# ---- Moments, moving sums --------------------------------------------------------------------------------------------


def run_moments(bench, shape, x, source=None, **defines):
    xm = Matrix(bench, shape.dtype, x.shape, x, shape.pad)
    mean, variance = bench.buffer("fp32", len(x)), bench.buffer("fp32", len(x))
    launch(bench, "mean_variance.dsl", shape, mean, variance, xm.buffer, xm.stride, *x.shape, source=source,
           defines=defines)
    want, steps = xm.seen.mean(axis=1), depth(shape.cols, shape.warps) + 8
    size = np.abs(want) + np.abs(xm.seen - want[:, None]).mean(axis=1)  # each merge rounds the mean once
    close(mean.read(), want, 0, np.where(np.isfinite(size), steps * U * size, 0), f"mean of {shape}")
    want_variance = xm.seen.var(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        # A mean that is far from 0 is known to its own roundings only.
        far = np.abs(want) * U * np.sqrt(steps)
        bound = steps * U * want_variance + 2 * far * np.sqrt(want_variance) + far ** 2
    close(variance.read(), want_variance, 0, np.where(np.isfinite(bound), bound, 0), f"variance of {shape}")


@case(shape=SHAPES, block=[None, 256])
def mean_variance(bench, shape, block):
    if block is None or shape.cols > 700:
        run_moments(bench, shape, 2 + 3 * normal(shape, shape.rows, shape.cols), **({"BLOCK": block} if block else {}))


@case(n=[100, 3000])
def mean_variance_far(bench, n):
    """A mean of 10⁴ times the spread, where a sum of squares has lost every digit; a constant row,
    whose variance is 0."""
    shape = Shape("fp32", 3, n, 4, 1)
    x = 1e4 + normal(shape, 3, n)
    x[1], x[2, 1] = 1e4, np.nan
    run_moments(bench, shape, x)


def run_moving(bench, shape, window, source=None, SUM="fp64", **defines):
    x = normal(shape, shape.rows, shape.cols)
    xm, ym = Matrix(bench, shape.dtype, x.shape, x, shape.pad), Matrix(bench, shape.dtype, x.shape, pad=shape.pad)
    launch(bench, "moving_sum.dsl", shape, ym.buffer, xm.buffer, ym.stride, xm.stride, *x.shape, window, source=source,
           types={"SUM": SUM}, defines=defines)
    c = np.cumsum(np.pad(xm.seen, ((0, 0), (window, 0))), axis=1)
    want = c[:, window:] - c[:, :-window]
    block = defines.get("BLOCK", 1024)
    bound = {"fp64": U * np.abs(want) + 1e-9, "fp32": 2 * depth(block, 1) * U * np.abs(x).sum(axis=1,
                                                                                              keepdims=True)}[SUM]
    judge(ym.read(), want, bound, shape.dtype, f"moving_sum of {shape}, window {window}")


@case(shape=SHAPES)
def moving_sum(bench, shape):
    run_moving(bench, shape, [30, 1, 127, 5, 64, 128, 99, 2][SHAPES.index(shape)],
               BLOCK=[1024, 128, 256][shape.cols % 3])


@case(window=[1, 700, 1025])
def moving_sum_windows(bench, window):
    run_moving(bench, Shape("fp32", 2, 1500, 4, 1), window, SUM="fp64")


@case()
def moving_sum_fp32(bench):
    run_moving(bench, Shape("fp32", 2, 500, 4, 1), 31, SUM="fp32", BLOCK=256)


# ---- Rotary embedding ------------------------------------------------------------------------------------------------


def rotate(x, c, s, interleaved):
    half = x.shape[-1] // 2
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    y = np.empty_like(x)
    p, q = (y[..., 0::2], y[..., 1::2]) if interleaved else (y[..., :half], y[..., half:])
    p[...], q[...] = a * c - b * s, b * c + a * s
    return y


def run_rotary(bench, shape, heads, half, interleaved, backward, in_place=False, source=None):
    tokens, positions = 3, 50
    rng = np.random.default_rng(half)
    x = rng.standard_normal((tokens * heads, 2 * half))
    position = rng.integers(0, positions, tokens)
    angles = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
    table = "fp32" if shape.dtype == "fp32" else shape.dtype
    cm, sm = (Matrix(bench, table, angles.shape, f(angles)) for f in (np.cos, np.sin))
    xm = Matrix(bench, shape.dtype, x.shape, x)
    ym = xm if in_place else Matrix(bench, shape.dtype, x.shape)
    launch(bench, "rotary.dsl", shape, ym.buffer, xm.buffer, cm.buffer, sm.buffer,
           bench.buffer("i32", tokens, position), tokens, heads, positions, half, source=source,
           defines={"INTERLEAVED": interleaved, "BACKWARD": backward}, types={"C": table})
    c, s = (m.seen[position][:, None, :] for m in (cm, sm))
    seen = xm.seen.reshape(tokens, heads, 2 * half)
    want = rotate(seen, c, -s if backward else s, interleaved)
    bound = 2 * U * rotate(np.abs(seen), np.abs(c), -np.abs(s), interleaved)
    bound = np.maximum(bound, 2 * U * rotate(np.abs(seen), np.abs(c), np.abs(s), interleaved))
    bound = np.maximum(bound, np.concatenate([bound[..., half:], bound[..., :half]], axis=-1))
    judge(ym.read().reshape(want.shape), want, bound * 1.5, shape.dtype,
          f"rotary of {heads} x {2 * half}, interleaved {interleaved}")


ROTARY = [(SHAPES[0], 1, 1), (SHAPES[1], 3, 31), (SHAPES[2], 8, 33), (SHAPES[3], 5, 64), (SHAPES[4], 32, 64),
          (SHAPES[5], 2, 127), (SHAPES[6], 9, 40)]


@case(sizes=ROTARY, interleaved=[False, True])
def rotary(bench, sizes, interleaved):
    run_rotary(bench, *sizes, interleaved, sizes[1] == 5)


@case(interleaved=[False, True], backward=[False, True])
def rotary_over_x(bench, interleaved, backward):
    run_rotary(bench, SHAPES[3], 6, 48, interleaved, backward, in_place=True)


# ---- Gathered gradients, matrix times vector -------------------------------------------------------------------------


def run_embedding(bench, shape, rows, source=None):
    """Quarters, whose sums are exact in any order: to the bit."""
    rng, table = np.random.default_rng(shape.cols), 7
    dy = rng.integers(-30, 30, (rows, shape.cols)) / 4
    index = rng.integers(-table, table, rows)
    index[::5] = [table, -table - 1, 10 ** 9][shape.warps % 3]  # these add nothing
    dm, dx = Matrix(bench, shape.dtype, dy.shape, dy,
                    shape.pad), Matrix(bench, "fp32", (table, shape.cols), np.ones((table, shape.cols)), 3)
    launch(bench, "embedding_backward.dsl", shape, dx.buffer, dm.buffer, bench.buffer("i32", rows, index), dx.stride,
           dm.stride, rows, table, shape.cols, source=source)
    want = np.ones((table, shape.cols))
    for i, k in enumerate(index):
        if -table <= k < table:
            want[k] += dm.seen[i]
    same_bits(dx.read().astype(np.float32), want.astype(np.float32), f"embedding_backward of {shape}")


@case(shape=SHAPES)
def embedding_backward(bench, shape):
    run_embedding(bench, shape, 21 if shape.cols < 500 else 9)


def run_matvec(bench, shape, rows, batch, source=None, **defines):
    rng = np.random.default_rng(shape.cols)
    a, x = rng.standard_normal((batch, rows, shape.cols)), rng.standard_normal((batch, shape.cols))
    am = Matrix(bench, shape.dtype, (batch * rows, shape.cols), a.reshape(-1, shape.cols), shape.pad)
    xm = Matrix(bench, shape.dtype, x.shape, x, shape.pad)
    y = bench.buffer(shape.dtype, batch * rows)
    launch(bench, "batched_matvec.dsl", shape, y, am.buffer, xm.buffer, rows * am.stride, am.stride, xm.stride, batch,
           rows, shape.cols, source=source, defines=defines)
    products = am.seen.reshape(a.shape) * xm.seen[:, None, :]
    bound = depth(shape.cols, 1) * U * np.abs(products).sum(axis=2)
    judge(y.read().reshape(batch, rows), products.sum(axis=2), bound, shape.dtype, f"matvec of {shape}")


@case(shape=SHAPES)
def batched_matvec(bench, shape):
    run_matvec(bench, shape, [1, 9, 33, 8][shape.cols % 4], 2, **({"COLS": 128} if shape.cols > 1000 else {}))


# ---- Planted mistakes ------------------------------------------------------------------------------------------------


@case()
def rows_checks_can_fail(bench):
    """Kernels with one mistake each."""
    shape = Shape("fp32", 3, 257, 4, 3)

    def planted(file, right, wrong, run):
        source = example(file).decode()
        assert right in source, right
        must_fail(lambda: run(source.replace(right, wrong)), wrong)

    def far(source):
        run_moments(bench, shape, 1e4 + normal(shape, 3, 257), source, BLOCK=128)

    planted("l2_normalize.dsl", "mask = cols < n_cols", "mask = cols <= n_cols",
            lambda s: run_l2(bench, shape, normal(shape, 3, 257), s))
    planted("mean_variance.dsl", "d * d * n_a * part", "d * d * n_a", far)
    planted("mean_variance.dsl", "where(mask, v - average, 0.0)", "v - average", far)
    planted("moving_sum.dsl", "i >= window,", "i > window,", lambda s: run_moving(bench, shape, 9, s, BLOCK=128))
    planted("moving_sum.dsl", "i - window, 0)", "i - window + 1, 0)",
            lambda s: run_moving(bench, shape, 9, s, BLOCK=128))
    for interleaved in (False, True):
        planted("rotary.dsl", "b * c + a * s", "b * c - a * s",
                lambda s: run_rotary(bench, shape, 5, 24, interleaved, False, source=s))
    planted("rotary.dsl", "load(position + token)", "token",
            lambda s: run_rotary(bench, shape, 5, 24, False, False, source=s))
    planted("embedding_backward.dsl", "k + n_table", "k + n_table - 1", lambda s: run_embedding(bench, shape, 20, s))
    planted("batched_matvec.dsl", "s +=", "s =", lambda s: run_matvec(bench, shape, 5, 2, s, COLS=128))
