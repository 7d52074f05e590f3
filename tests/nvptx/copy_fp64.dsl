# 64-bit elements move by twos.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp64:16, *fp64:16" -o - | FileCheck %s
# CHECK: ld.global.v2.b64
# CHECK: st.global.v2.b64
@kernel(grid=(1,))
def k(y: *fp64, x: *fp64):
    i = arange(0, 512)
    v = load(x + i)
    store(y + i, v)
