# RUN: fsc -D BLOCK=256 %s -o - --emit=tile | FileCheck --check-prefix=WIDER %s
# RUN: fsc -DBLOCK=64 -D n=7 %s -o - --emit=tile | FileCheck --check-prefix=SCALAR %s
# RUN: fsc -T T=fp16 %s -o - --emit=tile | FileCheck --check-prefix=TYPE %s
# RUN: fsc --signature "*bf16:16, i32:16, 32, bf16" %s -o - --emit=tile | FileCheck --check-prefix=SIGNATURE %s
# RUN: exits 2 fsc -D NOPE=3 %s -o - 2>&1 | FileCheck --check-prefix=NAME %s
# RUN: exits 2 fsc -D BLOCK=abc %s -o - 2>&1 | FileCheck --check-prefix=VALUE %s
# RUN: exits 1 fsc -D BLOCK=100 %s -o - 2>&1 | FileCheck --check-prefix=POWER %s
# RUN: exits 2 fsc -T T=int7 %s -o - 2>&1 | FileCheck --check-prefix=NOTYPE %s
# RUN: exits 2 fsc -T Q=fp32 %s -o - 2>&1 | FileCheck --check-prefix=NOPARAM %s
# RUN: exits 2 fsc --kernel=nope %s -o - 2>&1 | FileCheck --check-prefix=KERNEL %s
# What -D, -T, --signature and --kernel do, and how they fail.
@kernel(grid=(n,))
def k(x: *T, n: i32, BLOCK: constexpr = 128, T: dtype = fp32):
    i = arange(0, BLOCK)
    store(x + i, i.to(T), mask=i < n)
# WIDER: arange 0, 256
# SCALAR: arange 0, 64
# SCALAR: const 7
# TYPE: func @k(%x: *fp16
# SIGNATURE: func @k(%x: *bf16 {divisible = 16}, %n: i32 {divisible = 16
# SIGNATURE: arange 0, 32
# NAME: error: -D NOPE: 'k' has no parameter 'NOPE'
# VALUE: error: -D BLOCK=abc: the value is no number
# POWER: error: the size 100 is not a power of two
# POWER: note: the next power of two is 128
# NOTYPE: error: -T T=int7 names no type
# NOPARAM: error: -T Q: 'k' has no parameter 'Q'
# KERNEL: error: --kernel nope: the file has no such function
