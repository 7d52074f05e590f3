"""erfcx, the inverses of erf and erfc, the normal distribution, lgamma: NumPy has none of them, and ctypes no long
double, so that all but lgamma are judged by formulas of our own."""
import numpy as np

from case import case
from test_math import FLOATS, MANTISSA, PI, apply, by_number, judge, libm, to_type


def squares(x):
    """x^2 as a sum of two."""
    high = x.astype(np.float32).astype(np.longdouble)
    return high * high, (x - high) * (x + high)


def erf_near(x):
    """Between -1.5 and 1.5, by its series times e^(-x^2), of which no term is negative."""
    term = total = x
    for k in range(1, 60):
        term = term * (2 * x * x / (2 * k + 1))
        total = total + term
    return 2 / np.sqrt(PI) * np.exp(-x * x) * total


def erfcx_near(x):
    return np.exp(x * x) * (1 - erf_near(x))


def erfcx_far(x):
    """By its continued fraction."""
    a, (high, low), fraction = np.abs(x), squares(np.clip(x, -150, 0)), 0
    for k in range(200, 0, -1):
        fraction = k / np.longdouble(2) / (a + fraction)
    far = 1 / (a + fraction) / np.sqrt(PI)
    return np.where(x < 0, 2 * np.exp(high) * np.exp(low) - far, far)


def erfcx(x):
    """e^(x^2) erfc(x)"""
    near, y = np.abs(x) < 1.5, np.empty_like(x)
    y[near], y[~near] = erfcx_near(x[near]), erfcx_far(x[~near])
    return y


def inverse_near(x):
    """The inverse of erf from -1/2 to 1/2, by Newton's steps."""
    y = x
    for _ in range(6):
        y = y - (erf_near(y) - x) * np.exp(y * y) * np.sqrt(PI) / 2
    return y


def inverse_tail(q):
    """The y with erfc(y) = q, for q from 0 to 1/2: by Newton's steps for the logarithms, which come from above."""
    y = np.sqrt(np.maximum(-np.log(q), 0))
    for _ in range(8):
        ratio = erfcx(y)
        y = y + ratio * (np.log(ratio) - y * y - np.log(q)) * np.sqrt(PI) / 2
    return y


def inverse(x, q):
    """Of erf at x = 1 - q, of which x counts near 0 and q, or 2 - q, elsewhere."""
    near, p = np.abs(x) <= 0.5, np.where(q > 1, 2 - q, q)
    inside, y = ~near & (p > 0), np.where(p == 0, np.longdouble(np.inf), np.nan)
    y[near], y[inside] = inverse_near(x[near]), inverse_tail(p[inside])
    return np.copysign(y, x)


def erfinv(x):
    return inverse(x, np.where(np.abs(x) <= 0.5, 1, 1 - x))


def erfcinv(q):
    return inverse(1 - q, q)


def root_half():
    """1 / sqrt(2): 20 bits, and the rest."""
    r = 1 / np.sqrt(np.longdouble(2))
    high = np.rint(np.ldexp(r, 20)) / 2 ** 20
    return high, (np.longdouble(1) / 2 - high * high) / (r + high)


def normcdf(x):
    """erfc(c + low) with x / sqrt(2) as a sum: the product's bits beyond a long double count where it is large."""
    x = np.clip(x, -100, 100)
    first, second = root_half()
    left = x.astype(np.float32).astype(np.longdouble)
    a, b = left * first, (x - left) * first + x * second
    c = -(a + b)
    low = -(b - (-c - a))
    high, rest = squares(c)
    return erfcx(c) / 2 * np.exp(-high) * np.exp(-rest - 2 * np.maximum(c, 0) * low)


def normcdfinv(p):
    return -np.sqrt(np.longdouble(2)) * erfcinv(2 * p)


def lgamma(x):
    return by_number(libm.lgammal, x)


AREAS = {
    "erfcx(x)": (erfcx, 2),
    "erfinv(x)": (erfinv, 2),
    "erfcinv(x)": (erfcinv, 2),
    "normcdf(x)": (normcdf, 2),
    "normcdfinv(x)": (normcdfinv, 2),
    "lgamma(abs(x))": (lambda x: lgamma(np.abs(x)), 3),
}


@case(name=list(AREAS), dtype=FLOATS)
def areas(bench, name, dtype):
    judge(bench, name, dtype, *AREAS[name])


@case(dtype=["fp32", "fp64"])
def lgamma_below_zero(bench, dtype):
    """Between the poles lgamma has zeros, near which only the absolute error is small."""
    rng = np.random.default_rng(6)
    x = np.concatenate([-rng.uniform(0, 40, 20000), -np.exp(rng.uniform(-80, 10, 5000)), [-1, -2, -30, -0.5, -2 ** 60]])
    x = to_type(x, dtype)
    want = lgamma(x)
    got = apply(bench, "lgamma(x)", dtype, x).read()
    pole = np.isinf(want)
    assert np.isposinf(got[pole]).all() and (x[pole] == np.rint(x[pole])).all()
    with np.errstate(invalid="ignore"):
        errors = np.where(pole, 0, np.abs(got - want)) / np.maximum(np.abs(want), 1) * 2.0 ** (MANTISSA[dtype] + 1)
    assert (errors <= 6).all(), f"{errors.max():.2f} at {x[np.argmax(errors)]!r}"
