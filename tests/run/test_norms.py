"""Layer and root-mean-square normalisation, forward, backward and fused with a sum, against float64."""
from collections import namedtuple
from types import SimpleNamespace

import numpy as np

from case import ULP, U, case, close, example, must_fail
from rows import launch

EPS = 1e-5
# n_cols, dtype, num_warps (0: the compiler's choice), elements between the rows, first element of every buffer
CONFIGS = [(1, "fp32", 1, 0, 0), (31, "fp16", 4, 1, 1), (32, "bf16", 1, 0, 0), (33, "fp32", 8, 3, 2),
           (127, "bf16", 0, 0, 0), (128, "fp32", 4, 0, 0), (781, "fp32", 4, 7, 0), (781, "fp16", 8, 0, 3),
           (1025, "fp32", 0, 0, 0), (1025, "bf16", 1, 15, 0), (3001, "fp32", 4, 0, 1)]
WIDE = [(n, d, w, p, 0) for n in (2, 129, 1023, 1024, 4097) for d in ("fp32", "fp16", "bf16")
        for w, p in ((1, 0), (8, 5))]


# ---- Oracles: float64 → {output: (want, rtol, atol)} as fp32 would have it -------------------------------------------


def normal(x, eps=EPS):
    mean = x.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=1, keepdims=True) + eps)
    return (x - mean) * rstd, mean[:, 0], rstd[:, 0]


def layernorm(a):
    h, mean, rstd = normal(a.x)
    spread = np.abs(a.x - mean[:, None]).mean(axis=1)
    mean = np.where(np.isinf(mean), np.nan, mean)  # so is all of the row
    return {"y": (h * a.weight + a.bias, 1.3e-6, 2e-6), "mean": (mean, U, 1e-6 * spread), "rstd": (rstd, 1.3e-6, 0)}


def rmsnorm(a):
    rstd = 1 / np.sqrt((a.x ** 2).mean(axis=1) + EPS)
    return {"y": (a.x * rstd[:, None] * a.weight, 1.3e-6, 2e-6), "rstd": (rstd, 1.3e-6, 0)}


def total(terms, sizes):
    """The sums over all rows, and how far fp32 may be off; the kernel gives each program's share of them."""
    return terms.sum(axis=0), 0, (len(terms) + 8) * U * sizes.sum(axis=0)


def back(a, dx):
    """dx, with the gradient dh that x has besides, if there is one."""
    dh = getattr(a, "dh", np.zeros_like(dx))
    return dx + dh, 4 * 1.3e-6, 4 * 2e-6 * a.rstd[:, None] + 2 * U * np.abs(dh)


def layernorm_backward(a):
    """The mean that the kernel is given is rounded; the row itself knows better."""
    h, mean, _ = normal(a.x)
    h = (a.x - mean[:, None]) * a.rstd[:, None]
    g = a.dy * a.weight
    dx = (g - g.mean(axis=1, keepdims=True) - h * (g * h).mean(axis=1, keepdims=True)) * a.rstd[:, None]
    return {"dx": back(a, dx), "dweight": total(a.dy * h, np.abs(a.dy) * (np.abs(h) + 1)),
            "dbias": total(a.dy, np.abs(a.dy))}


def rmsnorm_backward(a):
    h, g = a.x * a.rstd[:, None], a.dy * a.weight
    dx = (g - h * (g * h).mean(axis=1, keepdims=True)) * a.rstd[:, None]
    return {"dx": back(a, dx), "dweight": total(a.dy * h, np.abs(a.dy * h))}


def added(norm):
    """h is rounded to the type (`a.T`), and so are the rows that are normalised."""

    def oracle(a):
        from sweep import seen
        a.x = seen(a.x + a.residual, a.T)
        return {"h": (a.x, 0, 0), "y": norm(a)["y"]}

    return oracle


# ---- Launches --------------------------------------------------------------------------------------------------------

Norm = namedtuple("Norm", "oracle inputs ulps")  # ulps: of the type, for narrow outputs
NORMS = {
    "layernorm.dsl": Norm(layernorm, ["x", "weight", "bias"], 1.5),
    "rmsnorm.dsl": Norm(rmsnorm, ["x", "weight"], 1.5),
    "add_layernorm.dsl": Norm(added(layernorm), ["x", "residual", "weight", "bias"], 1.5),
    "add_rmsnorm.dsl": Norm(added(rmsnorm), ["x", "residual", "weight"], 1.5),
    "layernorm_backward.dsl": Norm(layernorm_backward, ["x", "dy", "weight", "mean", "rstd"], 2),
    "rmsnorm_backward.dsl": Norm(rmsnorm_backward, ["x", "dy", "weight", "rstd"], 2),
}


def inputs(file, rows, n, rng, level=0.0):
    v = {name: rng.standard_normal(n if name in ("weight", "bias") else (rows, n)) for name in NORMS[file].inputs}
    v["x"] += level
    v.update(n_rows=rows, n_cols=n, n_parts=3) if "backward" in file else v.update(n_rows=rows, n_cols=n, eps=EPS)
    return v


def with_statistics(file, v, dtype):
    """What the forward pass would have stored, rounded to fp32."""
    from sweep import seen
    x = seen(v["x"], dtype)
    if "rstd" in v:
        v["rstd"] = np.float32(normal(x)[2] if "mean" in v else 1 / np.sqrt((x ** 2).mean(axis=1) + EPS))
    if "mean" in v:
        v["mean"] = np.float32(x.mean(axis=1))
    return v


def summed(got):
    """What the programs' rows of sums give: those of the weights, then those of the biases, if there are any."""
    total = next(got[name] for name in ("sums", "dweight") if name in got).astype(np.float64).sum(axis=0)
    return dict(zip(("dweight", "dbias"), np.split(total, 2 if "sums" in got else 1)))


def judge(file, got, a, dtype, what):
    a.T = dtype
    for name, (want, rtol, atol) in NORMS[file].oracle(a).items():
        narrow = dtype != "fp32" and name in ("y", "h", "dx")
        rtol = rtol + (NORMS[file].ulps * ULP[dtype] if narrow and name != "h" else 0)
        result = summed(got)[name] if name in ("dweight", "dbias") else got[name]
        close(result, want, rtol, atol + (2.0 ** -24 if narrow and name != "h" else 0), f"{file} {name}, {what}")


def run(bench, file, v, dtype, pad=0, offset=0, source=None, **options):
    if "backward" in file and "dh" not in v:
        options["defines"] = {"dh": "None"}
    return launch(bench, source or example(file), with_statistics(file, v, dtype), {"T": dtype}, pad, offset, file=file,
                  **options)


def norm_config(bench, file, n, dtype, warps, pad, offset):
    v = inputs(file, 4, n, np.random.default_rng(n))
    got, seen = run(bench, file, v, dtype, pad, offset, num_warps=warps)
    judge(file, got, seen, dtype, f"{dtype} of {n}, {warps} warps, {pad} between")


@case(file=list(NORMS))
def norms(bench, file):
    for config in CONFIGS:
        norm_config(bench, file, *config)


BACKWARD = [f for f in NORMS if "backward" in f]


@case(file=BACKWARD, size=[(70, 32), (100, 512), (31, 1000), (13, 4096), (9, 2500), (7, 9000), (5, 13000), (1, 64)],
      dtype=["fp32", "bf16"])
def norms_backward_tiles(bench, file, size, dtype):
    """Tiles of many rows, several rounds of a program, rows that end within a tile; clusters."""
    rows, n = size
    for pad in (0, 3):
        v = inputs(file, rows, n, np.random.default_rng(n))
        got, seen = run(bench, file, v, dtype, pad)
        judge(file, got, seen, dtype, f"{dtype} of {rows} x {n}, {pad} between")


@case(file=BACKWARD, size=[(150, 4101, 70), (90, 4104, 33), (40, 5003, 17), (9, 8150, 66), (70, 13001, 64),
                           (300, 385, 66), (200, 1501, 64), (140, 3001, 70), (66, 4095, 64)], dtype=["fp32", "bf16"])
def norms_backward_alike(bench, file, size, dtype):
    """A program takes rows that begin alike, and reads what is before them: a NaN there stays where it is."""
    rows, n, parts = size
    for pad in (0, 3):
        v = dict(inputs(file, rows, n, np.random.default_rng(n)), n_parts=parts)
        v["dy"][rows // 2, -3:] = np.nan
        got, seen = run(bench, file, v, dtype, pad)
        with np.errstate(invalid="ignore"):
            judge(file, got, seen, dtype, f"{dtype} of {rows} x {n} in {parts} parts, {pad} between")


@case(file=BACKWARD, size=[(70, 32, 3), (13, 4096, 3), (7, 9000, 3), (5, 13000, 3), (90, 4104, 33), (200, 1501, 64),
                           (70, 13001, 64)], dtype=["fp32", "bf16"])
def norms_backward_added(bench, file, size, dtype):
    """The rows were a sum that has a gradient besides: it is added, and a NaN of its stays where it is."""
    rows, n, parts = size
    rng = np.random.default_rng(n)
    for pad in (0, 3):
        v = dict(inputs(file, rows, n, rng), n_parts=parts, dh=rng.standard_normal((rows, n)))
        v["dh"][rows // 2, -3:] = np.nan
        got, seen = run(bench, file, v, dtype, pad)
        judge(file, got, seen, dtype, f"{dtype} of {rows} x {n} in {parts} parts, {pad} between")


@case(file=BACKWARD)
def norms_backward_read_again(bench, file):
    """Rows that leave a thread too few registers: each round of the loop reads them from shared memory twice."""
    got, seen = run(bench, file, inputs(file, 13, 12288, np.random.default_rng(5)), "bf16")
    judge(file, got, seen, "bf16", "13 x 12288")


@case(file=BACKWARD, over=["dy", "x", "dh"], size=[(40, 520, 3), (70, 4101, 32)])
def norms_backward_in_place(bench, file, over, size):
    """dx may be dy, x or dh: what a round loads ahead, no earlier round stores."""
    rows, n, parts = size
    rng = np.random.default_rng(7)
    v = with_statistics(file, inputs(file, rows, n, rng), "fp32")
    if over == "dh":
        v["dh"] = rng.standard_normal((rows, n))
    b = {name: bench.buffer("fp32", x.size, x) for name, x in v.items() if hasattr(x, "size") and x.size > 1}
    sums = bench.buffer("fp32", parts * n * (2 if "mean" in b else 1))
    bench.run(example(file), b[over], sums, b["dy"], b["x"], b["weight"], *([b["mean"]] if "mean" in b else []),
              b["rstd"], *([b["dh"]] if over == "dh" else []), n, n, n, rows, parts, n,
              defines={} if over == "dh" else {"dh": "None"})
    seen = SimpleNamespace(**{k: np.float32(x).astype(np.float64) for k, x in v.items()}, T="fp32")
    want, rtol, atol = NORMS[file].oracle(seen)["dx"]
    close(b[over].read().reshape(rows, n), want, rtol, atol, f"{file} over {over}")


@case(size=[(200, 77, 128), (130, 1025, 64), (64, 63, 64), (3, 300, 64), (70, 2049, 64)],
      dtype=["bf16", "fp16", "fp32"])
def layernorm_alike(bench, size, dtype):
    """Programs that take every so many rows, which begin alike: rows before and behind them, and none left over."""
    rows, n, parts = size
    options = dict(defines={"ALIKE": 64 if dtype != "fp32" else 32, "PARTS": parts, "STAGES": 2, "WARPS": 4})
    v = inputs("layernorm.dsl", rows, n, np.random.default_rng(n))

    def judged(source):
        got, seen = run(bench, "layernorm.dsl", v, dtype, source=source, **options)
        judge("layernorm.dsl", got, seen, dtype, f"{size} {dtype}")

    source = example("layernorm.dsl").decode()
    judged(source)
    if size == (200, 77, 128):
        must_fail(lambda: judged(source.replace("d = where(mask, v - first, 0.0)", "d = v - first")),
                  "what lies before a row and behind it")


def by_rule(bench, way, rows, n):
    """Layer norm of bf16 with the launch rule's own tile, programs and warps."""
    width = n + 2 if way == "other stride" else n
    v = inputs("layernorm.dsl", rows, n, np.random.default_rng(5))
    x = bench.buffer("bf16", rows * n, v["x"].ravel())
    y = x if way == "in place" else bench.buffer("bf16", rows * width)
    b = {name: bench.buffer("bf16", n, v[name]) for name in ("weight", "bias")}
    mean, rstd = bench.buffer("fp32", rows), bench.buffer("fp32", rows)
    seen = SimpleNamespace(x=np.float64(x.read()).reshape(rows, n), eps=EPS,
                           **{name: np.float64(buffer.read()) for name, buffer in b.items()})
    bench.run(example("layernorm.dsl"), y, mean, rstd, x, b["weight"], b["bias"], width, n, rows, n, EPS,
              types={"T": "bf16"})
    got = {"y": np.float64(y.read()).reshape(rows, width)[:, :n], "mean": mean.read(), "rstd": rstd.read()}
    judge("layernorm.dsl", got, seen, "bf16", f"{way} {rows} x {n}")


@case(way=["apart", "in place", "other stride"])
def layernorm_by_rule(bench, way):
    """The launch rule takes rows that begin alike where y is not x and has x's strides, and no others."""
    by_rule(bench, way, 520, 2049)


@case(slow=True, size=[(4097, 601), (4160, 781), (520, 1401), (513, 1902), (513, 20001)])
def layernorm_by_rule_lengths(bench, size):
    """As many programs as the launch rule has for a length, some without a row."""
    by_rule(bench, "apart", *size)


@case(slow=True, file=list(NORMS))
def norms_wide(bench, file):
    for config in WIDE:
        norm_config(bench, file, *config)


@case(file=[f for f in NORMS if "layernorm" in f], n=[33, 781])
def norms_far_mean(bench, file, n):
    """A mean of 10,000 standard deviations, which alone takes 13 of fp32's 24 bits."""
    got, seen = run(bench, file, inputs(file, 3, n, np.random.default_rng(n), level=1e4), "fp32")
    judge(file, got, seen, "fp32", f"mean 1e4 of {n}")


def plain_mean(file):
    """layernorm.dsl without its second step, as most are written: it must not pass norms_far_mean."""
    source = example(file).decode()
    assert "- rest * rest" in source and "(d * r - rest * r)" in source
    return source.replace("- rest * rest", "").replace("(d * r - rest * r)", "d * r")


@case()
def norms_can_fail(bench):
    v = inputs("layernorm.dsl", 3, 781, np.random.default_rng(0), level=1e4)
    got, seen = run(bench, "layernorm.dsl", v, "fp32", source=plain_mean("layernorm.dsl"))
    must_fail(lambda: judge("layernorm.dsl", got, seen, "fp32", "planted"), "the mean in one step")
    source = example("layernorm_backward.dsl").decode().replace("(h - off)", "h")
    v = inputs("layernorm_backward.dsl", 3, 33, np.random.default_rng(0), level=1e4)
    got, seen = run(bench, "layernorm_backward.dsl", v, "fp32", source=source)
    must_fail(lambda: judge("layernorm_backward.dsl", got, seen, "fp32", "planted"), "h around the rounded mean")
    for file in BACKWARD:
        source = example(file).decode().replace("d = where(is_begun, ", "d = where(is_within, ")
        v = dict(inputs(file, 64, 4101, np.random.default_rng(0)), n_parts=32)
        v["dy"][10, -1] = np.nan
        got, seen = run(bench, file, v, "fp32", source=source)
        with np.errstate(invalid="ignore"):
            must_fail(lambda: judge(file, got, seen, "fp32", "planted"), f"{file}: a NaN before the row")


# Squared differences from a mean: what is summed, where, and what is left of the differences.
DIFFERENCES = """
@kernel(num_warps=4, grid=(1,))
def differences(mean: *fp32, linear: *fp32, squares: *fp32, y: *fp32, x: *fp32, n: i32):
    i = arange(FIRST, FIRST + 8192)
    v = SUMMED
    m = sum(v, axis=0) / COUNT
    d = TAKEN
    store(mean, m)
    store(linear, sum(d, axis=0))
    store(squares, sum(d * d, axis=0))
    store(y - FIRST + i, d)
"""
FORMS = {  # FIRST, SUMMED, COUNT, TAKEN; the same of NumPy: what is summed, the count, what is taken
    "a row": (0, "load(x + i, mask=i < n)", "n", "where(i < n, v - m, 0.0)",
              lambda x, i, n: (np.where(i < n, x, 0), n, i < n)),
    "a tile": (0, "load(x + i)", "8192", "v - m", lambda x, i, n: (x, 8192, i >= 0)),
    "more summed": (0, "load(x + i)", "8192", "where(i < n, v - m, 0.0)", lambda x, i, n: (x, 8192, i < n)),
    "holes": (0, "load(x + i, mask=i < n)", "n", "where((i < n) & (i % 3 != 0), v - m, 0.0)",
              lambda x, i, n: (np.where(i < n, x, 0), n, (i < n) & (i % 3 != 0))),
    "holes in both": (0, "load(x + i, mask=(i < n) & (i % 3 != 0))", "n", "where((i < n) & (i % 3 != 0), v - m, 0.0)",
                      lambda x, i, n: (np.where((i < n) & (i % 3 != 0), x, 0), n, (i < n) & (i % 3 != 0))),
    "other": (0, "load(x + i, mask=i < n, other=1.0)", "n", "where(i < n, v - m, 0.0)",
              lambda x, i, n: (np.where(i < n, x, 1), n, i < n)),
    "a function": (0, "abs(load(x + i, mask=i < n)) + 1", "n", "where(i < n, v - m, 0.0)",
                   lambda x, i, n: (np.where(i < n, np.abs(x), 0) + 1, n, i < n)),
    "below zero": (-4096, "load(x + 4096 + i, mask=i.to(u32) < n)", "n", "where(i.to(u32) < n, v - m, 0.0)",
                   lambda x, i, n: (np.where((i >= 4096) & (i < 4096 + n), x, 0), n,
                                    (i >= 4096) & (i < 4096 + n))),
    "a scalar": (0, "load(x + i)", "8192", "where(n > 4000, v - m, 0.0)",
                 lambda x, i, n: (x, 8192, (i >= 0) & (n > 4000))),
}


def differences_case(bench, form, n, x):
    first, summed, count, taken, oracle = FORMS[form]
    source = DIFFERENCES.replace("SUMMED", summed).replace("COUNT", count).replace("TAKEN", taken)
    out = [bench.buffer("fp32", k) for k in (1, 1, 1, 8192)]
    bench.run(source.replace("FIRST", str(first)), *out, bench.buffer("fp32", 8192, x), n)
    with np.errstate(invalid="ignore", over="ignore"):
        v, k, mask = oracle(x.astype(np.float64), np.arange(8192), n)
        mean = v.sum() / k
        d = np.where(mask, v - np.float32(mean), 0)
        size = np.abs(v).sum() / k
        close(out[0].read(), [mean], 1e-6, 1e-6 * size, f"{form}: mean")
        if not np.isfinite(mean):
            return
        near = np.abs(out[0].read()[0] - np.float32(mean)) + 2e-7 * size  # by which the mean may be off
        close(out[1].read(), [d.sum()], 0, mask.sum() * near + 1e-5, f"{form}: sum")
        off = 2 * near * np.abs(d).sum() + mask.sum() * near ** 2
        close(out[2].read(), [(d * d).sum()], 1e-5, off, f"{form}: squares")
        close(out[3].read(), d, 1e-6, near, f"{form}: differences")


@case(form=list(FORMS))
def differences(bench, form):
    """Levels of 0 and 10000, lengths that end anywhere, an infinity and a NaN at both ends."""
    rng = np.random.default_rng(0)
    for n in (1, 129, 4000, 4001, 7001):
        for level in (0, 1e4):
            differences_case(bench, form, min(n, 4001) if form == "below zero" else n,
                             np.float32(rng.standard_normal(8192) + level))
    for special in (np.inf, -np.inf, np.nan):
        for at in (0, 3000):
            x = np.float32(rng.standard_normal(8192))
            x[at + (4096 if form == "below zero" else 0)] = special
            differences_case(bench, form, 4000, x)


SPECIAL = {"one NaN": lambda n: np.where(np.arange(n) == n // 2, np.nan, 1.0),
           "one +inf": lambda n: np.where(np.arange(n) == 3, np.inf, 1.0), "all equal": lambda n: np.full(n, 3.0),
           "zeros": lambda n: np.full(n, -0.0), "subnormal": lambda n: np.arange(n) * 1e-40}


@case(file=["layernorm.dsl", "rmsnorm.dsl", "add_layernorm.dsl", "add_rmsnorm.dsl"])
def norms_special(bench, file):
    n = 127
    v = inputs(file, len(SPECIAL), n, np.random.default_rng(0))
    v["x"] = np.stack([row(n) for row in SPECIAL.values()])
    if "residual" in v:
        v["residual"] *= 0
    got, seen = run(bench, file, v, "fp32")
    with np.errstate(invalid="ignore"):
        judge(file, got, seen, "fp32", "special rows")


@case()
def norms_in_place(bench):
    """y may be x: a program reads its row before it writes."""
    rng, n = np.random.default_rng(5), 100
    x, w = rng.standard_normal((4, n)), rng.standard_normal(n)
    b, wb, r = bench.buffer("fp32", 4 * n, x), bench.buffer("fp32", n, w), bench.buffer("fp32", 4)
    bench.run(example("rmsnorm.dsl"), b, r, b, wb, n, n, 4, n, EPS)
    x, w = np.float32(x).astype(np.float64), np.float32(w).astype(np.float64)
    close(b.read().reshape(4, n), x / np.sqrt((x ** 2).mean(axis=1, keepdims=True) + EPS) * w, 1.3e-6, 2e-6, "in place")


# ---- The chain: forward, backward, the sum over its parts ------------------------------------------------------------


def gradients(x, w, dy, forward, step=1e-5):
    """d(sum(dy * forward(x, w))) by central differences: what the formulas of the oracles must agree with."""
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for grad, at in ((dx, x), (dw, w)):
        for i in np.ndindex(at.shape):
            keep = at[i]
            at[i] = keep + step
            up = (dy * forward(x, w)).sum()
            at[i] = keep - step
            grad[i] = (up - (dy * forward(x, w)).sum()) / (2 * step)
            at[i] = keep
    return dx, dw


@case(name=["layernorm", "rmsnorm"], dtype=["fp32", "bf16"])
def norms_chain(bench, name, dtype):
    """Statistics of the forward kernel go into the backward kernel, its parts into column_sum.dsl;
    judged by differences."""
    rows, n, rng = 7, 33, np.random.default_rng(3)
    v = inputs(f"{name}.dsl", rows, n, rng)
    got, a = launch(bench, example(f"{name}.dsl"), v, {"T": dtype})
    v = {**{k: v[k] for k in ("x", "weight", "n_rows", "n_cols")}, **{k: got[k] for k in ("mean", "rstd") if k in got}}
    v.update(dy=rng.standard_normal((rows, n)), n_parts=3)
    back, b = launch(bench, example(f"{name}_backward.dsl"), v, {"T": dtype})
    sums = back["sums" if "sums" in back else "dweight"]
    total, _ = launch(bench, example("column_sum.dsl"), {"x": sums, "n_rows": 3, "n_cols": sums.shape[1]},
                      {"T": "fp32"})
    forward = ((lambda x, w: normal(x)[0] * w) if name == "layernorm"
               else (lambda x, w: x / np.sqrt((x ** 2).mean(axis=1, keepdims=True) + EPS) * w))
    dx, dw = gradients(a.x, a.weight, b.dy, forward)
    close(back["dx"], dx, 5.2e-6 + (0 if dtype == "fp32" else 2 * ULP[dtype]), 8e-6, "dx")
    close(total["y"][:n], dw, 5.2e-6, 2e-5, "dweight")
    if name == "layernorm":
        close(total["y"][n:], b.dy.sum(axis=0), 2e-6, 2e-6, "dbias")


@case(dtype=["fp32", "fp16", "bf16"])
def column_sums(bench, dtype):
    for rows, n, warps, pad in ((1, 1, 1, 0), (33, 31, 4, 3), (127, 65, 8, 0), (781, 33, 4, 1), (0, 5, 4, 0)):
        x = np.random.default_rng(rows).standard_normal((rows, n))
        got, a = launch(bench, example("column_sum.dsl"), {"x": x, "n_rows": rows, "n_cols": n}, {"T": dtype}, pad,
                        num_warps=warps)
        close(got["y"], a.x.sum(axis=0), 0, (rows / 32 + 6) * U * np.abs(a.x).sum(axis=0), f"sums of {rows} x {n}")
