"""Mathematical functions: special values, both ends of the range and a spread between, in every float type."""
import numpy as np

from case import case, close
from fsc import decode, encode

FLOATS = ["fp16", "bf16", "fp32", "fp64"]
MANTISSA = {"fp16": 10, "bf16": 7, "fp32": 23, "fp64": 52}
LEAST = {"fp16": -14, "bf16": -126, "fp32": -126, "fp64": -1022}  # exponent of the smallest normal number

UNARY = """
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024)
def unary(r: *R, a: *T, n: i32, BLOCK: constexpr = 1024, T: dtype = fp32, R: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    m = i < n
    x = load(a + i, mask=m)
    store(r + i, {expression}, mask=m)
"""


def to_type(x, dtype):
    """longdouble → the nearest value of the type (fp64 and wider rounding is NumPy's own)."""
    with np.errstate(all="ignore"):
        return decode(encode(np.asarray(x).astype(np.float64), dtype), dtype)


def ulp_errors(got, want, dtype):
    """|got − want| in units in the last place of `want`; where the rounded `want` is infinite or NaN `got` must be, too."""
    want = np.asarray(want, np.longdouble)
    rounded = to_type(want, dtype)
    for name, test in (("NaN", np.isnan), ("+inf", np.isposinf), ("-inf", np.isneginf)):
        wrong = test(got) != test(rounded)
        beside = np.isinf(rounded) | np.isinf(got)  # one step beside the largest number counts as an error of one ulp
        limit = np.ldexp(2 - np.ldexp(1.0, -MANTISSA[dtype]), 1 - 2 + (-LEAST[dtype] + 2))
        wrong &= ~(beside & ((np.abs(got) == limit) | (np.abs(rounded) == limit)) & (np.sign(got) == np.sign(rounded)))
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise AssertionError(f"{name}: got {got[i]!r}, not {rounded[i]!r}, at {i}")
    _, e = np.frexp(np.where(np.isfinite(want), want, 1))
    ulp = np.ldexp(np.longdouble(1), np.maximum(e - 1, LEAST[dtype]) - MANTISSA[dtype])
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(got) & np.isfinite(rounded), np.abs(got - want) / ulp, 0).astype(np.float64)


def every_or_spread(dtype):
    """All patterns of a 16-bit type; of the others special values, the ends of the range, and random bits."""
    if dtype in ("fp16", "bf16"):
        with np.errstate(invalid="ignore"):
            return decode(np.arange(65536, dtype=np.uint16).view(np.float16 if dtype == "fp16" else np.uint16), dtype)
    rng = np.random.default_rng(5)
    kind, bits = (np.float32, np.uint32) if dtype == "fp32" else (np.float64, np.uint64)
    info = np.finfo(kind)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 2, -2, info.max, -info.max, info.tiny, -info.tiny,
               info.smallest_subnormal, -info.smallest_subnormal, 1 - info.epsneg, 1 + info.eps, np.pi, np.pi / 2, np.log(2)]
    wide = rng.integers(0, np.iinfo(bits).max, 40000, dtype=bits, endpoint=True).view(kind)
    near = np.concatenate([rng.uniform(-s, s, 8000) for s in (1e-3, 0.5, 2, 10, 100, 800, 1e5)])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([special, wide.astype(np.float64), near]).astype(kind).astype(np.float64)


def apply(bench, expression, dtype, x, result=None, **options):
    result = result or dtype
    a, r = bench.buffer(dtype, len(x), x), bench.buffer(result, len(x))
    bench.run(UNARY.format(expression=expression), r, a, len(x), types={"T": dtype, "R": result}, **options)
    return r


def sigmoid(x):
    return np.where(x < 0, np.exp(-np.abs(x)), 1) / (1 + np.exp(-np.abs(x)))


# name: reference in longdouble, bound in ulp for fp32 and fp64 (fp16 and bf16: 1)
FUNCTIONS = {
    "sigmoid": (sigmoid, 5),
}


@case(name=list(FUNCTIONS), dtype=FLOATS)
def math_functions(bench, name, dtype):
    reference, bound = FUNCTIONS[name]
    x = every_or_spread(dtype)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.longdouble))
    errors = ulp_errors(apply(bench, f"{name}(x)", dtype, x).read(), want, dtype)
    i = int(np.argmax(errors))
    limit = bound if dtype in ("fp32", "fp64") else 1
    assert errors[i] <= limit, f"{name}({x[i]!r}) is {errors[i]:.3f} ulp off"


ROWS = """
@kernel(grid=(1,))
def rows(r: *T, a: *T, m: i32, n: i32, M: constexpr = 4, N: constexpr = 64, AXIS: constexpr = 1, T: dtype = fp32):
    i = arange(0, M)[:, None]
    j = arange(0, N)[None, :]
    inside = (i < m) & (j < n)
    x = load(a + i * n + j, mask=inside, other=-inf)
    store(r + i * n + j, softmax(x, {how}), mask=inside)
"""


@case(dtype=FLOATS, how=["dim=1", "axis=-1", "0"], num_warps=[1, 4, 8])
def softmax_builtin(bench, dtype, how, num_warps):
    m, n = 3, 61
    x = to_type(np.random.default_rng(9).standard_normal((m, n)) * 5, dtype)
    x[0, 5] = -np.inf
    w = x.astype(np.longdouble)
    axis = 0 if how == "0" else 1
    e = np.exp(w - w.max(axis, keepdims=True))
    want = e / e.sum(axis, keepdims=True)
    a, r = bench.buffer(dtype, m * n, x.ravel()), bench.buffer(dtype, m * n)
    bench.run(ROWS.format(how=how), r, a, m, n, types={"T": dtype}, num_warps=num_warps)
    u = {"fp64": 2.0 ** -53}.get(dtype, 2.0 ** -24)
    bound = (10 + 2.5 * np.abs(np.where(np.isfinite(x), x, 0) - x.max(axis, keepdims=True))) * u
    if dtype in ("fp16", "bf16"):
        bound = bound + 2.0 ** -(MANTISSA[dtype] + 1)
    least = np.ldexp(1.0, LEAST[dtype] - MANTISSA[dtype])
    close(r.read().reshape(m, n), want.astype(np.float64), bound.astype(np.float64), least, f"softmax {dtype} {how}")
