# RUN: fsc --emit=tile --passes= --kernel good --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=GOOD --implicit-check-not "{{error|warning}}:" %s
# RUN: not fsc --kernel reads --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=READS --implicit-check-not error: %s
# RUN: not fsc --kernel calls --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=CALLS --implicit-check-not error: %s
# RUN: not fsc --kernel unfinished --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=UNFINISHED --implicit-check-not error: %s
# RUN: not fsc --kernel doubled --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=DOUBLED --implicit-check-not error: %s
# RUN: exits 2 fsc --kernel god --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=NONE --implicit-check-not error: %s
# RUN: not fsc %s -o - 2>&1 | FileCheck --check-prefix=MANY --implicit-check-not error: %s
# What another function, constant or import of a Triton file says is no matter of a kernel that does not reach it.
import os; import numba
from contextlib import (nullcontext as nothing,
                        suppress)

import triton
import triton.language as tl

IMAGINARY = 2j
# READS: reached.py:[[#@LINE+1]]:7: error: the integer does not fit 64 bits [E0111]
BIG = 0x10000000000000000
größe = lambda *a, **b: {**b}
TWO = 2.0


@triton.jit
def reads(x):
    tl.store(x, BIG)


@triton.jit
def careful(x):
    # CALLS: reached.py:[[#@LINE+1]]:5: error: 'with' is not part of the kernel language [E0116]
    with nothing():
        # CALLS: reached.py:[[#@LINE+1]]:9: error: 'del' is not part of the kernel language [E0116]
        del x
    # CALLS: reached.py:[[#@LINE+1]]:5: error: 'def' cannot stand here [E0119]
    def inner(y):
        return y
    return x


@numba.njit(parallel=(n := 3) > 2)
@numba.jit
def foreign(x):
    yield from (a async for a in x)


@triton.jit
def calls(x):
    tl.store(x, careful(1.0))


@triton.jit
# UNFINISHED: reached.py:[[#@LINE+1]]:18: error: a ':' is missing at the end of the line [E0118]
def unfinished(x)
    tl.store(x, 1.0)


@triton.jit
def twice(x):
    return x


@triton.jit
# DOUBLED: reached.py:[[#@LINE+1]]:5: error: the function 'twice' is defined twice [E0210]
def twice(x):
    return x + 1


@triton.jit
def doubled(x):
    tl.store(x, twice(1.0))


# MANY: error: the file has 6 kernels; choose one with --kernel NAME [E0501]
# NONE: error: --kernel god: the file has no such function; did you mean 'good'? [E0501]
@triton.jit
def good(x):
    # GOOD: func @good
    # GOOD: const 2.0
    tl.store(x, TWO)
