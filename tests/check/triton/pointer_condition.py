# RUN: fsc --emit=tile --passes= --signature "*fp32, *fp32, i32" %s -o - | FileCheck %s
# RUN: fsc --emit=tile --passes= --signature "*fp32, None, i32" %s -o - | FileCheck --check-prefix=NONE %s
# In a Triton file a pointer is a condition: it is true unless it is null,
# and None is false when the kernel is compiled.
import triton
import triton.language as tl


@triton.jit
def k(x, bias, n):
    # CHECK: bitcast %bias : i64
    # CHECK: icmp ne
    # CHECK: if
    # NONE-NOT: if
    # NONE: const 1.0
    if bias:
        tl.store(x, tl.load(bias))
    # CHECK: bitcast %bias : i64
    # NONE: store
    tl.store(x, 1.0 if not bias or n > 1 else 2.0)
