# A scalar store is one thread's.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps=2 -o - | FileCheck %s
# CHECK: mov.u32 [[T:%r[0-9]+]], %tid.x;
# CHECK: setp.eq.b32 [[P:%p[0-9]+]], [[T]], 0;
# CHECK: ld.global.b32
# CHECK: @[[P]] st.global.b32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    store(y, load(x) + 1.0)
