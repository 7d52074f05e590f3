# exp of fp16 is computed in fp32 and rounded once.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: cvt.f32.f16
# CHECK: ex2.approx.ftz.f32
# CHECK: cvt.rn.f16.f32
@kernel(grid=(1,))
def k(y: *fp16, x: *fp16):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, exp(v))
