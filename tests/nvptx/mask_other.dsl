# Masked-off lanes hold `other`.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32:16" -o - | FileCheck %s
# 0xC0400000 is -3.
# CHECK: mov.b32 %r{{[0-9]+}}, -1069547520;
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 512)
    store(y + i, load(x + i, mask=i < n, other=-3.0))
