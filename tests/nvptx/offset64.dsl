# Row offsets are 64-bit products.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: mul.{{lo.s64|wide.s32}}
# CHECK: ld.global
@kernel(grid=(n,))
def k(y: *fp32, x: *fp32, stride: i32, n: i32):
    i = arange(0, 128)
    row = program_id(0)
    store(y + row * stride + i, load(x + row * stride + i))
