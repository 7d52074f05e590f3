# Many quotients by one divisor: one refined reciprocal.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, fp32" -o - | FileCheck %s
# CHECK: rcp.approx.ftz.f32
# CHECK-NOT: rcp.approx
# CHECK-NOT: div.
# CHECK: st.global.v4.b32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, d: fp32):
    i = arange(0, 512)
    store(y + i, load(x + i) / d)
