# RUN: fsc --emit=tile --passes= --signature "*fp32, i32, 32" %s -o - 2>&1 | FileCheck --check-prefix=MAIN %s
# RUN: fsc --emit=tile --passes= --kernel inner --signature "*fp32, 32" %s -o - 2>&1 | FileCheck --check-prefix=INNER %s
# RUN: fsc --emit=tile --passes= --kernel method --signature "*fp32" %s -o - | FileCheck --check-prefix=METHOD %s
# RUN: not fsc --kernel closure --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=CLOSURE %s
# RUN: not fsc --kernel foreign --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=FOREIGN %s
# RUN: exits 2 fsc --kernel quoted --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=QUOTED %s
# Kernels, constants and imports in suites of host code: those of if and try count as if they stood outside, kernels in
# functions and classes are found by name, with their errors, and what stands around them is host code.
import os

import triton
import triton.language as tl

if os.environ.get("FAST") == "1":
    SCALE = tl.constexpr(2.0)

    @triton.jit
    def grow(x):
        return tl.exp(x)
else:
    SCALE = tl.constexpr(3.0)

    @triton.jit
    def grow(x): return tl.exp2(x)

try:
    from fast.lib import fence, shade
    unused = {k: v for k, v in zip(fence)} or [*shade, lambda *a: a]
except ImportError:
    fence = tl.debug_barrier
    shade = None

if triton.__version__ > "2":
    try:
        from triton.language.extra.libdevice import rsqrt as root
    except ModuleNotFoundError:
        from triton.language.extra.cuda.libdevice import rsqrt as root


@triton.jit
def main(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    fence()
    # MAIN: suites.py:[[#GROW:]]:9: warning: 'grow' is defined under several conditions: this one, the last, is taken [W0104]
    # MAIN: it is here, too
    # MAIN: func @main
    # MAIN: barrier
    # MAIN: rsqrt
    # MAIN: exp2
    # MAIN: const 3.0
    tl.store(x + i, grow(root(tl.load(x + i))) * SCALE, mask=i < n)


"""
@triton.jit
def quoted(x):
    tl.store(x, 1.0)
"""
# QUOTED: error: --kernel quoted: the file has no such function


def make(depth):
    if depth:
        @triton.autotune(configs=[triton.Config({"B": 64})], key=[])
        @triton.jit
        def inner(x, B: tl.constexpr):
            """Its own text."""
            i = tl.arange(0, B)

# A comment at the edge.
            tl.store(x + i, 7.0)
            # INNER: func @inner
            # INNER: arange 0, 32
            # INNER: const 7.0

    @triton.jit
    def closure(x):
        # CLOSURE: error: unknown name 'depth' [E0201]
        tl.store(x, depth)

    @triton.jit
    def foreign(x):
        # FOREIGN: suites.py:[[#@LINE+1]]:9: error: 'with' is not part of the kernel language [E0116]
        with depth:
            tl.store(x, 1.0)
    return inner, closure, foreign


class Host:
    WIDTH = 3

    @staticmethod
    @triton.jit
    def method(x):
        # METHOD: func @method
        # METHOD: const 5.0
        tl.store(x, 5.0)

    @property
    def size(self):
        return self.WIDTH


if __name__ == "__main__":
    SCALE: float = make(1)
    print(Host().size)
