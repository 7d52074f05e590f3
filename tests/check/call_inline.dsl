# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Functions are inlined for their arguments: constants stay constants, defaults and keywords bind as in Python.
@jit
def scale(v, by, plus=1.0):
    return v * by + plus

@triton.jit
def block(x, SIZE: constexpr, shift=0):
    return load(x + arange(0, SIZE) + shift)

@kernel(grid=(1,))
def k(x: *fp32):
    # CHECK: const 2.0
    # CHECK: fmul
    # CHECK: const 1.0
    # CHECK: fadd
    a = scale(load(x), 2.0)
    # CHECK: const 3.0
    # CHECK: const 4.0
    b = scale(plus=4.0, v=load(x), by=3.0)
    # CHECK: arange 0, 32
    c = block(x, 32)
    # CHECK: arange 0, 64
    # CHECK: const 5
    d = block(x, SIZE=64, shift=5)
    store(x, a + b + sum(c) + sum(d))
