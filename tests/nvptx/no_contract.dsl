# No LLVM instruction carries `contract`: fusing is a pass of the tile IR.
# RUN: fsc %s --emit=llvm --arch=sm_80 -O0 -o - | FileCheck %s
# CHECK-NOT: {{f(mul|add) [a-z ]*contract}}
# CHECK: fmul float
# CHECK-NOT: {{f(mul|add) [a-z ]*contract}}
# CHECK: fadd float
# CHECK-NOT: {{f(mul|add) [a-z ]*contract}}
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    store(z + i, load(x + i) * load(y + i) + 1.0)
