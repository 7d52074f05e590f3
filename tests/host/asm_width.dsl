# The registers are the processor's, but for those of AVX-512: LLVM 22 selects wrong instructions there.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -o - | FileCheck %s --check-prefix=SSE
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=AVX2
# RUN: fsc %s --emit=asm --arch=cpu --cpu=znver5 -o - | FileCheck %s --check-prefix=AVX2
# SSE: addps {{.*}}%xmm
# SSE-NOT: %ymm
# AVX2: vaddps {{.*}}%ymm
# AVX2-NOT: %zmm
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    store(z + i, load(x + i) + load(y + i))
