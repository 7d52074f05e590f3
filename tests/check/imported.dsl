# RUN: not fsc %s -o - 2>&1 | FileCheck --check-prefix=ALONE %s
# A .dsl file imports from .dsl files; beside it, and in the folders of -I (triton/imported.py).
from helpers import exp

@kernel(grid=(1,))
def k(x: *fp32):
    # ALONE: imported.dsl:[[#@LINE+2]]:14: error: 'exp' comes from helpers, which is not found [E0203]
    # CHECK: const 9.0
    store(x, exp(load(x)))
