# After the target step no primitive is left.
# RUN: fsc %s --emit=llvm --arch=sm_80 -o - | FileCheck %s
# CHECK-NOT: @fsc.
# CHECK: define ptx_kernel void @k(
# CHECK-NOT: @fsc.
# CHECK: asm sideeffect "ld.global
# CHECK-NOT: @fsc.
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, exp(v))
