# The smaller of a tile and a limit that is known, neither NaN nor 0, is one instruction for a register: the order of its
# operands says that NaN loses. Of bf16, too, where the limit is converted as a constant.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -T T=fp32 -o - | FileCheck %s --check-prefix=YMM
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -T T=bf16 -o - | FileCheck %s --check-prefix=YMM
# RUN: fsc %s --emit=asm --arch=cpu --cpu=znver4 -T T=fp32 -o - | FileCheck %s --check-prefix=ZMM
# RUN: fsc %s --emit=asm --arch=cpu --cpu=znver4 -T T=bf16 -o - | FileCheck %s --check-prefix=ZMM
# RUN: fsc %s --emit=asm --arch=cpu --cpu=znver4 -D LIMIT=0.0 -o - | FileCheck %s --check-prefix=ZERO
# YMM-NOT: vblendv
# YMM-COUNT-2: vminps
# YMM-NOT: vminps
# ZMM-NOT: vrangeps
# ZMM-COUNT-2: vminps {{.*}}zmm
# ZMM-NOT: vrangeps
# ZERO: vrangeps
@kernel(grid=(1,))
def k(y: *T, x: *T, LIMIT: constexpr = 2.5, T: dtype = fp32):
    i = arange(0, 1024)
    store(y + i, minimum(load(x + i), LIMIT))
