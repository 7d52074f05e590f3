# RUN: fsc --emit=tile --passes= --signature "*fp32" %s -o - | FileCheck %s
# Without @kernel the @jit function that no other calls is the entry point; --kernel chooses another.
# RUN: fsc --emit=tile --passes= --kernel helper --signature "*fp32" %s -o - | FileCheck %s --check-prefix=HELPER
# CHECK: func @outer
# HELPER: func @helper
@triton.jit
def helper(x):
    tl.store(x, 1.0)

@triton.jit
def outer(x):
    helper(x)
