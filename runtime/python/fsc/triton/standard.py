"""standard.py - names of triton.language.standard that are private there and used nevertheless.

In: nothing. Out: functions of constants, which wrappers call as well, and the names of the compiler's combine functions
(lib/standard.dsl there).
"""
from . import language as tl
from ._jit import constexpr_function


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


# Combine functions: the compiler's own.
COMBINES = """
_sum_combine _prod_combine _xor_combine _or_combine _elementwise_max _elementwise_min _argmax_combine _argmin_combine
_argmax_combine_tie_break_left _argmax_combine_tie_break_fast _argmin_combine_tie_break_left
_argmin_combine_tie_break_fast
""".split()
globals().update((name, tl.Builtin(f"tl.standard.{name}")) for name in COMBINES)
