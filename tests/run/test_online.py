"""test_online.py - a maximum and the sum of exponentials below it, whose pairs cross warps and blocks in one exchange
(compiler/passes/exchange/online.c).

Every form that the pass knows, over rows in which single warps have nothing but -inf, a NaN, +inf, the type's lowest
number, or a maximum far below the others'. Expected values are float64 formulas; where a NaN or an infinity must be,
the same formulas in the kernel's own precision say, step by step.
"""
import numpy as np

from case import U, case, close, example
from test_softmax import judge, launch

N, STRIPE, WARPS = 4096, 128, 4  # of fp32: warp w holds the places whose (place // STRIPE) % WARPS is w
LOWEST = -3.4028234663852886e38

# name: (lines that make e of v; h, g and t of e = exp(t (h - g)), of arrays)
FORMS = {
    "plain": ("m = max(v, axis=0); e = exp(v - m)", lambda v, m: (v, m, 1)),
    "propagating": ("m = max(v, axis=0, propagate_nan=True); e = exp(v - m)",
                    lambda v, m: (v, np.where(np.isnan(v).any(), np.nan, m), 1)),
    "binary": ("m = max(v, axis=0); e = exp2((v - m) * 1.5)", lambda v, m: (v, m, 1.5 * np.log(2))),
    "fused": ("m = max(v, axis=0); e = exp2(v * 0.5 - m * 0.5)", lambda v, m: (v * 0.5, m * 0.5, np.log(2))),
    "flatter": ("m = max(v, axis=0); e = exp((v - m) / 3.0)", lambda v, m: (v, m, 1 / 3)),
    "so far": ("m = maximum(0.5, max(v, axis=0)); e = exp(v - m)", lambda v, m: (v, np.fmax(0.5, m), 1)),
    "unless nothing": ("m = max(v, axis=0); m = 0.0 if m == -inf else m; e = exp(v - m)",
                       lambda v, m: (v, np.where(m == -np.inf, 0, m), 1)),
}


def stripe(w, row, value):
    row = row.copy()
    row[np.arange(N) // STRIPE % WARPS == w] = value
    return row


def rows_of(rng):
    x = rng.standard_normal(N)
    far = x + np.array([0, -60, -93, -101])[np.arange(N) // STRIPE % WARPS]
    inf, nan = x.copy(), x.copy()
    inf[STRIPE + 5], nan[2 * STRIPE + 7] = np.inf, np.nan
    nan_in_nothing = stripe(2, x, -np.inf)
    nan_in_nothing[2 * STRIPE] = np.nan
    lowest_and_less = np.full(N, -np.inf)
    lowest_and_less[::3 * STRIPE // 2] = LOWEST
    rows = [x, far, far + 1e4, far[::-1], np.linspace(-110, 0, N), stripe(0, x, -np.inf),
            stripe(3, stripe(1, far, -np.inf), -np.inf), inf, stripe(0, inf, -np.inf), stripe(1, x, np.inf), nan,
            stripe(2, x, np.nan), nan_in_nothing, stripe(1, nan, -np.inf), np.full(N, -np.inf), np.full(N, np.inf),
            np.full(N, np.nan), np.full(N, LOWEST), stripe(2, x, LOWEST), lowest_and_less, stripe(1, x, -3e38),
            stripe(0, far, 1e38), np.full(N, 0.25)]
    return np.float32(np.stack(rows))


def reference(form, v):
    """e and s of one row, in v's precision, and how many times u of e the exponent's rounding may cost."""
    with np.errstate(all="ignore"):
        h, g, t = FORMS[form][1](v, np.fmax.reduce(v))
        a = np.asarray(t, v.dtype) * (np.asarray(h, v.dtype) - np.asarray(g, v.dtype))
        e = np.exp(a)
        size = 10 + 2.5 * np.minimum(np.abs(a), 120)
        return e, e.sum(dtype=v.dtype), np.where(np.isfinite(a), size, 0)


def places(got, want32, want, rtol, atol, what):
    """NaN and infinities where the kernel's precision has them; elsewhere the float64 formula."""
    special = ~np.isfinite(want32)
    close(np.where(special, 0, got), np.where(special, 0, want), rtol, atol, what)
    close(np.where(special, got, 0), np.where(special, want32, 0), 0, 0, what)


@case(form=list(FORMS), blocks=[1, 2])
def online_forms(bench, form, blocks):
    source = f"""
@kernel(grid=(n_rows,))
def f(s: *fp32, y: *fp32, z: *fp32, x: *fp32, n_rows: i32, N: constexpr = {N}):
    i = program_id(0) * N + arange(0, N)
    v = load(x + i)
    {FORMS[form][0].replace('; ', chr(10) + '    ')}
    total = sum(e, axis=0)
    store(s + program_id(0), total)
    store(y + i, e)
    store(z + i, e / total)
"""
    x = rows_of(np.random.default_rng(len(form)))
    xb, sb = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", len(x))
    yb, zb = bench.buffer("fp32", x.size), bench.buffer("fp32", x.size)
    bench.run(source, sb, yb, zb, xb, len(x), num_warps=WARPS // blocks, num_ctas=blocks)
    s, y, z = sb.read(), yb.read().reshape(x.shape), zb.read().reshape(x.shape)
    for i, row in enumerate(x):
        what = f"{form}, row {i}"
        (e32, s32, _), (e, total, size) = reference(form, row), reference(form, row.astype(np.float64))
        rtol = size * U
        with np.errstate(all="ignore"):
            z32 = e32 / s32
            places(y[i], e32, e, rtol, 2.0 ** -126, what)
            places(s[i:i + 1], np.array([s32]), np.array([total]), 48 * U,
                   np.where(np.isfinite(total), np.nansum(e * rtol), 0), f"sum of {what}")
            places(z[i], z32, e / total, rtol, 2.0 ** -126, f"quotient of {what}")


@case(dtype=["fp32", "fp16"], blocks=[1, 2])
def online_softmax(bench, dtype, blocks):
    """The flagship over the same rows, as far as the type holds them, with a row's end inside a warp's places."""
    x = rows_of(np.random.default_rng(3)).astype(np.float64)[:, :N - 77]
    if dtype == "fp16":
        x = np.where(np.isfinite(x), np.clip(x, -6e4, 6e4), x)
    got, seen = launch(bench, example("softmax.dsl"), x, dtype, x_stride=N + 1, num_warps=WARPS // blocks,
                       num_ctas=blocks)
    judge(got, seen, dtype, f"{dtype} over {blocks} blocks")


@case(axis=[0, 1], dtype=["fp32", "fp64", "fp16"])
def online_tiles(bench, axis, dtype):
    """Two axes, either of them reduced; a narrow maximum that is widened afterwards."""
    rows, cols = (1024, 4) if axis == 0 else (4, 1024)
    wide = "fp64" if dtype == "fp64" else "fp32"
    source = f"""
@kernel(grid=(1,))
def f(y: *{wide}, x: *{dtype}, R: constexpr = {rows}, C: constexpr = {cols}):
    i = arange(0, R)[:, None] * C + arange(0, C)[None, :]
    v = load(x + i)
    e = exp(v.to({wide}) - max(v, axis={axis}, keep_dims=True).to({wide}))
    store(y + i, e / sum(e, axis={axis}, keep_dims=True))
"""
    x = 8 * np.random.default_rng(axis).standard_normal((rows, cols))
    x[:, 1][: rows // 2], x[1] = -np.inf, -90.0
    xb, yb = bench.buffer(dtype, x.size, x.ravel()), bench.buffer(wide, x.size)
    bench.run(source, yb, xb, num_warps=4)
    # NumPy's own sums in float64 are further off than the kernel
    seen = xb.read().reshape(x.shape).astype(np.longdouble)
    e = np.exp(seen - seen.max(axis=axis, keepdims=True))
    distance = np.minimum(np.abs(seen - seen.max(axis=axis, keepdims=True)), 120)
    u = 2.0 ** -53 if wide == "fp64" else U
    want = e / e.sum(axis=axis, keepdims=True)
    close(yb.read().reshape(x.shape), want, (10 + 2.5 * distance.astype(float)) * u, 2.0 ** -126,
          f"{dtype}, axis {axis}")


@case()
def online_rounds(bench):
    """A loop that carries maximum and sum, as cross-entropy over a long row does."""
    source = """
@kernel(grid=(n_rows,))
def f(y: *fp32, x: *fp32, n_rows: i32, n: i32, N: constexpr = 2048):
    m = -inf
    s = 0.0
    for start in range(0, n, N):
        i = start + arange(0, N)
        v = load(x + program_id(0) * n + i, mask=i < n, other=-inf)
        m_new = maximum(m, max(v, axis=0), propagate_nan=True)
        shift = 0.0 if m_new == -inf else m_new
        s = s * exp(m - shift) + sum(exp(v - shift), axis=0)
        m = m_new
    store(y + program_id(0), m + log(s))
"""
    rng, n = np.random.default_rng(5), 6001
    x = np.float32(rng.standard_normal((5, n)) + np.linspace(0, 300, n))
    x[1, :2100], x[2], x[3, ::2] = -np.inf, -np.inf, -np.inf
    xb, yb = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", 5)
    bench.run(source, yb, xb, 5, n, num_warps=4)
    with np.errstate(invalid="ignore"):
        close(yb.read(), np.logaddexp.reduce(x.astype(np.float64), axis=1), 1e-6, 1e-6, "log-sum-exp in rounds")
