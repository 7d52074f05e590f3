# Sixteen bytes move as four words.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 4 --signature "*i8:16, *i8:16" -o - | FileCheck %s
# CHECK: ld.global.v4.b32
# CHECK: st.global.v4.b32
# CHECK-NOT: st.global
@kernel(grid=(1,))
def k(y: *i8, x: *i8):
    i = arange(0, 2048)
    v = load(x + i)
    store(y + i, v)
