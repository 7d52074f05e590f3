# Blocks that are no cluster: within the block through shared memory, then one word of each block, with its round; no
# barrier of a cluster, on any arch.
# RUN: fsc %s --emit=ptx --arch=sm_75 --num-ctas=grid:32 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_90 --num-ctas=grid:32 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_90 --num-ctas=grid:32 --passes=-online -o - | FileCheck %s --check-prefix=TWO
# RUN: not fsc %s --emit=ptx --num-ctas=grid:33 -o - 2>&1 | FileCheck %s --check-prefix=ODD
# RUN: exits 2 fsc %s --emit=ptx --num-ctas=grid:512 -o - 2>&1 | FileCheck %s --check-prefix=MANY
# RUN: exits 2 fsc %s --emit=ptx --num-ctas=grid: -o - 2>&1 | FileCheck %s --check-prefix=NONE
# CHECK: .global .align 128 .b8 fsc_words_f[73728];
# CHECK: .param .u32 f_param_2
# CHECK-NOT: {{[.:]cluster|percluster}}
# CHECK: mov.u64 [[GRID:%[a-z0-9]+]], %gridid;
# CHECK: atom.relaxed.gpu.global.cas.b64
# CHECK: ld.global
# CHECK: st.shared
# CHECK: bar.sync
# CHECK: ld.shared
# CHECK: again:{{.*}}atom.relaxed.gpu.global.cas.b64{{.*}}mine: fence.acq_rel.gpu;
# CHECK: bar.sync
# CHECK: st.relaxed.gpu.global.b64
# CHECK: ld.relaxed.gpu.global.b64
# CHECK: st.shared
# CHECK: bar.sync
# CHECK: atom.acq_rel.gpu.global.add.u32{{.*}}shfl.sync.idx
# CHECK: ld.shared
# CHECK-NOT: {{ld.relaxed|[.:]cluster}}
# TWO: ld.relaxed.gpu.global.b64
# TWO-NOT: atom.acq_rel
# TWO: ld.relaxed.gpu.global.b64
# TWO: atom.acq_rel.gpu.global.add.u32
# TWO-NOT: ld.relaxed
# ODD: error: num_ctas is 33
# MANY: --num-ctas takes a whole number from 0 to 256, not '512'
# NONE: --num-ctas takes a whole number from 0 to 256, not ''
@kernel(grid=(1,))
def f(y: *fp32, x: *const fp32, N: constexpr = 65536):
    i = arange(0, N)
    v = load(x + i)
    e = exp(v - max(v, axis=0))
    store(y + i, e / sum(e, axis=0))
