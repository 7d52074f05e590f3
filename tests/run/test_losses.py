"""test_losses.py - the examples that judge rows of scores: cross-entropy with and without its gradient, log-sum-exp, KL
divergence, and the sampler. Expected values are float64 formulas over what the kernel saw.
"""
import numpy as np

from case import ULP, U, case, close, example, must_fail
from fsc import Error
from matrix import SHAPES, Matrix, Shape
from test_random import numbers, uniform

IGNORED = -100
LONG = [Shape("fp32", 2, 5000, 4, 0), Shape("bf16", 2, 2049, 8, 5)]  # more than one block


def scores(rng, shape, special):
    """Normal numbers; with `special`, rows of one NaN, one +inf, some -inf, nothing but -inf, one value,
    far from 0, one huge."""
    x = 3 * rng.standard_normal((7, shape.cols) if special else (shape.rows, shape.cols))
    if special:
        x[0, -1], x[1, 0], x[2, 1::2], x[3], x[4] = np.nan, np.inf, -np.inf, -np.inf, 0.25
        x[5] += 1e4
        x[6, shape.cols // 2] = 6e4
    return x


def log_sum_exp(x):
    m = x.max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return m, np.log(np.exp(x - np.where(m == -np.inf, 0, m)[:, None]).sum(axis=1))


def softmax_of(x):
    """Row softmax and the relative error that an fp32 kernel may have there."""
    m, log_s = log_sum_exp(x)
    with np.errstate(invalid="ignore"):
        p = np.exp(x - m[:, None] - log_s[:, None])
        distance = np.minimum(np.abs(x - m[:, None]), 120)
    return p, (12 + 2.5 * np.where(np.isfinite(distance), distance, 0)) * U


# ---- Cross-entropy ---------------------------------------------------------------------------------------------------


def cross_entropy_of(x, target, smoothing):
    m, log_s = log_sum_exp(x)
    with np.errstate(invalid="ignore"):
        is_class = (target >= 0) & (target < x.shape[1])
        x_t = np.where(is_class, x[np.arange(len(x)), np.where(is_class, target, 0)], np.nan)
        loss = log_s + (m - x_t)
        if smoothing:
            loss = (1 - smoothing) * loss + smoothing * (log_s + (m[:, None] - x).mean(axis=1))
    return np.where(target == IGNORED, 0, loss), m + log_s


def targets(rng, x, shape):
    t = rng.integers(0, shape.cols, len(x))
    t[len(x) // 2:len(x) // 2 + 1] = IGNORED if shape.cols % 2 == 0 else shape.cols - 1
    if len(x) == 7:
        t[5] = IGNORED  # and one that is no class
        t = np.append(t[:6], shape.cols)
    elif shape.cols == 31:
        t[0], t[1] = IGNORED, -1
    return t


def run_cross_entropy(bench, shape, smoothing, special, source=None, **options):
    rng = np.random.default_rng(shape.cols)
    x = scores(rng, shape, special)
    t = targets(rng, x, shape)
    xm = Matrix(bench, shape.dtype, x.shape, x, shape.pad)
    tb, loss, lse = bench.buffer("i32", len(x), t), bench.buffer("fp32", len(x)), bench.buffer("fp32", len(x))
    bench.run(source or example("cross_entropy.dsl"), loss, lse, xm.buffer, tb, xm.stride, *x.shape, IGNORED, smoothing,
              types={"T": shape.dtype}, num_warps=shape.warps, **options)
    want, want_lse = cross_entropy_of(xm.seen, t, float(np.float32(smoothing)))
    close(loss.read(), want, 1e-6, 1e-6, f"loss of {shape}")
    close(lse.read(), want_lse, 1e-6, 1e-6, f"lse of {shape}")


@case(shape=SHAPES + LONG, special=[False])
def cross_entropy(bench, shape, special):
    run_cross_entropy(bench, shape, [0.0, 0.1][shape.warps == 4], special)


@case(slow=True, rows=[2, 40], shape=[("fp32", 131073, 0), ("fp32", 262144, 0), ("fp32", 524288, 0),
                                      ("fp32", 600001, 0), ("bf16", 458753, 0), ("bf16", 524288, 0),
                                      ("bf16", 524289, 7)])
def cross_entropy_far(bench, rows, shape):
    """Rows that fill a cluster or go beyond one, of few programs and of many."""
    dtype, n, pad = shape
    few = bench.device.name == "cuda" or rows == 2
    run_cross_entropy(bench, Shape(dtype, rows if few else 5, n, 0, pad), 0.0, False)


@case(shape=[Shape("fp32", 7, 100, 4, 1), Shape("fp32", 7, 300, 1, 0)], smoothing=[0.0, 0.25])
def cross_entropy_special(bench, shape, smoothing):
    run_cross_entropy(bench, shape, smoothing, True)


def run_gradient(bench, shape, smoothing, special, source=None):
    rng = np.random.default_rng(shape.cols + 1)
    x, scale = scores(rng, shape, special), 0.75
    t = targets(rng, x, shape)
    xm = Matrix(bench, shape.dtype, x.shape, x, shape.pad)
    tb, loss = bench.buffer("i32", len(x), t), bench.buffer("fp32", len(x))
    bench.run(source or example("cross_entropy_backward.dsl"), loss, xm.buffer, tb, xm.stride, *x.shape, IGNORED,
              smoothing, scale, types={"T": shape.dtype}, num_warps=shape.warps)
    smoothing = float(np.float32(smoothing))
    want_loss, _ = cross_entropy_of(xm.seen, t, smoothing)
    close(loss.read(), want_loss, 1e-6, 1e-6, f"loss of {shape}")
    p, error = softmax_of(xm.seen)
    hot = (np.arange(shape.cols) == t[:, None]) * (1 - smoothing)
    is_class = ((t >= 0) & (t < shape.cols))[:, None]
    want = np.where((t == IGNORED)[:, None], 0, np.where(is_class, scale * (p - hot - smoothing / shape.cols), np.nan))
    bound = scale * (p * error + 4 * U * (hot + smoothing / shape.cols))
    bound = np.where(np.isfinite(bound), bound, 0) + (2 ** -24 if shape.dtype == "fp16" else 0)
    close(xm.read(), want, 0 if shape.dtype == "fp32" else ULP[shape.dtype], bound, f"gradient of {shape}")


@case(shape=SHAPES + LONG)
def cross_entropy_backward(bench, shape):
    run_gradient(bench, shape, [0.0, 0.1][shape.warps != 4], False)


@case(slow=True, shape=[Shape("bf16", 3, 50257, 0, 0), Shape("bf16", 2, 40000, 0, 0), Shape("fp32", 3, 33000, 0, 1)])
def cross_entropy_backward_wide(bench, shape):
    """Rows of several blocks, and in parts: what is read of x[i, t] is what was there before."""
    run_gradient(bench, shape, 0.1, False)


@case(slow=True, shape=[Shape("bf16", 3, 8193, 0, 0), Shape("bf16", 3, 8200, 0, 8), Shape("bf16", 3, 40003, 0, 0),
                        Shape("bf16", 3, 50257, 0, 0), Shape("fp16", 2, 50264, 0, 0), Shape("fp32", 3, 50257, 0, 1)])
def cross_entropy_backward_ends(bench, shape):
    """Without smoothing: vectors beyond the row's end are not made, its ends are loaded behind x[i, t]."""
    run_gradient(bench, shape, 0.0, False)


@case(shape=[Shape("fp32", 7, 100, 4, 1), Shape("fp32", 7, 300, 1, 0)], smoothing=[0.0, 0.25])
def cross_entropy_backward_special(bench, shape, smoothing):
    run_gradient(bench, shape, smoothing, True)


# ---- Log-sum-exp and KL divergence -----------------------------------------------------------------------------------


@case(shape=SHAPES, special=[False, True])
def logsumexp(bench, shape, special):
    if special and shape.dtype != "fp32":
        return
    x = scores(np.random.default_rng(shape.cols), shape, special)
    xm = Matrix(bench, shape.dtype, x.shape, x, shape.pad)
    y = bench.buffer("fp32", len(x))
    bench.run(example("logsumexp.dsl"), y, xm.buffer, xm.stride, *x.shape, types={"T": shape.dtype},
              num_warps=shape.warps)
    with np.errstate(invalid="ignore"):
        want = np.logaddexp.reduce(xm.seen, axis=1)
    close(y.read(), want, 1e-6, 1e-6, f"logsumexp of {shape}")


@case(shape=SHAPES, in_place=[False])
def kl_divergence(bench, shape, in_place):
    run_kl(bench, shape, in_place)


@case()
def kl_divergence_over_b(bench):
    run_kl(bench, Shape("fp32", 4, 257, 4, 0), True)


def run_kl(bench, shape, in_place):
    rng = np.random.default_rng(shape.cols)
    a, b = (2 * rng.standard_normal((shape.rows, shape.cols)) for _ in "ab")
    if in_place:
        # p = 0 is left out; q = 0 where p is not: infinitely far
        a[0, ::3], a[1, 5], b[2, 7] = -np.inf, np.nan, -np.inf
        b[0, ::6] = -np.inf
    am, bm = (Matrix(bench, shape.dtype, x.shape, x, shape.pad) for x in (a, b))
    db = bm if in_place else Matrix(bench, shape.dtype, a.shape, pad=shape.pad)
    loss = bench.buffer("fp32", shape.rows)
    bench.run(example("kl_divergence.dsl"), loss, db.buffer, am.buffer, bm.buffer, db.stride, am.stride, bm.stride,
              *a.shape, types={"T": shape.dtype}, num_warps=shape.warps)
    (p, p_error), (q, q_error) = softmax_of(am.seen), softmax_of(bm.seen)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p == 0, 0, p * (np.log(p) - np.log(q)))
        size = np.where(p == 0, 0, p * (np.abs(np.log(p)) + np.abs(np.log(q))))
    bound = 1e-6 * np.maximum(1, size.sum(axis=1))
    close(loss.read(), terms.sum(axis=1), 0, np.where(np.isfinite(bound), bound, 0), f"divergence of {shape}")
    bound = p * p_error + q * q_error + (2 ** -24 if shape.dtype == "fp16" else 0)
    close(db.read(), q - p, 0 if shape.dtype == "fp32" else ULP[shape.dtype], np.where(np.isfinite(bound), bound, 0),
          f"gradient of {shape}")


# ---- Sampling --------------------------------------------------------------------------------------------------------


def nucleus(w, top_k, top_p):
    """Which elements are kept: by sorting, with the equals of the last one."""
    order = np.sort(w)[::-1]
    w = np.where(w >= order[min(top_k, len(w)) - 1], w, 0)
    order = np.sort(w)[::-1]
    enough = int(np.searchsorted(np.cumsum(order), top_p * w.sum()))
    return w >= max(order[min(enough, len(w) - 1)], np.finfo(np.float32).tiny)


def judge_tokens(tokens, x, temperature, top_k, top_p, u):
    """A token is kept (by a share that may be off by roundings),
    and the random number falls into its part of the prefix sums."""
    temperature, slack = float(np.float32(temperature)), 2e-6
    for i, token in enumerate(tokens):
        row = np.where(np.isnan(x[i]), -np.inf, x[i])
        if not np.isfinite(row.max()):
            assert token == -1, f"row {i}: {token}, though nothing can be drawn"
            continue
        assert 0 <= token < len(row), f"row {i}: no token {token}"
        w = np.exp((row - row.max()) / temperature)
        fits = False
        for share in (top_p - slack, top_p + slack):
            kept = nucleus(w, top_k, np.clip(share, 0, 1))
            prefix = np.cumsum(np.where(kept, w, 0))
            at = float(u[i]) * prefix[-1]
            near = slack * prefix[-1]
            fits |= kept[token] and prefix[token] - w[token] - near <= at <= prefix[token] + near
        assert fits, f"row {i}: {token} is not what {u[i]} draws"


def run_sampler(bench, shape, temperature, top_k, top_p, special=False, source=None, rows=None):
    rng = np.random.default_rng(shape.cols)
    rows = rows or 5 * shape.rows
    x = np.round(3 * rng.standard_normal((rows, shape.cols)), 1)  # with equals
    if special:
        x[0, 3], x[1, 4], x[2], x[3], x[4] = np.nan, np.inf, -np.inf, np.nan, -2e4
        x[4, 17], x[5, ::2] = 3e4, -np.inf
    xm = Matrix(bench, shape.dtype, x.shape, x, shape.pad)
    token, seed = bench.buffer("i32", rows), 77 + shape.cols
    bench.run(source or example("sample_top_p.dsl"), token, xm.buffer, xm.stride, *x.shape, temperature, top_k, top_p,
              seed, types={"T": shape.dtype}, num_warps=shape.warps)
    judge_tokens(token.raw(), xm.seen, temperature, top_k, float(np.float32(top_p)),
                 uniform(numbers(seed, range(rows))[0]))
    return token.raw(), xm.seen


@case(shape=SHAPES)
def sampler(bench, shape):
    k = SHAPES.index(shape)
    run_sampler(bench, shape, [1.0, 0.5, 2.0][k % 3], [shape.cols, 7, 1, 40][k % 4],
                [0.9, 1.0, 0.3, 0.75, 0.999][k % 5])


@case()
def sampler_special(bench):
    run_sampler(bench, Shape("fp32", 2, 100, 4, 1), 1.0, 50, 0.9, special=True)


@case()
def sampler_shares(bench):
    """Over many rows of the same scores each token comes as often as its probability says."""
    p = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    rows = 1000
    token = bench.buffer("i32", rows)
    x = bench.buffer("fp32", 6, np.log(p))
    bench.run(example("sample_top_p.dsl"), token, (x.address, "fp32", x.bytes), 0, rows, 6, 1.0, 5, 0.9, 5, num_warps=1)
    kept = np.where(p >= 0.1, p, 0) / 0.9  # 0.9 of the first five's 0.96 takes four
    found = np.bincount(token.raw(), minlength=6) / rows
    close(found, kept, 0, 4.5 * np.sqrt(kept * (1 - kept) / rows), "shares")


@case()
def requirements(bench):
    """What the launch rules refuse."""
    for what, top_k, top_p in (("temperature > 0", 5, 0.5), ("top_k >= 1", 0, 0.5), ("top_p <= 1", 5, 1.5)):
        try:
            run_sampler(bench, SHAPES[1], 0.0 if what[0] == "t" and what[1] == "e" else 1.0, top_k, top_p)
        except Error as why:
            assert what in str(why), why
        else:
            raise AssertionError(f"launched, although not {what}")


@case()
def losses_checks_can_fail(bench):
    """Kernels with one mistake each."""
    shape = Shape("fp32", 3, 257, 4, 3)

    def planted(file, right, wrong, run):
        source = example(file).decode()
        assert right in source, right
        must_fail(lambda: run(source.replace(right, wrong)), wrong)

    def entropy(source):
        run_cross_entropy(bench, shape, 0.1, False, source)

    def gradient(source):
        run_gradient(bench, shape, 0.1, False, source)

    def draw(source):
        run_sampler(bench, shape, 1.0, 20, 0.9, source=source)

    planted("cross_entropy.dsl", "mask = cols < n_cols", "mask = cols < n_cols + 1", entropy)
    planted("cross_entropy.dsl", "exp(v - shift)", "exp(v)", entropy)
    planted("cross_entropy.dsl", "above / n_cols", "above / BLOCK", entropy)
    planted("cross_entropy.dsl", "t == ignore_index", "t == -1",
            lambda s: run_cross_entropy(bench, Shape("fp32", 4, 32, 4, 0), 0.0, False, s))
    planted("cross_entropy_backward.dsl", "cols == t", "cols == t + 1", gradient)
    planted("cross_entropy_backward.dsl", "(scale / s", "(1.00001 * scale / s", gradient)
    planted("sample_top_p.dsl", ">= wanted", "> wanted * 0.99", draw)
    planted("sample_top_p.dsl", ">= k:", "> k + 1:", lambda s: run_sampler(bench, shape, 1.0, 20, 1.0, source=s))
    planted("sample_top_p.dsl", "rand(seed, row)", "rand(seed + 1, row)", draw)
