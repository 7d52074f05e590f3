# Addresses of a tile are one base and constants, which the accesses take as offsets; large ones are added.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 1 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# CHECK: ld.global.v4.b32 {{.*}}, [[[A:%rd[0-9]+]]];
# CHECK-NOT: add.s64
# CHECK: ld.global.v4.b32 {{.*}}, [[[A]]+512];
# CHECK: ld.global.v4.b32 {{.*}}, [[[A]]+1024];
# CHECK: ld.global.v4.b32 {{.*}}, [[[A]]+3584];
# CHECK: add.s64 [[FAR:%rd[0-9]+]], {{%rd[0-9]+}}, 8000000;
# CHECK: st.global.v4.b32 [[[FAR]]],
# CHECK: add.s64 {{%rd[0-9]+}}, {{%rd[0-9]+}}, 8000512;
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 1024)
    v = load(x + i)
    store(y + 2000000 + i, v)
