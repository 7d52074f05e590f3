# A load that stands behind a reduction over warps and does not need it is issued before it, with what makes its
# address; behind a store only through a const pointer. One that waits for the reduction stays, and so does one that
# would cost registers. Weights are loaded where they are stored from, but for one weight whose row waits for a cluster,
# where two blocks of so many registers fit. So are those of rows that may begin anywhere.
# RUN: fsc %s --kernel=weight --signature "*fp32:16, *fp32:16, *fp32:16, *fp32:16" -D N=16384 --num-warps=8 \
# RUN:   --num-ctas=2 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=MOVED
# RUN: fsc %s --kernel=weight --signature "*fp32:16, *fp32:16, *fp32:16, *fp32:16" -D N=32768 --num-warps=16 \
# RUN:   --num-ctas=2 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# A weight that a reduction takes, too, cannot wait for the store.
# RUN: fsc %s --kernel=twice --signature "*fp32:16, *fp32:16, *fp32:16, *fp32:16" --num-warps=2 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=MOVED
# RUN: fsc %s --kernel=both --signature "*fp32:16, *fp32:16, *fp32:16, *fp32:16" -D N=16384 --num-warps=8 \
# RUN:   --num-ctas=2 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=weight --signature "*fp32:16, *fp32:16, *fp32:16, *fp32:16" --num-warps=2 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=weight --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=weight --num-warps=2 --emit=simt --passes=-hoist -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=pair --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=MOVED
# RUN: fsc %s --kernel=weight -D N=1024 --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=weight -D N=4096 --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=written --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=ordered --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=volatile --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=chosen --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=alone --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=KEPT
# RUN: fsc %s --kernel=carried --num-warps=2 --emit=simt -o - | FileCheck %s --check-prefix=CARRIED
# MOVED: %v = load
# MOVED-NOT: reduce_warp
# MOVED: %w = load
# MOVED: reduce_warp
# KEPT: %v = load
# KEPT: reduce_warp
# KEPT: %w = load
# A tile that a loop carries and only reduces.
# CARRIED: = for
# CARRIED: reduce_warp
# CARRIED: load
# CARRIED: yield
@kernel
def weight(y: *fp32, s: *fp32, x: *fp32, weight: *const fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    store(s, r)
    w = load(weight + i)
    store(y + i, v * r * w)

@kernel
def both(y: *fp32, bias: *const fp32, x: *fp32, weight: *const fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    w = load(weight + i)
    b = load(bias + i)
    store(y + i, v * r * w + b)

@kernel
def twice(y: *fp32, s: *fp32, x: *fp32, weight: *const fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    w = load(weight + i)
    store(y + i, v * sum(w * (v - r), axis=0) + w)

@kernel
def pair(y: *fp32, s: *fp32, x: *fp32, b: *fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    w = load(b + program_id(0) * N + i)
    store(y + i, v * r * w)

@kernel
def written(y: *fp32, s: *fp32, x: *fp32, weight: *fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    store(s, r)
    w = load(weight + i)
    store(y + i, v * r * w)

@kernel
def ordered(y: *fp32, x: *fp32, weight: *const fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    debug_barrier()
    w = load(weight + i)
    store(y + i, v * r * w)

@kernel
def volatile(y: *fp32, x: *fp32, weight: *const fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    w = load(weight + i, volatile=True)
    store(y + i, v * r * w)

@kernel
def chosen(y: *fp32, x: *fp32, weight: *const fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v * v, axis=0)
    w = load(weight + i, mask=v < r)
    store(y + i, v * r * w)

@kernel
def carried(y: *fp32, x: *fp32, weight: *const fp32, n: i32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    for k in range(n):
        r = max(v, axis=0)
        v = r + load(weight + i) + load(x + i)
    store(y + i, v)

@kernel
def alone(y: *fp32, x: *fp32, weight: *const fp32, N: constexpr = 2048):
    i = arange(0, N)
    v = load(x + i)
    r = sum(v, axis=0)
    w = load(weight + i)
    store(y + i, r * w)
