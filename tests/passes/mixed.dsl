# A product whose weights have fewer bits: they come by bulk copies as they are, and become the first operand in the
# registers that a product of four warps takes it from. A round of the loop has no barrier and stores nothing.
# RUN: fsc %s --arch=sm_90a --emit=simt -o - --verify-each | FileCheck %s
# RUN: fsc %s --arch=sm_90a --emit=simt -o - --verify-each -D HALVES=True | FileCheck --check-prefixes=CHECK,TWO %s
# RUN: fsc %s --arch=sm_80 --emit=simt -o - --verify-each | FileCheck --check-prefix=PORTABLE %s
# RUN: fsc %s --arch=sm_90a --emit=simt -o - | sed '/shared_wait .*buffer = b0/d' > %t.ir
# RUN: not fsc %t.ir -o - 2>&1 | FileCheck --check-prefix=WAIT %s
# WAIT: no wait for what the copy brings: {{.*}} = shared_load

# CHECK-DAG: #[[W:b[0-9]]] = #buffer<{{[0-9]}} x [64x{{(32|64)}}] i8 {{.*}} bulk
# CHECK-DAG: #[[X:b[0-9]]] = #buffer<{{[0-9]}} x [32x64] bf16 {{.*}} bulk
# CHECK: = for
# CHECK-NOT: barrier
# CHECK-NOT: shared_store
# CHECK: shared_wait %[[AT:[0-9]+]], %{{[0-9]+}} {buffer = [[W]]}
# CHECK: %[[BYTES:[0-9]+]] = shared_load %[[AT]] {buffer = [[W]]}
# TWO: join
# It is made while the product's steps before it are under way.
# CHECK: itofp {{.*}} {when = needed}
# TWO: fsub {{.*}} {when = needed}
# CHECK: shared_wait %[[AT]], %{{[0-9]+}} {buffer = [[X]]}
# CHECK: dot_async
# CHECK: bulk_load
# What is made of registers is waited for in its round: the next one writes them.
# CHECK: dot_wait {{.*}} {pending = 0}
# CHECK: yield

# By instructions of a warp it comes from registers, too, and no tile of bf16 is stored for it.
# PORTABLE: #buffer<{{[0-9]}} x [64x64] i8 {{.*}}
# PORTABLE: = for
# PORTABLE: copy_async
# PORTABLE-NOT: shared_store
# PORTABLE: = mma

@kernel(grid=(1,), num_warps=4, num_stages=3)
def mixed(r: *fp32, x: *const bf16, w: *const u8, K: i32, HALVES: constexpr = False):
    assume(K % 64 == 0)
    x, w = multiple_of(x, 16), multiple_of(w, 16)
    i, j, k = arange(0, 64), arange(0, 32), arange(0, 64)
    sums = zeros((64, 32), fp32)
    for start in range(0, K, 64):
        at = start + k
        a = load(x + j[:, None] * K + at[None, :], mask=(at < K)[None, :])
        if HALVES:
            b = load(w + i[:, None] * K + (start // 2 + arange(0, 32))[None, :])
            q = interleave(b & 15, b >> 4).to(bf16) - 3
        else:
            q = load(w + i[:, None] * K + at[None, :], mask=(at < K)[None, :]).to(bf16)
        sums = dot(q, a.T, sums)
    store(r + i[:, None] * 32 + j[None, :], sums)
