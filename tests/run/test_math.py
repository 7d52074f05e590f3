"""Mathematical functions: special values, both ends of the range and a spread between, in every float type."""
import ctypes
import ctypes.util

import numpy as np

from case import case, close, same_bits
from fsc import DTYPES, decode, encode

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
    """|got − want| in units in the last place of `want`;
    where the rounded `want` is infinite or NaN `got` must be, too."""
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
               info.smallest_subnormal, -info.smallest_subnormal, 1 - info.epsneg, 1 + info.eps, np.pi, np.pi / 2,
               np.log(2)]
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


libm = ctypes.CDLL(ctypes.util.find_library("m"))
for libm_function, count in ((libm.erfl, 1), (libm.erfcl, 1), (libm.lgammal, 1), (libm.remainderl, 2)):
    libm_function.restype, libm_function.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble] * count


def by_number(function, x):
    """One of the C library's for long double; arguments are rounded to float64."""
    return np.array([function(float(v)) for v in x], np.longdouble)


def erf(x):
    """NumPy has none."""
    return by_number(libm.erfl, x)


def erfc(x):
    return by_number(libm.erfcl, x)


def round_away(x):
    return np.copysign(np.trunc(np.abs(x)) + (np.abs(x) - np.trunc(np.abs(x)) >= 0.5), x)


def eighth(x):
    """x = 2 n + k / 2 + f, exactly, with f from -1/4 to 1/4: k and pi f."""
    c = x - 2 * np.rint(x / 2)
    k = np.rint(2 * c)
    return k % 4, (c - k / 2) * x.dtype.type(PI)


PI = np.longdouble("3.14159265358979323846264338327950288")


def sinpi(x):
    k, f = eighth(x)
    y = np.choose(np.where(np.isnan(k), 0, k).astype(int), [np.sin(f), np.cos(f), -np.sin(f), -np.cos(f)])
    return np.where(y == 0, np.copysign(y, x), y)  # zeros have the sign of x


def cospi(x):
    k, f = eighth(x)
    return np.choose(np.where(np.isnan(k), 0, k).astype(int), [np.cos(f), -np.sin(f), -np.cos(f), np.sin(f)]) + 0


def exponent(x):
    return np.where(x == 0, -np.inf, np.where(np.isfinite(x), np.frexp(x)[1] - 1, np.abs(x)))


# expression: reference in longdouble, bound in ulp for fp32 and fp64 (fp16 and bf16: 1). The exponent 0.5 is an array:
# a scalar is a square root to NumPy, which has other special values.
FUNCTIONS = {
    "sigmoid(x)": (sigmoid, 5),
    "tanh(x)": (np.tanh, 2),
    "erf(x)": (erf, 2),
    "sin(x)": (np.sin, 2),
    "cos(x)": (np.cos, 2),
    "expm1(x)": (np.expm1, 2),
    "log1p(x)": (np.log1p, 2),
    "exp(x)": (np.exp, 2),
    "exp2(x)": (np.exp2, 2),
    "log(x)": (np.log, 2),
    "log2(x)": (np.log2, 2),
    "rsqrt(x)": (lambda x: 1 / np.sqrt(x), 2),
    "x ** 2.5": (lambda x: np.power(x, x.dtype.type(2.5)), 2),
    "x ** -1": (lambda x: 1 / x, 2),
    "x ** 0.5": (lambda x: np.power(x, np.full_like(x, 0.5)), 2),
    "3.0 ** x": (lambda x: np.power(x.dtype.type(3), x), 2),
    "tan(x)": (np.tan, 2),
    "asin(x)": (np.arcsin, 2),
    "acos(x)": (np.arccos, 2),
    "atan(x)": (np.arctan, 2),
    "sinh(x)": (np.sinh, 2),
    "cosh(x)": (np.cosh, 2),
    "asinh(x)": (np.arcsinh, 2),
    "acosh(x)": (np.arccosh, 2),
    "atanh(x)": (np.arctanh, 2),
    "cbrt(x)": (np.cbrt, 2),
    "rcbrt(x)": (lambda x: 1 / np.cbrt(x), 2),
    "sinpi(x)": (sinpi, 2),
    "cospi(x)": (cospi, 2),
    "logb(x)": (exponent, 0),
    "ilogb(x).to(R)": (lambda x: np.where(np.isnan(x) | (x == 0), -2.0 ** 31, np.minimum(exponent(x), 2.0 ** 31 - 1)),
                       0.5),
    "exp10(x)": (lambda x: np.power(x.dtype.type(10), x), 2),
    "log10(x)": (np.log10, 2),
    "erfc(x)": (erfc, 2),
    "sqrt_rn(x)": (np.sqrt, 0.5),
    "floor(x)": (np.floor, 0),
    "ceil(x)": (np.ceil, 0),
    "trunc(x)": (np.trunc, 0),
    "round(x)": (np.rint, 0),
    "libdevice.round(x)": (round_away, 0),
}


@case(name=list(FUNCTIONS), dtype=FLOATS)
def math_functions(bench, name, dtype):
    judge(bench, name, dtype, *FUNCTIONS[name])


def judge(bench, name, dtype, reference, bound):
    x = every_or_spread(dtype)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.longdouble))
    got = apply(bench, name, dtype, x).read()
    errors = ulp_errors(got, want, dtype)
    i = int(np.argmax(errors))
    limit = bound if dtype in ("fp32", "fp64") else min(bound, 1)
    assert errors[i] <= limit, f"{name} is {errors[i]:.3f} ulp off at x = {x[i]!r}: {got[i]!r}"
    zero = (want == 0) & (x == 0)
    assert (np.signbit(got[zero]) == np.signbit(want[zero])).all(), f"{name}: the sign of zero"


TWO = """
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024)
def two(r: *T, a: *T, b: *T, n: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    m = i < n
    x = load(a + i, mask=m)
    y = load(b + i, mask=m)
    store(r + i, {expression}, mask=m)
"""


def pairs(dtype, n):
    """Every pair of special values, and a spread whose powers stay in range."""
    rng = np.random.default_rng(4)
    digits, least = MANTISSA[dtype], LEAST[dtype]
    big = float(np.ldexp(2 - 2.0 ** -digits, 1 - least))
    special = [0.0, 1.0, 2.0, 3.0, 0.5, 1 - 2.0 ** -digits, 1 + 2.0 ** -digits, 2.5, big, 2.0 ** least,
               2.0 ** (least - digits), np.inf, 7.0, 8.0, 2.0 ** digits + 1, 2.0 ** (digits + 1), 1e-3, 100.0]
    special = [s * v for v in special for s in (1, -1)] + [np.nan]
    x, y = [p for p in special for _ in special], [q for _ in special for q in special]
    a = np.exp(rng.uniform(least * 0.6, -least * 0.6, n))
    b = rng.uniform(-1, 1, n) * -least / np.maximum(np.abs(np.log2(a)), 1e-3)
    near = 1 + rng.standard_normal(n) * 0.01
    far = rng.uniform(-1, 1, n) * -least / np.maximum(np.abs(np.log2(near)), 1e-4)
    whole = rng.integers(-30, 30, n).astype(np.float64)
    x = to_type(np.concatenate([x, a, near, -a]), dtype)
    y = to_type(np.concatenate([y, b, far, whole]), dtype)
    return x, y


@case(expression=["pow(x, y)", "x ** y", "libdevice.pow(x, y)"], dtype=FLOATS)
def powers(bench, expression, dtype):
    """As C's pow, special values included."""
    x, y = pairs(dtype, 20000 if expression == "pow(x, y)" else 200)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    a, b, r = bench.buffer(dtype, len(x), x), bench.buffer(dtype, len(x), y), bench.buffer(dtype, len(x))
    bench.run(TWO.format(expression=expression), r, a, b, len(x), types={"T": dtype})
    got = r.read()
    errors = ulp_errors(got, want, dtype)
    i = int(np.argmax(errors))
    assert errors[i] <= (2 if dtype in ("fp32", "fp64")
                         else 1), f"{x[i]!r} ** {y[i]!r} is {errors[i]:.3f} ulp off: {got[i]!r}"
    zero = to_type(want, dtype) == 0
    zero &= got == 0
    assert (np.signbit(got[zero]) == np.signbit(to_type(want, dtype)[zero])).all(), "the sign of zero"


def neighbours(x, y, dtype):
    """The next number of the type from x towards y."""
    if dtype in ("fp32", "fp64"):
        return np.nextafter(x.astype(DTYPES[dtype][1]), y.astype(DTYPES[dtype][1])).astype(np.float64)
    ladder = np.unique(every_or_spread(dtype))
    ladder = ladder[~np.isnan(ladder)]
    at = np.clip(np.searchsorted(ladder, x) + np.sign(y - x), 0, len(ladder) - 1)
    r = ladder[np.where(np.isnan(at), 0, at).astype(int)]
    r = np.where(r == 0, np.copysign(0.0, x), r)  # zero is one step, with the sign that it is reached by
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x == y, y, r))


def ieee_remainder(x, y):
    return np.array([libm.remainderl(float(p), float(q)) for p, q in zip(x, y)], np.longdouble)


# expression: reference in longdouble, bound in ulp for fp32 and fp64 (fp16 and bf16: 1); None: the bits,
# in the reference's own type
PAIRS = {
    "atan2(x, y)": (np.arctan2, 2),
    "hypot(x, y)": (np.hypot, 2),
    "fdim(x, y)": (lambda x, y: np.where(x <= y, 0, x - y), 0.5),
    "libdevice.fmod(x, y)": (np.fmod, 0),
    "remainder(x, y)": (ieee_remainder, 0),
    "copysign(x, y)": (np.copysign, 0),
    "libdevice.rhypot(x, y)": (lambda x, y: 1 / np.hypot(x, y), 2),
    "fmin(x, y)": (np.fmin, 0),
    "fmax(x, y)": (np.fmax, 0),
    "nextafter(x, y)": (None, 0),
}


@case(expression=list(PAIRS), dtype=FLOATS)
def pair_functions(bench, expression, dtype):
    """As C's, special values and the signs of zeros included."""
    reference, bound = PAIRS[expression]
    x, y = pairs(dtype, 3000)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.longdouble), y.astype(np.longdouble)) if reference else neighbours(x, y, dtype)
    a, b, r = bench.buffer(dtype, len(x), x), bench.buffer(dtype, len(x), y), bench.buffer(dtype, len(x))
    bench.run(TWO.format(expression=expression), r, a, b, len(x), types={"T": dtype})
    got = r.read()
    errors = ulp_errors(got, want, dtype)
    i = int(np.argmax(errors))
    limit = min(bound, 1) + (0.01 if dtype == "bf16" and bound else 0) if dtype in ("fp16", "bf16") else bound
    assert errors[i] <= limit, f"{expression} is {errors[i]:.3f} ulp off at {x[i]!r}, {y[i]!r}: {got[i]!r}"
    zero = (got == 0) & (to_type(want, dtype) == 0)
    if expression in ("fmin(x, y)", "fmax(x, y)"):
        zero &= (x != 0) | (y != 0)
    assert (np.signbit(got[zero]) == np.signbit(to_type(want, dtype)[zero])).all(), f"{expression}: the sign of zero"


@case(expression=["ldexp(x, y.to(i32))", "libdevice.scalbn(x, y.to(i64))"], dtype=FLOATS)
def scaled(bench, expression, dtype):
    """Rounded once, also where the result is subnormal."""
    x, y = pairs(dtype, 3000)
    y = to_type(np.where(np.abs(y) < 2500, np.trunc(y), 3.0), dtype)
    with np.errstate(all="ignore"):
        want = np.ldexp(x.astype(np.longdouble), y.astype(int))
    a, b, r = bench.buffer(dtype, len(x), x), bench.buffer(dtype, len(x), y), bench.buffer(dtype, len(x))
    bench.run(TWO.format(expression=expression), r, a, b, len(x), types={"T": dtype})
    same_bits(decode(r.raw(), dtype), to_type(want, dtype), expression)


@case(expression=["div_rn(x, y)", "fdiv(x, y, ieee_rounding=True)"], dtype=FLOATS, fast=[False, True])
def divide_rounded(bench, expression, dtype, fast):
    x, y = pairs(dtype, 5000)
    with np.errstate(all="ignore"):
        want = (encode(x, dtype) / encode(y, dtype)).astype(np.float64) if dtype != "bf16" else x / y
    a, b, r = bench.buffer(dtype, len(x), x), bench.buffer(dtype, len(x), y), bench.buffer(dtype, len(x))
    bench.run(TWO.format(expression=expression), r, a, b, len(x), types={"T": dtype}, fast_math=fast)
    same_bits(decode(r.raw(), dtype), to_type(want, dtype), expression)


TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinited": np.isfinite, "finitef": np.isfinite, "signbit": np.signbit}


@case(name=list(TESTS), dtype=FLOATS)
def tests(bench, name, dtype):
    x = every_or_spread(dtype)
    got = apply(bench, f"{name}(x)", dtype, x, "i1").raw()
    same_bits(got, TESTS[name](x).astype(np.uint8), f"{name} {dtype}")


@case(num_warps=[1, 4, 8],
      expression=["tl.math.tanh(x)", "tl.extra.cuda.libdevice.tanh(x)", "triton.language.math.tanh(x)",
                                       "libdevice.tanh(x)", "tl.tanh(x)"])
def spellings(bench, num_warps, expression):
    x = np.linspace(-3, 3, 1025)
    got = apply(bench, expression, "fp32", x, num_warps=num_warps).read()
    close(got, np.tanh(x.astype(np.float32).astype(np.float64)), 2.0 ** -22, 0, expression)


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
