# Carried truth values are bytes in scratch.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: store <16 x i8>
# CHECK: load <16 x i8>
# CHECK-NOT: store <16 x i1>
@kernel(grid=(1,))
def k(y: *i32, x: *fp32, n: i32):
    i = arange(0, 64)
    seen = load(x + i) > 0.0
    for s in range(1, n):
        seen = seen | (load(x + s * 64 + i) > 0.0)
    store(y + i, seen.to(i32))
