# Sums that a loop holds and that leave a thread no register: an error, with both numbers and what fits. What is made
# at once may be larger, and so may products of which the loop holds nothing.
# RUN: not fsc %s --kernel=f --num-warps=4 -D M=256 -D N=128 -o %t 2>&1 | FileCheck %s
# RUN: not fsc %s --kernel=f --num-warps=16 -D M=256 -D N=256 -o %t 2>&1 | FileCheck %s --check-prefix=MOST
# RUN: not fsc %s --kernel=f --arch=sm_90a --num-warps=16 -D M=256 -D N=256 -o %t 2>&1 | FileCheck %s --check-prefix=FOUR
# RUN: fsc %s --kernel=f --num-warps=8 -D M=256 -D N=128 -o %t
# RUN: fsc %s --kernel=once --num-warps=4 -D M=256 -D N=128 -o %t
# RUN: fsc %s --kernel=rounds --num-warps=4 -D M=256 -D N=128 -o %t
# RUN: fsc %s --kernel=f --arch=cpu --emit=asm -D M=256 -D N=256 -o %t
@kernel(grid=(1,))
def f(r: *fp32, x: *const fp16, y: *const fp16, n: i32, M: constexpr, N: constexpr):
    i, j, k = arange(0, M)[:, None], arange(0, N)[None, :], arange(0, 32)
    s = zeros((M, N), fp32)
    for t in range(n):
        # CHECK: [[#@LINE+3]]:13: error: a product of 256 x 128 by 4 warps needs 304 registers of each thread, which has 255, for the sums that the loop holds and one step of operands: 128 x 128, or --num-warps=8, fits [E0516]
        # MOST: error: a product of 256 x 256 by 16 warps needs 160 registers of each thread, which has 128, {{.*}}: 128 x 128 fits [E0516]
        # FOUR: error: a product of 256 x 256 by 16 warps needs 128 registers of each thread, which has 128, {{.*}} fits [E0516]
        s = dot(load(x + i * n + t * 32 + k[None, :]), load(y + (t * 32 + k[:, None]) * N + j), s)
    store(r + i * N + j, s)
@kernel(grid=(1,))
def once(r: *fp32, x: *const fp16, y: *const fp16, M: constexpr, N: constexpr):
    i, j, k = arange(0, M)[:, None], arange(0, N)[None, :], arange(0, 32)
    store(r + i * N + j, dot(load(x + i * 32 + k[None, :]), load(y + k[:, None] * N + j)))
@kernel(grid=(1,))
def rounds(r: *fp32, x: *const fp16, y: *const fp16, n: i32, M: constexpr, N: constexpr):
    i, j, k = arange(0, M)[:, None], arange(0, N)[None, :], arange(0, 32)
    for t in range(n):
        at = t * M * N + i * N + j
        store(r + at, dot(load(x + i * 32 + k[None, :]), load(y + k[:, None] * N + t + j)))
