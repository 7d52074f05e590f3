# When and how a thread makes the registers of a tile stands in the IR, and each pass that says so can be left out.
# RUN: fsc %s --kernel=norm --arch=sm_90 --passes=-welford --verify-each --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel=norm --arch=sm_90 --passes=-welford,-defer --emit=simt -o - | FileCheck %s --check-prefix=DEFER
# RUN: fsc %s --kernel=norm --arch=sm_90 --passes=-welford,-sink,-defer --emit=simt -o - | FileCheck %s --check-prefix=SINK
# RUN: fsc %s --kernel=norm --arch=sm_90 --passes=-welford,-pair,-versions --emit=simt -o - | FileCheck %s --check-prefix=ALONE
# RUN: fsc %s --kernel=norm --arch=sm_90 -O0 --emit=simt -o - | FileCheck %s --check-prefix=SINK
# Behind welford: each of its sums is made beside the other, and the row once more for the store.
# RUN: fsc %s --kernel=norm --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=WELFORD
# WELFORD: extract_slice
# WELFORD: reduce_warp [[D:%[0-9]+]] {axis = 0, combine = fadd, paired}
# WELFORD-NEXT: [[S:%.*]] = fmul [[D]], [[D]] {when = needed}
# WELFORD-NEXT: reduce_warp [[S]] {axis = 0, combine = fadd} :
# WELFORD: load {{.*}}, rotated, when = stored}
# Of rows that fit, what only stores take.
# RUN: fsc %s --kernel=shares --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=SHARES
# RUN: fsc %s --kernel=shares --arch=sm_90 -D BLOCK=2048 --emit=simt -o - | FileCheck %s --check-prefix=SHORT
# Vectors beyond a row's end are not made, where that saves something.
# RUN: fsc %s --kernel=ends --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=ENDS
# RUN: fsc %s --kernel=squares --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=LITTLE
# RUN: fsc %s --kernel=ends --arch=sm_90 -D EASY=1 --emit=simt -o - | FileCheck %s --check-prefix=LITTLE
# The largest element: taken by twos where the target can.
# RUN: fsc %s --kernel=largest --signature "*fp32:16, *fp16:16" --arch=sm_80 --emit=simt -o - | FileCheck %s --check-prefix=MAX
# RUN: fsc %s --kernel=largest --signature "*fp32:16, *fp16:16" --arch=sm_75 --emit=simt -o - | FileCheck %s --check-prefix=PLAIN
# RUN: fsc %s --kernel=largest --signature "*fp32:16, *fp16:16" --arch=sm_80 --passes=-packed_max --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=PLAIN
# Weights that a reduction takes, too, or that may be written, are loaded at their place.
# RUN: fsc %s --kernel=norm --arch=sm_90 --passes=-welford -D OWN=1 --emit=simt -o - | FileCheck %s --check-prefix=DEFER
# RUN: sed 's/w: [*]const/w: */' %s > %t.dsl
# RUN: fsc %t.dsl --kernel=norm --arch=sm_90 --passes=-welford --emit=simt -o - | FileCheck %s --check-prefix=DEFER

# CHECK: [[X:%.*]] = load {{.*}}, rotated, versioned, when = needed}
# CHECK: fpext [[X]] {when = needed}
# CHECK: [[D:%.*]] = select {{.*}} {when = needed}
# CHECK-NEXT: reduce_warp [[D]] {axis = 0, combine = fadd, paired}
# CHECK-NEXT: [[S:%.*]] = fmul [[D]], [[D]] {when = needed}
# CHECK-NEXT: reduce_warp [[S]] {axis = 0, combine = fadd} :
# CHECK: [[W:%.*]] = load {{.*}}, rotated, when = stored}
# CHECK: [[R:%.*]] = fptrunc {{.*}} {when = stored}
# CHECK: store {{%[0-9]+}}, [[R]],
# DEFER-NOT: when = stored
# DEFER: when = needed
# DEFER-NOT: when = stored
# SINK-NOT: when =
# ALONE-NOT: paired
# ALONE-NOT: versioned
@kernel(num_warps=4)
def norm(y: *fp16, z: *fp16, x: *fp16, w: *const fp16, n: i32, BLOCK: constexpr = 8192, OWN: constexpr = 0):
    i = arange(0, BLOCK)
    v = load(x + program_id(0) * n + i, mask=i < n, other=0.0).to(fp32)
    m = sum(v, axis=0) / n
    d = where(i < n, v - m, 0.0)
    r = sum(d, axis=0) / n
    q = sum(d * d, axis=0) / n
    g = load(w + i, mask=i < n).to(fp32)
    store(y + program_id(0) * n + i, (d - r) * q * g, mask=i < n)
    if OWN:
        store(z + program_id(0), sum(g, axis=0).to(fp16))


# MAX: reduce{{.*}} {axis = 0, combine = fmax, packed}
# PLAIN: reduce{{.*}} {axis = 0, combine = fmax} :
@kernel(num_warps=1)
def largest(y: *fp32, x: *fp16, BLOCK: constexpr = 256):
    store(y, max(load(x + arange(0, BLOCK)).to(fp32), axis=0))


# SHARES: [[E:%.*]] = exp {{%[0-9]+}} : tile<8192xfp32
# SHARES: fdiv [[E]], {{.*}} {when = needed}
# SHARES: icmp eq {{.*}} {when = needed} : tile<8192xi1
# SHARES: fsub {{.*}} {when = needed}
# SHARES-NEXT: store
# SHORT-NOT: when =
@kernel(num_warps=4)
def shares(y: *fp32, x: *fp32, t: i32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    e = exp(load(x + i))
    store(y + i, e / sum(e, axis=0) - where(i == t, 0.5, 0.25))


# ENDS: store {{.*}}, guarded}
# LITTLE: store {{.*}} {align
# LITTLE-NOT: guarded
@kernel(num_warps=4)
def ends(y: *fp32, x: *fp32, n: i32, EASY: constexpr = 0, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    v = load(x + program_id(0) * n + i, mask=i < n, other=0.0)
    s = sum(v, axis=0)
    store(y + program_id(0) * n + i, v * s if EASY else exp(v * s) * exp(v + s), mask=i < n)


@kernel(num_warps=4)
def squares(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 8192):
    i = arange(0, BLOCK)
    v = load(x + program_id(0) * n + i, mask=i < n, other=0.0)
    e = v * sum(v, axis=0)
    for k in static_range(40):
        e = e * e
    store(y + program_id(0) * n + i, exp(exp(e)), mask=i < n)
