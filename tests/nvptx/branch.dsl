# A branch that yields a tile.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32" -o - | FileCheck %s
# CHECK: setp
# CHECK: bra
# CHECK: ld.global.v4.b32
# CHECK: st.global.v4.b32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 512)
    v = zeros((512,), fp32)
    if n > 3:
        v = load(x + i)
    store(y + i, v)
