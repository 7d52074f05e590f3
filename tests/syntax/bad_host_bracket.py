# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A bracket that host code leaves open would swallow the kernels below.
# CHECK: bad_host_bracket.py:[[#@LINE+3]]:19: error: '(' is never closed [E0105]
# CHECK-NOT: {{error|warning}}:
def main():
    x = torch.rand(3
    return [x]

@triton.jit
def k(x):
    pass
