# 64 bits are two shuffles.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 1 --signature "*i64:16, *i64:16" -o - | FileCheck %s
# CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
# CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
# CHECK: max.s64
# CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
# CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
# CHECK: max.s64
# CHECK-NOT: shfl
@kernel(grid=(1,))
def k(y: *i64, x: *i64):
    store(y, max(load(x + arange(0, 64)), axis=0))
