# rsqrt is one instruction, without flushing subnormals.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: rsqrt.approx.f32
# CHECK-NOT: sqrt.rn
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, rsqrt(v))
