# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# The entry point: a @kernel before @jit functions, else the @jit function that no other calls.
# CHECK: func @main
@jit
def helper(x):
    store(x, 1.0)

@jit
def unused(x):
    helper(x)

@kernel(grid=(1,))
def main(x: *fp32):
    helper(x)
