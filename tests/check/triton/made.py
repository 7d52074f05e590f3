# RUN: fsc --emit=tile --passes= --kernel made --signature "*fp32, 32" %s -o - | FileCheck --check-prefix=MADE %s
# RUN: fsc --emit=tile --passes= --kernel again --signature "*fp32, 32" %s -o - | FileCheck --check-prefix=AGAIN %s
# RUN: fsc --emit=tile --passes= --kernel tuned --signature "*fp32" --config 2 %s -o - | FileCheck --check-prefix=TUNED %s
# RUN: fsc --emit=tile --passes= --kernel caller --signature "*fp32" %s -o - | FileCheck --check-prefix=CALLER %s
# RUN: not fsc --kernel broken --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=BROKEN %s
# RUN: exits 2 fsc --kernel plain --signature "*fp32, 32" %s -o - 2>&1 | FileCheck --check-prefix=PLAIN %s
# RUN: not fsc --kernel undecorated --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=CALLED --implicit-check-not error: %s
# RUN: fsc --emit=tile --passes= --kernel chosen --signature "*fp32" %s -o - | FileCheck --check-prefix=CHOSEN %s
# Kernels that calls of decorators make of functions: k = triton.jit(f).
import triton
import triton.language as tl
from triton import jit


def plain(x, B: tl.constexpr):
    # MADE: func @made
    # MADE: arange 0, 32
    # CHOSEN: func @chosen
    # CHOSEN: arange 0, 256
    # TUNED: func @tuned
    # TUNED: arange 0, 128
    tl.store(x + tl.arange(0, B), 2.0)


def again(x, B: tl.constexpr):
    # AGAIN: func @again
    # AGAIN: const 4.0
    tl.store(x + tl.arange(0, B), 4.0)


def half(x):
    return x * 0.5


def fails(x):
    # BROKEN: made.py:[[#@LINE+1]]:5: error: 'del' is not part of the kernel language [E0116]
    del x


# PLAIN: error: 'plain' is a function of the host [E0115]
# PLAIN: it is here; @triton.jit above it makes it one that kernels call
made = triton.jit(plain)
again = jit(again, noinline=True)
tuned = triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=[])(triton.jit(do_not_specialize=["x"])(plain))
chosen = triton.heuristics({"B": lambda args: 256})(made)
helper = jit(half)
broken = triton.jit(fails)
number = len(made)


@triton.jit
def caller(x):
    # CALLER: func @caller
    # CALLER: const 0.5
    tl.store(x, helper(tl.load(x)))


def sqrt(x):
    return x


@functools.cache
def cdiv(a, b):
    return a


@triton.jit
def undecorated(x):
    # CALLED: made.py:[[#@LINE+2]]:17: error: 'sqrt' is a function of the host [E0115]
    # CALLED: it is here; @triton.jit above it makes it one that kernels call
    tl.store(x, sqrt(tl.load(x)))
    # CALLED: made.py:[[#@LINE+1]]:17: error: 'half' is a function of the host [E0115]
    tl.store(x, half(tl.load(x)))
    # CALLED: made.py:[[#@LINE+1]]:17: error: 'cdiv' is a function of the host [E0115]
    tl.store(x, cdiv(3, 2))
    tl.store(x, max(tl.load(x), len((1, 2))))


class Host:
    def max(self):
        return self


def outer():
    def len(x):
        return x
