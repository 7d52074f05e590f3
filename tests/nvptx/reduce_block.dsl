# Four warps: one exchange with one barrier, and shuffles over two lane bits after it.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 4 --signature "*fp32:16, *fp32:16" -o - | FileCheck %s
# CHECK: .extern .shared .align 16 .b8 fsc_shared[];
# CHECK-COUNT-5: shfl.sync.bfly.b32
# CHECK: @%p{{[0-9]+}} st.shared.b32
# CHECK: bar.sync 0;
# CHECK: ld.shared.b32
# CHECK-COUNT-2: shfl.sync.bfly.b32
# CHECK-NOT: bar.sync
# CHECK-NOT: shfl
# CHECK: ret;
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    store(y, sum(load(x + arange(0, 1024)), axis=0))
