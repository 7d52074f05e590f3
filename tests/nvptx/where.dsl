# where is a select.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: selp
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, where(a > b, a, 0.0))
