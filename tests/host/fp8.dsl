# 8-bit floats lie as bytes; a conversion goes through fp32.
# RUN: fsc %s --emit=llvm --arch=cpu -O0 -o - | FileCheck %s
# CHECK: i8
# CHECK: fmul
@kernel(grid=(1,))
def k(y: *fp8e5, x: *fp8e4nv):
    i = arange(0, 128)
    store(y + i, load(x + i))
