# A tile of rank 2, reduced along its rows.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 4 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# CHECK: ld.global.v4.b32
# CHECK: add.rn.f32
# CHECK: st.global
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    r = arange(0, 32)
    c = arange(0, 64)
    v = load(x + r[:, None] * 64 + c[None, :])
    store(y + r, sum(v, axis=1))
