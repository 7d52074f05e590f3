# The maximum that keeps NaN is one instruction from sm_80 on.
# RUN: fsc %s --emit=ptx --arch=sm_75 -o - | FileCheck %s --check-prefix=OLD
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s --check-prefix=NEW
# OLD-NOT: max.NaN
# OLD: setp.nan.f32
# NEW: max.NaN.f32
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, maximum(a, b, propagate_nan=True))
