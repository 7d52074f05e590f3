# A bf16 scalar crosses branches and loops as its bits:
# LLVM would carry a bfloat as fp32 and call a function to come back.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -O0 -o - | FileCheck %s
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64 -o - | FileCheck %s
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: k:
# CHECK-NOT: {{[[:space:]]call}}
# CHECK: retq
@kernel(grid=(1,))
def k(y: *bf16, x: *bf16, n: i32):
    v = load(x)
    for s in range(0, n):
        if s > 5:
            v = v + load(x + s)
    i = arange(0, 64)
    store(y + i, full((64,), v, bf16))
