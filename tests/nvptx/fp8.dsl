# 8-bit floats are converted by integer code on every arch.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: ld.global.b8
# CHECK: st.global.b8
@kernel(grid=(1,))
def k(y: *fp8e5, x: *fp8e4nv):
    i = arange(0, 128)
    store(y + i, load(x + i).to(fp32).to(fp8e5))
