"""Softmax in its other forms, activations, quantised rows and sums in fp64: the examples against float64."""
from collections import namedtuple
from math import erfc

import numpy as np

from case import ULP, U, case, close, example, must_fail, same_bits
from rows import launch
from sweep import decode, seen
from test_softmax import special_rows

# n_rows, n_cols, dtype, num_warps (0: the compiler's choice), elements between the rows, first element of every buffer
CONFIGS = [(3, 1, "fp32", 1, 0, 0), (4, 31, "fp16", 4, 1, 1), (33, 32, "bf16", 1, 0, 0), (5, 33, "fp32", 8, 3, 2),
           (2, 127, "bf16", 0, 0, 0), (3, 128, "fp32", 4, 0, 0), (2, 781, "fp32", 0, 7, 0), (1, 781, "fp16", 8, 0, 3),
           (1, 1025, "fp32", 4, 0, 0), (2, 1025, "bf16", 1, 15, 0)]
WIDE = [(3, n, d, w, p, 0) for n in (2, 129, 1023, 1024, 4097) for d in ("fp32", "fp16", "bf16")
        for w, p in ((1, 0), (8, 5))]
LEAST = {"fp32": 2.0 ** -126, "fp16": 2.0 ** -24, "bf16": 2.0 ** -126}


# ---- Oracles: float64 → {output: (want, rtol, atol)} as fp32 would have it -------------------------------------------


def softmax(x, axis=1, scale=1.0, slope=2.5):
    """(want, rtol): (10 + slope·|x − m|)·u, as everywhere; an operation more on x − m is `slope` more."""
    with np.errstate(invalid="ignore", over="ignore"):
        z = (x - x.max(axis=axis, keepdims=True)) * scale
        e = np.exp(z)
        y = e / e.sum(axis=axis, keepdims=True)
    far = np.where(np.isfinite(z), np.minimum(np.abs(z), 120), 0)
    return y, (10 + slope * far) * U


def of_softmax(x, **how):
    y, rtol = softmax(x, **how)
    return {"y": (y, rtol, LEAST["fp32"])}


def softmax_scale(a):
    y, rtol = softmax(a.x)
    return {"y": (y * a.scale, rtol + 2 * U, LEAST["fp32"])}


def log_softmax(a):
    with np.errstate(invalid="ignore", divide="ignore"):
        z = a.x - a.x.max(axis=1, keepdims=True)
        y = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return {"y": (y, 0, 1e-6 * np.maximum(1, np.where(np.isfinite(y), np.abs(y), 1)))}


def softmax_backward(a):
    along = (a.y * a.dy).sum(axis=1, keepdims=True)
    size = (np.abs(a.dy) +
            (np.abs(a.y * a.dy)).sum(axis=1, keepdims=True) * (np.ceil(np.log2(a.n_cols + 1)) + a.n_cols / 32 + 1))
    return {"dx": (a.y * (a.dy - along), 2 * U, 2 * U * np.abs(a.y) * size)}


def softmax_causal(a):
    i, j = np.arange(a.n_rows)[:, None], np.arange(a.n_cols)[None, :]
    hidden = j > i % a.n_queries + a.n_cols - a.n_queries
    y, rtol = softmax(np.where(hidden, -np.inf, a.x))
    return {"y": (np.where(hidden, 0, y), rtol, LEAST["fp32"])}


def softmax_masked(a):
    y, rtol = softmax(np.where(a.keep != 0, a.x, -np.inf))
    return {"y": (np.where(a.keep != 0, y, 0), rtol, LEAST["fp32"])}


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def gelu(a):
    return {"y": (a.x * np.array([erfc(-v / np.sqrt(2)) for v in a.x]) / 2, 5 * ULP["fp32"], LEAST["fp32"])}


def gelu_tanh(a):
    """5 ulp, and what the argument of sigmoid is off where it falls: 5 roundings of it."""
    z = 2 * np.sqrt(2 / np.pi) * (a.x + 0.044715 * a.x ** 3)
    return {"y": (a.x * sigmoid(z), 5 * ULP["fp32"] + 5 * U * np.minimum(np.abs(z), 120) * (a.x < 0), LEAST["fp32"])}


def silu(a):
    return {"y": (a.x * sigmoid(a.x), 5 * ULP["fp32"], LEAST["fp32"])}


def swiglu(a):
    return {"y": (a.gate * sigmoid(a.gate) * a.up, 5 * ULP["fp32"], LEAST["fp32"])}


def gelu_sigmoid(g):
    """The argument of sigmoid in GELU's tanh form, and g times its derivative."""
    root = 2 * np.sqrt(2 / np.pi)
    return root * (g + 0.044715 * g ** 3), root * (g + 3 * 0.044715 * g ** 3)


def geglu(a):
    """As of gelu_tanh."""
    z = gelu_sigmoid(a.gate)[0]
    rtol = 5 * ULP["fp32"] + 5 * U * np.minimum(np.abs(z), 120) * (a.gate < 0)
    return {"y": (a.gate * sigmoid(z) * a.up, rtol, LEAST["fp32"])}


def gate_backward(gate_of):
    """z is off by 3 roundings, sigmoid by 5 ulp; the sum in dgate may cancel."""

    def oracle(a):
        z, slope = gate_of(a.gate)
        s, off = sigmoid(z), 8 + 3 * np.minimum(np.abs(z), 120)
        size = np.abs(a.dy * a.up) * s * (1 + np.abs(slope) * sigmoid(-z))
        return {"dup": (a.dy * a.gate * s, off * U, LEAST["fp32"]),
                "dgate": (a.dy * a.up * s * (1 + slope * sigmoid(-z)), 0, off * U * size + LEAST["fp32"])}

    return oracle


def log_softmax_backward(a):
    p, total = np.exp(a.y), a.dy.sum(axis=1, keepdims=True)
    off = np.abs(total) * (5 + np.abs(a.y)) + np.abs(a.dy).sum(axis=1, keepdims=True) * (a.n_cols / 32 + 8)
    return {"dx": (a.dy - p * total, 2 * U, U * p * off)}


def fp32(x):
    with np.errstate(over="ignore"):
        return np.float32(x).astype(np.float64)


def quantized(a, largest):
    """Scale and quotient, each rounded to fp32 once, as division is exact to the bit."""
    scale = fp32(np.abs(a.x).max(axis=1, initial=0) / largest)
    return scale, fp32(a.x / np.where(scale == 0, 1, scale)[:, None])


def quantize_int8(a):
    scale, x = quantized(a, 127)
    return {"q": (np.clip(np.rint(x), -127, 127), 0, 0), "scale": (scale, 0, 0)}


def rmsnorm_quantized(a, most):
    """y, and what it is in units of the scale: several roundings off."""
    y = a.x * a.weight / np.sqrt((a.x ** 2).mean(axis=1, keepdims=True) + a.eps)
    top = np.abs(y).max(axis=1)
    return top / most, y / np.where(top == 0, 1, top)[:, None] * most, (a.n_cols / 32 + 12) * U


def rmsnorm_int8(a):
    scale, y, off = rmsnorm_quantized(a, 127)
    return {"q": (y, 0, 0.5 + 127 * off), "scale": (scale, off, 0)}


def rmsnorm_fp8(a):
    """Half of the distance of e4m3's numbers: of normal ones a sixteenth, of others 2^-9."""
    scale, y, off = rmsnorm_quantized(a, 448)
    return {"q": (y, 2.0 ** -4 + off, 2.0 ** -10), "scale": (scale, off, 0)}


def quantize_fp8(a):
    scale, x = quantized(a, 448)
    return {"q": (seen(x, "fp8e4nv"), 0, 0), "scale": (scale, 0, 0)}


def dequantize(a):
    return {"y": (fp32(a.q * a.scale[:, None]), 0, 0)}


def row_sum(a):
    return {"y": (a.x.sum(axis=1), U, 1e-13 * np.abs(a.x).sum(axis=1))}


# ---- The table -------------------------------------------------------------------------------------------------------

# inputs: what each is, by its name; more: scalars, constexprs and types beside the usual; ulps: of a narrow type
Kernel = namedtuple("Kernel", "file oracle inputs scalars defines types ulps", defaults=({}, {}, {}, 1))
KERNELS = {k.file + "".join(f", {n}={v}" for n, v in {**k.defines, **k.types}.items()): k for k in (
    Kernel("softmax_temperature.dsl", lambda a: of_softmax(a.x, scale=1 / a.temperature, slope=6.5), {"x": "wide"},
           {"temperature": 0.125}),
    Kernel("softmax_scale.dsl", softmax_scale, {"x": "normal"}, {"scale": -2.5}),
    Kernel("log_softmax.dsl", log_softmax, {"x": "wide"}),
    Kernel("softmax_backward.dsl", softmax_backward, {"dy": "normal", "y": "share"}, ulps=2),
    Kernel("softmax_causal.dsl", softmax_causal, {"x": "normal"}, {"n_queries": 1}),
    Kernel("softmax_masked.dsl", softmax_masked, {"x": "normal", "keep": "coin"}),
    Kernel("softmax_columns.dsl", lambda a: of_softmax(a.x, axis=0), {"x": "wide"}),
    Kernel("softmax_columns.dsl", lambda a: of_softmax(a.x, axis=0), {"x": "wide"}, defines={"WHOLE": False}),
    Kernel("softmax_small_rows.dsl", lambda a: of_softmax(a.x), {"x": "wide"}),
    Kernel("gelu.dsl", gelu, {"x": "wide"}),
    Kernel("gelu.dsl", gelu_tanh, {"x": "wide"}, defines={"TANH": True}),
    Kernel("silu.dsl", silu, {"x": "wide"}),
    Kernel("swiglu.dsl", swiglu, {"gate": "wide", "up": "normal"}),
    Kernel("swiglu.dsl", geglu, {"gate": "wide", "up": "normal"}, defines={"GELU": True}),
    Kernel("swiglu_backward.dsl", gate_backward(lambda g: (g, g)), {"dy": "normal", "gate": "wide", "up": "normal"}),
    Kernel("swiglu_backward.dsl", gate_backward(gelu_sigmoid), {"dy": "normal", "gate": "wide", "up": "normal"},
           defines={"GELU": True}),
    Kernel("log_softmax_backward.dsl", log_softmax_backward, {"dy": "normal", "y": "logs"}, ulps=2),
    Kernel("rmsnorm_quantize.dsl", rmsnorm_int8, {"x": "wide", "weight": "weight"}, {"eps": 1e-5}, types={"Q": "i8"}),
    Kernel("rmsnorm_quantize.dsl", rmsnorm_fp8, {"x": "wide", "weight": "weight"}, {"eps": 1e-5},
           types={"Q": "fp8e4nv"}),
    Kernel("quantize_int8.dsl", quantize_int8, {"x": "wide"}),
    Kernel("quantize_fp8.dsl", quantize_fp8, {"x": "wide"}),
    Kernel("dequantize.dsl", dequantize, {"q": "int8", "scale": "column"}, types={"Q": "i8"}),
    Kernel("dequantize.dsl", dequantize, {"q": "wide", "scale": "column"}, types={"Q": "fp8e4nv"}),
    Kernel("row_sum_fp64.dsl", row_sum, {"x": "cancel"}),
)}
FILES = {k.file for k in KERNELS.values()}
EXACT = {"quantize_int8.dsl", "quantize_fp8.dsl", "dequantize.dsl"}


def share(rng, m, n):
    e = np.exp(3 * rng.standard_normal((m, n)))
    return e / e.sum(axis=1, keepdims=True)


INPUTS = {
    "weight": lambda rng, m, n: rng.standard_normal(n), "logs": lambda rng, m, n: np.log(share(rng, m, n)),
    "normal": lambda rng, m, n: rng.standard_normal((m, n)), "wide": lambda rng, m, n: 4 * rng.standard_normal((m, n)),
    "share": share, "coin": lambda rng, m, n: rng.integers(0, 2, (m, n)) * (np.arange(m) != 1)[:, None],
    "int8": lambda rng, m, n: rng.integers(-127, 128, (m, n)),
    "column": lambda rng, m, n: np.exp(rng.standard_normal(m)),
    "cancel": lambda rng, m, n: rng.standard_normal((m, n)) + np.where(np.arange(n) % 2, 1, -1) * 3e4,
}


def values(kernel, m, n, seed):
    """Inputs of m rows of n; columns of n where the kernel works along those."""
    m, n = (n, m) if kernel.file == "softmax_columns.dsl" else (m, n)
    rng = np.random.default_rng(seed)
    v = {name: INPUTS[what](rng, m, n) for name, what in kernel.inputs.items()}
    if kernel.file in ("gelu.dsl", "silu.dsl"):
        return {"x": v["x"].ravel(), "n": m * n}
    return {**v, **kernel.scalars, "n_rows": m, "n_cols": n}


def judge(kernel, got, a, dtype, what):
    for name, (want, rtol, atol) in kernel.oracle(a).items():
        where = f"{kernel.file} {name}, {what}"
        narrow = dtype != "fp32" and name in ("y", "dx", "dgate", "dup")
        if kernel.file in EXACT:
            same_bits(got[name], seen(want, dtype) if narrow else want + 0.0 * got[name], where)
            continue
        close(got[name], want, rtol + (kernel.ulps * ULP[dtype] if narrow else 0), np.maximum(atol, LEAST[dtype]),
              where)


def run(bench, kernel, v, dtype, pad=0, offset=0, source=None, **options):
    return launch(bench, source or example(kernel.file), v, {"T": dtype, **kernel.types}, pad, offset, file=kernel.file,
                  defines=kernel.defines, **options)


def rows_config(bench, name, m, n, dtype, warps, pad, offset):
    kernel = KERNELS[name]
    if "n_queries" in kernel.scalars:
        kernel = kernel._replace(scalars={"n_queries": min(m, n)})
    got, a = run(bench, kernel, values(kernel, m, n, n), dtype, pad, offset, num_warps=warps)
    judge(kernel, got, a, dtype, f"{dtype} of {m} x {n}, {warps} warps, {pad} between")


@case(name=list(KERNELS))
def rows(bench, name):
    for config in CONFIGS:
        rows_config(bench, name, *config)


@case(slow=True, name=list(KERNELS), part=range(4))
def rows_wide(bench, name, part):
    for config in WIDE[part::4]:
        rows_config(bench, name, *config)


# ---- Special rows ----------------------------------------------------------------------------------------------------


@case(name=["softmax_temperature.dsl", "log_softmax.dsl", "softmax_small_rows.dsl", "softmax_columns.dsl",
            "softmax_columns.dsl, WHOLE=False", "softmax_scale.dsl"])
def rows_special(bench, name):
    """Places of NaN and infinity as in the formula: a NaN, a +inf, nothing but -inf, huge and lowest numbers."""
    n, kernel = 65, KERNELS[name]
    x = np.stack([fp32(r) for r in special_rows(n).values()])
    x = x.T if "columns" in name else x
    got, a = run(bench, kernel, {"x": x, **kernel.scalars, "n_rows": x.shape[0], "n_cols": x.shape[1]}, "fp32")
    judge(kernel, got, a, "fp32", "special rows")


@case(config=[(5000, 5, "fp32"), (5000, 5, "bf16"), (9001, 12, "fp32"), (9001, 16, "fp16"), (16500, 9, "bf16")])
def columns_long(bench, config):
    """Strips that a cluster shares, of both widths, which hang on T; the CPU walks down them."""
    n, m, dtype = config
    rows_config(bench, "softmax_columns.dsl", m, n, dtype, 0, 0, 0)


@case(name=["gelu.dsl", "gelu.dsl, TANH=True", "silu.dsl"])
def activations_special(bench, name):
    """Far to the left they are zero, far to the right x; NaN stays; -inf times 0 is NaN."""
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40, 200.0, 3e38, -200.0, -3e38])
    got, _ = run(bench, KERNELS[name], {"x": x, "n": len(x)}, "fp32")
    close(got["y"], [np.nan, np.inf, np.nan, 0, 0, 0.5e-40, -0.5e-40, 200, 3e38, 0, 0], 1e-7, 2e-45, name)


@case(name=["gelu.dsl", "gelu.dsl, TANH=True", "silu.dsl"])
def activations_far(bench, name):
    """From where they vanish to where they are x: relative errors, not only small ones."""
    x = np.concatenate([np.linspace(-16, 16, 3000), -np.geomspace(1e-30, 1, 200)])
    kernel = KERNELS[name]
    got, a = run(bench, kernel, {"x": x, "n": len(x)}, "fp32")
    judge(kernel, got, a, "fp32", "far")


@case(dtype=["fp16", "bf16"])
def gelu_narrow(bench, dtype):
    """Each number of the type: hardly more than rounding is off, and what is special is so as in fp32."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        x = decode(bits.view(np.float16) if dtype == "fp16" else bits, dtype)
    x = x[~np.isnan(x)]
    got, _ = run(bench, KERNELS["gelu.dsl"], {"x": np.append(x, np.nan), "n": len(x) + 1}, dtype)
    with np.errstate(invalid="ignore"):
        want = x * np.array([erfc(-v / np.sqrt(2)) for v in x]) / 2
    y, least = got["y"][:-1], LEAST[dtype]
    same_bits(np.isnan(y), np.isnan(want), "NaN")
    at = np.isfinite(want)
    same_bits(y[np.isinf(want)], want[np.isinf(want)], "infinities")
    step = np.exp2(np.floor(np.log2(np.maximum(np.abs(want[at]),
                                               2.0 ** (-14 if dtype == "fp16" else -126))))) * ULP[dtype]
    off = np.abs(y[at] - want[at]) / np.maximum(step, least)
    assert off.max() < 0.6 and np.isnan(got["y"][-1]), (off.max(), x[at][off.argmax()])


@case(dtype=["fp32", "bf16"])
def softmax_masked_rows(bench, dtype):
    """One row of keep for all of x, by a stride of 0; NaN that nobody keeps is not read; nothing kept gives zeros."""
    m, n, kernel = 3, 40, KERNELS["softmax_masked.dsl"]
    rng = np.random.default_rng(0)
    x, keep = seen(rng.standard_normal((m, n)), dtype), (np.arange(n) % 3 == 0).astype(np.int8)
    x[:, keep == 0] = np.nan
    for kept in (keep, 0 * keep):
        xb, kb, yb = bench.buffer(dtype, m * n, x.ravel()), bench.buffer("i8", n, kept), bench.buffer(dtype, m * n)
        bench.run(example("softmax_masked.dsl"), yb, xb, kb, n, n, 0, m, n, types={"T": dtype})
        want, rtol = softmax(np.where(kept != 0, x, -np.inf))
        close(yb.read().reshape(m, n), np.where(kept != 0, want, 0), rtol + (0 if dtype == "fp32" else ULP[dtype]),
              1e-38, "kept")


@case(file=["quantize_int8.dsl", "quantize_fp8.dsl"])
def quantize_special(bench, file):
    """Zeros stay zeros, a tiny row uses its range, too; a NaN or an infinity is seen in the scale."""
    n, kernel = 33, KERNELS[file]
    x = np.stack([np.zeros(n), np.arange(n) * 1e-30, np.full(n, -7.0), np.arange(n) * 1e37])
    got, a = run(bench, kernel, {"x": x, "n_rows": len(x), "n_cols": n}, "fp32")
    judge(kernel, got, a, "fp32", "special rows")
    x = np.stack([np.where(np.arange(n) == 5, np.nan, 1.0), np.where(np.arange(n) == 5, -np.inf, 1.0)])
    got, _ = run(bench, kernel, {"x": x, "n_rows": 2, "n_cols": n}, "fp32")
    close(got["scale"], [np.nan, np.inf], 0, 0, "scale")


@case(file=["quantize_int8.dsl", "quantize_fp8.dsl"], dtype=["fp32", "fp16"])
def quantize_and_back(bench, file, dtype):
    """Half a step off at most: of 1/127 of the row's largest, or of e4m3's sixteenths."""
    m, n, kernel = 3, 100, KERNELS[file]
    got, a = run(bench, kernel, values(kernel, m, n, 7), dtype)
    q = "i8" if "int8" in file else "fp8e4nv"
    back, _ = launch(bench, example("dequantize.dsl"), {**got, "n_rows": m, "n_cols": n}, {"T": "fp32", "Q": q})
    step = got["scale"][:, None] * np.ones(n)
    close(back["y"], a.x, 1e-6 + (0 if q == "i8" else 2.0 ** -4), 0.5 * step * (1 if q == "i8" else 2.0 ** -9),
          "there and back")


def in_order(x):
    """The columns of each row as topk.dsl has them: NaN first, then the largest; of equal ones the first."""
    places = np.broadcast_to(np.arange(x.shape[1]), x.shape)
    return np.lexsort((places, -np.where(np.isnan(x), 0, x), ~np.isnan(x)), axis=1)


def topk_case(bench, m, n, k, dtype, seed=0, source=None):
    rng = np.random.default_rng(seed)
    x = seen(np.round(rng.standard_normal((m, n)), 2), dtype)  # many are equal
    x[-1, ::7] = np.nan
    x[-1, 3::11], x[-1, 5::13] = np.inf, np.copysign(np.nan, -1)
    got, _ = launch(bench, source or example("topk.dsl"), {"x": x, "n_rows": m, "n_cols": n, "k": k}, {"T": dtype})
    want = in_order(x)[:, :k]
    same_bits(got["index"], want, f"{k} of {n}: index")
    close(got["value"], np.take_along_axis(x, want, 1), 0, 0, f"{k} of {n}: value")


@case(size=[(3, 1, 1), (2, 33, 2), (5, 128, 8), (3, 781, 5), (2, 1024, 64), (2, 1025, 1), (2, 5000, 50), (2, 40, 40)],
      dtype=["fp32", "fp16", "bf16"])
def topk(bench, size, dtype):
    topk_case(bench, *size, dtype)


@case()
def topk_can_fail(bench):
    for text, wrong in (("> min(kept", "> max(kept"), ("0x7fffffff)\n", "0)\n")):
        source = example("topk.dsl").decode()
        assert text in source
        must_fail(lambda: topk_case(bench, 3, 3000, 8, "fp32", source=source.replace(text, wrong)), wrong)


@case()
def rows_can_fail(bench):
    """Kernels with one mistake each."""
    for name, text, wrong in (("softmax_temperature.dsl", "/ temperature", "/ temperature * 1.000003"),
                              ("softmax_causal.dsl", "cols <= row", "cols < row"),
                              ("softmax_columns.dsl", "mask=mask, other=-inf", "mask=mask, other=0.0"),
                              ("softmax_columns.dsl, WHOLE=False", "s * exp(m - shift)", "s"),
                              ("softmax_small_rows.dsl", "& (cols < n_cols)", "& (cols <= n_cols)"),
                              ("log_softmax.dsl", "log(sum(exp(v), axis=0))", "log(sum(exp(v), axis=0)) * 1.00001"),
                              ("softmax_backward.dsl", "sum(p * d, axis=0)", "sum(d, axis=0)"),
                              ("swiglu_backward.dsl, GELU=True", "0.214064454", "0.2140"),
                              ("log_softmax_backward.dsl", "d - p * sum(d, axis=0)", "d - p * sum(d, axis=0) * 1.001"),
                              ("rmsnorm_quantize.dsl, Q=i8", "round(h)", "h"),
                              ("gelu.dsl", "0.159319607", "0.15932"), ("quantize_int8.dsl", "round(v)", "v"),
                              ("row_sum_fp64.dsl", "fp64", "fp32")):
        kernel = KERNELS[name]
        source = example(kernel.file).decode()
        assert text in source, (name, text)
        v = values(kernel, 4, 301, 1)
        v["n_queries"] = 4

        def planted():
            got, a = run(bench, kernel, v, "fp32", pad=3, source=source.replace(text, wrong))
            judge(kernel, got, a, "fp32", "planted")

        must_fail(planted, f"{name}: {wrong}")
