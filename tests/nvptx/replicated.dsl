# A tile smaller than the block: only its owners store.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 4 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# CHECK: setp.{{.*}} [[P:%p[0-9]+]]
# CHECK: ld.global
# CHECK: @%p{{[0-9]+}} st.global
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 16)
    v = load(x + i)
    store(y + i, v)
