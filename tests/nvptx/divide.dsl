# Quotients of two tiles: 2 ulp over the whole range.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_80 --fast-math -o - | FileCheck %s --check-prefix=FAST
# CHECK: div.full.f32
# CHECK-NOT: div.approx
# FAST-NOT: div.
# FAST: rcp.approx.ftz.f32
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a / b)
