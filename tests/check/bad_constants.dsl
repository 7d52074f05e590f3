# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Compile-time evaluation that cannot be: overflow, division by zero, a failed check.
LOOP: constexpr = LOOP + 1
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: error: 18446744073709551615 * 18446744073709551615 does not fit 64 bits
    a = 0xffffffffffffffff * 0xffffffffffffffff
    # CHECK: error: '//' by zero at compile time
    b = 3 // 0
    # CHECK: error: '%' by zero at compile time
    c = 3.0 % 0
    # CHECK: error: a shift by -1, which is negative
    d = 1 << -1
    # CHECK: error: static_assert failed: too small
    static_assert(3 > 4, "too small")
    # CHECK: error: static_assert of i1, which is known only at run time
    static_assert(n > 3)
    # CHECK: error: assertion failed: never
    assert False, "never"
    # CHECK: error: int(...) of i32, which is not a compile-time number or text
    # CHECK: note: a run-time value converts with .to(i32)
    e = int(n)
    # CHECK: error: a constexpr is known at compile time, and this is i32
    f: constexpr = n
    # CHECK: error: '<' between the string "a" and the int 1
    g = "a" < 1
    # CHECK: error: 2 names are assigned from 3 values
    h, i = 1, 2, 3
    # CHECK: error: assume of what is known to be false here
    assume(3 < 2)
    # CHECK-NOT: error:
