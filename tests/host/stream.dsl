# A grid that writes more than caches hold writes past them, whole aligned lines that no mask cuts; else as ever. Who
# runs the programs orders these stores, once for many: a fence in each would wait for its stores.
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=FENCE
# FENCE-NOT: sfence
# RUN: fsc %s --emit=asm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-DAG: prefetcht1
# CHECK-DAG: {{cmpq.*\$8192|\$8191}}
# CHECK-DAG: vmovntps
# CHECK-DAG: v{{pmaskmovd|maskmovps}} %ymm
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    at = program_id(0) * 1024 + i
    store(y + at, load(x + at, mask=i < n) + 1.0, mask=i < n)
