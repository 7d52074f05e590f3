# RUN: fsc --emit=tile --passes= %s --kernel kernel --signature "*fp32, i32" -o - | FileCheck %s
# RUN: not fsc %s --kernel wrong --signature "*fp32, i32" 2>&1 | FileCheck %s --check-prefix=WRONG
# Named tuples, slices of tuples, limits of types, what triton.language.standard keeps for itself, and functions of the
# host that a function of constants calls.
from collections import namedtuple

import torch
import triton
import triton.language as tl
from triton.language import core
from triton.language.standard import _log2, get_int_dtype

Pair = namedtuple("Pair", ["p", "n"], defaults=(3,))
Words = namedtuple("Words", "a, b c")


def plain(x):
    return x.value if isinstance(x, tl.constexpr) else x


@tl.constexpr
def ones(bits: tl.constexpr) -> int:
    return (1 << plain(bits)) - 1


LARGEST = tl.constexpr(torch.finfo(torch.bfloat16).max)


@triton.jit
def moved(pair, by):
    return Pair(pair.p + by, n=pair.n - 1)


@triton.jit
def kernel(x, n):
    # CHECK: addptr
    pair = moved(Pair(x), n)
    tl.static_assert(pair.n == 2)
    if n > 0:
        pair = Pair(x, pair.n)
    # CHECK: = if
    tl.store(pair.p, 1.0)
    words = Words(1, c=3, b=2)
    tl.static_assert(words[1:] == (2, 3))
    tl.static_assert(words[:-1] == (1, 2))
    tl.static_assert(words[-9:9] == words)
    tl.static_assert(tl.tuple((1, 2)) == (1, 2))
    tl.static_assert(isinstance(words, tuple))
    tl.static_assert(LARGEST == 3.3895313892515355e38)
    tl.static_assert(torch.finfo(torch.float32).max == 3.4028234663852886e38)
    tl.static_assert(torch.finfo(torch.float32).min == -3.4028234663852886e38)
    tl.static_assert(torch.finfo(tl.float16).eps == 0.0009765625)
    tl.static_assert(torch.finfo(tl.float16).tiny == 6.103515625e-05)
    tl.static_assert(torch.finfo(tl.float8e4nv).max == 448)
    tl.static_assert(torch.finfo(tl.float8e5).smallest_normal == 6.103515625e-05)
    tl.static_assert(torch.finfo(tl.float64).bits == 64)
    tl.static_assert(torch.iinfo(torch.int32).min == -2147483648)
    tl.static_assert(torch.iinfo(torch.int64).max == 9223372036854775807)
    tl.static_assert(torch.iinfo(torch.int64).min == -9223372036854775807 - 1)
    tl.static_assert(torch.iinfo(tl.uint64).max == 18446744073709551615)
    tl.static_assert(torch.iinfo(torch.uint8).min == 0)
    tl.static_assert(tl.int8.max == 127)
    tl.static_assert(torch.version.hip is None)
    tl.static_assert(ones(5) == 31)
    tl.static_assert(_log2(1) == 0)
    tl.static_assert(_log2(1023) == 9)
    tl.static_assert(_log2(1024) == 10)
    tl.static_assert(get_int_dtype(16, False) == tl.uint16)
    tl.static_assert(core._unwrap_if_constexpr(5) == 5)
    tl.static_assert(tl.standard._is_power_of_two(64))
    # CHECK: while
    while tl.condition(tl.load(x) > 0, disable_licm=True):
        tl.store(x, 0.0)


# WRONG: records.py:[[#@LINE+3]]:{{.*}} the call of 'Pair' lacks its argument 'p' [E0207]
@triton.jit
def wrong(x, n):
    Pair()
    # WRONG: 'Pair' takes 2 arguments at most [E0205]
    Pair(x, 1, 2)
    # WRONG: 'Pair' is given its parameter 'p' twice [E0206]
    Pair(x, p=x)
    # WRONG: 'Pair' has no parameter 'q' [E0204]
    Pair(x, q=x)
    # WRONG: a tuple of 2 has no 'q' [E0209]
    Pair(x).q
    # WRONG: 'namedtuple' takes the names of fields, as in ("x", "y"), not the string "3 x" [E0317]
    namedtuple("Bad", "3 x")
    # WRONG: 'namedtuple' takes as defaults a tuple
    namedtuple("Bad", "x", (1, 2))
    # WRONG: a tuple is indexed by one int, or by a slice without a step [E0319]
    Pair(x)[0:2:2]
    # WRONG: 'iinfo' takes a type of integers, not the type fp32 [E0317]
    torch.iinfo(tl.float32)
