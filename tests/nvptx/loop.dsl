# A loop with a carried tile.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32" -o - | FileCheck %s
# CHECK: {{^}}[[HEAD:\$L__BB[0-9_]+]]:
# CHECK: ld.global.v4.b32
# CHECK: add.rn.f32
# CHECK: bra
# CHECK: st.global
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 512)
    total = zeros((512,), fp32)
    for start in range(0, n, 512):
        total += load(x + start + i)
    store(y + i, total)
