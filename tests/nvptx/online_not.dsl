# What stays with an exchange for the maximum and one for the sum: where another pivot would change what is NaN or
# infinite, where no pivot bounds the exponentials, where the sum is one of something else, and where few elements a
# thread make it no gain.
# RUN: fsc %s --kernel=kept --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=others --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=negative --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=unknown --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=seen --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=guarded --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=lower --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=plain -D N=1024 --num-warps=4 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=plain -D N=1024 --num-warps=1 --emit=simt -o - | FileCheck %s --check-prefix=WARP
# CHECK-NOT: broadcast_warp
# CHECK-COUNT-2: barrier block
# CHECK-NOT: broadcast_warp
# WARP-NOT: broadcast_warp
# WARP-NOT: barrier
@kernel
def plain(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp(v - max(v, axis=0))
    store(y + arange(0, N), e / sum(e, axis=0))

@kernel
def kept(y: *fp32, x: *fp32, n: i32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = where(arange(0, N) < n, exp(v - max(v, axis=0)), 0.0)
    store(y + arange(0, N), e - sum(e, axis=0))

@kernel
def others(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp(v * v - max(v, axis=0))
    store(y + arange(0, N), e - sum(e, axis=0))

@kernel
def negative(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp2(v * -1.5 - max(v, axis=0) * -1.5)
    store(y + arange(0, N), e - sum(e, axis=0))

@kernel
def unknown(y: *fp32, x: *fp32, t: fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp2(v * t - max(v, axis=0) * t)
    store(y + arange(0, N), e - sum(e, axis=0))

@kernel
def seen(y: *fp32, x: *fp32, t: fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp((v - max(v, axis=0)) / t)
    store(y + arange(0, N), e - sum(e, axis=0))

@kernel
def guarded(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    m = max(v, axis=0)
    e = exp(v - (m if abs(m) < inf else 0.0))
    store(y + arange(0, N), e - sum(e, axis=0))

@kernel
def lower(y: *fp32, x: *fp32, N: constexpr = 4096):
    v = load(x + arange(0, N))
    e = exp(v - minimum(max(v, axis=0), 1.0))
    store(y + arange(0, N), e - sum(e, axis=0))
