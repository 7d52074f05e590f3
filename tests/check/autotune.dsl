# RUN: fsc --emit=tile --passes= --signature "*fp32, 64" %s -o - 2>&1 | FileCheck %s
# Decorators that cannot be read are left out with a warning.
# CHECK: warning: this decorator is left out
# CHECK: note: bind what it would choose with -D
# CHECK: func @k
@triton.autotune(configs=[triton.Config({'B': 64})], key=['n'])
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)
