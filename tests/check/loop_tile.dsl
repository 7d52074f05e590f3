# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Tiles and pointers are carried as they are.
@kernel(grid=(1,))
def k(x: *fp32, y: *fp32, n: i32):
    acc = zeros((64,), fp32)
    p = x + arange(0, 64)
    # CHECK: for %i = {{.*}} carry (%[[A:.*]] = %acc, %[[P:.*]] = %p) : (tile<64xfp32>, tile<64x*fp32>) {
    for i in range(n):
        # CHECK: %[[V:.*]] = load %[[P]]
        # CHECK: fadd %[[A]], %[[V]]
        acc += load(p)
        # CHECK: addptr %[[P]]
        p += 64
    store(y + arange(0, 64), acc)
