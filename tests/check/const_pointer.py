# RUN: not fsc --emit=tile --passes= --signature "*fp32, *fp32" %s -o - 2>&1 | FileCheck %s
# tl.const marks a pointer of any type to memory that is only read.
import triton
import triton.language as tl


@triton.jit
def f(x: tl.const, y):
    tl.store(y, tl.load(x))
    # CHECK: const_pointer.py:[[#@LINE+1]]:14: error: {{.*}}const
    tl.store(x, 1.0)
