# No mask: accesses without a predicate.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 4 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# CHECK: {{^[[:space:]]}}ld.global.v4.b32 {
# CHECK: {{^[[:space:]]}}st.global.v4.b32 [
# CHECK-NOT: ld.global
# CHECK-NOT: st.global
# CHECK: ret;
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 512)
    v = load(x + i)
    store(y + i, v)
# 512 elements: one vector for each of 128 threads.
