# RUN: fsc --emit=tile --passes= --signature "*fp32" %s -o - 2>&1 | FileCheck %s
# Configurations that only other code knows are left out with a warning that shows the place.
# CHECK: autotune.dsl:[[#@LINE+3]]:2: warning: this decorator is left out: its configurations cannot be read at compile time [W0101]
# CHECK: this is not known from the file alone
# CHECK: note: bind what it would choose with -D
@triton.autotune(configs=all_configs(), key=['n'])
# CHECK: warning: this decorator is left out [W0101]
# CHECK: func @k
@traced
@triton.jit
def k(x, B: tl.constexpr = 64):
    tl.store(x + tl.arange(0, B), 1.0)
