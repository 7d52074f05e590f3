# Bytes are multiplied by four warps where their rows lie along k in memory, 16 of them at a time; else by each warp.
# Of fp8 all sums of a dot may be imprecise then: who does not say so gets each warp's instructions.
# RUN: fsc %s --arch=sm_90a --emit=simt --verify-each -D N=4096 -o - | FileCheck %s
# RUN: fsc %s --arch=sm_90a --emit=simt -D N=4096 -D ACROSS=1 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --arch=sm_90a --emit=simt -D N=4097 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --arch=sm_90a --emit=simt -D N=4096 -T T=fp8e5 -D BOUND=64 -o - | FileCheck --check-prefix=FLOAT %s
# RUN: fsc %s --arch=sm_90a --emit=simt -D N=4096 -T T=fp8e5 -o - | FileCheck --check-prefix=EXACTER %s
# RUN: fsc %s --arch=sm_90a --emit=simt -D N=4096 -T T=fp8e5 -D BOUND=32 -o - | FileCheck --check-prefix=EXACTER %s
# CHECK: #buffer<{{.*}} [64x64] i8 at #{{.*}} align 512
# CHECK: dot_async {{.*}} {instr = m64n8k32.s8, warps_m = 4} : tile<64x32xi32
# FLOAT: dot_async {{.*}} {instr = m64n8k32.e5m2, warps_m = 4} : tile<64x32xfp32
# EXACTER-NOT: dot_async
# EXACTER: mma {{.*}} {instr = m16n8k32.e5m2
# WARP-NOT: dot_async
# WARP: mma {{.*}} {instr = m16n8k32.s8
# WARP-NOT: dot_async
@kernel(grid=(4,))
def f(r: *R, x: *const T, y: *const T, N: i32, ACROSS: constexpr = 0, BOUND: constexpr = None,
      T: dtype = i8, R: dtype = i32):
    x, y = multiple_of(x, 16), multiple_of(y, 16)
    m, n, k = program_id(0) * 64 + arange(0, 64), arange(0, 32), arange(0, 64)
    s = zeros((64, 32), i32) if T == i8 else zeros((64, 32), fp32)
    for at in range(0, N, 64):
        a = load(x + m[:, None] * N + (at + k)[None, :])
        b = load(y + ((at + k)[:, None] * 32 + n[None, :] if ACROSS else (at + k)[:, None] + n[None, :] * N))
        s = dot(a, b, s, max_num_imprecise_acc=BOUND)
    store(r + m[:, None] * 32 + n[None, :], s.to(R))
