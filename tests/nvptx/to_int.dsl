# Float to integer saturates, and NaN gives 0, as the instruction itself has it.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK-NOT: setp.{{.*}}.f32
# CHECK: cvt.rzi.s32.f32
# CHECK-NOT: setp.{{.*}}.f32
@kernel(grid=(1,))
def k(z: *i32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, (a + b).to(i32))
