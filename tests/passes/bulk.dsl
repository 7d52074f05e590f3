# Which operands of products come by bulk copies: boxes of a matrix, by pointers or descriptors, of which a map says how
# they lie, and nothing else.
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - --verify-each | FileCheck %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - --passes=-bulk | FileCheck --check-prefix=COPIES %s
# RUN: fsc %s --kernel=f --arch=sm_90 --emit=simt -o - | FileCheck --check-prefix=COPIES %s
# RUN: fsc %s --kernel=blocks --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=BLOCKS %s
# RUN: fsc %s --kernel=heads --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=HEADS %s
# RUN: fsc %s --kernel=rows --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=ROWS %s
# RUN: fsc %s --kernel=g --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=ONE %s
# RUN: fsc %s --kernel=g --arch=sm_90a --emit=simt -o - -D BELOW=1 | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=g --arch=sm_90a --emit=simt -o - -D WRITTEN=1 | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=nested --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=NESTED %s
# RUN: fsc %s --kernel=twice --arch=sm_90a --emit=simt -o - | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=own --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=OWN %s
# RUN: fsc %s --kernel=g --arch=sm_90a --emit=simt -o - -D BESIDE=1 | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=g --arch=sm_90a --emit=simt -o - -D WRAPS=1 | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=g --arch=sm_90a --emit=simt -o - -D BOUND=1 | FileCheck --check-prefix=NONE %s

# Copies of rounds ahead stand behind the wait for the products that read their stage before, waits in front of what
# products take; no barrier, no fence, no groups.
# CHECK-DAG: #[[A:b[0-9]+]] = #buffer<3 x [64x64] fp16 at {{.*}} bulk align 1024 offset 0 counts
# CHECK-DAG: #[[B:b[0-9]+]] = #buffer<3 x [64x128] fp16 at {{.*}} bulk align 1024
# CHECK: #m0 = #map<p1 span 128: 64 of p5, 64 of p3 by 1 x p6>
# CHECK: #m1 = #map<p2 span 128: 64 of p4, 64 of p5 by 1 x p7>
# CHECK: bulk_load {{.*}} {buffer = b0, map = m0, begin}
# CHECK: bulk_load {{.*}} {buffer = b1, map = m1, begin}
# CHECK: for
# CHECK-NOT: proxy_fence
# CHECK-NOT: copy_wait
# CHECK-NOT: barrier
# CHECK: shared_wait %[[S:[0-9]+]], %{{[0-9]+}} {buffer = b0}
# CHECK-NEXT: shared_matrix %[[S]] {buffer = b0}
# CHECK-NEXT: shared_wait %[[S]], %{{[0-9]+}} {buffer = b1}
# CHECK-NEXT: shared_matrix %[[S]] {buffer = b1}
# CHECK-NEXT: dot_async
# CHECK: dot_wait %{{[0-9]+}} {pending = 1}
# CHECK-NEXT: bulk_load {{.*}} {buffer = b0, map = m0, prefetch, ahead = 2}
# CHECK-NEXT: bulk_load {{.*}} {buffer = b1, map = m1, prefetch, ahead = 2}
# CHECK-NEXT: yield
# A copy for a later round overwrites nothing that a product may still read: this round's, or the one's before.
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - | sed 's/pending = 1/pending = 2/' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=UNDER-WAY %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - | sed 's/ahead = 2/ahead = 3/' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=UNDER-WAY %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - | sed 's/ahead = 2/ahead = 4/' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=BEFORE %s
# UNDER-WAY: no wait keeps the copy behind the products that read what it overwrites
# BEFORE: the copy overwrites what a round before its own reads
# COPIES-NOT: bulk_load
# COPIES: copy_async
# COPIES-NOT: bulk_load
@kernel(grid=(4,), num_warps=4, num_stages=3)
def f(c: *fp16, a: *const fp16, b: *const fp16, M: i32, N: i32, K: i32, a_stride: i32, b_stride: i32):
    assume(a_stride % 16 == 0)
    assume(b_stride % 16 == 0)
    a, b = multiple_of(a, 16), multiple_of(b, 16)
    m, n = program_id(0) * 64 + arange(0, 64), arange(0, 128)
    sums = zeros((64, 128), fp32)
    for start in range(0, K, 64):
        k = start + arange(0, 64)
        x = load(a + m[:, None] * a_stride + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        y = load(b + k[:, None] * b_stride + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :])
        sums = dot(x, y, sums)
    store(c + m[:, None] * 128 + n[None, :], sums.to(fp16))

# Descriptors; those of a batch have a dimension more. What a block has below 0 is 0, too.
# BLOCKS: #m0 = #map<p1 span 128: 64 of p5, 64 of p4 by 1 x p5, 1 of 2147483647 by 1 x p4 x p5>
# BLOCKS: #m1 = #map<p2 span 128: 64 of p5, 128 of p6 by 1 x p5>
# BLOCKS: bulk_load {{.*}} {buffer = b0, map = m0, begin}
# BLOCKS-NOT: copy_async
@kernel(grid=(4, batch), num_warps=4, num_stages=3)
def blocks(c: *fp16, a: *const fp16, b: *const fp16, batch: i32, M: i32, K: i32, N: i32, shift: i32):
    assume(K % 16 == 0)
    a, b = multiple_of(a, 16), multiple_of(b, 16)
    x = make_tensor_descriptor(a + program_id(1) * M * K, (M, K), (K, 1), (64, 64))
    y = make_tensor_descriptor(b, (N, K), (K, 1), (128, 64))
    sums = zeros((64, 128), fp32)
    for k in range(0, K, 64):
        sums = dot(x.load((program_id(0) * 64 - shift, k)), y.load((0, k)).T, sums)
    store(c + arange(0, 64)[:, None] * 128 + arange(0, 128)[None, :], sums.to(fp16))

# A head is a dimension of one place; a stride may be a constant, and a tile have more columns than a box.
# HEADS: #m0 = #map<p2 span 128: 64 of 2147483647, 64 of p3 by 128, 1 of 2147483647 by 128 x p3>
# Where a round waits for its products, the copies of the next one go on beside its first product.
# The first copies are begun while the load of what the loop takes from before it is under way.
# HEADS: load
# HEADS-NOT: shared_store
# HEADS: bulk_load {{.*}} begin}
# HEADS-NOT: copy_async
# HEADS: shared_store {{.*}} {buffer = b0}
# HEADS-NEXT: proxy_fence
# HEADS-NEXT: barrier block
# HEADS: for
# HEADS: dot_async
# HEADS-NEXT: bulk_load {{.*}} prefetch, ahead = 1}
# HEADS-NEXT: dot_wait
@kernel(grid=(4, heads), num_warps=4, num_stages=2)
def heads(o: *fp16, q: *const fp16, k: *const fp16, n: i32, heads: i32):
    q, k = multiple_of(q, 16), multiple_of(k, 16)
    d = arange(0, 128)
    x = load(q + arange(0, 64)[:, None] * 128 + d[None, :])
    most = full((64,), -inf, fp32)
    for start in range(0, n, 64):
        j = start + arange(0, 64)
        y = load(k + (program_id(1) * n + j)[:, None] * 128 + d[None, :], mask=(j < n)[:, None])
        most = maximum(most, max(dot(x, y.T), axis=1))
    store(o + arange(0, 64), most.to(fp16))

# Bytes; boxes of more than 256 rows are two.
# ROWS: #m0 = #map<p1 span 64: 64 of p3, 64 of 2147483647 by 1 x p3>
# ROWS: #m1 = #map<p2 span 64: 64 of p3, 256 of 2147483647 by 1 x p3>
@kernel(grid=(1,), num_warps=4, num_stages=2)
def rows(c: *i32, a: *const i8, b: *const i8, K: i32):
    assume(K % 16 == 0)
    a, b = multiple_of(a, 16), multiple_of(b, 16)
    m, n = arange(0, 64), arange(0, 256)
    sums = zeros((64, 256), i32)
    for start in range(0, K, 64):
        k = start + arange(0, 64)
        x = load(a + m[:, None] * K + k[None, :], mask=(k < K)[None, :])
        y = load(b + n[:, None] * K + k[None, :], mask=(k < K)[None, :])
        sums = dot(x, y.T, sums)
    store(c + m[:, None] * 256 + n[None, :], sums)

# One operand is a box. Not where it may begin below 0, where its memory is written, in the third loop of a nest, where
# its mask has more than ends, where rows wrap, or where what ends a row is no parameter.
# ONE: bulk_load
# NONE-NOT: bulk_load
# NONE: copy_async
# NONE-NOT: bulk_load
@kernel(grid=(4,), num_warps=4, num_stages=3)
def g(c: *fp16, a: *fp16, M: i32, K: i32, shift: i32, BELOW: constexpr = 0, WRITTEN: constexpr = 0,
      BESIDE: constexpr = 0, WRAPS: constexpr = 0, BOUND: constexpr = 0):
    assume(K % 16 == 0)
    assume(M % 16 == 0)
    a = multiple_of(a, 16)
    m = program_id(0) * 64 + arange(0, 64)
    if BELOW:
        m = m - shift
    if WRAPS:
        m = m % M
    sums = zeros((64, 64), fp32)
    if WRITTEN:
        store(a + arange(0, 64), arange(0, 64).to(fp16))
    for start in range(0, K, 64):
        k = start + arange(0, 64)
        mask = (m < M)[:, None] & (k < (K // 3 if BOUND else K))[None, :]
        if BESIDE:
            mask = mask & (m[:, None] >= k[None, :])
        x = load(a + m[:, None] * K + k[None, :], mask=mask)
        sums = dot(x, x.T, sums)
    store(c + m[:, None] * 64 + arange(0, 64)[None, :], sums.to(fp16))

# Within a loop, which carries stage and phase: they go on where the last time left them.
# NESTED: for {{.*}} carry (%[[STAGE:[0-9]+]] = %{{[0-9]+}}, %[[PHASE:[0-9]+]] = %{{[0-9]+}})
# NESTED: bulk_load %[[STAGE]], {{.*}} begin}
# NESTED: for {{.*}} = %[[STAGE]], {{.*}} = %[[PHASE]])
# NESTED: bulk_load {{.*}} prefetch, across, ahead = 2}
@kernel(grid=(4,), num_warps=4, num_stages=3)
def nested(c: *fp16, a: *const fp16, K: i32):
    assume(K % 16 == 0)
    a = multiple_of(a, 16)
    m = arange(0, 64)
    for again in range(program_id(0), 9, 4):
        sums = zeros((64, 64), fp32)
        for start in range(0, K, 64):
            x = load(a + m[:, None] * K + (start + m)[None, :], mask=(start + m < K)[None, :])
            sums = dot(x, x.T, sums)
        store(c + again * 4096 + m[:, None] * 64 + m[None, :], sums.to(fp16))

@kernel(grid=(4,), num_warps=4, num_stages=3)
def twice(c: *fp16, a: *const fp16, K: i32):
    assume(K % 16 == 0)
    a = multiple_of(a, 16)
    m = arange(0, 64)
    sums = zeros((64, 64), fp32)
    for again in range(program_id(0), 9, 4):
        for once in range(0, again):
            for start in range(0, K, 64):
                x = load(a + m[:, None] * K + (start + m)[None, :], mask=(start + m < K)[None, :])
                sums = dot(x, x.T, sums)
    store(c + m[:, None] * 64 + m[None, :], sums.to(fp16))

# What each thread copies for itself needs no barrier either: it is waited for, read, and copied anew.
# OWN: for
# OWN-NOT: barrier
# OWN: copy_wait
# OWN: copy_read
# OWN: copy_async {{.*}} prefetch
# OWN: copy_commit
# OWN-NOT: barrier
# OWN: bulk_load {{.*}} prefetch
# OWN: yield
@kernel(grid=(4,), num_warps=4, num_stages=3)
def own(c: *fp16, a: *const fp16, s: *const fp32, K: i32):
    assume(K % 16 == 0)
    a = multiple_of(a, 16)
    m = arange(0, 64)
    sums = zeros((64, 64), fp32)
    for start in range(0, K, 64):
        x = load(a + m[:, None] * K + (start + m)[None, :], mask=(start + m < K)[None, :])
        scale = load(s + start + m, mask=start + m < K)
        sums += dot(x, x.T) * scale[None, :]
    store(c + program_id(0) * 4096 + m[:, None] * 64 + m[None, :], sums.to(fp16))

# A launch passes eight maps at most: the ninth operand is copied by each thread. What lies alike has one map.
# RUN: fsc %s --kernel=many --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=MANY %s
# MANY: #m7 =
# MANY-NOT: #m8 =
# MANY: copy_async
# RUN: fsc %s --kernel=alike --arch=sm_90a --emit=simt -o - | FileCheck --check-prefix=ALIKE %s
# ALIKE: #m0 =
# ALIKE-NOT: #m1 =
# ALIKE: {buffer = b0, map = m0, begin}
# ALIKE: {buffer = b1, map = m0, begin}
@kernel(grid=(1,), num_warps=4, num_stages=2)
def many(c: *fp16, a: *const fp16, K: i32):
    assume(K % 16 == 0)
    a = multiple_of(a, 16)
    m = arange(0, 64)
    sums = zeros((64, 64), fp32)
    for part in static_range(9):
        for start in range(0, K, 64):
            x = load(a + m[:, None] * K * (part + 1) + (start + m)[None, :], mask=(start + m < K)[None, :])
            sums = dot(x, x.T, sums)
    store(c + m[:, None] * 64 + m[None, :], sums.to(fp16))

@kernel(grid=(1,), num_warps=4, num_stages=2)
def alike(c: *fp16, a: *const fp16, K: i32):
    assume(K % 16 == 0)
    a = multiple_of(a, 16)
    m = arange(0, 64)
    sums = zeros((64, 64), fp32)
    for start in range(0, K, 64):
        mask = (start + m < K)[None, :]
        x = load(a + m[:, None] * K + (start + m)[None, :], mask=mask)
        y = load(a + (64 + m)[:, None] * K + (start + m)[None, :], mask=mask)
        sums = dot(x, y.T, sums)
    store(c + m[:, None] * 64 + m[None, :], sums.to(fp16))
