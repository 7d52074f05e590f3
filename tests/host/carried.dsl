# A carried tile lives in scratch: one store of the sum a round, in place, no copy.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: for:
# CHECK: icmp slt i32
# CHECK: [[SUM:%[0-9]+]] = fadd <16 x float>
# CHECK: store <16 x float> [[SUM]], ptr
# CHECK-NOT: llvm.memcpy
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 64)
    total = zeros((64,), fp32)
    for start in range(0, n):
        total += load(x + start * 64 + i)
    store(y + i, total)
