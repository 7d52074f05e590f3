# Float to integer saturates, and NaN gives 0.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: cvt.rzi.s32.f32
# CHECK: setp.nan.f32
@kernel(grid=(1,))
def k(z: *i32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, (a + b).to(i32))
