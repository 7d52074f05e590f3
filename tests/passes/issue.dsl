# Of rows over a cluster that begin anywhere: what the cluster waits for, as a block of it will write there, is loaded
# right behind the row. What the row's ends cut is loaded when that is under way.
# RUN: fsc %s --kernel=shares --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=shares --arch=sm_90 --passes=-issue --emit=simt -o - | FileCheck %s --check-prefix=PLAIN
# RUN: fsc %s --kernel=shares --arch=sm_90 -o - | FileCheck %s --check-prefix=PTX
# RUN: fsc %s --kernel=shares --arch=sm_90 --passes=-issue -o - | FileCheck %s --check-prefix=CUT
# Two of them, one of which is the other's address.
# RUN: fsc %s --kernel=moves --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=BOTH
# Nobody waits for it, or the row is aligned.
# RUN: sed 's/store(x_row/store(y + row * n/' %s > %t.dsl && fsc %t.dsl --kernel=shares --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=PLAIN
# RUN: fsc %s --kernel=shares --signature "*bf16:16, *fp32, *i32, i32:16" --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=PLAIN
# CHECK: [[V:%[0-9]+]] = load {{.*}}, rotated, late
# CHECK-NOT: fpext
# CHECK: %t = load
# CHECK-NOT: fpext
# CHECK: [[T:%[0-9]+]] = load {{.*}} : bf16
# CHECK: fpext [[V]]
# CHECK: shared_store %{{[0-9]+}}, [[T]] {{.*}}cluster
# PLAIN-NOT: late
# PTX: ld.global.v4.b32
# PTX-NOT: bra
# PTX: ld.global.b32
# PTX-NOT: bra
# PTX: ld.global.b16
# PTX: bra
# CUT: ld.global.v4.b32
# CUT-NOT: ld.global.b16
# CUT: bra
# BOTH: [[V:%[0-9]+]] = load {{.*}}, rotated, late
# BOTH-NOT: fpext
# BOTH: %t = load
# BOTH-NOT: fpext
# BOTH: [[T:%[0-9]+]] = load {{.*}} : bf16
# BOTH: fpext [[V]]
# BOTH: shared_store %{{[0-9]+}}, [[T]], %t {{.*}}cluster
@kernel(num_warps=4, num_ctas=4)
def shares(x: *bf16, y: *fp32, target: *i32, n: i32, BLOCK: constexpr = 32768):
    row = program_id(0)
    x_row = x + row * n
    i = arange(0, BLOCK)
    v = load(x_row + i, mask=i < n, other=-inf).to(fp32)
    t = load(target + row)
    x_t = load(x_row + t).to(fp32)
    store(x_row + i, exp(v - max(v, axis=0)) - x_t, mask=i < n)


@kernel(num_warps=4, num_ctas=4)
def moves(x: *bf16, target: *i32, n: i32, BLOCK: constexpr = 32768):
    row = program_id(0)
    x_row = x + row * n
    i = arange(0, BLOCK)
    v = load(x_row + i, mask=i < n, other=-inf).to(fp32)
    t = load(target + row)
    x_t = load(x_row + t).to(fp32)
    store(x_row + i, exp(v - max(v, axis=0)) - x_t, mask=i < n)
    store(target + row, t + 1)
