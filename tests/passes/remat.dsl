# What waits for a reduction is computed once more where registers bind: 64 elements a thread of 16 bits, but not 32, and not of 32 bits.
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=8192 --arch=sm_90 --passes=-online --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=softmax -T T=bf16 -D BLOCK=8192 --arch=sm_75 --passes=-online --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=8192 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=ONLINE
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=4096 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp32 -D BLOCK=8192 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=8192 --num-warps=16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=8192 -D "n_cols>=1" -D "n_cols<=4000" --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=softmax -T T=fp16 -D BLOCK=8192 -O0 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=pair -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# RUN: fsc %s --kernel=divided -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=ONCE
# RUN: fsc %s --kernel=looped -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOT
# NOT: reduce_warp
# NOT-NOT: again

# CHECK: [[X:%.*]] = load
# CHECK: %v = fpext [[X]]
# CHECK: reduce_warp %v {axis = 0, combine = fmax}
# CHECK: [[M:%.*]] = splat {{%.*}} : tile<8192xfp32
# CHECK: [[X1:%.*]] = again [[X]]
# CHECK: [[V1:%.*]] = fpext [[X1]]
# CHECK: [[D1:%.*]] = fsub [[V1]], [[M]]
# CHECK: %e = exp [[D1]]
# CHECK: reduce_warp %e {axis = 0, combine = fadd}
# CHECK: [[X2:%.*]] = again [[X]]
# CHECK: [[V2:%.*]] = fpext [[X2]]
# CHECK: [[D2:%.*]] = fsub [[V2]], [[M]]
# CHECK: [[E2:%.*]] = exp [[D2]]
# CHECK: fdiv [[E2]],
# CHECK-NOT: again

# With one exchange: the exponentials below the warp's maximum, for the sum and once more for the quotients.
# ONLINE: [[X:%.*]] = load
# ONLINE: [[C:%.*]] = broadcast_warp
# ONLINE: [[X1:%.*]] = again [[X]]
# ONLINE: [[V1:%.*]] = fpext [[X1]]
# ONLINE: [[D1:%.*]] = fsub [[V1]], [[C]]
# ONLINE: [[E1:%.*]] = exp [[D1]]
# ONLINE: reduce_warp [[E1]] {axis = 0, combine = fadd}
# ONLINE: barrier block
# ONLINE: [[X2:%.*]] = again [[X]]
# ONLINE: [[V2:%.*]] = fpext [[X2]]
# ONLINE: [[D2:%.*]] = fsub [[V2]], [[C]]
# ONLINE: [[E2:%.*]] = exp [[D2]]
# ONLINE: fmul [[E2]],
# ONLINE-NOT: {{again|barrier}}
@kernel
def softmax(y: *T, x: *T, n_cols: i32, BLOCK: constexpr = 8192, T: dtype = fp16):
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + program_id(0) * n_cols + cols, mask=mask, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + program_id(0) * n_cols + cols, e / sum(e, axis=0), mask=mask)


# Two of 16 bits are no less than one of 32.
@kernel(num_warps=4)
def pair(y: *T, x: *T, z: *T, BLOCK: constexpr = 8192, T: dtype = fp16):
    cols = arange(0, BLOCK)
    v = load(x + cols).to(fp32) + load(z + cols).to(fp32)
    store(y + cols, v / sum(v, axis=0))


# Divisions are not made twice: the quotients wait.
# ONCE: fdiv
# ONCE: reduce_warp {{.*}}combine = fadd
# ONCE-NOT: fdiv
# ONCE: fmul
@kernel(num_warps=4)
def divided(y: *T, x: *T, BLOCK: constexpr = 8192, T: dtype = fp16):
    cols = arange(0, BLOCK)
    v = load(x + cols).to(fp32)
    q = 1.0 / (1.0 + v * v)
    store(y + cols, q * sum(q, axis=0))


# Reductions within loops are left alone.
@kernel(num_warps=4)
def looped(y: *T, x: *T, n: i32, BLOCK: constexpr = 8192, T: dtype = fp16):
    cols = arange(0, BLOCK)
    for k in range(0, n):
        v = load(x + k * BLOCK + cols).to(fp32)
        store(y + k * BLOCK + cols, v - max(v, axis=0))
