# RUN: fsc --emit=tile --passes= --signature "*fp32" %s -o - 2>&1 | FileCheck %s
# A configuration that sets what is no parameter: a warning, and the rest of it counts.
import triton
import triton.language as tl


# CHECK: configuration_names.py:[[#@LINE+1]]:{{[0-9]+}}: warning: the configuration sets 'C', and 'k' has no such parameter [W0103]
@triton.autotune(configs=[triton.Config({'B': 64, 'C': 2})], key=[])
@triton.jit
def k(x, B: tl.constexpr):
    # CHECK: arange 0, 64
    tl.store(x + tl.arange(0, B), 1.0)
