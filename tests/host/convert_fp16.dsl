# fp16 widens by instruction where the processor has one, else by integer code that every processor has.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64 -o - | FileCheck %s
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -o - | FileCheck %s --check-prefix=ASM
# CHECK-LABEL: define void @k(
# CHECK: shl {{.*}}<16 x i32> %{{.*}}, splat (i32 13)
# CHECK-NOT: fpext
# CHECK-NOT: fptrunc
# ASM-LABEL: k:
# ASM-NOT: {{[[:space:]]call}}
# ASM: retq
@kernel(grid=(1,))
def k(y: *fp16, x: *fp16):
    i = arange(0, 64)
    store(y + i, (load(x + i).to(fp32) + 1.0).to(fp16))
