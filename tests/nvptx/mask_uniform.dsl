# A bound divisible by the vector cuts none: no element-wise code at all.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32:16" -o - | FileCheck %s
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK-NOT: ld.global.b32
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK-NOT: st.global.b32
# CHECK: ret;
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    m = i < n
    store(y + i, load(x + i, mask=m), mask=m)
