# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Compile-time arithmetic is Python's: exact integers, floor division, and its functions.
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
    # CHECK: const 7.5 : fp32
    store(x, 15 / 2)
