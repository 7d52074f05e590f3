# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# In a .py file errors in kernels are reported, and host code is none.
# CHECK: bad_kernel.py:[[#@LINE+9]]:11: error: 'x' cannot stand here [E0119]
# CHECK: bad_kernel.py:[[#@LINE+9]]:5: error: 'try' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_kernel.py:[[#@LINE+12]]:9: error: a ':' is missing at the end of the line [E0118]
# CHECK-NOT: {{error|warning}}:
def main():
    with a as b: yield x := 1 1
@triton.jit
def k(x):
    y = x x
    try:
        pass

class C: 1 1
@jit
def g(x)
    return x
