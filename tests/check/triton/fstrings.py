# RUN: not fsc --signature "*fp16, 48" %s -o - 2>&1 | FileCheck %s
# f-strings in messages: names, attributes and formats are filled in, other expressions stay as they are written.
import triton
import triton.language as tl

LIMIT = tl.constexpr(32)


@triton.jit
def k(x, B: tl.constexpr):
    # CHECK: error: static_assert failed: B=48 is above 32 {B} {B + 1} for fp16 [E0806]
    tl.static_assert(B <= LIMIT, f"B={B} is above {LIMIT} {{B}} {B + 1} " f"for {x.dtype.element_ty}")
    # CHECK: 48.00 then 48 and (48, 1.5)
    t = (B, 1.5)
    tl.static_print("48.00 then", f"{B:>8}", f"and {t!r}")
    # CHECK: error: assertion failed: nobody is {nobody} [E0806]
    assert B == 1, f"nobody is {nobody}"
