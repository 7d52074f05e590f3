# A product of 128 x 128 takes 8 warps where a round's operands and the sums exceed the registers of 4: rows that begin
# anywhere are loaded by elements, and fp8 becomes fp16 where the GPU has no instruction for it.
# DEFINE: %{ops} = --passes=fold,cse,matrix --emit=tile -o - --signature
# RUN: fsc %s --arch=sm_90 %{ops}="*fp32:16,*fp8e4nv:16,*fp8e4nv:16,4095" | FileCheck %s --check-prefix=MANY
# RUN: fsc %s --arch=sm_80 %{ops}="*fp32:16,*fp8e4nv:16,*fp8e4nv:16,4096" | FileCheck %s --check-prefix=MANY
# RUN: fsc %s --arch=sm_90 %{ops}="*fp32:16,*fp8e4nv:16,*fp8e4nv:16,4096" | FileCheck %s --check-prefix=FEW
# RUN: fsc %s --arch=sm_80 %{ops}="*fp32:16,*fp16:16,*fp16:16,4095" | FileCheck %s --check-prefix=MANY
# RUN: fsc %s --arch=sm_80 %{ops}="*fp32:16,*fp16:16,*fp16:16,4096" | FileCheck %s --check-prefix=FEW
# MANY: warps 8 ctas 1 {
# MANY: mma
# FEW: warps 4 ctas 1 {
# FEW: mma
@kernel(grid=(1,))
def f(o: *fp32, a: *const T, b: *const T, K: i32, T: dtype):
    i, acc = arange(0, 128), zeros((128, 128), fp32)
    for start in range(0, K, 128):
        k = start + arange(0, 128)
        acc = dot(load(a + i[:, None] * K + k[None, :]), load(b + i[:, None] * K + k[None, :]).T, acc)
    store(o + i[:, None] * 128 + i[None, :], acc)
