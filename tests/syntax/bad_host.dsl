# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Host code belongs into a .py file.
# CHECK: bad_host.dsl:[[#@LINE+6]]:5: error: function 'main' has no decorator [E0115]
# CHECK: note: write @kernel(grid=(…,)) above an entry point, @jit above a function that kernels call
# CHECK: bad_host.dsl:[[#@LINE+6]]:1: error: 'with' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK-NOT: {{error|warning}}:
import torch
def main():
    x = torch.rand(3)
with torch.no_grad():
    main()
