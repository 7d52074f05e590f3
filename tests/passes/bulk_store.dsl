# A program that stays: copies for the next tile's first rounds go ahead of what this one stores, and that goes to
# memory by bulk copies. The next round waits for these before it stores to the buffer again, the function's end until
# all of it has been read.
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - --verify-each | FileCheck %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o %t.ir
# RUN: fsc %t.ir --arch=sm_90a -o - | FileCheck --check-prefix=PTX %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D RELU=1 --verify-each | FileCheck --check-prefix=PARTS %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D ENDS=1 --verify-each | FileCheck --check-prefix=OTHER %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D ONCE=1 --verify-each | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D READS=1 --verify-each | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D SECOND=1 --verify-each | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D SECOND=2 --verify-each | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D COUNTS=1 --verify-each | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D ANY=1 --verify-each | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --kernel=f --arch=sm_90 --emit=simt -o - | FileCheck --check-prefix=NONE %s

# CHECK-DAG: #[[C:b[0-9]+]] = #buffer<[128x128] fp16 at #l{{[0-9]+}} align 1024 offset 0>
# CHECK-DAG: #buffer<3 x [128x64] fp16 at {{.*}} bulk align 1024 offset 32768
# CHECK: #m2 = #map<p0 span 128: 64 of p4, 128 of p3 by 1 x p4>
# CHECK: for
# The next tile, if there is one.
# CHECK: if
# CHECK: sdiv
# CHECK: bulk_load {{.*}} begin}
# CHECK: for
# CHECK: bulk_load {{.*}} prefetch, across, ahead = 2}
# CHECK: dot_wait {{.*}} {pending = 0}
# CHECK: bulk_wait {buffer = [[C]]}
# CHECK-NEXT: barrier block
# CHECK-NEXT: shared_store %{{[0-9]+}} {buffer = [[C]], matrices}
# CHECK-NEXT: proxy_fence
# CHECK: barrier block
# CHECK-NEXT: bulk_store {{.*}} {buffer = [[C]], map = m2}
# CHECK: }
# CHECK: bulk_wait {buffer = [[C]], read}
# CHECK-NEXT: return
# PTX: cp.async.bulk.wait_group 0;
# PTX: stmatrix
# PTX: fence.proxy.async
# PTX: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [
# PTX: cp.async.bulk.commit_group;
# PTX: cp.async.bulk.wait_group.read 0;
# Of parts each has a buffer, and waits stand in front of the first.
# PARTS: bulk_wait {buffer = b0}
# PARTS-NEXT: bulk_wait {buffer = b1}
# PARTS: bulk_store {{.*}} {buffer = b0, map = m2}
# PARTS: bulk_store {{.*}} {buffer = b1, map = m2}
# PARTS: bulk_wait {buffer = b0, read}
# PARTS-NEXT: bulk_wait {buffer = b1, read}
# Each tile has other rounds: its own first copies, and bulk stores all the same.
# OTHER-NOT: across
# OTHER: bulk_store
# NONE-NOT: bulk_store
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - | sed '/proxy_fence/d' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=FENCE %s
# FENCE: no fence stands between what was stored and its bulk store
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - | sed '/bulk_wait.*read/d' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=WAIT %s
# WAIT: nobody waits for the bulk store
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - | sed '/bulk_wait {buffer = b0}/d' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=KEPT %s
# KEPT: no wait keeps what it reads until the next round
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - | sed 's/bulk_store %[0-9]*, /bulk_store /' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=PLACES %s
# PLACES: another number of places than the map has dimensions
@kernel(grid=(4,), num_warps=4, num_stages=3)
def f(c: *fp16, a: *const fp16, b: *const fp16, M: i32, N: i32, K: i32, d: *fp16, ends: *const i32,
      RELU: constexpr = 0, ENDS: constexpr = 0, ONCE: constexpr = 0, READS: constexpr = 0, SECOND: constexpr = 0,
      COUNTS: constexpr = 0, ANY: constexpr = 0):
    assume(K % 16 == 0)
    assume(N % 16 == 0)
    b, c = multiple_of(b, 16), multiple_of(c, 16)
    a = a if ANY else multiple_of(a, 16)
    rows = make_tensor_descriptor(a, (M, K), (K, 1), (128, 64))
    columns = make_tensor_descriptor(b, (N, K), (K, 1), (128, 64))
    out = make_tensor_descriptor(c, (M, N), (N, 1), (128, 128))
    wide = cdiv(N, 128)
    for tile in range(program_id(0), program_id(0) + 1 if ONCE else cdiv(M, 128) * wide, num_programs(0)):
        m, n = tile // wide * 128, tile % wide * 128
        sums = zeros((128, 128), fp32)
        for k in range(0, load(ends + tile) if ENDS else K, 64):
            sums = dot(rows.load((m, k)), columns.load((n, k)).T, sums)
        if RELU:
            sums = maximum(sums, 0.0)
        if READS:
            sums += load(d + tile).to(fp32)
        if COUNTS:
            atomic_add(c, 1)
        out.store((m, n), sums.to(fp16))
        if SECOND == 1:
            out.store((m, n), (sums + 1).to(fp16))
        if SECOND == 2:
            make_tensor_descriptor(d, (M, N), (N, 1), (128, 128)).store((m, n), sums.to(fp16))
