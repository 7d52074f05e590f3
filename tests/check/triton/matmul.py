# RUN: fsc %s --arch=sm_80 --signature "*fp16, *fp16, *fp16, i32, i32, i32, i32, i32:1, i32, i32:1, i32, i32:1" \
# RUN:   --config 1 -o - | FileCheck %s
# RUN: fsc %s --arch=sm_80 --signature "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, i32:1, i32:16, \
# RUN:   i32:1, i32:16, i32:1" --config 1 -o - | FileCheck %s --check-prefix=WIDE
# RUN: fsc %s --arch=cpu --signature "*fp16, *fp16, *fp16, i32, i32, i32, i32, i32, i32, i32, i32, i32" \
# RUN:   -D ACTIVATION='"leaky"' --config 2 --emit=asm -o - | FileCheck %s --check-prefix=CPU
# The kernel that matmul tutorials teach: programs in groups of rows, pointers that wrap at the edges, a mask along K
# alone, an activation that is a function, a product rounded to fp16. Where sizes are multiples of 16, so are the places
# at which rows and columns wrap: both operands are copied 16 bytes at a time.
import triton
import triton.language as tl


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(
    configs=[
        triton.Config({"BM": 64, "BN": 128, "BK": 32, "GROUP": 8}, num_stages=4, num_warps=4),
        triton.Config({"BM": 32, "BN": 64, "BK": 32, "GROUP": 8}, num_stages=5, num_warps=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul(a, b, c, M, N, K, a_m, a_k, b_k, b_n, c_m, c_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr, ACTIVATION: tl.constexpr = ""):
    # CHECK: .entry matmul
    # CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
    # CPU: matmul:
    # WIDE-NOT: {{ld.global|cp.async.ca}}
    # WIDE: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16
    # WIDE-NOT: {{ld.global|cp.async.ca}}
    # WIDE: mma.sync
    pid = tl.program_id(axis=0)
    across = tl.cdiv(N, BN)
    group = pid // (GROUP * across)
    first = group * GROUP
    rows = min(tl.cdiv(M, BM) - first, GROUP)
    pid_m = first + (pid % (GROUP * across)) % rows
    pid_n = (pid % (GROUP * across)) // rows
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    at_m = (pid_m * BM + tl.arange(0, BM)) % M
    at_n = (pid_n * BN + tl.arange(0, BN)) % N
    at_k = tl.arange(0, BK)
    x = a + (at_m[:, None] * a_m + at_k[None, :] * a_k)
    y = b + (at_k[:, None] * b_k + at_n[None, :] * b_n)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        p = tl.load(x, mask=at_k[None, :] < K - k * BK, other=0.0)
        q = tl.load(y, mask=at_k[:, None] < K - k * BK, other=0.0)
        total = tl.dot(p, q, total)
        x += BK * a_k
        y += BK * b_k
    if ACTIVATION == "leaky":
        total = leaky(total)
    out_m = pid_m * BM + tl.arange(0, BM)
    out_n = pid_n * BN + tl.arange(0, BN)
    at = c + c_m * out_m[:, None] + c_n * out_n[None, :]
    tl.store(at, total.to(tl.float16), mask=(out_m[:, None] < M) & (out_n[None, :] < N))
