# A row's sum and its squared differences from the mean cross warps in one exchange: each warp sends a pivot, how many
# elements it has, and two sums below the pivot. The mean of the first eighth of a thread's elements is the pivot.
# RUN: fsc %s --kernel=norm --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=plain --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=PLAIN
# RUN: fsc %s --kernel=rows --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=ROWS
# A mask that may leave out a warp's first elements and not the others: the pivot is the mean of all.
# RUN: fsc %s --kernel=holes --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=HOLES
# Left alone: few elements a thread, a mean that is not the row's, differences from another tile, sums of more than the
# mask lets through, tiles of six dimensions.
# RUN: fsc %s --kernel=norm -D BLOCK=2048 --num-warps=4 --arch=sm_90 --emit=simt -o - | \
# RUN:   FileCheck %s --check-prefix=TWICE
# RUN: fsc %s --kernel=more --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=TWICE
# RUN: fsc %s --kernel=deep --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=TWICE
# RUN: fsc %s --kernel=norm --arch=sm_90 --passes=-welford --emit=simt -o - | FileCheck %s --check-prefix=TWICE
# RUN: fsc %s --kernel=other --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=TWICE
# RUN: fsc %s --kernel=apart --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=TWICE
# CHECK: #buffer<[4x2x2] fp32
# CHECK-NOT: #buffer
# CHECK: [[PART:%.*]] = extract_slice {{.*}} : tile<1024xfp32
# CHECK: reduce_warp [[PART]]
# CHECK: shared_store
# CHECK-NOT: shared_store
# CHECK: return
# PLAIN: #buffer<[4x2x2] fp32
# PLAIN-NOT: #buffer
# PLAIN: shared_store
# PLAIN-NOT: shared_store
# PLAIN: return
# ROWS: #buffer<{{.*}}x2x2] fp32
# ROWS-NOT: #buffer
# HOLES-NOT: extract_slice
# HOLES: shared_store
# HOLES-NOT: shared_store
# TWICE: shared_store
# TWICE: shared_store
@kernel(num_warps=4)
def norm(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    v = load(x + i, mask=i < n)
    m = sum(v, axis=0) / n
    d = where(i < n, v - m, 0.0)
    rest = sum(d, axis=0) / n
    store(y + i, (d - rest) * rsqrt(sum(d * d, axis=0) / n - rest * rest), mask=i < n)

@kernel(num_warps=4)
def plain(y: *fp32, x: *fp32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    v = load(x + i)
    c = v - sum(v, axis=0) * (1.0 / BLOCK)
    store(y + i, c * rsqrt(sum(c * c, axis=0)))

@kernel(num_warps=8)
def rows(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 2)[:, None]
    j = arange(0, 8192)[None, :]
    v = load(x + i * 8192 + j, mask=j < n)
    c = where(j < n, v - sum(v, axis=1, keep_dims=True) / n, 0.0)
    store(y + i * 8192 + j, c * rsqrt(sum(c * c, axis=1, keep_dims=True)), mask=j < n)

@kernel(num_warps=4)
def holes(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    is_in = (i >= n) & (i < n + 4000)
    v = load(x + i, mask=is_in)
    c = where(is_in, v - sum(v, axis=0) / 4000.0, 0.0)
    store(y + i, c * rsqrt(sum(c * c, axis=0)), mask=is_in)

@kernel(num_warps=4)
def more(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    v = load(x + i)
    c = where(i < n, v - sum(v, axis=0) / n, 0.0)
    store(y + i, c * rsqrt(sum(c * c, axis=0)))

@kernel(num_warps=4)
def deep(y: *fp32, x: *fp32):
    v = load(x + arange(0, 8192)).reshape((1, 1, 1, 1, 1, 8192))
    c = v - sum(v, axis=5, keep_dims=True) / 8192.0
    store(y + arange(0, 8192), (c * rsqrt(sum(c * c, axis=5, keep_dims=True))).reshape((8192,)))

@kernel(num_warps=4)
def other(y: *fp32, x: *fp32, m: fp32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    v = load(x + i)
    c = v - m
    store(y + i, c * rsqrt(sum(c * c, axis=0)) + sum(v, axis=0) + max(c, axis=0))

@kernel(num_warps=4)
def apart(y: *fp32, x: *fp32, z: *fp32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    v = load(x + i)
    c = load(z + i) - sum(v, axis=0)
    store(y + i, c * rsqrt(sum(c * c, axis=0)))
