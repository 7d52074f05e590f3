# A product whose sums do not fit into a thread's registers, and one that does; more warps are named where they help.
# RUN: fsc %s -Rperf --num-warps=4 -D M=256 -D N=128 -o %t 2>&1 | FileCheck %s
# RUN: fsc %s -Rperf --num-warps=8 -D M=256 -D N=128 -o %t 2>&1 | FileCheck %s --check-prefix=FITS --allow-empty
# RUN: fsc %s -Rperf --num-warps=4 -D M=128 -D N=128 -o %t 2>&1 | FileCheck %s --check-prefix=FITS --allow-empty
# RUN: fsc %s -Rperf --num-warps=16 -D M=256 -D N=128 -o %t 2>&1 | FileCheck %s --check-prefix=MOST
# FITS-NOT: a product of
@kernel(grid=(1,))
def f(r: *fp32, x: *const fp16, y: *const fp16, M: constexpr = 128, N: constexpr = 128):
    i, j, k = arange(0, M)[:, None], arange(0, N)[None, :], arange(0, 64)
    # CHECK: [[#@LINE+2]]:26: remark: a product of 256 x 128 by 4 warps needs about 392 registers of each thread, which has 255: 128 x 128, or --num-warps=8, fits [R0102]
    # MOST: remark: a product of 256 x 128 by 16 warps needs about 152 registers of each thread, which has 128: 128 x 128 fits [R0102]
    store(r + i * N + j, dot(load(x + i * 64 + k[None, :]), load(y + k[:, None] * N + j)))
