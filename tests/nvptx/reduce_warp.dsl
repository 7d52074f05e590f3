# One warp reduces by shuffles alone.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 1 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# CHECK-NOT: bar.sync
# CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
# CHECK: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1;
# CHECK: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
# CHECK: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1;
# CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
# CHECK-NOT: shfl
# CHECK-NOT: bar.sync
# CHECK: ret;
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    store(y, sum(load(x + arange(0, 128)), axis=0))
