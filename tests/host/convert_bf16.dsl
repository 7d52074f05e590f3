# bf16 is the upper half of fp32: integer code, and no function of the compiler's own library.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -o - | FileCheck %s --check-prefix=ASM
# CHECK-LABEL: define void @k(
# CHECK: shl {{.*}}<16 x i32> %{{.*}}, splat (i32 16)
# CHECK: lshr <16 x i32> %{{.*}}, splat (i32 16)
# CHECK: trunc {{.*}}<16 x i32> %{{.*}} to <16 x i16>
# CHECK-NOT: bfloat
# ASM-NOT: {{[[:space:]]call}}
@kernel(grid=(1,))
def k(y: *bf16, x: *bf16):
    i = arange(0, 64)
    store(y + i, (load(x + i).to(fp32) + 1.0).to(bf16))
