"""parts.py - functions that kernels of other files call."""
import triton
import triton.language as tl

from . import limits
from .limits import EPS

FACTOR = 5.0  # not that of limits.py


@triton.jit
def _part(x):
    return x * FACTOR


@triton.jit
def scaled_add(x, y, BOOST: tl.constexpr = limits.SIZE):
    return x * limits.FACTOR + _part(y) + EPS + BOOST


@triton.jit
def double(x):
    return x + x


@triton.jit
def fails(x):
    return x % tl.arange(0, 3)


@triton.constexpr_function
def half(n):
    return n // 2
