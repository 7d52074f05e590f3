# A product whose sums do not fit into a thread's registers, and one that does.
# RUN: fsc %s -Rperf --num-warps=4 -D M=256 -D N=128 -o %t 2>&1 | FileCheck %s
# RUN: fsc %s -Rperf --num-warps=8 -D M=256 -D N=128 -o %t 2>&1 | FileCheck %s --check-prefix=FITS --allow-empty
# RUN: fsc %s -Rperf --num-warps=4 -D M=128 -D N=128 -o %t 2>&1 | FileCheck %s --check-prefix=FITS --allow-empty
# FITS-NOT: for this product
@kernel(grid=(1,))
def f(r: *fp32, x: *const fp16, y: *const fp16, M: constexpr = 128, N: constexpr = 128):
    i, j, k = arange(0, M)[:, None], arange(0, N)[None, :], arange(0, 64)
    # CHECK: remarks_product.dsl:[[#@LINE+1]]:26: remark: each thread needs about {{[0-9]+}} registers for this product, and has 255: a product of 128 x 128, or more warps, fits [R0102]
    store(r + i * N + j, dot(load(x + i * 64 + k[None, :]), load(y + k[:, None] * N + j)))
