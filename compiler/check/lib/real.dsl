# real.dsl - further functions of real numbers: sinh cosh cbrt rcbrt hypot, of fp32 and fp64, narrower types come
# widened; and fmod remainder copysign fdim nextafter signbit isfinited finitef.
#
# Every bound is in numerics.md. A sum of a product and a term is one fma (the pass fma),
# and the exact steps lean on that.

@jit
def horner(x, *c):
    r = c[len(c) - 1]
    for i in static_range(len(c) - 2, -1, -1):
        r = r * x + c[i]
    return r

# The bits as a signed integer; its sign is the float's.
@jit
def bits(x):
    if x.dtype.primitive_bitwidth == 64:
        return x.to(i64, bitcast=True)
    elif x.dtype.primitive_bitwidth == 32:
        return x.to(i32, bitcast=True)
    elif x.dtype.primitive_bitwidth == 16:
        return x.to(i16, bitcast=True)
    else:
        return x.to(i8, bitcast=True)

@jit
def signbit(x):
    return bits(x) < 0

@jit
def isfinited(x):
    return abs(x) < inf

@jit
def finitef(x):
    return abs(x) < inf

@jit
def copysign(x, y):
    return where(signbit(x) != signbit(y), -x, x)

# ---- sinh and cosh ------------------------------------------------------------------------------------------------

# With a = k ln 2 + r, h = 2^(k - 1), g = 2^(-k - 1): sinh a = (h - g) cosh r + (h + g) sinh r, and cosh a with the
# signs changed. Gives h and g, by half of them, r, sinh r - r and cosh r - 1, by Taylor: the next terms are below 2^-27
# and 2^-57 of the result.
@jit
def hyperbolic(a):
    if a.dtype == fp64:
        c = where(a > 710.6, 710.6, a)
        k = rint(c * 1.4426950408889634)
        high = c - k * 0.6931471804855391
        r = high - k * 7.440617110012397e-11
        r_low = (high - r) - k * 7.440617110012397e-11
        i = k.to(i64)
        h = ((i + 1021) << 52).to(fp64, bitcast=True)
        g = ((1021 - where(i > 1000, 1000, i)) << 52).to(fp64, bitcast=True)
        z = r * r
        s = horner(z, 1 / 6, 1 / 120, 1 / 5040, 1 / 362880, 1 / 39916800, 1 / 6227020800)
        m = horner(z, 1 / 2, 1 / 24, 1 / 720, 1 / 40320, 1 / 3628800, 1 / 479001600, 1 / 87178291200)
    else:
        c = where(a > 89.6, 89.6, a)
        k = rint(c * 1.44269502)
        high = c - k * 0.693115234375
        r = high - k * 3.19461833e-05
        r_low = (high - r) - k * 3.19461833e-05
        i = k.to(i32)
        h = ((i + 125) << 23).to(fp32, bitcast=True)
        g = ((125 - where(i > 100, 100, i)) << 23).to(fp32, bitcast=True)
        z = r * r
        s = horner(z, 1 / 6, 1 / 120, 1 / 5040)
        m = horner(z, 1 / 2, 1 / 24, 1 / 720, 1 / 40320)
    return h, g, r, r * z * s + r_low, z * m

@jit
def sinh(x):
    a = abs(x)
    h, g, r, s, m = hyperbolic(a)
    d = h - g
    y = 2.0 * (fma(h + g, r, d) + (fma(h + g, s, d * m) + ((h - d) - g)))
    return copysign(where(a < (1e-9 if x.dtype == fp64 else 1e-4), a, y), x)

@jit
def cosh(x):
    h, g, r, s, m = hyperbolic(abs(x))
    d = h + g
    return 2.0 * (fma(h - g, r, d) + (fma(h - g, s, d * m) + (g - (d - h))))

# ---- Roots --------------------------------------------------------------------------------------------------------

# b and b^(-1/3), where a = b or 2^-90 b: from the bits of b, a 30th beside at first,
# then with h = 1 - b y^3 the series of y (1 - h)^(-1/3), twice.
@jit
def inverse_root(a, is_small):
    b = a * where(is_small, 1.2379400392853803e27, 1.0)  # 2^90
    if a.dtype == fp64:
        y = (0x553ef0ff289dd796 - umulhi(b.to(u64, bitcast=True), 0x5555555555555556)).to(fp64, bitcast=True)
    else:
        y = (0x54a2fa8c - umulhi(b.to(u32, bitcast=True), 0x55555556)).to(fp32, bitcast=True)
    h = 1.0 - b * y * (y * y)
    y = y + y * h * horner(h, 1 / 3, 2 / 9, 14 / 81, 35 / 243)
    h = 1.0 - b * y * (y * y)
    return b, y + y * h * horner(h, 1 / 3, 2 / 9, 14 / 81)

# The root is b y^2, corrected by what its cube lacks.
@jit
def cbrt(x):
    a = abs(x)
    is_small = a < (1e-200 if x.dtype == fp64 else 1e-20)
    b, y = inverse_root(a, is_small)
    t = b * y * y
    s = t * t
    t = t + (fma(-s, t, b) - fma(t, t, -s) * t) * (y * y) * (1 / 3)
    t = t * where(is_small, 9.313225746154785e-10, 1.0)  # 2^-30
    return copysign(where((a > 0) & (a < inf), t, a), x)

@jit
def rcbrt(x):
    a = abs(x)
    is_small = a < (1e-200 if x.dtype == fp64 else 1e-20)
    b, y = inverse_root(a, is_small)
    s = y * y
    t = s * y
    t_low = fma(s, y, -t) + fma(y, y, -s) * y
    y = y + y * (fma(-b, t, 1.0) - b * t_low) * (1 / 3)
    y = y * where(is_small, 1073741824.0, 1.0)  # 2^30
    return copysign(where((a > 0) & (a < inf), y, where(a == 0, inf, where(a == inf, 0.0, nan))), x)

# v by 2^-e where it is large, by 2^e where it is small.
@jit
def balanced(v, is_large, is_small, e: constexpr):
    return where(is_large, v * 2.0 ** -e, where(is_small, v * 2.0 ** e, v))

# The length of (x, y) but for a power of two, balanced so that no square overflows, and none that counts underflows.
@jit
def balanced_length(x, y, e: constexpr):
    a = abs(x)
    b = abs(y)
    p = where(a > b, a, b)
    q = where(a > b, b, a)
    is_large = p > (1e150 if p.dtype == fp64 else 1e18)
    is_small = p < (1e-120 if p.dtype == fp64 else 1e-12)
    p = balanced(p, is_large, is_small, e)
    q = balanced(q, is_large, is_small, e)
    return sqrt_rn(fma(p, p, q * q)), is_large, is_small, (a == inf) | (b == inf)

@jit
def hypot(x, y):
    e: constexpr = 600 if x.dtype == fp64 else 90
    r, is_large, is_small, is_infinite = balanced_length(x, y, e)
    return where(is_infinite, inf, balanced(r, is_small, is_large, e))

@jit
def rhypot(x, y):
    e: constexpr = 600 if x.dtype == fp64 else 90
    r, is_large, is_small, is_infinite = balanced_length(x, y, e)
    return where(is_infinite, 0.0, balanced(1.0 / r, is_large, is_small, e))

# ---- Exact --------------------------------------------------------------------------------------------------------

@jit
def fmod(x, y):
    return x % y

# x - n y with n the whole number nearest to x / y, the even one of two; a > b - a asks whether a > b / 2,
# without an error.
@jit
def remainder(x, y):
    b = abs(y)
    a = abs(x)
    a = where(b < (2.0 ** 1023 if x.dtype == fp64 else 2.0 ** 127), a % (b + b), a)
    is_up = a > b - a
    r = where(is_up, a - b, a)
    r = where(is_up & (r >= b - r), r - b, r)
    return where((abs(x) < inf) & (y == y), where(signbit(x), -r, r), nan)

@jit
def fdim(x, y):
    return where(x <= y, 0.0, x - y)

# The bits of neighbours differ by one; those of zero are the smallest numbers of both signs.
@jit
def nextafter(x, y):
    i = bits(x)
    outward = (y > x) == (x > 0)
    near = (i + where(outward, 1, -1)).to(i.dtype).to(x.dtype, bitcast=True)
    least = (i * 0 + 1).to(i.dtype).to(x.dtype, bitcast=True)
    r = where(x == 0, where(y < 0, -least, least), near)
    return where((x == x) & (y == y), where(x == y, y, r), nan)

# ---- Exponents ----------------------------------------------------------------------------------------------------

# floor(log2 |x|) of finite numbers but zero.
@jit
def exponent(x):
    a = abs(x)
    if x.dtype == fp64:
        is_small = a < 2.2250738585072014e-308
        e = (bits(where(is_small, a * 4503599627370496.0, a)) >> 52).to(i32)
        return where(is_small, e - 1075, e - 1023)
    else:
        is_small = a < 1.17549435e-38
        e = bits(where(is_small, a * 8388608.0, a)) >> 23
        return where(is_small, e - 150, e - 127)

@jit
def logb(x):
    a = abs(x)
    return where(a == 0, -inf, where(a < inf, exponent(x).to(x.dtype), a))

@jit
def ilogb(x):
    w = x if x.dtype == fp64 else x.to(fp32)
    a = abs(w)
    return where((a > 0) & (a < inf), exponent(w), where(a == inf, 2147483647, -2147483648))

# 2^n; -1022 to 1023 in fp64, -126 to 127 in fp32.
@jit
def power_of_2(n, like):
    if like.dtype == fp64:
        return ((n.to(i64) + 1023) << 52).to(fp64, bitcast=True)
    else:
        return ((n + 127) << 23).to(fp32, bitcast=True)

# In three steps, of which only the last can be inexact: a step down leaves all digits of its result above the smallest.
@jit
def ldexp(x, n):
    up: constexpr = 1023 if x.dtype == fp64 else 127
    down: constexpr = -969 if x.dtype == fp64 else -102
    n = n.to(i64)
    n = where(n > 3 * up, 3 * up, where(n < 3 * down, 3 * down, n)).to(i32)
    for _ in static_range(2):
        step = where(n > up, up, where(n < 1 - up, down, 0))
        x = x * power_of_2(step, x)
        n = n - step
    n = where(n > up, up, where(n < 1 - up, 1 - up, n))
    return x * power_of_2(n, x)
