# The second product of a round is made in the next one: it begins behind the first one, which alone is waited for, and
# its sum is taken behind the exponentials. The loop carries the weights and the scaled sum. Behind it stands the last
# round's. What the second operand is loaded from follows a round behind; of the first round nothing is loaded.
# RUN: fsc %s --arch=sm_90a --num-stages=1 --verify-each --print-after=async -o /dev/null 2>&1 | FileCheck %s
# CHECK: [[ZERO:%[0-9]+]] = const 0.0 : tile<64x32xbf16
# CHECK: for {{.*}} carry ({{.*}}[[SUM:%[a-z_0-9]+]] = {{.*}}[[P:%[0-9]+]] = [[ZERO]], {{.*}}) : {{.*}} {
# CHECK: [[FIRST:%[0-9]+]] = icmp ne
# CHECK: [[WHERE:%[0-9]+]] = splat [[FIRST]]
# CHECK: [[C:%[a-z_0-9]+]] = load {{%[0-9]+}}, [[WHERE]] {
# CHECK: shared_store {{%b.*}} {buffer = b1}
# CHECK: shared_store [[C]] {buffer = b2}
# CHECK: [[QK:%[0-9]+]] = dot_async
# CHECK: [[PV:%[0-9]+]] = dot_async [[P]], {{%[0-9]+}}, [[SUM]] {
# CHECK-NEXT: [[S:%[a-z_0-9]+]] = dot_wait [[QK]] {pending = 1}
# CHECK: [[E:%[a-z_0-9]+]] = exp2 [[S]]
# CHECK: [[OLD:%[a-z_0-9]+]] = dot_wait [[PV]] {pending = 0}
# CHECK: [[NEXT:%[0-9]+]] = fmul [[OLD]]
# CHECK: [[W:%[0-9]+]] = fptrunc [[E]]
# CHECK: yield {{.*}}[[NEXT]], [[W]],
# CHECK: load
# CHECK: shared_store
# CHECK: proxy_fence
# CHECK: dot_async
# CHECK: dot_wait
#
# Where a branch masks what the first product gives, the second one begins behind it.
# RUN: fsc %s --arch=sm_90a --num-stages=1 -D MASK=True --verify-each --print-after=async -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=BRANCH
# BRANCH: for {{.*}} {
# BRANCH: dot_async
# BRANCH: dot_wait
# BRANCH-NOT: dot_async
# BRANCH: } else {
# BRANCH: }
# BRANCH: [[PV:%[0-9]+]] = dot_async
# BRANCH: exp2
# BRANCH: dot_wait [[PV]]
#
# A loop stays as it is: with few columns, whose exponentials take as long; with weights that are no exponentials; where
# it writes memory; with sums that leave no registers; where the pass is left out.
# RUN: fsc %s --arch=sm_90a --num-stages=1 -D E=64 --print-after=overlap -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=STAYS
# RUN: fsc %s --arch=sm_90a --num-stages=1 -D EXP=False --print-after=overlap -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=STAYS
# RUN: fsc %s --arch=sm_90a --num-stages=1 -D WRITE=True --print-after=overlap -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=STAYS
# RUN: fsc %s --arch=sm_90a --num-stages=1 -D BN=256 -D E=256 --print-after=overlap -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=STAYS
# RUN: fsc %s --arch=sm_90a --num-stages=1 --passes=-overlap --print-after=async -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=STAYS
# STAYS: for {{.*}} {
# STAYS: dot_async
# STAYS: fptrunc
# STAYS: dot_async
# STAYS-NOT: dot_async
# STAYS: return
@kernel(grid=(1,), num_warps=4)
def f(r: *fp32, x: *const T, y: *const T, z: *const T, N: i32, E: constexpr = 128, BN: constexpr = 32,
      MASK: constexpr = False, EXP: constexpr = True, WRITE: constexpr = False, T: dtype = bf16):
    m, j, d, e = arange(0, 64), arange(0, BN), arange(0, 16), arange(0, E)
    a = load(x + m[:, None] * 16 + d[None, :])
    sums = zeros((64, E), fp32)
    for n in range(0, N, BN):
        b = load(y + (n + j)[:, None] * 16 + d[None, :])
        c = load(z + (n + j)[:, None] * E + e[None, :])
        s = dot(a, b.T)
        if MASK and n + BN > N:
            s = where((n + j < N)[None, :], s, -inf)
        p = exp2(s) if EXP else s + 1.0
        if WRITE:
            store(r + n + j, 1.0)
        sums = dot(p.to(T), c, sums * 0.5)
    store(r + m[:, None] * E + e[None, :], sums)
