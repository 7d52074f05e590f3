# A row beyond the registers of a block: a cluster of blocks takes it, from sm_90 on; what crosses it is one
# exchange of a maximum and a sum, or two of one each.
# RUN: fsc %s --emit=ptx --arch=sm_90 -o - | FileCheck %s --check-prefixes=CHECK,TWO
# RUN: fsc %s --emit=ptx --arch=sm_90 -D N=524288 --num-ctas=16 -o - | FileCheck %s --check-prefixes=CHECK,MANY
# RUN: fsc %s --emit=ptx --arch=sm_90 --passes=-online -o - | FileCheck %s --check-prefix=PAIR
# RUN: fsc %s --emit=ptx --arch=sm_80 -D N=32768 -o - | FileCheck %s --check-prefix=ONE
# RUN: not fsc %s --emit=ptx --arch=sm_80 --num-ctas=2 -o - 2>&1 | FileCheck %s --check-prefix=OLD
# RUN: not fsc %s --emit=ptx --arch=sm_90 --num-ctas=6 -o - 2>&1 | FileCheck %s --check-prefix=SIX
# CHECK: .reqntid 512
# TWO: .reqnctapercluster 2
# MANY: .reqnctapercluster 16
# CHECK: barrier.cluster.arrive.relaxed.aligned;
# CHECK: ld.global.v4.b32
# CHECK: barrier.cluster.wait.aligned;
# CHECK: mapa.shared::cluster.u32
# CHECK: st.shared::cluster.v2.b32
# CHECK: barrier.cluster.arrive.aligned;
# CHECK: barrier.cluster.wait.aligned;
# CHECK: ld.shared.v2.b32
# CHECK-NOT: {{mapa|bar.sync}}
# PAIR: st.shared::cluster.b32
# PAIR: ld.shared
# PAIR: mapa.shared::cluster.u32
# PAIR: st.shared::cluster.b32
# ONE-NOT: {{ctapercluster|barrier.cluster}}
# ONE: bar.sync
# RUN: not fsc %s --emit=ptx --arch=sm_120 --num-ctas=16 -o - 2>&1 | FileCheck %s --check-prefix=NEW
# OLD: error: num_ctas = 2, and this target has no clusters of blocks [E0506]
# OLD: note: --arch=sm_90 has clusters of up to 16 blocks
# NEW: error: num_ctas = 16, and a cluster of this target has 8 blocks at most [E0506]
# SIX: error: num_ctas is 6
@kernel(grid=(1,))
def f(y: *fp32, x: *const fp32, N: constexpr = 65536):
    i = arange(0, N)
    v = load(x + i)
    e = exp(v - max(v, axis=0))
    store(y + i, e / sum(e, axis=0))
