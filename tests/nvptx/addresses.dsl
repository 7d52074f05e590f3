# Addresses of a tile are one base and constants, which the accesses take as offsets; large ones are added.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 1 --signature "*fp32:16, *fp32:16" --kernel k -o - | FileCheck %s
# RUN: fsc %s --kernel back --emit=ptx --arch=sm_80 --num-warps 4 --signature "*fp32:16, *fp32:16" -o - \
# RUN:   | FileCheck --check-prefix=BACK %s
# BACK: ld.global.v4.b32 {{.*}}, [{{%rd[0-9]+}}+-32];
# BACK: ld.global.v4.b32 {{.*}}, [{{%rd[0-9]+}}+2016];
# In a loop they are added.
# RUN: fsc %s --kernel turns --emit=ptx --arch=sm_80 --num-warps 1 --signature "*fp32:16, i32" -o - \
# RUN:   | FileCheck --check-prefix=TURNS %s
# TURNS: ld.global.v4.b32 {{.*}}, [{{%rd[0-9]+}}];
# TURNS-NOT: {{%rd[0-9]+}}+
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

@kernel(grid=(1,))
def back(y: *fp32[1024], x: *fp32[1024]):
    i = arange(0, 1024)
    store(y + i, load(x + i - 8, mask=i >= 8, other=0.0))

@kernel(grid=(1,))
def turns(x: *fp32, n: i32):
    i = arange(0, 256)
    for r in range(0, n):
        store(x + r * 256 + i, load(x + r * 256 + i) + 1)
