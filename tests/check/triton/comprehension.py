# RUN: fsc --emit=tile --passes= --signature "*fp32" %s -o - | FileCheck %s
# Comprehensions and starred items over what is known at compile time.
import triton
import triton.language as tl

SIZES = (1, 2, 4)


@triton.jit
def k(x):
    i = 7
    squares = [i * i for i in range(4) if i % 2 == 1]
    tl.static_assert(squares == (1, 9) and i == 7)
    pairs = [(a, b) for a in SIZES for b in SIZES if a < b]
    tl.static_assert(len(pairs) == 3 and pairs[2] == (2, 4))
    tl.static_assert((0, *SIZES, 8) == (0, 1, 2, 4, 8))
    # CHECK: const 3.0
    tl.store(x, float(len([*pairs])))
    # CHECK: load
    # CHECK: load
    # CHECK: fadd
    v = [tl.load(x + s) for s in SIZES if s > 1]
    tl.store(x + 1, v[0] + v[1])
