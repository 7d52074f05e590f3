# fp64 quotients are correctly rounded.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: div.rn.f64
@kernel(grid=(1,))
def k(z: *fp64, x: *fp64, y: *fp64):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a / b)
