# RUN: fsc --emit=ast %s -o - 2>&1 | FileCheck %s
# A decorator beyond the language is left out with a warning, and the kernel is still read.
@triton.autotune(configs=(c := [1]), key=[])
@triton.jit
def k(x):
    pass
# CHECK: skipped_decorator.py:[[#@LINE-4]]:1: warning: this decorator is left out
# CHECK: function k
# CHECK-NEXT: decorator: attribute jit
