# exp of fp64 is a polynomial and never goes through fp32.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK-NOT: .f32
# CHECK: fma.rn.f64
# CHECK-NOT: .f32
# CHECK-NOT: ex2
@kernel(grid=(1,))
def k(y: *fp64, x: *fp64):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, exp(v))
