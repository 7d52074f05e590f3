# A product of a product by four warps: its first operand stays in registers; one fence and one barrier a round, behind
# the wait for copies. A second product is begun before the first is waited for. What products read is overwritten
# behind a barrier only, also behind the loop.
# RUN: fsc %s --arch=sm_90a --passes=-bulk --emit=simt --verify-each --num-stages=2 -o - | FileCheck %s
# RUN: fsc %s --arch=sm_90a --passes=-bulk --emit=simt --verify-each --num-stages=2 --num-warps=8 -o - \
# RUN:   | FileCheck --check-prefix=SHORT %s
# CHECK: shared_store %a {buffer = [[A:b[0-9]+]]}
# CHECK-NEXT: proxy_fence
# CHECK: = for
# CHECK: copy_wait
# CHECK-NEXT: proxy_fence
# CHECK: barrier block
# CHECK-NOT: proxy_fence
# CHECK: [[P:%.*]] = dot_async {{.*}} {instr = m64n8k16.f16, warps_m = 4} : tile<64x64xfp32
# CHECK: [[Q:%.*]] = dot_async {{.*}} {instr = m64n8k16.f16, warps_m = 4} : tile<64x64xfp32
# CHECK: %p = dot_wait [[P]] {pending = 1}
# CHECK: [[HELD:%.*]] = fptrunc {{.*}} : tile<64x64xfp16
# CHECK-NOT: shared_store
# CHECK: dot_async [[HELD]], %{{.*}} {instr = m64n8k16.f16, warps_m = 4} : tile<64x32xfp32
# CHECK-NOT: barrier
# CHECK: yield
# CHECK: barrier block
# CHECK-NEXT: shared_store
# SHORT-NOT: dot_async
# SHORT: mma {{.*}} {instr = m16n8k16.f16
# SHORT-NOT: dot_async
@kernel(grid=(4,))
def f(r: *fp16, x: *const fp16, y: *const fp16, z: *const fp16, N: i32):
    assume(N % 64 == 0)
    r, x, y, z = multiple_of(r, 16), multiple_of(x, 16), multiple_of(y, 16), multiple_of(z, 16)
    m, d, e, n = program_id(0) * 64 + arange(0, 64), arange(0, 64), arange(0, 32), arange(0, 64)
    a = load(x + m[:, None] * 64 + d[None, :])
    s = zeros((64, 32), fp32)
    for start in range(0, N, 64):
        b = load(y + (start + n)[:, None] * 64 + d[None, :])
        c = load(z + (start + n)[:, None] * 32 + e[None, :])
        p = dot(a, b.T)
        q = dot(a, b)
        s = dot(maximum(p, q).to(fp16), c, s)
    store(r + m[:, None] * 32 + e[None, :], s.to(fp16))
