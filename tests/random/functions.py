"""functions.py - operations of the kernel language on arrays: integers that wrap, floats with error bounds,
memory images.

In: NumPy arrays, or Values (`v` the numbers, `err` their error bound or None: exact). Out: the same, or None where the
language defines no result. Tolerances are those of the project's table: + - * fma, max, min, casts bitwise; / and the
functions in ulp; sums (log2 N + N) u sum|x|.
"""
import numpy as np

from nodes import is_signed
from numeric import LARGEST, MANTISSA, NP, SMALLEST, bf16_bits, bf16_value, fma, int_to_float, round_to, ulp


def poison(dtype, count):
    size = {"i1": 1, "bf16": 2}.get(dtype) or np.dtype(NP[dtype]).itemsize
    kind = {"i1": np.uint8, "bf16": np.uint16}.get(dtype) or NP[dtype]
    return np.frombuffer(b"\xa5" * (size * count), kind).copy()


def image(v, dtype):
    """Numbers → what memory holds."""
    return bf16_bits(v) if dtype == "bf16" else v.astype(np.uint8) if dtype == "i1" else v


def number(bits, dtype):
    return bf16_value(bits) if dtype == "bf16" else bits != 0 if dtype == "i1" else bits


# ---- Integers --------------------------------------------------------------------------------------------------------

def ring(op, x, y):
    return x + y if op == "+" else x - y if op == "-" else x * y


def compare(op, x, y):
    return {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
            "!=": np.not_equal}[op](x, y)


def int_binary(op, x, y, dtype, fault):
    if op in "&|^":
        return x & y if op == "&" else x | y if op == "|" else x ^ y
    x, y = np.broadcast_arrays(x, y)
    if op in ("<<", ">>"):
        if (y < 0).any() or (y >= x.dtype.itemsize * 8).any():
            return None
        if op == ">>" and fault == "shift" and is_signed(dtype):
            unsigned = NP["u" + dtype[1:]]
            return (x.view(unsigned) >> y.view(unsigned)).view(NP[dtype])
        return np.asarray(x << y if op == "<<" else x >> y).astype(NP[dtype])
    if (y == 0).any() or (is_signed(dtype) and ((y == -1) & (x == np.iinfo(NP[dtype]).min)).any()):
        return None
    q = x // y
    if is_signed(dtype) and fault != "truncate":
        q = q + ((x - q * y != 0) & ((x < 0) != (y < 0))).astype(NP[dtype])
    return np.asarray(q if op == "//" else x - q * y)


# ---- Conversions -----------------------------------------------------------------------------------------------------

def to_float(x, dtype, Value, rounding):
    if x.v.dtype.kind == "f":
        v = round_to(x.v.astype(np.float64), dtype)
        if rounding == "rtz":
            v = toward_zero(x.v.astype(np.float64), v, dtype)
        err = None if x.err is None else bounded(x.err + ulp(v, dtype), v, dtype)
        return Value(dtype, v, err=err)
    v = x.v.astype(np.int32) if x.v.dtype == np.bool_ else x.v
    return Value(dtype, int_to_float(v, dtype))


def toward_zero(x, near, dtype):
    """The neighbour of `near` that is not beyond x."""
    back = near.astype(np.float64)
    beyond = np.isfinite(x) & (np.abs(back) > np.abs(x))
    if dtype == "bf16":
        return bf16_value(np.where(beyond, bf16_bits(near) - 1, bf16_bits(near)).astype(np.uint16))
    return np.where(beyond, np.nextafter(near, NP[dtype](0)), near).astype(NP[dtype])


def float_to_int(x, dtype):
    v = x.v.astype(np.float64)
    if x.err is not None or not np.isfinite(v).all():
        return None
    t = np.trunc(v)
    if dtype == "i1":
        return v != 0
    info = np.iinfo(NP[dtype])
    if (t < float(info.min)).any() or (t >= float(info.max)).any():
        return None
    return t.astype(NP[dtype])


def bitcast(x, dtype, Value):
    bits = bf16_bits(x.v) if x.dtype == "bf16" else np.ascontiguousarray(x.v).reshape(np.shape(x.v))
    if dtype == "bf16":
        return Value(dtype, bf16_value(bits.view(np.uint16)))
    return Value(dtype, bits.view(NP[dtype]))


# ---- Floats ----------------------------------------------------------------------------------------------------------

def bounded(err, v, dtype):
    """Where an inexact value may overflow, nothing is promised."""
    v = np.abs(np.asarray(v, np.float64))
    return np.where(np.isnan(err) | ~(v + err < LARGEST[dtype] * 0.99), np.inf, err)


def pick(c, a, b):
    if a is None and b is None:
        return None
    return np.where(c, 0.0 if a is None else a, 0.0 if b is None else b)


def float_binary(op, x, y, dtype, Value):
    if op == "%":
        if (x.err is not None or y.err is not None or (y.v == 0).any() or not np.isfinite(x.v).all() or
            not np.isfinite(y.v).all()):
            return Value(dtype, np.full(np.broadcast(x.v, y.v).shape, 0, NP[dtype]),
                         err=np.full(np.broadcast(x.v, y.v).shape, np.inf))
        return Value(dtype, np.fmod(x.v, y.v))
    a, b = x.v.astype(np.float64), y.v.astype(np.float64)
    v = round_to(ring(op, a, b), dtype)
    if x.err is None and y.err is None:
        return Value(dtype, v)
    ea, eb = (0.0 if z.err is None else z.err for z in (x, y))
    err = np.abs(a) * eb + np.abs(b) * ea + ea * eb if op == "*" else ea + eb
    err = np.where(np.isfinite(a) & np.isfinite(b), err, np.inf)
    return Value(dtype, v, err=bounded(err + ulp(v, dtype), v, dtype))


def float_pick(n, x, y, Value):
    is_max, a, b = n.a["op"].startswith("max"), x.v, y.v
    v = (np.fmax if is_max else np.fmin)(a, b)
    zero = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    v = np.where(zero, NP[n.dtype](0.0 if is_max else -0.0), v)
    if n.a.get("nan"):
        v = np.where(np.isnan(a) | np.isnan(b), NP[n.dtype](np.nan), v)
    err = None if x.err is None and y.err is None else np.maximum(0.0 if x.err is None else x.err,
                                                                  0.0 if y.err is None else y.err)
    if err is not None:
        err = np.where(np.isnan(a) | np.isnan(b), np.inf, err)
    return Value(n.dtype, np.asarray(v, NP[n.dtype]), err=err)


def fused(dtype, xs, Value):
    if any(x.err is not None or x.dtype != dtype for x in xs):
        return None
    return Value(dtype, np.asarray(fma(*np.broadcast_arrays(*[x.v for x in xs]), dtype)))


def divide(x, y, dtype, Value):
    if x.err is not None or y.err is not None:
        return None
    a, b = np.broadcast_arrays(x.v.astype(np.float64), y.v.astype(np.float64))
    v = round_to(a / b, dtype)
    if dtype == "fp64":
        return Value(dtype, v)
    err = 2 * ulp(v, dtype)
    extreme = np.isfinite(a) & (b != 0) & (~(np.abs(v) < 1e37) | ((np.abs(v) < 1e-36) & (a != 0)) | ~(np.abs(b) < 1e37))
    return Value(dtype, v, err=np.where(extreme, np.inf, np.where(np.isfinite(v) & (v != 0), err, 0)))


MATH = {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt,
        "rsqrt": lambda x: 1 / np.sqrt(x)}


def math(op, x, Value):
    """The argument is within a range where the result is normal; else nothing is defined here."""
    if x.err is not None or not np.isfinite(x.v).all():
        return None
    v, dtype = x.v, x.dtype
    outside = np.abs(v) > 9 if op.startswith("exp") else (v < 2.0 ** -12) | (v > 30000)
    if outside.any():
        return None
    exact = MATH[op](v.astype(np.longdouble)).astype(np.float64)
    r = round_to(exact, dtype)
    if op == "sqrt" and dtype in ("fp32", "fp64"):
        return Value(dtype, np.sqrt(v))
    return Value(dtype, r, err=(2 if dtype in ("fp32", "fp64") else 1) * ulp(r, dtype))


def float_reduce(n, x, convert, Value):
    axis, keep, op = n.a["axis"], bool(n.a.get("keep")), n.a["op"]
    x = convert(x, n.dtype) if n.a.get("typed") or op != "sum" else x
    v = x.v
    if op != "sum":
        return _extreme(n, x, axis, keep, Value)
    wide = v.astype(np.longdouble if n.dtype == "fp64" else np.float64)
    s = np.sum(wide, axis=axis, keepdims=keep)
    total = np.asarray(np.sum(np.abs(wide), axis=axis, keepdims=keep), np.float64)
    r = round_to(np.asarray(s, np.float64), n.dtype)
    count = v.size if axis is None else v.shape[axis]
    unit = 2.0 ** -53 if n.dtype == "fp64" else 2.0 ** -24
    err = (np.ceil(np.log2(max(count, 2))) + count) * unit * np.where(np.isfinite(total), total, 0)
    if MANTISSA[n.dtype] < 24:
        err = err + ulp(r, n.dtype)
    if x.err is not None:
        err = err + np.sum(x.err, axis=axis, keepdims=keep)
    special = ~np.isfinite(total)
    limit = LARGEST["fp64" if n.dtype == "fp64" else "fp32"] / 4
    finite = np.sum(np.where(np.isfinite(wide), np.abs(wide), 0), axis=axis, keepdims=keep)  # may overflow on the way
    err = np.where(special, 0 if x.err is None else np.inf, bounded(err + SMALLEST[n.dtype], r, n.dtype))
    err = np.where(finite > limit, np.inf, err)
    return Value(n.dtype, np.asarray(r), err=err)


def _extreme(n, x, axis, keep, Value):
    v, is_max = x.v, n.a["op"] == "max"
    plain = (np.fmax if is_max else np.fmin).reduce(v, axis=axis, keepdims=keep)
    zeros = np.any((v == 0) & (np.signbit(v) != is_max), axis=axis, keepdims=keep)
    r = np.where(plain == 0, np.where(zeros, 0.0 if is_max else -0.0, -0.0 if is_max else 0.0), plain)
    has_nan = np.any(np.isnan(v), axis=axis, keepdims=keep)
    if n.a.get("nan"):
        r = np.where(has_nan, np.nan, r)
    err = None if x.err is None else np.where(has_nan, np.inf,
                                              np.max(x.err + np.zeros(np.shape(v)), axis=axis, keepdims=keep))
    return Value(n.dtype, np.asarray(r, NP[n.dtype]), err=err)
