# log is a polynomial, since lg2.approx is poor near 1; the approximation with --fast-math.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_80 --fast-math -o - | FileCheck %s --check-prefix=FAST
# CHECK-NOT: lg2.approx
# CHECK: fma.rn.f32
# CHECK-NOT: lg2.approx
# FAST: lg2.approx.f32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, log(v))
