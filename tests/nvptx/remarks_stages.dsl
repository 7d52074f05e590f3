# Why a loop with num_stages loads no earlier.
# RUN: fsc %s -Rperf --num-warps=4 --kernel=f -o %t 2>&1 | FileCheck %s
# RUN: fsc %s -Rperf --num-warps=4 --kernel=f --arch=cpu --emit=asm -o %t 2>&1 \
# RUN:   | FileCheck --check-prefix=QUIET --allow-empty %s
# RUN: fsc %s -Rperf --num-warps=4 --kernel=wide --arch=sm_75 --signature "*fp32:16, *fp32:16, i32" -o %t 2>&1 \
# RUN:   | FileCheck --check-prefix=OLD %s
# RUN: fsc %s -Rperf --num-warps=4 --kernel=wide --arch=sm_90 --signature "*fp32:16, *fp32:16, i32" -o %t 2>&1 \
# RUN:   | FileCheck --check-prefix=NEW %s
# RUN: fsc %s -Rperf --num-warps=4 --kernel=wide --arch=sm_86 -D B=16384 --signature "*fp32:16, *fp32:16, i32" -o %t \
# RUN:   2>&1 | FileCheck --check-prefix=LARGE %s
# RUN: fsc %s -Rperf --num-warps=4 --kernel=wide --arch=sm_90 -o %t 2>&1 | FileCheck --check-prefix=SHIFTED %s
# QUIET-NOT: remark
@kernel(grid=(4,))
def f(y: *i32, x: *i32, z: *const i32, n: i32):
    c = arange(0, 256)
    t = c * 0
    # CHECK: remarks_stages.dsl:[[#@LINE+1]]:5: remark: num_stages changes nothing here: the loop may end early, by break or return [R0105]
    for i in range(0, n, num_stages=2):
        t += load(z + i * 256 + c)
        if i == 7:
            break
    for i in range(0, n, num_stages=2):
        # CHECK: remarks_stages.dsl:[[#@LINE+1]]:13: remark: num_stages changes nothing here: the loop stores through the same pointer [R0105]
        v = load(x + i * 256 + c)
        store(x + i * 256 + 256 + c, v)
    for i in range(0, n, num_stages=2):
        k = load(z + i)
        # CHECK: remarks_stages.dsl:[[#@LINE+1]]:14: remark: num_stages changes nothing here: its address or mask depends on what the loop loads or reduces [R0105]
        t += load(z + k * 256 + c)
    for i in range(0, n, num_stages=2):
        # CHECK: remarks_stages.dsl:[[#@LINE+1]]:14: remark: num_stages changes nothing here: an atomic in the loop may wait for what it loads [R0105]
        t += load(x + i * 256 + c)
        atomic_add(y + i, 1)
    for i in range(0, n, num_stages=2):
        # CHECK: remarks_stages.dsl:[[#@LINE+1]]:14: remark: num_stages changes nothing here: a volatile load in the loop may wait for what it loads [R0105]
        t += load(x + i * 256 + c)
        # CHECK: remark: num_stages changes nothing here: it is volatile [R0105]
        t += load(y + i, volatile=True)
    # CHECK: remarks_stages.dsl:[[#@LINE+1]]:5: remark: num_stages changes nothing here: no load stands in its body, but perhaps in loops or branches within [R0105]
    for i in range(0, n, num_stages=2):
        if i < 3:
            t += load(z + i * 256 + c)
    # CHECK-NOT: remark: num_stages
    for i in range(0, n, num_stages=2):
        t += load(z + i * 256 + c)
    for i in range(0, n):
        t += load(x + i * 256 + c)
        store(x + i * 256 + 256 + c, t)
    store(y + c, t)

@kernel(grid=(4,))
def wide(y: *fp32, x: *fp32, n: i32, B: constexpr = 4096):
    c = arange(0, B)
    # NEW: remark: this loop has 3 stages: buffers of more would leave room for fewer threads [R0105]
    for i in range(0, n, num_stages=4):
        # OLD: remark: num_stages changes nothing here: the target has no asynchronous copies, and too many registers would wait [R0105]
        # SHIFTED: remark: num_stages changes nothing here: its rows may begin beside multiples of 16 bytes, and too many registers would wait [R0105]
        # LARGE: remark: num_stages changes nothing here: one more of it does not fit in shared memory [R0105]
        v = load(x + i * B + c)
        store(y + i * B + c, v * load(x + (n + i) * B + c))
