# Integer division is guarded against 0 and -1.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: setp.eq.b32 {{.*}}, 0;
# CHECK: div.s32
@kernel(grid=(1,))
def k(z: *i32, x: *i32, y: *i32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a // b)
