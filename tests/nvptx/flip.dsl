# RUN: fsc %s --arch=sm_90 -o - | FileCheck %s
# RUN: fsc %s -D DIM=0 --arch=sm_90 -o - | FileCheck %s --check-prefix=ROWS
# Turned round: across warps through shared memory once, in vectors;
# within a thread by loading what is stored elsewhere.
# CHECK: st.shared.v4
# CHECK: bar.sync
# CHECK: ld.shared.v4
# CHECK-NOT: bar.sync
# ROWS-NOT: shared
# ROWS-NOT: shfl
@kernel(grid=(1,), num_warps=4)
def k(r: *fp32, x: *fp32, DIM: constexpr = 1):
    i = arange(0, 4)[:, None] * 512 + arange(0, 512)[None, :]
    store(multiple_of(r, 16) + i, flip(load(multiple_of(x, 16) + i), DIM))
