"""numeric.py - numbers of the kernel language in NumPy: types, conversions, fused multiply-add,
error-free where IEEE is.

In: NumPy arrays; a bf16 value is held as float32. Out: arrays of the type's NumPy type, each result rounded once.
Method: values of up to 32 bits are computed in float64 rounded to odd, so that the last rounding is the only one.
"""
from fractions import Fraction

import numpy as np

NP = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
      "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "fp16": np.float16, "bf16": np.float32, "fp32": np.float32,
      "fp64": np.float64}
MANTISSA = {"fp16": 11, "bf16": 8, "fp32": 24, "fp64": 53}
SMALLEST = {"fp16": 2.0 ** -24, "bf16": 2.0 ** -133, "fp32": 2.0 ** -149, "fp64": 2.0 ** -1074}
LARGEST = {"fp16": 65504.0, "bf16": 3.3895313892515355e38, "fp32": 3.4028234663852886e38,
           "fp64": 1.7976931348623157e308}


def bf16_bits(x):
    """float32 → bf16 bits, to nearest even."""
    f = np.ascontiguousarray(x, np.float32).reshape(np.shape(x))
    bits = f.view(np.uint32).astype(np.uint64)
    high, one = np.uint64(16), np.uint64(1)
    near = ((bits + np.uint64(0x7FFF) + ((bits >> high) & one)) >> high).astype(np.uint16)
    return np.where(np.isnan(f), ((bits >> high) | np.uint64(0x40)).astype(np.uint16), near)


def bf16_value(bits):
    return (np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def _odd(s, error):
    """s + error, as float64 rounded to odd: exact, or the neighbour whose last bit is set."""
    s, error = np.array(s, np.float64), np.asarray(error, np.float64)
    bits = s.view(np.int64)
    inexact = np.isfinite(s) & (error != 0) & ((bits & 1) == 0)
    outward = (error > 0) == (s > 0)
    return np.where(inexact, np.where(outward, bits + 1, bits - 1), bits).view(np.float64)


def _narrow_odd(x):
    """float64 → float32, rounded to odd."""
    f = x.astype(np.float32)
    bits = np.array(f).view(np.int32)
    back = f.astype(np.float64)
    inexact = np.isfinite(f) & (back != x) & ((bits & 1) == 0)
    larger = np.abs(x) > np.abs(back)
    odd = np.where(inexact, np.where(larger, bits + 1, bits - 1), bits).astype(np.int32).view(np.float32)
    return np.where(np.isinf(f) & np.isfinite(x), np.copysign(np.float32(LARGEST["fp32"]), f), odd)


def round_to(x, dtype):
    """float64 (exact, or rounded to odd) → the type."""
    x = np.asarray(x, np.float64)
    if dtype != "bf16":
        return x.astype(NP[dtype])
    return bf16_value(bf16_bits(_narrow_odd(x)))


def int_to_float(x, dtype):
    if dtype == "fp64" or x.dtype.itemsize < 8:
        return round_to(x.astype(np.float64), dtype)
    negative = x < 0
    m = np.where(negative, (~x.astype(np.uint64)) + np.uint64(1), x.astype(np.uint64))
    lost = (m & np.uint64(0x7FF)) != 0
    big = m >= np.uint64(1 << 53)
    m = np.where(big, (m & ~np.uint64(0x7FF)) | np.where(lost, np.uint64(0x800), np.uint64(0)), m)
    f = m.astype(np.float64)
    return round_to(np.where(negative, -f, f), dtype)


def fma(a, b, c, dtype):
    """a * b + c, rounded once."""
    if dtype == "fp64":
        return _fma64(a, b, c)
    p, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    return round_to(_odd(s, np.where(np.isfinite(error), error, 0)), dtype)


def _fma64(a, b, c):
    a, b, c = np.broadcast_arrays(a, b, c)
    plain = a * b + c
    out = np.array(plain)
    for i in np.ndindex(out.shape):
        x, y, z = float(a[i]), float(b[i]), float(c[i])
        if np.isfinite((x, y, z)).all() and x * y != 0:
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            if exact != 0:
                out[i] = _fraction(exact)
            elif z != 0:
                out[i] = 0.0
    return out


def _fraction(f):
    try:
        return float(f)
    except OverflowError:
        return np.inf if f > 0 else -np.inf


def ulp(x, dtype):
    """The distance of neighbours at |x|, as float64."""
    m = np.maximum(np.abs(np.asarray(x, np.float64)), 0)
    finite = np.where(np.isfinite(m), m, 1.0)
    return np.maximum(np.exp2(np.floor(np.log2(np.maximum(finite, 1e-300))) - (MANTISSA[dtype] - 1)), SMALLEST[dtype])
