# What waits for a reduction, where registers bind: what is cheap is computed once more, what is not waits in shared
# memory. So it is with 64 elements a thread of 16 bits, but not with 32, and not of 32 bits.
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=16384 --arch=sm_90 --passes=-online --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=softmax -T T=bf16 -D BLOCK=16384 --arch=sm_75 --passes=-online --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=softmax -T T=bf16 -D BLOCK=16384 --arch=sm_90 --verify-each --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=ONLINE
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=8192 --num-warps=4 --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=4096 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp32 -D BLOCK=16384 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=16384 --num-warps=16 --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=16384 -D "n_cols>=1" -D "n_cols<=4000" --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=16384 -O0 --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=pair -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=centred -T T=fp16 --arch=sm_90 --passes=-welford --verify-each --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=CENTRED
# RUN: fsc %s --kernel=divided -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=ONCE
# RUN: fsc %s --kernel=looped -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# NOT: reduce_warp
# NOT-NOT: opaque_copy

# CHECK: [[X:%.*]] = load
# CHECK: %v = fpext [[X]]
# CHECK: reduce_warp %v {axis = 0, combine = fmax
# CHECK: [[M:%.*]] = splat {{%.*}} : tile<16384xfp32
# CHECK: [[X1:%.*]] = opaque_copy [[X]]
# CHECK: [[V1:%.*]] = fpext [[X1]]
# CHECK: [[D1:%.*]] = fsub [[V1]], [[M]]
# CHECK: %e = exp [[D1]] {accuracy = relaxed
# CHECK: [[P:%.*]] = spill_shared %e {buffer = b2
# CHECK: reduce_warp %e {axis = 0, combine = fadd}
# CHECK-NOT: opaque_copy
# CHECK: fdiv [[P]],
# CHECK-NOT: opaque_copy

# ONLINE: [[X:%.*]] = load
# ONLINE: [[C:%.*]] = broadcast_warp
# ONLINE: [[X1:%.*]] = opaque_copy [[X]]
# ONLINE: [[V1:%.*]] = fpext [[X1]]
# ONLINE: [[D1:%.*]] = fsub [[V1]], [[C]]
# ONLINE: [[E:%.*]] = exp [[D1]] {accuracy = relaxed
# ONLINE: [[P:%.*]] = spill_shared [[E]] {buffer = b1
# ONLINE: reduce_warp [[E]] {axis = 0, combine = fadd}
# ONLINE: fmul [[P]],
# ONLINE-NOT: opaque_copy
@kernel
def softmax(y: *T, x: *T, n_cols: i32, BLOCK: constexpr = 16384, T: dtype = fp16):
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + program_id(0) * n_cols + cols, mask=mask, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + program_id(0) * n_cols + cols, e / sum(e, axis=0), mask=mask)


# CENTRED: [[X:%.*]] = load
# CENTRED: reduce_warp
# CENTRED: [[X1:%.*]] = opaque_copy [[X]]
# CENTRED: [[V1:%.*]] = fpext [[X1]]
# CENTRED: [[C1:%.*]] = fsub [[V1]],
# CENTRED: fmul [[C1]], [[C1]]
# CENTRED: [[X2:%.*]] = opaque_copy [[X]]
# CENTRED: [[V2:%.*]] = fpext [[X2]]
# CENTRED: [[C2:%.*]] = fsub [[V2]],
# CENTRED: fmul [[C2]],
# CENTRED-NOT: spill_shared
@kernel(num_warps=8)
def centred(y: *T, x: *T, BLOCK: constexpr = 16384, T: dtype = fp16):
    cols = arange(0, BLOCK)
    v = load(x + cols).to(fp32)
    c = v - sum(v, axis=0) * (1.0 / BLOCK)
    store(y + cols, c * rsqrt(sum(c * c, axis=0)))


# Two of 16 bits are no less than one of 32.
@kernel(num_warps=8)
def pair(y: *T, x: *T, z: *T, BLOCK: constexpr = 16384, T: dtype = fp16):
    cols = arange(0, BLOCK)
    v = load(x + cols).to(fp32) + load(z + cols).to(fp32)
    store(y + cols, v / sum(v, axis=0))


# Divisions are not made twice.
# ONCE: fdiv
# ONCE: reduce_warp {{.*}}combine = fadd
# ONCE-NOT: fdiv
# ONCE: fmul
@kernel(num_warps=8)
def divided(y: *T, x: *T, BLOCK: constexpr = 16384, T: dtype = fp16):
    cols = arange(0, BLOCK)
    v = load(x + cols).to(fp32)
    q = 1.0 / (1.0 + v * v)
    store(y + cols, q * sum(q, axis=0))


# Reductions within loops are left alone.
@kernel(num_warps=8)
def looped(y: *T, x: *T, n: i32, BLOCK: constexpr = 16384, T: dtype = fp16):
    cols = arange(0, BLOCK)
    for k in range(0, n):
        v = load(x + k * BLOCK + cols).to(fp32)
        store(y + k * BLOCK + cols, v - max(v, axis=0))
