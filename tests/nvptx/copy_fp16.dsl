# Eight 16-bit elements move as four words.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp16:16, *fp16:16" -o - | FileCheck %s
# CHECK: ld.global.v4.b32
# CHECK-NOT: cvt
# CHECK: st.global.v4.b32
@kernel(grid=(1,))
def k(y: *fp16, x: *fp16):
    i = arange(0, 1024)
    v = load(x + i)
    store(y + i, v)
