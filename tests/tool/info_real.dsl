# Scalars of the launch rule may be real numbers.
# RUN: fsc info %s --gpu=h100 n=1000 scale=0.5 | FileCheck %s
# RUN: fsc info %s --gpu=h100 n=0x400 scale=2e1 | FileCheck --check-prefix=LARGE %s
# RUN: fsc info %s --gpu=h100 n=1000 scale=1.75 | FileCheck --check-prefix=LARGE %s
# RUN: not fsc info %s --gpu=h100 n=1000 scale=much 2>&1 | FileCheck --check-prefix=WRONG %s
# CHECK: BLOCK 256 (launch rule)
# CHECK: grid 4 x 1 x 1
# LARGE: BLOCK 512 (launch rule)
# LARGE: grid 2 x 1 x 1
# WRONG: fsc info: 'scale=much' is no NAME=NUMBER
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=512 if scale > 1.5 else 256)
def f(x: *fp32[n], n: i32, scale: fp32, BLOCK: constexpr = 128):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(x + i, scale, mask=i < n)
