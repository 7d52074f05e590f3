# Addresses of a tile are one base and constants.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 1 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# Eight vectors of one thread share one address; each adds its own constant.
# CHECK: ld.global.v4.b32 {{.*}}, [[[A:%rd[0-9]+]]];
# CHECK: add.s64 {{%rd[0-9]+}}, [[A]], 512;
# CHECK: ld.global.v4.b32
# CHECK: add.s64 {{%rd[0-9]+}}, [[A]], 1024;
# CHECK: ld.global.v4.b32
# CHECK: add.s64 {{%rd[0-9]+}}, [[A]], 3584;
# CHECK: ld.global.v4.b32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 1024)
    v = load(x + i)
    store(y + i, v)
