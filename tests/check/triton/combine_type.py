# RUN: fsc %s --kernel=k --signature="*fp32,*i32" -o - 2>&1 | FileCheck %s
# A combine function may ask a tile for its type: what nothing else reads of it is gone before the function is judged.
# CHECK-NOT: error
# CHECK: .entry k
import triton
import triton.language as tl


@triton.jit
def is_floating(x):
    return (x + tl.zeros((1,), tl.int1)).dtype.is_floating()


@triton.jit
def first_of_equal(av, ai, bv, bi):
    mask = av < bv
    if is_floating(av):
        mask |= (av != av) and not (bv != bv)
    return tl.where(mask, av, bv), tl.where(mask, ai, bi)


@triton.jit
def k(p, q):
    i = tl.arange(0, 32)
    a, b = tl.associative_scan((tl.load(p + i), i), 0, first_of_equal)
    tl.store(p + i, a)
    tl.store(q + i, b)
