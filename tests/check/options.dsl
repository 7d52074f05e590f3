# RUN: fsc --emit=tile --passes= -D B=64 -T T=bf16 -T y=*fp16 -D n=7 %s -o - | FileCheck %s
# -D fixes constexpr and scalar parameters, -T dtype parameters and the types of bare ones.
# CHECK: func @k(%x: *bf16 {divisible = 2}, %y: *fp16 {divisible = 2}, %n: i32)
# CHECK-NOT: %n
@kernel(grid=(1,))
def k(x: *T, y, n: i32, B: constexpr, T: dtype = fp32):
    # CHECK: arange 0, 64
    i = arange(0, B)
    # CHECK: const 7 : i32
    store(x + i, load(y + i), mask=i < n)
