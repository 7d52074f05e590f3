# Volatile loads say so.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: ld.volatile.global.b32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    store(y + i, load(x + i, volatile=True))
