# RUN: fsc %s --arch=sm_90 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# RUN: fsc %s --arch=sm_90 --signature "*fp32:16, *fp32:16" -o %t.ptx && %ptxas -arch=sm_90 %t.ptx -o %t.cubin
# RUN: fsc %s --arch=sm_75 --signature "*fp32:16, *fp32:16" -o %t.ptx && %ptxas -arch=sm_75 %t.ptx -o %t.cubin
# RUN: fsc %s --arch=sm_120 --signature "*fp32:16, *fp32:16" -o %t.ptx && %ptxas -arch=sm_120 %t.ptx -o %t.cubin
# REQUIRES: ptxas
# A transpose through shared memory with vectors on both sides; interleaving that stays in registers.
# CHECK-COUNT-2: ld.global{{.*}}v4
# CHECK: st.shared
# CHECK: bar.sync
# CHECK: ld.shared
# CHECK: st.global{{.*}}v4
# CHECK-NOT: shared
# CHECK: st.global{{.*}}v4
@kernel(grid=(1,), num_warps=4)
def k(r: *fp32, x: *fp32):
    i = arange(0, 32)
    v = load(x + i[:, None] * 32 + i[None, :])
    store(r + i[:, None] * 32 + i[None, :], v.T)
    j = arange(0, 256)
    a, b = load(x + j), load(x + 256 + j)
    store(r + arange(0, 512), interleave(a, b))
