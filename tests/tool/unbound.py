# RUN: exits 1 fsc %s -o - 2>&1 | FileCheck %s
# RUN: fsc --signature "*fp32, i32, 64" %s -o - --emit=tile | FileCheck --check-prefix=BOUND %s
# RUN: fsc -T x="*fp32" -T n=i32 -D B=64 %s -o - --emit=tile | FileCheck --check-prefix=BOUND %s
# A parameter that nothing binds is named, and the options that bind it are shown.
@triton.jit
def k(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)
# CHECK: unbound.py:6:7: error: the parameter 'x' of 'k' has no type [E0502]
# CHECK: note: bind it with --signature "*fp32, i32, ..." by position, with -T x='*fp32' or -T x=i32
# CHECK: unbound.py:6:10: error: the parameter 'n' of 'k' has no type [E0502]
# CHECK: unbound.py:6:13: error: {{.*}}'B'
# CHECK: note: {{.*}}-D B=
# BOUND: func @k(%x: *fp32
# BOUND: arange 0, 64
