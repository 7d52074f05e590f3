# RUN: fsc --emit=report -D n=7 -T T=bf16 --signature ",,64" %s -o - | FileCheck %s
# The record names every parameter, the value of each fixed one and where it came from.
# CHECK: kernel k
# CHECK: param pointer x bf16
# CHECK: param scalar n i32
# CHECK: param constexpr B int 64 signature
# CHECK: param constexpr C int 128 rule "$2 2 *"
# CHECK: param constexpr D int 5 default
# CHECK: param constexpr E float 0.5 default
# CHECK: param constexpr F bool 1 default
# CHECK: param constexpr T dtype bf16 option
# A run-time scalar that is fixed is still passed, and must be that value.
# CHECK: require "$1 7 ==" "n == 7"
@kernel(grid=(1,), C=B * 2)
def k(x: *T, n: i32, B: constexpr, C: constexpr, D: constexpr = 5, E: constexpr = 0.5, F: constexpr = True,
      T: dtype = fp32):
    store(x + arange(0, B), n)
