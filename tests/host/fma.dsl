# A product and a sum become one fma; where the processor has none, a call of the C library's,
# which rounds once as well.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -o - | FileCheck %s --check-prefix=PLAIN
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=V3
# CHECK: call <16 x float> @llvm.fma.v16f32(
# PLAIN: callq fmaf@PLT
# V3: vfmadd{{[0-9]+}}ps
# V3-NOT: fmaf
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    store(z + i, load(x + i) * load(y + i) + 1.0)
