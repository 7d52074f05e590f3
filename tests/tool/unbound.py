# RUN: exits 1 fsc %s -o - 2>&1 | FileCheck %s
# RUN: fsc --signature "*fp32, i32, 64" %s -o - --emit=tile | FileCheck --check-prefix=BOUND %s
# RUN: fsc -T x="*fp32" -T n=i32 -D B=64 %s -o - --emit=tile | FileCheck --check-prefix=BOUND %s
# Parameters that nothing binds are named in one error, with the options that bind them.
@triton.jit
def k(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)
# CHECK: unbound.py:6:7: error: 3 parameters of 'k' have no type or value: x, n, B [E0502]
# CHECK: note: say them by position, as in --signature "*fp32, i32, 1024"
# CHECK: note: or one by one: -T x='*fp32'
# CHECK-NOT: error:
# BOUND: func @k(%x: *fp32
# BOUND: arange 0, 64
