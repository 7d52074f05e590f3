# One warp: shuffles alone. Four warps: one exchange with one barrier.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 1 --signature "*fp32:16, *fp32:16, 128" -o - \
# RUN:   | FileCheck %s --check-prefix=ONE
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps 4 --signature "*fp32:16, *fp32:16, 2048" -o - \
# RUN:   | FileCheck %s --check-prefix=FOUR
# ONE: ld.global.v4.b32
# ONE-COUNT-5: shfl.sync.bfly.b32
# ONE-NOT: shfl
# ONE-NOT: bar.sync
# ONE: st.global.v4.b32
# FOUR: st.shared.b32
# FOUR: bar.sync 0;
# FOUR: ld.shared.b32
# FOUR-NOT: bar.sync
# FOUR: ret;
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, B: constexpr = 128):
    i = arange(0, B)
    store(y + i, cumsum(load(x + i), 0))
