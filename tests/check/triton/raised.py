# RUN: fsc %s --kernel=kernel --signature="*fp32,i32,1" -o - 2>&1 | FileCheck %s --check-prefix=ONE
# RUN: not fsc %s --kernel=kernel --signature="*fp32,i32,3" -o - 2>&1 | FileCheck %s --check-prefix=THREE
# RUN: not fsc %s --kernel=late --signature="*fp32,i32" -o - 2>&1 | FileCheck %s --check-prefix=LATE
# `raise` on a path that constants close is nothing; where it is reached, it is the only error. In Triton's files a
# constexpr may hold what is known at run time, as a variable and as a parameter of a function.
# ONE: .entry kernel
# THREE: raised.py:[[#@LINE+15]]:9: error: this raise is reached: unknown MODE [E0806]
# THREE-NOT: error:
# LATE: raised.py:[[#@LINE+32]]:9: error: this raise is reached [E0806]
# LATE-NOT: error:
import triton
import triton.language as tl


@triton.jit
def pick(x, MODE: tl.constexpr):
    if MODE == 1:
        return x + 1
    elif MODE == 2:
        return x * 2
    else:
        raise ValueError("unknown MODE")


@triton.jit
def times(x, FACTOR: tl.constexpr):
    return x * FACTOR


@triton.jit
def kernel(p, n, MODE: tl.constexpr):
    i = tl.arange(0, 32)
    step: tl.constexpr = n * 2
    tl.static_assert(tl.int32.int_bitwidth == 32)
    tl.store(p + i + step, times(pick(tl.load(p + i), MODE), n))


@triton.jit
def late(p, n):
    if n > 3:
        raise RuntimeError from None
    tl.store(p, 1.0)
