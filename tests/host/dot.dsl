# A product is packed and then summed in registers, whose width is the target's;
# a sum that a loop carries stays in its place.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu x86-64-v3 -O0 -o - | FileCheck %s --check-prefixes=CHECK,HALF
# RUN: fsc %s --emit=llvm --arch=cpu --cpu x86-64 -O0 -o - | FileCheck %s --check-prefixes=CHECK,NONE
# CHECK-LABEL: define void @k(
# CHECK: pack:
# CHECK: pack{{[0-9]*}}:
# CHECK: dot:
# HALF-COUNT-8: phi <8 x float>
# HALF-COUNT-8: call <8 x float> @llvm.fma.v8f32
# NONE-COUNT-8: phi <4 x float>
# NONE: fmul <4 x float>
# NONE-NEXT: fadd <4 x float>
# CHECK-NOT: memcpy
# CHECK: ret void
@kernel(grid=(1,))
def k(z: *fp32, x: *bf16, y: *bf16, n: i32):
    i, j, k = arange(0, 64)[:, None], arange(0, 64)[None, :], arange(0, 32)
    sum = zeros((64, 64))
    for r in range(n):
        sum = dot(load(x + r * 2048 + i * 32 + k[None, :]), load(y + r * 2048 + k[:, None] * 64 + j), sum)
    store(z + i * 64 + j, sum)
