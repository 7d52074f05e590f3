# Carried tiles that change places go by way of buffers of their own.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: for:
# CHECK: call void @llvm.memcpy
# CHECK: call void @llvm.memcpy
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 64)
    a = load(x + i)
    b = load(x + 64 + i)
    for s in range(0, n):
        t = a
        a = b
        b = t
    store(y + i, a)
    store(y + 64 + i, b)
