# Rows of a loop by bulk copies, only where they are asked for (--passes=+bulk), on sm_90 and newer; other loads of the loop as always.
# RUN: fsc %s --kernel=f --arch=sm_90 --passes=+bulk --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - | FileCheck --check-prefixes=BULK,OWN %s
# RUN: fsc %s --kernel=f --arch=sm_120 --passes=+bulk --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - | FileCheck --check-prefixes=BULK,OWN %s
# RUN: fsc %s --kernel=g --arch=sm_90 --passes=+bulk,-remat --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - | FileCheck --check-prefixes=BULK,SHARED %s
# Neither before sm_90, nor unasked, nor for rows that may begin, or end, beside multiples of 16 bytes, nor for programs of a warp.
# RUN: fsc %s --kernel=f --arch=sm_80 --passes=+bulk --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - | FileCheck --check-prefixes=NONE,COPIES %s
# RUN: fsc %s --kernel=f --arch=sm_90 --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - | FileCheck --check-prefixes=NONE,COPIES %s
# RUN: fsc %s --kernel=f --arch=sm_90 --passes=+bulk --signature "*fp32:16, *const fp32:16, i32, i32" -o - | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_90 --passes=+bulk --signature "*fp32:16, *const fp32, i32, i32:16" -o - | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --num-warps=1 --arch=sm_90 --passes=+bulk --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_80 --passes=+bulk -Rperf -o %t 2>&1 | FileCheck --check-prefix=OLD %s
# RUN: fsc %s --kernel=f --arch=sm_90 --num-warps=1 --passes=+bulk -Rperf -o %t 2>&1 | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel=f --arch=sm_90 --passes=+bulk -Rperf --signature "*fp32:16, *const fp32:16, i32, i32" -o %t 2>&1 | FileCheck --check-prefix=START %s
# RUN: fsc %s --kernel=h --arch=sm_90 --passes=+bulk -Rperf --signature "*fp32:16, *const fp32:16, *const fp32, i32" -o %t 2>&1 | FileCheck --check-prefix=OTHERS %s
# BULK: mbarrier.init.shared::cta.b64 [[[FIRST:%r[0-9]+]]], %r{{[0-9]+}};
# BULK: mbarrier.init.shared::cta.b64
# BULK: bar.sync 0;
# The first two rounds.
# BULK: @[[P:%p[0-9]+]] mbarrier.arrive.expect_tx.shared::cta.b64 _, [[[FIRST]]], [[BYTES:%r[0-9]+]];
# BULK: @[[Q:%p[0-9]+]] fence.proxy.async.shared::cta; @[[Q]] cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r{{[0-9]+}}], [%rd{{[0-9]+}}], [[BYTES]], [[[FIRST]]];
# BULK: cp.async.bulk
# BULK: $L__BB0_{{[0-9]+}}:
# BULK: mbarrier.try_wait.parity.shared::cta.b64 done, [[[BARRIER:%r[0-9]+]]], %r{{[0-9]+}}; @!done bra WAIT;}
# BULK: ld.shared.v4.b32
# Nothing but its own barrier says that all have read; or the reduction's.
# OWN-NOT: st.shared
# OWN: bar.sync 0;
# SHARED: st.shared.b32
# SHARED: bar.sync 0;
# SHARED: ld.shared.b32
# BULK-NOT: bar.sync
# BULK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r{{[0-9]+}}], [%rd{{[0-9]+}}], %r{{[0-9]+}}, [[[BARRIER]]];
# BULK: bar.sync 0;
# BULK: mbarrier.inval.shared::cta.b64 [[[FIRST]]];
# NONE-NOT: {{mbarrier|cp.async.bulk}}
# COPIES: cp.async.cg.shared.global
@kernel(grid=(132,), num_warps=8)
def f(y: *fp32, x: *const fp32, rows: i32, n: i32):
    c = arange(0, 1024)
    # OLD: [[#@LINE+2]]:5: remark: no bulk copy here: the target has none; sm_90 is the first that has [R0105]
    # WARP: [[#@LINE+1]]:5: remark: no bulk copy here: programs of one warp have no buffers [R0105]
    for row in range(program_id(0), rows, 132, num_stages=3):
        # START: [[#@LINE+1]]:32: remark: no bulk copy here: its rows may begin beside multiples of 16 bytes [R0105]
        store(y + row * n + c, load(x + row * n + c, mask=c < n, other=-5) * 3, mask=c < n)

@kernel(grid=(132,), num_warps=8)
def g(y: *fp32, x: *const fp32, rows: i32, n: i32):
    c = arange(0, 1024)
    for row in range(program_id(0), rows, 132, num_stages=3):
        v = load(x + row * n + c, mask=c < n)
        store(y + row * n + c, v - max(v, axis=0), mask=c < n)

@kernel(grid=(1,), num_warps=2)
def h(y: *fp32, x: *const fp32, s: *const fp32, n: i32):
    c = arange(0, 1024)
    for i in range(0, 9, num_stages=2):
        # OTHERS: [[#@LINE+1]]:13: remark: no bulk copy here: it loads one element [R0105]
        a = load(s + i)
        # OTHERS: [[#@LINE+1]]:13: remark: no bulk copy here: its mask is not one that ends rows at multiples of 16 bytes [R0105]
        b = load(x + i * 1024 + c, mask=c < n)
        # OTHERS: [[#@LINE+1]]:13: remark: no bulk copy here: it is no row of 16 bytes a thread and more [R0105]
        d = load(x + i * 1024 + c * 4, mask=c < 100)
        # OTHERS: [[#@LINE+1]]:13: remark: no bulk copy here: the loop stores through the same pointer [R0105]
        e = load(y + i * 1024 + c)
        store(y + i * 1024 + c, a + b + d + e)
