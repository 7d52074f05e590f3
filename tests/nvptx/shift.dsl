# A shift by the width or more gives 0.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: setp.{{lt|gt}}.u32 [[P:%p[0-9]+]], {{.*}}, 3{{[12]}};
# CHECK: shl.b32
# CHECK: selp.b32
@kernel(grid=(1,))
def k(z: *u32, x: *u32, y: *u32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a << b)
