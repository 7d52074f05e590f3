# A grid that writes more than caches hold writes past them, whole aligned lines that no mask cuts; else as ever. Who
# runs the programs orders these stores, once for many: a fence in each would wait for its stores.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=FENCE
# FENCE-NOT: sfence
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-DAG: prefetcht1
# CHECK-DAG: {{cmpq.*\$8192|\$8191}}
# CHECK-DAG: vmovntps
# CHECK-DAG: v{{pmaskmovd|maskmovps}} %ymm
# Halves as well, which LLVM 22 has no such store of, and 32 bytes of a line where a chunk has no more.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=znver4 -T T=fp16 -o - | FileCheck %s --check-prefix=HALVES
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -T T=fp16 -o - | FileCheck %s --check-prefix=HALVES
# RUN: fsc %s --emit=asm --arch=cpu --cpu=znver4 -T T=i8 -o - | FileCheck %s --check-prefix=HALVES
# HALVES-DAG: prefetcht1
# HALVES-DAG: vmovntdq
@kernel(grid=(1,))
def k(y: *T, x: *T, n: i32, T: dtype = fp32):
    i = arange(0, 1024)
    at = program_id(0) * 1024 + i
    store(y + at, load(x + at, mask=i < n) + 1, mask=i < n)
