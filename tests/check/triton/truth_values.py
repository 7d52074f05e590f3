# RUN: fsc --emit=tile --passes= --signature "*i32, *i1, i32" %s -o - | FileCheck %s
# RUN: cp %s %t.dsl && not fsc --kernel k --emit=tile --passes= --signature "*i32, *i1, i32" %t.dsl -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=DSL %s
# In a Triton file truth values are unsigned integers of one bit: arithmetic stays i1 and wraps at 2, sums are u32.
import triton
import triton.language as tl


@triton.jit
def k(y, b, n):
    i = tl.arange(0, 16)
    m = i < n
    q = tl.load(b + i)
    # CHECK: and %m, %q : tile<16xi1>
    # DSL: error: 'mask' of 'store' must be truth values (i1), not tile<16xi32> [E0403]
    tl.store(y + i, i, mask=m * q)
    # CHECK: [[TWICE:%.*]] = xor %m, %m : tile<16xi1>
    # CHECK: zext [[TWICE]] : tile<16xi32>
    tl.store(y + i, m + m)
    tl.static_assert((m - q).dtype == tl.int1 and (-m).dtype == tl.int1 and (m // q).dtype == tl.int1 and (m << q).dtype == tl.int1)
    tl.static_assert((m + True).dtype == tl.int1 and (m + 1).dtype == tl.int32 and (m * i).dtype == tl.int32 and (m / q).dtype == tl.float32)
    tl.static_assert(tl.sum(m).dtype == tl.uint32 and tl.cumsum(m).dtype == tl.uint32 and tl.sum(m, dtype=tl.int1).dtype == tl.int1)
    tl.static_assert(tl.max(m).dtype == tl.int32 and tl.maximum(m, q).dtype == tl.int1)
