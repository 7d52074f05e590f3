# A vector that a round of products wants, in the layout of their columns: one thread copies it for all, and each reads
# its part where it takes it. Where no copy can bring it each warp loads all of it, and shuffles: no barrier either way.
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - --verify-each | FileCheck %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D FIRST=1 --verify-each | FileCheck --check-prefix=WARPS %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - -D SIZE=32 -D FIRST=1 --verify-each \
# RUN:   | FileCheck --check-prefix=FEW %s
# RUN: fsc %s --kernel=f --arch=sm_90a --emit=simt -o - --num-stages=1 --verify-each | FileCheck --check-prefix=ONE %s
# RUN: fsc %s --kernel=early --arch=sm_90a -o /dev/null
# RUN: fsc %s --kernel=early --arch=sm_90a --emit=simt -o - --verify-each | FileCheck --check-prefix=EARLY %s
# RUN: fsc %s --kernel=f --arch=sm_80 --emit=simt -o - --verify-each | FileCheck --check-prefix=OTHER %s

# CHECK: #[[B:b.]] = #buffer<2 x [64] fp32 bulk
# CHECK: #[[MAP:m.]] = #map<p2 span 16: 64 of p3>
# CHECK: bulk_load {{.*}} {buffer = [[B]], map = [[MAP]], begin}
# CHECK: = for
# CHECK-NOT: {{barrier|convert_layout|copy_async}}
# CHECK: bulk_load {{.*}} {buffer = [[B]], map = [[MAP]], prefetch, ahead = 1}
# CHECK: shared_wait {{.*}} {buffer = [[B]]}
# CHECK-NEXT: [[V:%.*]] = shared_load {{.*}} {buffer = [[B]]} : tile<64xfp32, #[[COLUMNS:.*]]>
# CHECK: fmul [[V]], {{.*}} : tile<64xfp32, #[[COLUMNS]]>
# CHECK-NOT: {{barrier|convert_layout|copy_async}}
# CHECK: yield

# WARPS: #[[EACH:.*]] = #layout<[64] reg=[1] lane=[2,4,8,16,32] warp=[0,0] cta=[]>
# FEW: #[[EACH:.*]] = #layout<[32] reg=[] lane=[1,2,4,8,16] warp=[0,0] cta=[]>
# WARPS: = for
# WARPS-NOT: barrier
# WARPS: fmul {{.*}} : tile<64xfp32, #[[EACH]]>
# WARPS-NOT: barrier
# WARPS: convert_layout {{.*}} : tile<64xfp32,
# WARPS-NOT: barrier
# WARPS: yield
# FEW: = for
# FEW-NOT: barrier
# FEW: convert_layout {{.*}} : tile<32xfp32,
# FEW-NOT: barrier
# FEW: yield

# Other products have barriers anyway.
# OTHER: = for
# OTHER: barrier
@kernel(grid=(1,), num_warps=4, num_stages=2)
def f(y: *fp32, x: *const fp16, v: *const fp32, n: i32, FIRST: constexpr = 0, SIZE: constexpr = 64):
    x, v = multiple_of(x, 16), multiple_of(v, 16)
    i, j = arange(0, 64), arange(0, SIZE)
    a = full((64, 64), 1.0, fp16)
    sums = zeros((64, SIZE), fp32)
    for start in range(0, n, 64):
        b = load(x + (start + i)[:, None] * SIZE + j[None, :], mask=(start + i < n)[:, None])
        level = load(v + start + FIRST + j, mask=start + FIRST + j < n) * 1.5
        sums += exp2(dot(a, b) - level[None, :])
    store(y + i[:, None] * SIZE + j[None, :], sums)

# A loop that loads nothing ahead has no copies.
# ONE-NOT: bulk_load
# ONE: = for
# ONE: convert_layout {{.*}} : tile<64xfp32,
# ONE: yield

# Its shape may stand in front of the product, which becomes one of four warps all the same.
# EARLY: bulk_load
# EARLY: = for
# EARLY: dot_async
# EARLY: shared_load {{.*}} : tile<64xfp32,
# EARLY-NEXT: expand_dims
# EARLY-NOT: mma
# EARLY: yield
@kernel(grid=(1,), num_warps=4, num_stages=2)
def early(y: *fp32, x: *const fp16, v: *const fp32, n: i32):
    x, v = multiple_of(x, 16), multiple_of(v, 16)
    i = arange(0, 64)
    a = full((64, 64), 1.0, fp16)
    sums = zeros((64, 64), fp32)
    for start in range(0, n, 64):
        level = load(v + start + i, mask=start + i < n)[None, :]
        b = load(x + (start + i)[:, None] * 64 + i[None, :], mask=(start + i < n)[:, None])
        sums += dot(a, b) * level
    store(y + i[:, None] * 64 + i[None, :], sums)
