# AArch64, on any machine: a row's maximum, exponentials and sum by NEON and by SVE.
# REQUIRES: aarch64
# RUN: fsc %s --kernel=soft --emit=asm --arch=cpu --cpu=armv8-a -o - | FileCheck %s --check-prefix=NEON
# RUN: fsc %s --kernel=soft --emit=asm --arch=cpu --cpu=sve256 -o - | FileCheck %s --check-prefix=SVE
# RUN: fsc %s --kernel=soft --emit=llvm --arch=cpu --cpu=neoverse-v1 -o - | FileCheck %s --check-prefix=LENGTH
# RUN: fsc %s --kernel=soft --emit=llvm --arch=cpu --cpu=a64fx -o - | FileCheck %s --check-prefix=LONG
# RUN: fsc %s --kernel=soft --emit=llvm --arch=cpu --cpu=neoverse-v2 -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc %s --kernel=narrow --emit=asm --arch=cpu --cpu=armv8-a -o - | FileCheck %s --check-prefix=BITS
# RUN: fsc %s --kernel=narrow --emit=asm --arch=cpu --cpu=armv8.6-a -o - | FileCheck %s --check-prefix=BF16
# RUN: fsc %s --kernel=narrow --emit=asm --arch=cpu --cpu=sve256 -o - | FileCheck %s --check-prefix=BITS
#
# The larger of two is one instruction, behind one that makes an operand quiet; what accumulates is quiet.
# NEON-COUNT-4: fmul v{{.*}}.4s
# NEON-NOT: fmul
# NEON: fmaxnm v{{.*}}.4s
# NEON: fmla v{{.*}}.4s
# SVE-NOT: fcsel
# SVE: fmul z{{.*}}.s
# SVE: fmaxnm z{{.*}}.s, p0/m
# SVE-NOT: fcmgt
# SVE: fmla z{{.*}}.s
# The code is for one length of SVE's registers; without a length, for none.
# LENGTH: <16 x float>
# LENGTH: attributes {{.*}} vscale_range(2,2)
# LONG: <32 x float>
# LONG: attributes {{.*}} vscale_range(4,4)
# NONE-NOT: vscale_range
# BITS-NOT: bfcvt
# BF16: bfcvtn v{{.*}}.4h, v{{.*}}.4s
@kernel(grid=(1,))
def soft(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    mask = i < n
    v = load(x + i, mask=mask, other=-inf)
    e = exp(v - max(v, axis=0))
    store(y + i, e / sum(e, axis=0), mask=mask)

@kernel(grid=(1,))
def narrow(y: *bf16, x: *fp32):
    i = arange(0, 1024)
    store(y + i, load(x + i).to(bf16))
