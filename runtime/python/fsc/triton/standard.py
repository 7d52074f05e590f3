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
def _argmax_combine(value1, index1, value2, index2, tie_break_left):
    if tie_break_left:
        tie = value1 == value2 and index1 < index2
    else:
        tie = False
    gt = value1 > value2 or tie
    return tl.where(gt, value1, value2), tl.where(gt, index1, index2)


@jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, True)


@jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, False)


@jit
def _argmin_combine(value1, index1, value2, index2, tie_break_left):
    if tie_break_left:
        tie = value1 == value2 and index1 < index2
    else:
        tie = False
    lt = value1 < value2 or tie
    return tl.where(lt, value1, value2), tl.where(lt, index1, index2)


@jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, True)


@jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, False)
