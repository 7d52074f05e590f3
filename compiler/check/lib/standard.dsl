# standard.dsl - names of triton.language.standard and core that are private there, and used by kernels nevertheless.

@jit
def _unwrap_if_constexpr(x):
    return x

@jit
def _log2(i: constexpr):
    n = 0
    for e in static_range(1, 63):
        if i >= 1 << e:
            n = e
    return n

@jit
def _is_power_of_two(i: constexpr):
    return i > 0 and (i & (i - 1)) == 0

@jit
def get_int_dtype(bitwidth: constexpr, signed: constexpr):
    static_assert(bitwidth in (1, 8, 16, 32, 64), "get_int_dtype: the width is none of 1, 8, 16, 32, 64")
    if bitwidth == 1:
        return i1
    elif bitwidth == 8:
        return i8 if signed else u8
    elif bitwidth == 16:
        return i16 if signed else u16
    elif bitwidth == 32:
        return i32 if signed else u32
    else:
        return i64 if signed else u64

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
    return maximum(a, b)

@jit
def _elementwise_min(a, b):
    return minimum(a, b)

# One of two pairs of value and index: the first where is_first says so, and, by_index, the lower of equal ones.
@jit
def pick(is_first, a, i, b, j, by_index: constexpr):
    if by_index:
        is_first = is_first | ((a == b) & (i < j))
    return where(is_first, a, b), where(is_first, i, j)

@jit
def _argmax_combine(a, i, b, j, tie_break_left: constexpr):
    return pick(a > b, a, i, b, j, tie_break_left)

@jit
def _argmin_combine(a, i, b, j, tie_break_left: constexpr):
    return pick(a < b, a, i, b, j, tie_break_left)

@jit
def _argmax_combine_tie_break_left(a, i, b, j):
    return pick(a > b, a, i, b, j, True)

@jit
def _argmax_combine_tie_break_fast(a, i, b, j):
    return pick(a > b, a, i, b, j, False)

@jit
def _argmin_combine_tie_break_left(a, i, b, j):
    return pick(a < b, a, i, b, j, True)

@jit
def _argmin_combine_tie_break_fast(a, i, b, j):
    return pick(a < b, a, i, b, j, False)
