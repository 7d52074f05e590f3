# A processor that adds two products of bf16 by one instruction multiplies pairs along k, of bf16 and of what it holds;
# others, and products of one k or of few columns, have multiply-adds.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu znver4 -O0 -o - -D T=bf16 | FileCheck %s --check-prefixes=PAIRS
# RUN: fsc %s --emit=llvm --arch=cpu --cpu sapphirerapids -O0 -o - -D T=fp8e5 | FileCheck %s --check-prefixes=PAIRS
# RUN: fsc %s --emit=asm --arch=cpu --cpu cooperlake -o - -D T=bf16 | FileCheck %s --check-prefixes=ASM
# RUN: fsc %s --emit=llvm --arch=cpu --cpu znver4 -O0 -o - -D T=bf16 -D N=8 | FileCheck %s --check-prefixes=NARROW
# RUN: fsc %s --emit=llvm --arch=cpu --cpu znver4 -O0 -o - -D T=bf16 -D N=2 | FileCheck %s --check-prefixes=NONE
# RUN: fsc %s --emit=llvm --arch=cpu --cpu znver4 -O0 -o - -D T=bf16 -D K=1 | FileCheck %s --check-prefixes=NONE
# RUN: fsc %s --emit=llvm --arch=cpu --cpu znver4 -O0 -o - -D T=fp16 | FileCheck %s --check-prefixes=NONE
# RUN: fsc %s --emit=llvm --arch=cpu --cpu x86-64-v4 -O0 -o - -D T=bf16 | FileCheck %s --check-prefixes=NONE
# PAIRS-LABEL: define void @k(
# PAIRS-COUNT-16: call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(
# PAIRS-NOT: llvm.fma
# ASM-COUNT-16: vdpbf16ps %zmm
# NARROW: call <8 x float> @llvm.x86.avx512bf16.dpbf16ps.256(
# NONE-NOT: dpbf16ps
# NONE: llvm.fma
@kernel(grid=(1,))
def k(z: *fp32, x: *T, y: *T, T: dtype = bf16, N: constexpr = 64, K: constexpr = 32):
    i, j, k = arange(0, 64)[:, None], arange(0, N)[None, :], arange(0, K)
    store(z + i * N + j, dot(load(x + i * K + k[None, :]), load(y + k[:, None] * N + j)))
