# The maximum that drops NaN is one instruction everywhere.
# RUN: fsc %s --emit=ptx --arch=sm_75 -o - | FileCheck %s
# CHECK-NOT: setp.nan
# CHECK: max.f32
# CHECK-NOT: setp.nan
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, maximum(a, b))
