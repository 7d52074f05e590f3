# A row beyond the registers of a block: a cluster of blocks takes it, from sm_90 on; what crosses it is one
# exchange of a maximum and a sum, or two of one each.
# RUN: fsc %s --emit=ptx --arch=sm_90 -o - | FileCheck %s --check-prefixes=CHECK,EIGHT
# RUN: fsc %s --emit=ptx --arch=sm_90 -D N=524288 --num-ctas=16 -o - | FileCheck %s --check-prefixes=CHECK,MANY
# RUN: fsc %s --emit=ptx --arch=sm_120 -D N=65536 -o - | FileCheck %s --check-prefix=CHECK
# RUN: fsc %s --emit=ptx --arch=sm_90 --passes=-online -o - | FileCheck %s --check-prefix=PAIR
# RUN: fsc %s --emit=ptx --arch=sm_90 --passes=-counted -o - | FileCheck %s --check-prefix=MEET
# RUN: fsc %s --emit=ptx --arch=sm_80 -D N=32768 -o - | FileCheck %s --check-prefix=ONE
# RUN: not fsc %s --emit=ptx --arch=sm_80 --num-ctas=2 -o - 2>&1 | FileCheck %s --check-prefix=OLD
# RUN: not fsc %s --emit=ptx --arch=sm_90 --num-ctas=6 -o - 2>&1 | FileCheck %s --check-prefix=SIX
# EIGHT: .reqntid 256
# EIGHT: .reqnctapercluster 8
# MANY: .reqntid 512
# MANY: .reqnctapercluster 16
# Nothing here is a release at the cluster's or the GPU's scope, for which each thread would wait for its loads.
# CHECK-NOT: {{barrier.cluster.arrive.aligned|fence|membar}}
# CHECK: @[[FIRST:%p[0-9]+]] mbarrier.init.shared::cta.b64 [{{.*}}], 1; @[[FIRST]] fence.mbarrier_init.release.cluster;
# CHECK-NOT: {{barrier.cluster.arrive.aligned|fence|membar}}
# CHECK: barrier.cluster.arrive.relaxed.aligned;
# CHECK: ld.global.v4.b32
# CHECK: barrier.cluster.wait.aligned;
# CHECK: @[[FIRST]] mbarrier.arrive.expect_tx.shared::cta.b64 _,
# CHECK: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32
# CHECK-NOT: st.async
# CHECK: mbarrier.try_wait.parity.shared::cta.b64
# CHECK: ld.shared.v2.b32
# CHECK-NOT: {{mapa|bar.sync|barrier.cluster|fence|membar}}
# PAIR: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32
# PAIR: ld.shared
# PAIR: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32
# PAIR: ld.shared
# MEET: barrier.cluster.arrive.relaxed.aligned;
# MEET: ld.global.v4.b32
# MEET: barrier.cluster.wait.aligned;
# MEET: mapa.shared::cluster.u32
# MEET: st.shared::cluster.v2.b32
# MEET: barrier.cluster.arrive.aligned;
# MEET: barrier.cluster.wait.aligned;
# MEET: ld.shared.v2.b32
# MEET-NOT: {{mapa|bar.sync}}
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
