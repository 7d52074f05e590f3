# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Compile-time evaluation that cannot be: overflow, division by zero, a failed check.
# CHECK: bad_constants.dsl:[[#@LINE+1]]:19: error: the value of 'LOOP' needs itself [E0801]
LOOP: constexpr = LOOP + 1
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: error: 18446744073709551615 * 18446744073709551615 does not fit 64 bits [E0802]
    a = 0xffffffffffffffff * 0xffffffffffffffff
    # CHECK: error: '//' by zero at compile time [E0803]
    b = 3 // 0
    # CHECK: error: '%' by zero at compile time [E0803]
    c = 3.0 % 0
    # CHECK: error: '**' by zero at compile time [E0803]
    d = 0.0 ** -1.5
    # CHECK: error: a shift by -1, which is negative [E0804]
    d = 1 << -1
    # CHECK: error: static_assert failed: too small [E0806]
    static_assert(3 > 4, "too small")
    # CHECK: error: static_assert of i1, which is known only at run time [E0801]
    static_assert(n > 3)
    # CHECK: error: assertion failed: never [E0806]
    assert False, "never"
    # CHECK: error: int(...) of i32, which is not a compile-time number or text [E0810]
    # CHECK: note: a run-time value converts with .to(i32)
    e = int(n)
    # CHECK: error: a constexpr is known at compile time, and this is i32 [E0801]
    f: constexpr = n
    # CHECK: error: '<' between the string "a" and the int 1 [E0301]
    g = "a" < 1
    # CHECK: error: 2 names are assigned from 3 values [E0213]
    h, i = 1, 2, 3
    # CHECK: error: assume of what is known to be false here [E0811]
    assume(3 < 2)
    # CHECK-NOT: error:
    store(x, LOOP)
