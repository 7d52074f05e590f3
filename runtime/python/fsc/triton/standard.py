"""standard.py - names of triton.language.standard that are private there and used nevertheless.

In: nothing. Out: functions for kernels, as Triton has them; the compiler reads them like the user's own.
"""
from . import language as tl
from ._jit import constexpr_function, jit


@constexpr_function
def _log2(i):
    n = 0  # no loop: its result would be known at run time only
    if i >= 65536:
        i = i // 65536
        n += 16
    if i >= 256:
        i = i // 256
        n += 8
    if i >= 16:
        i = i // 16
        n += 4
    if i >= 4:
        i = i // 4
        n += 2
    return n + 1 if i >= 2 else n


@constexpr_function
def _is_power_of_two(i):
    return i > 0 and i & (i - 1) == 0


@constexpr_function
def get_int_dtype(bitwidth, signed):
    if bitwidth == 1:
        return tl.int1
    elif bitwidth == 8:
        return tl.int8 if signed else tl.uint8
    elif bitwidth == 16:
        return tl.int16 if signed else tl.uint16
    elif bitwidth == 32:
        return tl.int32 if signed else tl.uint32
    elif bitwidth == 64:
        return tl.int64 if signed else tl.uint64
    else:
        raise ValueError("get_int_dtype: the width is none of 1, 8, 16, 32, 64")


@jit
def _sum_combine(a, b):
    return a + b


@jit
def _prod_combine(a, b):
    return a * b


@jit
def _xor_combine(a, b):
    return a ^ b


@jit
def _or_combine(x, y):
    return x | y


@jit
def _elementwise_max(a, b):
    return tl.maximum(a, b)


@jit
def _elementwise_min(a, b):
    return tl.minimum(a, b)


@jit
def _pick(is_first, a, i, b, j, by_index):
    """One of two pairs of value and index: the first where is_first says so, and, by_index, the lower of equal ones."""
    if by_index:
        is_first = is_first | ((a == b) & (i < j))
    return tl.where(is_first, a, b), tl.where(is_first, i, j)


@jit
def _argmax_combine(a, i, b, j, tie_break_left):
    return _pick(a > b, a, i, b, j, tie_break_left)


@jit
def _argmin_combine(a, i, b, j, tie_break_left):
    return _pick(a < b, a, i, b, j, tie_break_left)


@jit
def _argmax_combine_tie_break_left(a, i, b, j):
    return _pick(a > b, a, i, b, j, True)


@jit
def _argmax_combine_tie_break_fast(a, i, b, j):
    return _pick(a > b, a, i, b, j, False)


@jit
def _argmin_combine_tie_break_left(a, i, b, j):
    return _pick(a < b, a, i, b, j, True)


@jit
def _argmin_combine_tie_break_fast(a, i, b, j):
    return _pick(a < b, a, i, b, j, False)
