# RUN: fsc --signature "*fp32, i32, 32" %s -o - --emit=tile --passes= | FileCheck %s
# A parameter of an inner function that is annotated constexpr takes what is known only at run time, as in Triton.
import triton
import triton.language as tl


@triton.jit
def add(x, rows: tl.constexpr, n: tl.constexpr, B: tl.constexpr):
    return x + rows * n + B


@triton.jit
def k(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    # CHECK: mul {{.*}} : tile<32xi32>
    # CHECK: add {{.*}} : tile<32xi32>
    tl.store(x + i, add(1, i, n, B))
