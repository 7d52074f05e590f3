# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# RUN: fsc --emit=tile --passes= -D N=500 %s -o - | FileCheck %s --check-prefix=CHOSEN
# A constexpr whose rule can be evaluated now takes its value from it; num_warps too, and 0 is as if it were left out.
# CHOSEN-NOT: warps
# CHOSEN: arange 0, 512
# CHECK: func @k
# CHECK-SAME: warps 8
@kernel(grid=(1,), BLOCK=next_power_of_2(N), num_warps=8 if BLOCK > 1000 else 0)
def k(x: *fp32, N: constexpr = 781, BLOCK: constexpr = 16):
    # CHECK: arange 0, 1024
    store(x + arange(0, BLOCK), 1.0)
