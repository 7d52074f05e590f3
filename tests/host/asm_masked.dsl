# Masked accesses are instructions where the processor has them, else a branch for each lane: never a plain access.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=AVX2
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -o - | FileCheck %s --check-prefix=SSE
# AVX2: v{{pmaskmovd|maskmovps}} {{.*}}%ymm
# SSE: testb
# SSE: j{{n?}}e
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 64)
    store(y + i, load(x + i, mask=i < n), mask=i < n)
