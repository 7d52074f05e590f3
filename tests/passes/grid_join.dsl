# Where blocks meet through global memory, two reductions that do not wait for each other share a round: within the
# block first, then both to all blocks, before the barrier; each word of both is written before any is waited for.
# RUN: fsc %s --arch=sm_80 --num-ctas=grid:8 --num-warps=2 --print-after=barrier --emit=ptx -o %t.ptx 2>&1 \
# RUN:   | FileCheck %s
# RUN: FileCheck --check-prefix=PTX %s < %t.ptx
# RUN: fsc %s --arch=sm_80 --num-ctas=grid:8 --num-warps=2 --print-after=layout --emit=ptx -o %t.ptx 2>&1 \
# RUN:   | FileCheck --check-prefix=HEAD %s
# HEAD: func @f({{.*}} grid 8
# CHECK: shared_store
# CHECK-NOT: barrier
# CHECK: shared_store
# CHECK-NEXT: barrier block
# CHECK: shared_store {{.*}}grid
# CHECK-NOT: barrier
# CHECK: shared_store {{.*}}grid
# CHECK-NEXT: barrier block
# CHECK-NEXT: shared_load
# CHECK-NOT: {{cluster|grid}}
# PTX: st.relaxed.gpu.global.b64
# PTX-NOT: ld.relaxed
# PTX: st.relaxed.gpu.global.b64
# PTX: ld.relaxed.gpu.global.b64
# PTX: ld.relaxed.gpu.global.b64
# PTX-NOT: {{ld.relaxed.gpu.global|[.:]cluster}}
@kernel(grid=(1,))
def f(y: *fp32, x: *const fp32, N: constexpr = 8192):
    v = load(x + arange(0, N))
    store(y, sum(v, axis=0) - max(v, axis=0))
