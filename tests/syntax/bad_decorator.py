# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A decorator that is never closed.
# CHECK: bad_decorator.py:[[#@LINE+2]]:17: error: '(' is never closed [E0105]
# CHECK-NOT: {{error|warning}}:
@triton.autotune(configs=[
@triton.jit
def k(x):
    pass
