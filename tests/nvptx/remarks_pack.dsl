# RUN: fsc %s -Rperf --num-warps=1 -D GATHER=False -o %t 2>&1 | FileCheck --check-prefixes=CHECK,BARRIER %s
# RUN: fsc %s -Rperf --num-warps=1 -D GATHER=True -o %t 2>&1 | FileCheck --check-prefixes=CHECK,SHARED %s
# RUN: fsc %examples/softmax.dsl -Rperf --num-warps=1 -D BLOCK=32 -o %t 2>&1 \
# RUN:   | FileCheck --check-prefix=PACKED --allow-empty %s
# Programs of one warp that cannot be packed.
# CHECK: remarks_pack.dsl:[[#@LINE+6]]:
# BARRIER-SAME: remark: programs of one warp have a block each: they wait at a barrier of the block [R0104]
# SHARED-SAME: remark: programs of one warp have a block each: they use shared memory [R0104]
# CHECK-NOT: remark:
# PACKED-NOT: R0104
@kernel(grid=(4,))
def k(x: *fp32, y: *fp32, GATHER: constexpr):
    c = arange(0, 32)
    v = load(x + c)
    if GATHER:
        v = gather(v, 31 - c, 0)
    else:
        store(x + c, 1.0)
        debug_barrier()
    store(y + c, v)
