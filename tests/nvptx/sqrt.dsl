# sqrt is correctly rounded; approximate with --fast-math.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_80 --fast-math -o - | FileCheck %s --check-prefix=FAST
# CHECK: sqrt.rn.f32
# FAST: sqrt.approx.f32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, sqrt(v))
