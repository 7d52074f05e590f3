# RUN: fsc %s --arch=sm_90 -o - | FileCheck %s
# RUN: fsc %s --arch=sm_75 -o %t.ptx && %ptxas -arch=sm_75 %t.ptx -o %t.cubin
# RUN: fsc %s --arch=sm_90 -o %t.ptx && %ptxas -arch=sm_90 %t.ptx -o %t.cubin
# RUN: fsc %s --arch=sm_120 -o %t.ptx && %ptxas -arch=sm_120 %t.ptx -o %t.cubin
# REQUIRES: ptxas
# A gather: the tile to shared memory, one barrier, a load for each element; no index leaves the tile.
# CHECK-COUNT-4: st.shared
# CHECK-NOT: st.shared
# CHECK: bar.sync
# CHECK-NOT: bar.sync
# CHECK: and.b32 {{.*}}, 2044;
# CHECK-COUNT-4: ld.shared
# CHECK-NOT: ld.shared
@kernel(grid=(1,), num_warps=4)
def k(r: *fp32, x: *fp32, i: *i32):
    j = arange(0, 512)
    store(r + j, gather(load(x + j), load(i + j), 0))
