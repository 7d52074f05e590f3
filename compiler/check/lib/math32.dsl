# math32.dsl - mathematical functions of fp32; narrower types come widened, and their results are rounded once.
#
# Every bound is in numerics.md. A sum of a product and a term is one fma (the pass fma), and the exact steps lean
# on that. Coefficients without a source beside them are weighted minimax fits; the weight makes the result's relative
# error even.

LOG2E = 1.44269502
LN2_HIGH = 0.693115234375  # so few bits that its product with an exponent is exact
LN2_LOW = 3.19461833e-05
LN2 = 0.693147182
LN2_REST = -1.9046543e-09  # what LN2 lacks
LOG2E_REST = 1.92596299e-08
LOG10_2 = 0.30103001
LOG10_2_REST = -1.43209889e-08
LOG2_10 = 3.32192802
LOG2_10_REST = 7.05953702e-08
SIGN = -2147483648

@jit
def horner(x, *c):
    r = c[len(c) - 1]
    for i in static_range(len(c) - 2, -1, -1):
        r = r * x + c[i]
    return r

@jit
def bits(x):
    return x.to(i32, bitcast=True)

@jit
def with_sign(y, x):  # y >= 0
    return (bits(y) | (bits(x) & SIGN)).to(fp32, bitcast=True)

@jit
def power_of_2(n):  # -126 to 127
    return ((n + 127) << 23).to(fp32, bitcast=True)

@jit
def sigmoid(x):
    e = exp(-abs(x))  # never overflows, and a subnormal result keeps its digits
    return where(x < 0, e, 1.0) / (1.0 + e)

@jit
def round(x):  # halves away from zero
    t = trunc(x)
    return with_sign(where(abs(x - t) >= 0.5, abs(t) + 1.0, abs(t)), x)

# With x = k ln 2 + r: e^x - 1 = 2^k (e^r - 1) + (2^k - 1), by half of 2^k so that it never overflows on its own.
@jit
def expm1(x):
    c = where(x > 89.0, 89.0, where(x < -18.0, -18.0, x))
    k = rint(c * LOG2E)
    r = c - k * LN2_HIGH - k * LN2_LOW
    p = r + r * r * horner(r, 0.5, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320)
    half = power_of_2(k.to(i32) - 1)
    return where(abs(x) < 2.98e-8, x, 2.0 * (half * p + (half - 0.5)))

# 1 + x = 2^k (1 + f) with 1 + f from 2/3 to 4/3; f comes from x itself, so that what 1 + x loses does not matter.
@jit
def log1p(x):
    k = (bits(1.0 + x) - 0x3f2aaaab) >> 23
    s = (0x40800000 - (k << 23)).to(fp32, bitcast=True)  # 4 / 2^k, which is normal also for the largest x
    f = fma(s, 0.25 * x, 0.25 * s - 1.0)
    p = horner(f, -0.5, 0.33333334, -0.2499982, 0.19999598, -0.16679579, 0.14304455, -0.12195774, 0.107542604,
               -0.12845077, 0.120070525)
    n = k.to(fp32)
    y = n * LN2_HIGH + (n * LN2_LOW + (f + f * f * p))
    y = where(abs(x) < 2.98e-8, x, where(x == inf, x, y))
    return where(x > -1.0, y, where(x == -1.0, -inf, nan))

@jit
def tanh(x):
    a = abs(x)
    z = a * a
    near = a + a * z * horner(z, -0.333333284, 0.133331999, -0.0539530963, 0.0217847247, -0.0085951034, 0.0030785806,
                              -0.000841128931, 0.000121468664)
    e = exp(-2.0 * a)
    return with_sign(where(a < 1.0, near, 1.0 - 2.0 * e / (1.0 + e)), x)

# Beyond 1 by way of log(1 - erf), which is nearly a parabola; from 4 on the result is 1.
@jit
def erf(x):
    a = abs(x)
    z = a * a
    p = horner(z, 0.128379167, -0.376126379, 0.112837836, -0.0268654767, 0.00522113079, -0.000848524796, 0.000112730129,
               -9.68419226e-06)
    c = where(a > 4.0, 4.0, a)
    q = horner(c, 0.000188467675, -1.12958026, -0.633216381, -0.108422123, 0.0252103619, -0.00420529488, 0.000441475189,
               -2.16978679e-05)
    return with_sign(where(a < 1.0, a + a * p, 1.0 - exp(q)), x)

# ---- sin and cos --------------------------------------------------------------------------------------------------

# Words i + k of w for every i that has only the bits of k and lower ones.
@jit
def pick(i, k: constexpr, *w):
    r = ()
    for j in static_range(len(w) - k):
        r = r + (where((i & k) != 0, w[j + k], w[j]),)
    return r

# The 32 bits that begin s bits into x, which y continues; s from 0 to 31.
@jit
def funnel(x, y, s):
    return (x << s) | ((y >> 1) >> (s ^ 31))

# |x| = q pi/2 + r + e + d with r from -pi/4 to pi/4, e and d what r lacks (sin and cos do without d), for every x: with
# |x| = m 2^E, the bits of 2/pi from 2^(1 - E) down to 2^(-94 - E) times m give the quadrants modulo 4, in units of
# 2^-62. Bits further up are multiples of 4 quadrants.
@jit
def quadrant(x):
    a = abs(x)
    b = a.to(u32, bitcast=True)
    m = (b & 0x7fffff) | 0x800000
    t = maximum(b >> 23, 120) - 120
    i = t >> 5
    s = t & 31
    w = words(b & 0, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab)
    u = pick(i, 4, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
    u = pick(i, 2, u[0], u[1], u[2], u[3], w[4], w[5], w[6])
    u = pick(i, 1, *u)
    p = (m * funnel(u[0], u[1], s)).to(u64) << 32
    p = p + m.to(u64) * funnel(u[1], u[2], s).to(u64) + umulhi(m, funnel(u[2], u[3], s)).to(u64)
    q = (p + 0x2000000000000000) >> 62
    n = (p - (q << 62)).to(i64)
    f = n.to(fp32)
    r = f * 3.40612167e-19
    e = fma(f, 3.40612167e-19, -r) - f * 9.47839643e-27
    is_near = a < 0.785398185
    r = where(is_near, a, where(a < inf, r, nan))
    d = (n - f.to(i64)).to(fp32) * 3.40612167e-19
    return r, where(is_near, 0.0, e), where(is_near, 0, q.to(i32)), where(is_near, 0.0, d)

@jit
def words(zero, *w):
    r = ()
    for j in static_range(len(w)):
        r = r + (zero + w[j],)
    return r

# Taylor: the next terms are below 2^-28 of the result on |r| <= pi/4.
@jit
def wave(r, e, q):
    z = r * r
    s = r + (r * z * horner(z, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880) + e)
    c = 1.0 + z * horner(z, -0.5, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800)
    y = where((q & 1) != 0, c, s)
    return bits(y) ^ ((q & 2) << 30)

@jit
def sin(x):
    r, e, q, d = quadrant(x)
    return (wave(r, e, q) ^ (bits(x) & SIGN)).to(fp32, bitcast=True)

@jit
def cos(x):
    r, e, q, d = quadrant(x)
    return wave(r, e, q + 1).to(fp32, bitcast=True)

# |x| = 2 n + q / 2 + f, all exact, and r + e = pi f.
@jit
def half_turns(x):
    a = abs(x)
    c = a - 2.0 * rint(0.5 * a)
    k = rint(2.0 * c)
    f = c - 0.5 * k
    r = f * 3.14159274
    return r, fma(f, 3.14159274, -r) + f * -8.742278e-08, where(a < inf, k, 0.0).to(i32)

@jit
def sinpi(x):
    r, e, q = half_turns(x)
    y = (wave(r, e, q) ^ (bits(x) & SIGN)).to(fp32, bitcast=True)
    return where(y == 0, x * 0.0, y)

@jit
def cospi(x):
    r, e, q = half_turns(x)
    y = wave(r, e, q + 1).to(fp32, bitcast=True)
    return where(y == 0, 0.0, y)

# ---- pow ----------------------------------------------------------------------------------------------------------

# log2 a as high + low, for a > 0: 2 atanh(s) / ln 2 with s = f / (2 + f), every leading term in two parts.
@jit
def log2_parts(a):
    is_small = a < 1.17549435e-38
    n = bits(where(is_small, a * 8388608.0, a))
    e = (n - 0x3f3504f3) >> 23
    m = (n - (e << 23)).to(fp32, bitcast=True)
    g = m + 1.0
    f = m - 1.0
    over = 1.0 / g
    s = f * over
    s_low = (fma(-s, g, f) - s * (m - (g - 1.0))) * over
    z = s * s
    z_low = fma(s, s, -z) + 2.0 * s * s_low
    u = s * z
    u_low = fma(s, z, -u) + s * z_low + s_low * z
    c = u * 0.333333343
    c_low = fma(u, 0.333333343, -c) - u * 9.93410776e-09 + u_low * 0.333333343
    q = u * z * horner(z, 0.2, 1 / 7, 1 / 9, 1 / 11)
    h = s + c
    l = (c - (h - s)) + (s_low + (c_low + q))
    p = h * 2.88539004
    p_low = fma(h, 2.88539004, -p) + h * 3.85192607e-08 + l * 2.88539004
    k = where(is_small, e - 23, e).to(fp32)
    high = k + p
    return high, (p - (high - k)) + p_low

# 2^(high + low) = 2^k (p + p_low); |high| up to 200.
@jit
def exp2_sum(high, low):
    k = rint(high)
    b = high - k
    f = b + low
    g = horner(f, 0.69314718055994529, 0.24022650695910072, 0.055504108664821583, 0.0096181291076284769,
               0.0013333558146428443, 0.00015403530393381609, 1.5252733804059841e-05)
    p = 1.0 + f * g
    return k.to(i32), p, fma(f, g, 1.0 - p) + ((b - f) + low) * 0.693147182

@jit
def scaled(p, k):  # by 2^k, whose half is in range
    return p * power_of_2(k >> 1) * power_of_2(k - (k >> 1))

@jit
def exp2_parts(high, low):
    k, p, p_low = exp2_sum(high, low)
    return scaled(p, k)

@jit
def pow(x, y):
    a = abs(x)
    is_plain = (a > 0) & (a < inf)
    high, low = log2_parts(a)
    high = where(is_plain, high, where(a == 0, -inf, a))
    low = where(is_plain, low, 0.0)
    t = y * high
    t_low = fma(y, high, -t) + y * low
    c = where(t > 200.0, 200.0, where(t < -200.0, -200.0, t))
    r = exp2_parts(c, where(abs(t) < 200.0, t_low, 0.0))
    half = 0.5 * y
    is_whole = rint(y) == y
    is_odd = is_whole & (floor(half) != half)
    r = where(is_odd & (bits(x) < 0), -r, r)
    r = where((x < 0) & (x > -inf) & ~is_whole, nan, r)
    return where((y == 0) | (x == 1) | ((x == -1) & (abs(y) == inf)), 1.0, r)

# ---- tan ----------------------------------------------------------------------------------------------------------

# t + t_low is the tangent of r + e; in odd quadrants the result is -1 over that.
@jit
def tan(x):
    r, e, q, d = quadrant(x)
    e = e + d
    z = r * r
    w = r * z * horner(z, 0.333333498, 0.133326628, 0.0540599771, 0.0212818668, 0.0108366627, 8.8436912e-05,
                       0.00437682751)
    t = r + w
    w = w + fma(e * t, t, e)
    t = r + w
    t_low = w - (t - r)
    c = div_rn(-1.0, t)
    c = c + c * (fma(c, t, 1.0) + c * t_low)
    y = where((q & 1) != 0, c, t)
    return (bits(y) ^ (bits(x) & SIGN)).to(fp32, bitcast=True)

# ---- By logarithms ------------------------------------------------------------------------------------------------

# log u as a sum of two, for u > 0.
@jit
def log_parts(u):
    high, low = log2_parts(u)
    y = high * LN2
    return y, fma(high, LN2, -y) + (high * LN2_REST + low * LN2)

# log(u + u_low) for a normal u.
@jit
def log_sum(u, u_low):
    y, y_low = log_parts(u)
    return y + (y_low + u_low / u)

# log(a + root), where root^2 = p + p_low; beyond `far` the root is a itself.
@jit
def log_with_root(a, p, p_low, far):
    s = sqrt_rn(p)
    v = where(s > a, s, a)
    v_low = where(s > a, a, s) - ((s + a) - v)
    u = s + a
    s_low = where(p > 0, (fma(-s, s, p) + p_low) / (s + s), 0.0)
    is_far = a > far
    y = log_sum(where(is_far, a, u), where(is_far, 0.0, v_low + s_low))
    return where(is_far, y + LN2, y)

@jit
def asinh(x):
    a = abs(x)
    z = a * a
    near = a + a * z * horner(z, -0.166666436, 0.07498653, -0.0443845888, 0.0281693405, -0.0132377118)
    p = fma(a, a, 1.0)
    far = log_with_root(a, p, fma(a, a, -(p - 1.0)), 4096.0)
    return with_sign(where(a < 0.5, near, where(a < inf, far, a)), x)

# log(1 + v) with v = t + sqrt(t (t + 2)) and t = x - 1, which is exact.
@jit
def acosh(x):
    is_far = x > 4096.0
    t = where(is_far, 4096.0, x) - 1.0
    d = t + 2.0
    p = t * d
    s = sqrt_rn(p)
    s_low = where(p > 0, (fma(-s, s, p) + (fma(t, d, -p) + t * (t - (d - 2.0)))) / (s + s), 0.0)
    v = s + t
    u = 1.0 + v
    b = u - 1.0
    u_low = (1.0 - (u - b)) + ((v - b) + ((t - (v - s)) + s_low))
    y = log_sum(where(is_far, x, u), where(is_far, 0.0, u_low))
    y = where(is_far, y + LN2, y)
    return where(x >= 1.0, where(x < inf, y, x), nan)

@jit
def atanh(x):
    a = abs(x)
    z = a * a
    near = a + a * z * horner(z, 0.333333001, 0.200025153, 0.142228139, 0.118233535, 0.0513703648, 0.176676941)
    d = 1.0 - a
    n = 1.0 + a
    q = div_rn(n, d)
    far = 0.5 * log_sum(q, (fma(-q, d, n) + (a - (n - 1.0))) / d)
    return with_sign(where(a < 0.5, near, where(a < 1.0, far, where(a == 1.0, inf, nan))), x)

@jit
def log10(x):
    high, low = log2_parts(x)
    y = high * LOG10_2
    y = y + (fma(high, LOG10_2, -y) + (high * LOG10_2_REST + low * LOG10_2))
    y = where(x > 0, where(x < inf, y, x), where(x == 0, -inf, nan))
    return y

@jit
def exp10(x):
    high = x * LOG2_10
    low = fma(x, LOG2_10, -high) + x * LOG2_10_REST
    c = where(high > 200.0, 200.0, where(high < -200.0, -200.0, high))
    return exp2_parts(c, where(abs(high) < 200.0, low, 0.0))

# ---- erfc and its inverse -----------------------------------------------------------------------------------------

# e^(c^2) erfc(c) (1 + 2c) as a sum of two, for c from 0 to 11: a polynomial in (x - k) / (x + k).
@jit
def tail_ratio(c):
    t = div_rn(c - 3.0, c + 3.0)
    rest = horner(t, -0.135621114, -0.0475624952, 0.129645445, -0.119269417, 0.0683063424, -0.0238030347, 0.00252240115,
                  0.00199320167, -0.000711323618, -0.000223811769)
    r = fma(t, rest, 1.25300801)
    return r, fma(t, rest, 1.25300801 - r) + 5.02664948e-08

# e^((c + c_low)^2), or with sign = -1 one over that, as 2^i (p + p_low); a c_low of None is none.
@jit
def bell(c, c_low, sign: constexpr):
    s = c * c
    high = s * (sign * LOG2E)
    s_low = fma(c, c, -s) if c_low is None else fma(c, c, -s) + 2.0 * c * c_low
    low = fma(s, sign * LOG2E, -high) + sign * (s * LOG2E_REST + s_low * LOG2E)
    return exp2_sum(high, low)

# n / (1 + 2c) as a sum of two; n_low belongs to n.
@jit
def over_width(n, n_low, c):
    d = fma(2.0, c, 1.0)
    over = 1.0 / d
    y = n * over
    return y, (fma(-y, d, n) + n_low - y * (1.0 - (d - 2.0 * c))) * over

# erfc(c + c_low) = 2^i y.
@jit
def tail(c, c_low):
    r, r_low = tail_ratio(c)
    i, p, p_low = bell(c, c_low, -1)
    n = p * r
    y, y_low = over_width(n, fma(p, r, -n) + (p * r_low + p_low * r), c)
    return i, y + y_low

# erf(x) for |x| < 0.375.
@jit
def erf_near(x):
    z = x * x
    return x + x * horner(z, 0.128379167, -0.376126379, 0.112837836, -0.0268654767, 0.00522113079, -0.000848524796)

@jit
def erfc(x):
    a = abs(x)
    i, y = tail(where(a > 11.0, 11.0, a), None)
    y = scaled(y, i)
    return where(a < 0.375, 1.0 - erf_near(x), where(x < 0, 2.0 - y, y))

# With c + c_low = |x| / sqrt(2) half of erfc(-x / sqrt(2)).
@jit
def normcdf(x):
    a = abs(x)
    a = where(a > 40.0, 40.0, a)
    c = a * 0.707106769
    i, y = tail(where(c > 11.0, 11.0, c), fma(a, 0.707106769, -c) + a * 1.21016171e-08)
    y = scaled(y, i - 1)
    near = 0.5 + 0.5 * erf_near(0.7071067811865476 * x)
    return where(a < 0.5, near, where(x > 0, 1.0 - y, where(x < 0, y, x)))

# Near 0 e^(x^2) (1 - erf(x)); from 11 on the asymptotic series; below 0 what is missing to 2 e^(x^2).
@jit
def erfcx(x):
    a = abs(x)
    c = where(a > 11.0, 11.0, a)
    r, r_low = tail_ratio(c)
    y, y_low = over_width(r, r_low, c)
    z = 1.0 / (a * a)
    v = div_rn(0.564189613, a)
    far = v + v * z * horner(z, -0.5, 0.75, -1.875)
    y = where(a > 11.0, far, y + y_low)
    i, p, p_low = bell(c, None, 1)
    e = erf_near(x)
    n = 1.0 - e
    near = n + (((1.0 - n) - e) + n * expm1(x * x))
    return where(a < 0.375, near, where(x < 0, scaled(p + p_low, i + 1) - y, where(x == x, y, x)))

# erfinv(x) for |x| <= 1/2.
@jit
def inverse_near(x):
    z = x * x
    p = horner(z, 0.232013486, 0.127569822, 0.0862112033, 0.0688181198, 0.0303089507, 0.0969578877)
    return fma(x, 0.886226952, x * (z * p + -2.66232002e-08))

# The y with erfc(y) = q, for q from 0 to 1/2: a fit in (s - k) / (s + k) with s^2 = -log q, then a step that compares
# q / e^(-y^2) with erfc(y) / e^(-y^2).
@jit
def inverse_tail(q):
    s = sqrt_rn(-log(where(q > 0, q, 0.5)))
    y = s * horner((s - 3.0) / (s + 3.0), 0.90492044, 0.273667477, -0.338986498, 0.278499734, -0.178002323,
                   0.0718257978, 0.0149285517, -0.0908307411, 0.125001258, -0.065122454)
    r, r_low = tail_ratio(y)
    w, w_low = over_width(r, r_low, y)
    i, p, p_low = bell(y, None, -1)
    n = scaled(q, -i)
    g = n / p
    u = ((w - g) + (w_low - (fma(-g, p, n) - g * p_low) / p)) * 0.886226952
    y = y + u
    return where(q > 0, y, where(q == 0, inf, nan))

@jit
def erfinv(x):
    a = abs(x)
    return with_sign(where(a <= 0.5, inverse_near(a), inverse_tail(1.0 - a)), x)

@jit
def erfcinv(q):
    x = 1.0 - q
    return where(abs(x) <= 0.5, inverse_near(x), with_sign(inverse_tail(where(q < 1.0, q, 2.0 - q)), x))

@jit
def normcdfinv(p):
    x = 2.0 * p - 1.0
    far = with_sign(inverse_tail(2.0 * where(p < 0.5, p, 1.0 - p)), x)
    y = where(abs(x) <= 0.5, inverse_near(x), far)
    return where(abs(y) < inf, fma(y, 1.41421354, y * 2.42032342e-08), y)

# ---- lgamma -------------------------------------------------------------------------------------------------------

@jit
def two_sum(x, y):
    s = x + y
    b = s - x
    return s, (x - (s - b)) + (y - b)

# log |Gamma(2 + z)| = z P(z) for |z| <= 1/2; other arguments up to 8 by factors between, beyond by Stirling's series.
# All that may cancel is a sum of two: the function has a zero at 1, at 2 and between its poles.
@jit
def lgamma(x):
    a = abs(x)
    is_small = a <= 0.5
    k = where(a < 8.0, rint(a), 2.0) - 2.0
    z = where(is_small, x, a - (k + 2.0))
    f = where(is_small, a + x * a, where(k < 0, a, 1.0))
    f_low = where(is_small, fma(x, a, a - f), 0.0)
    for j in static_range(1, 7):
        f = where(k >= j, f * (a - j), f)
    sign = where(k < 0, -1.0, 1.0)
    l, l_low = log_parts(f)
    y = z * 0.422784328
    p = z * horner(z, 0.322467019, -0.0673522186, 0.0205816022, -0.00738742996, 0.00287905359, -0.00117783178,
                   0.000569830526, -0.000269862414)
    y_low = fma(z, 0.422784328, -y) + z * (6.63777378e-09 + p) + sign * (l_low + f_low / f)
    y, rest = two_sum(y, sign * l)
    b, b_low = log_parts(a)
    c = a - 0.5
    w = 1.0 / a
    far = c * (b - 1.0)
    p = w * horner(w * w, 1 / 12, -1 / 360, 1 / 1260)
    far_low = where(far < inf, fma(c, b - 1.0, -far) + (c * b_low + (0.418938533 + p)), 0.0)
    y_low = where(a < 8.0, y_low + rest, far_low)
    y = where(a < 8.0, y, far)
    is_reflected = (x < 0) & ~is_small
    sine = where(is_reflected, abs(sinpi(a)), 1.0)
    m, m_low = log_parts(a * sine)
    r, r_low = two_sum(1.14472985, -m)
    m, rest = two_sum(r, -y)
    y = where(is_reflected, m + ((r_low + rest) + (3.31730086e-08 - m_low - y_low)), y + y_low)
    return where((a == 0) | (sine == 0) | (a == inf), inf, where(x == x, y, x))
