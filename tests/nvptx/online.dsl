# m, e = exp(t (h - g)) and s = sum e in all the forms that cross warps in one exchange: one barrier each. In a loop
# another one keeps the next round's pair from the threads that still read this one's, as before.
# RUN: fsc %s --kernel=plain --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=logarithm --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=binary --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=fused --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=temperature --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=guarded --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=narrow --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=rows --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=columns --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=rounds --num-warps=4 --emit=simt -o - | FileCheck %s --check-prefix=LOOP
# CHECK: broadcast_warp
# CHECK-COUNT-1: barrier block
# CHECK-NOT: barrier block
# LOOP: for
# LOOP: broadcast_warp
# LOOP-COUNT-1: shared_store
# LOOP-NOT: shared_store
@kernel
def plain(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp(v - max(v, axis=0))
    store(y + arange(0, N), e / sum(e, axis=0))

@kernel
def logarithm(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    v -= max(v, axis=0, propagate_nan=True)
    store(y + arange(0, N), v - log(sum(exp(v), axis=0)))

@kernel
def binary(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp2((v - max(v, axis=0)) * 1.5)
    store(y + arange(0, N), e - sum(e, axis=0))

@kernel
def fused(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp2(v * 1.5 - max(v, axis=0) * 1.5)
    store(y, sum(e, axis=0))

@kernel
def temperature(y: *fp32, x: *fp32, t: fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp((v - max(v, axis=0)) / t)
    store(y + arange(0, N), e / sum(e, axis=0))

@kernel
def guarded(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    m = max(v, axis=0)
    m = m if abs(m) < inf else 0.0
    store(y, m + log(sum(exp(v - m), axis=0)))

@kernel
def rounds(y: *fp32, x: *fp32, n: i32, N: constexpr = 4096):
    m = -inf
    s = 0.0
    for start in range(0, n, N):
        v = load(x + start + arange(0, N))
        m_new = maximum(m, max(v, axis=0), propagate_nan=True)
        shift = 0.0 if m_new == -inf else m_new
        s = s * exp(m - shift) + sum(exp(v - shift), axis=0)
        m = m_new
    store(y, m + log(s))

@kernel
def narrow(y: *fp32, x: *fp16, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp(v.to(fp32) - max(v, axis=0).to(fp32))
    store(y + arange(0, N), e / sum(e, axis=0))

@kernel
def rows(y: *fp32, x: *fp32, R: constexpr = 2, N: constexpr = 4096):
    i = arange(0, R)[:, None] * N + arange(0, N)[None, :]
    v = load(x + i)
    e = exp(v - max(v, axis=1, keep_dims=True))
    store(y + i, e / sum(e, axis=1, keep_dims=True))

@kernel
def columns(y: *fp32, x: *fp32, R: constexpr = 256, N: constexpr = 32):
    i = arange(0, R)[:, None] * N + arange(0, N)[None, :]
    v = load(x + i)
    e = exp(v - max(v, axis=0)[None, :])
    store(y + i, e / sum(e, axis=0)[None, :])
