# The registers are the processor's.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -o - | FileCheck %s --check-prefix=SSE
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=AVX2
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v4 -o - | FileCheck %s --check-prefix=AVX512
# SSE: addps {{.*}}%xmm
# SSE-NOT: %ymm
# AVX2: vaddps {{.*}}%ymm
# AVX2-NOT: %zmm
# AVX512: vaddps {{.*}}%zmm
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    store(z + i, load(x + i) + load(y + i))
