# RUN: fsc --emit=tile --passes= %s -o - 2>&1 | FileCheck %s
# Compile-time arithmetic is Python's: exact integers, floor division, and its functions.
NAN: constexpr = float("nan")
@kernel(grid=(1,))
def k(x: *fp32, N: constexpr = 781, B: constexpr = next_power_of_2(781)):
    static_assert(N // 2 == 390 and -N // 2 == -391 and -7 % 3 == 2 and 7 / 2 == 3.5)
    static_assert(B == 1024 and cdiv(N, 256) == 4 and 2 ** 40 == 1 << 40)
    static_assert(0x7fffffffffffffff + 1 == 2 ** 63 and -(2 ** 63) < 0)
    static_assert((N & 0xf) == 13 and (N ^ 1) == 780 and ~N == -782 and -1 >> 1 == -1)
    static_assert(int(3.9) == 3 and float("2.5") == 2.5 and bool(N) and not bool(0))
    static_assert(isinstance(N, constexpr) and isinstance(2.0, float) and not isinstance(load(x), int))
    static_assert(isinstance(load(x), tl.tensor) and len((1, 2, 3)) == 3)
    static_assert("a" + "b" == "ab" and 3 in (1, 2, 3) and 4 not in (1, 2) and None is None)
    static_assert(1 < 2 <= 2 and (1 if N > 3 else 2) == 1 and (0 or 5) == 5 and (0 and 5) == 0)
    static_assert(1e300 * 10 > 1e300 and 2 ** -1 == 0.5 and 10 ** 19 > 2 ** 63)
    # Quotients and remainders floor, of floats as exactly as Python's; truth values are the ints 0 and 1.
    static_assert(7 // -2 == -4 and 7 % -2 == -1 and -7 // -2 == 3 and -7 % -2 == -1 and 0 // -5 == 0 and 0 % -5 == 0)
    static_assert(-2 ** 63 // -1 == 2 ** 63 and -2 ** 63 % -1 == 0 and 0xffffffffffffffff // -2 == -2 ** 63 and 0xffffffffffffffff % -2 == -1)
    static_assert(1.0 // 0.1 == 9.0 and 1 % 0.1 > 0.09 and -1.0 // 0.1 == -10.0 and -7.5 % 2 == 0.5 and 7.5 // -2 == -4)
    static_assert(-1.0 // float("inf") == -1 and -1.0 % float("inf") == float("inf") and True // 0.1 == 9)
    # CHECK: 0.0 -0.0 -0.0 nan
    static_print(-0.0 % 1, 0.0 % -1.0, -0.0 // 1, float("inf") // 2)
    static_assert(True // True == 1 and True % 2 == 1 and -True == -1)
    # CHECK: 1 0 1 0
    static_print(+True, +False, True // True, -False)
    static_assert(~0 == -1 and ~-1 == 0 and ~(2 ** 63 - 1) == -2 ** 63 and ~0xfffffffffffffffe == -0xffffffffffffffff)
    # Bits are those of two's complement without end.
    static_assert(0xffffffffffffffff & ~0xf == 0xfffffffffffffff0 and -1 & 0xffffffffffffffff == 0xffffffffffffffff and -1 ^ 2 ** 63 == -2 ** 63 - 1)
    static_assert(-2 ** 63 - 1 | 1 == -2 ** 63 - 1 and (-0xffffffffffffffff & 3) == 1)
    # CHECK: python_values.dsl:[[#@LINE+2]]:19: warning: ~True is -2, as in Python, and true [W0302]
    # CHECK: note: 'not' turns a truth value round
    static_assert(~(N > 3) == -2 and ~False == -1)
    # CHECK: warning: ~False is -1, as in Python, and true
    # A maximum of constants leaves out what is no number, and passes it on where it is asked to: on either side,
    # of ints, too.
    # CHECK: 1.0 1.0 2 nan nan nan
    # CHECK: 1.0 1.0 nan nan
    static_print(maximum(1.0, NAN), maximum(NAN, 1.0), maximum(NAN, 2), maximum(1.0, NAN, propagate_nan=True), maximum(NAN, 1.0, propagate_nan=True), maximum(2, NAN, propagate_nan=True))
    static_print(minimum(1.0, NAN), minimum(NAN, 1.0), minimum(1.0, NAN, propagate_nan=True), minimum(NAN, 1.0, propagate_nan=True))
    # CHECK: nan 2.0 nan
    static_print(clamp(NAN, 2.0, 3.0, propagate_nan=True), clamp(NAN, 2.0, 3.0), maximum(NAN, NAN))
    # CHECK: const 7.5 : fp32
    store(x, 15 / 2)
