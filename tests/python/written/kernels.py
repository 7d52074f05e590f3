"""kernels.py - kernels over names of other files."""
import math

import triton
import triton.language as language
from triton.language import load, store
from triton.language.extra.libdevice import log1p as ln1p
import written
import written.parts as p

from .limits import Mode
from .parts import half

FACTOR = 7.0  # a third one


@triton.jit
def _part(x):
    return x * FACTOR  # parts.py has another _part


@triton.jit
def mixed(out, x, n, B: language.constexpr, MODE: language.constexpr = Mode.ADD):
    """Every way to name a thing."""
    i = language.program_id(0) * B + language.arange(0, B)
    v = load(x + i, mask=i < n, other=0.0)
    w = written.handed_on(v, _part(v)) + p.double(v) + written.ROW_SIZE + half(B) * math.pi
    if MODE == Mode.SUB:
        w = v - w
    store(out + i, ln1p(language.abs(w)), mask=i < n)


@triton.jit
def broken(out, x,
           B: language.constexpr):
    i = language.arange(0, B)
    v = load(x + i)
    store(out + i, v @ v)


@triton.jit
def broken_elsewhere(out, B: language.constexpr):
    store(out + language.arange(0, B), p.fails(language.arange(0, B)))


@triton.jit
def apply(out, x, F: language.constexpr, n, B: language.constexpr):
    i = language.arange(0, B)
    store(out + i, F(load(x + i, mask=i < n)), mask=i < n)


@triton.jit
def optional(out, x, bias, n, scale, B: language.constexpr, WORD: language.constexpr = "none", *, TWICE=False):
    i = language.arange(0, B)
    v = load(x + i, mask=i < n) * scale
    if bias is not None:
        v += load(bias + i, mask=i < n)
    if WORD == "minus":
        v = -v
    if TWICE:
        v *= 2
    store(out + i, v, mask=i < n)


@triton.jit
def of_tuple(out, xs, sizes, B: language.constexpr):
    i = language.arange(0, B)
    v = load(xs[0] + i, mask=i < sizes[0], other=0.0) + load(xs[1] + i, mask=i < sizes[1], other=0.0)
    store(out + i, v)


@triton.jit
def of_descriptor(out, x, B: language.constexpr):
    v = x.load([0, 2])
    i = language.arange(0, 2)
    j = language.arange(0, B)
    store(out + i[:, None] * B + j[None, :], v)
