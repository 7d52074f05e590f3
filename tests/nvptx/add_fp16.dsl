# fp16 sums are native.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: add.rn.f16
# CHECK-NOT: cvt
@kernel(grid=(1,))
def k(z: *fp16, x: *fp16, y: *fp16):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a + b)
