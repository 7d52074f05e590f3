# RUN: fsc --emit=tile -O0 %s -o - | FileCheck %s
# Tiles and pointers are carried as they are.
@kernel(grid=(1,))
def k(x: *fp32, y: *fp32, n: i32):
    acc = zeros((64,), fp32)
    p = x + arange(0, 64)
    # CHECK: for %i = {{.*}} carry (%acc_1 = %acc, %p_1 = %p) : (tile<64xfp32>, tile<64x*fp32>) {
    for i in range(n):
        # CHECK: load %p_1
        acc += load(p)
        # CHECK: addptr %p_1
        p += 64
    store(y + arange(0, 64), acc)
