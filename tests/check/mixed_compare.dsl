# RUN: fsc --emit=tile --passes= %s -o - 2>&1 | FileCheck %s
# RUN: cp %s %t.py && fsc --emit=tile --passes= %t.py -o - 2>&1 | FileCheck --check-prefix=TRITON %s
# A signed integer against an unsigned one: the numbers are compared, at 64 bits too, with a warning.
# In a Triton file both are converted to their common type.
@kernel(grid=(1,))
def k(x: *i64, n: i32, u: u32, s: i64, w: u64, h: u16):
    # CHECK: mixed_compare.dsl:[[#@LINE+2]]:14: warning: '<' of i32 and u32: the numbers are compared; Triton converts both to u32 first [W0303]
    # CHECK: note: convert one side first, as in x.to(u32), to say what is meant
    store(x, n < u)
    # CHECK: warning: '<=' of u64 and i64: {{.*}} to u64 first
    store(x, w <= s)
    # CHECK: warning: 'maximum' of i32 and u64
    a = maximum(n, w)
    # CHECK: warning: 'minimum' of i32 and u32
    b = min(n, u)
    # Nothing is said where the common type holds both, nor of literals and constants that fit.
    # CHECK-NOT: warning
    five = 5
    store(x, (n < h) & (u > 3) & (u > five) & (w != 0) & (s < w.to(i64)) & (0 <= n))
    # CHECK: func @k
    # CHECK: [[N:%.*]] = sext %n : i64
    # CHECK: [[U:%.*]] = zext %u : i64
    # CHECK: icmp slt [[N]], [[U]]
    # CHECK: [[NEGATIVE:%.*]] = icmp sge %s, %{{.*}} : i1
    # CHECK: [[ORDER:%.*]] = icmp uge %s, %w : i1
    # CHECK: and [[NEGATIVE]], [[ORDER]] : i1
    # What no i64 is.
    # CHECK: store %x, %{{.*}}
    store(x, (s < 0x8000000000000000) & (w > -1) & (s > -0x8000000000000001))
    # TRITON-NOT: warning
    # TRITON: func @k
    # TRITON: icmp ult %n, %u : i1
    # TRITON: icmp ule %w, %s : i1
    # TRITON: umax
    # TRITON: umin %n, %u : i32
    static_assert(a.dtype == u64)
    store(x, a.to(i64) + b)
