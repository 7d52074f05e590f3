# Products by four warps: operands in places that descriptors can say, a fence before the barrier, waits as late as a
# ring lets them be; a wait each round where a round reads its sum, or stages are few.
# RUN: fsc %s --arch=sm_90a --passes=-bulk --emit=simt --verify-each --num-stages=4 -o - | FileCheck %s
# RUN: fsc %s --arch=sm_90a --passes=-bulk --emit=simt --num-stages=3 -o - | FileCheck --check-prefix=FEW %s
# RUN: fsc %s --arch=sm_90a --passes=-bulk --emit=simt --verify-each --num-stages=4 -D AGAIN=1 -o - \
# RUN:   | FileCheck --check-prefix=READ %s
# RUN: fsc %s --arch=sm_90a --emit=simt --verify-each --passes=-pipeline -o - | FileCheck --check-prefix=STORED %s
# RUN: fsc %s --arch=sm_90a --passes=-bulk --emit=simt --num-warps=2 -o - | FileCheck --check-prefix=WARPS %s
# RUN: fsc %s --arch=sm_90 --emit=simt -o - | FileCheck --check-prefix=WARPS %s
# CHECK: #buffer<4 x [64x64] fp16 at #{{.*}} align 1024 offset 0>
# CHECK: #buffer<4 x [64x32] fp16 at #{{.*}} align 512 offset
# CHECK: copy_wait {pending = 1}
# CHECK-NEXT: proxy_fence
# CHECK-NEXT: barrier block
# CHECK: copy_commit
# CHECK-NEXT: [[A:%.*]] = shared_matrix [[STAGE:%.*]] {buffer = b0} : i32
# CHECK-NEXT: [[B:%.*]] = shared_matrix [[STAGE]] {buffer = b1} : i32
# CHECK-NEXT: [[D:%.*]] = dot_async [[A]], [[B]], {{.*}} {instr = m64n8k16.f16, warps_m = 4}
# CHECK: dot_wait [[D]] {pending = 1}
# CHECK-NEXT: yield
# CHECK: dot_wait {{.*}} {pending = 0}
# FEW: #buffer<3 x [64x64]
# FEW: copy_wait {pending = 1}
# FEW: dot_wait {{.*}} {pending = 0}
# FEW: yield
# FEW-NOT: dot_wait
# READ: #buffer<4 x [64x64]
# READ: copy_wait {pending = 2}
# READ: [[S:%.*]] = dot_wait {{.*}} {pending = 0}
# READ: fmax {{.*}}, [[S]]
# READ: yield
# READ-NOT: dot_wait
# STORED: shared_store {{.*}} {buffer = b0}
# STORED-NEXT: shared_store {{.*}} {buffer = b1}
# STORED-NEXT: proxy_fence
# STORED-NEXT: barrier block
# STORED-NEXT: shared_matrix {buffer = b0} : i32
# STORED: dot_wait {{.*}} {pending = 0}
# WARPS-NOT: dot_async
# WARPS: mma {{.*}} {instr = m16n8k16.f16
# WARPS-NOT: dot_async
@kernel(grid=(4,))
def f(c: *fp16, a: *const fp16, b: *const fp16, K: i32, AGAIN: constexpr = 0):
    assume(K % 16 == 0)
    a, b, c = multiple_of(a, 16), multiple_of(b, 16), multiple_of(c, 16)
    m, n, ks = program_id(0) * 64 + arange(0, 64), arange(0, 32), arange(0, 64)
    sum, most = zeros((64, 32), fp32), zeros((64, 32), fp32)
    for k in range(0, K, 64):
        x = load(a + m[:, None] * K + (k + ks)[None, :])
        y = load(b + (k + ks)[:, None] * 32 + n[None, :])
        sum = dot(x, y, sum)
        if AGAIN:
            most = maximum(most, sum)
    store(c + m[:, None] * 32 + n[None, :], (most if AGAIN else sum).to(fp16))
