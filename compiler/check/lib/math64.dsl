# math64.dsl - mathematical functions of fp64; nothing passes through fp32.
#
# Every bound is in numerics.md. A sum of a product and a term is one fma (the pass fma), and the exact steps lean
# on that. Coefficients without a source beside them are weighted minimax fits; the weight makes the result's relative
# error even.

LOG2E = 1.4426950408889634
LN2_HIGH = 0.6931471804855391  # so few bits that its product with an exponent is exact
LN2_LOW = 7.440617110012397e-11
LN2 = 0.69314718055994529
LN2_REST = 2.3190468138462996e-17  # what LN2 lacks
LOG2E_REST = 2.0355273740931032e-17
LOG10_2 = 0.3010299956639812
LOG10_2_REST = -2.8037281277851703e-18
LOG2_10 = 3.3219280948873622
LOG2_10_REST = 1.6616175169735921e-16
SIGN = -9223372036854775808

@jit
def horner(x, *c):
    r = c[len(c) - 1]
    for i in static_range(len(c) - 2, -1, -1):
        r = r * x + c[i]
    return r

@jit
def bits(x):
    return x.to(i64, bitcast=True)

@jit
def with_sign(y, x):  # y >= 0
    return (bits(y) | (bits(x) & SIGN)).to(fp64, bitcast=True)

@jit
def power_of_2(n):  # an i64 from -1022 to 1023
    return ((n + 1023) << 52).to(fp64, bitcast=True)

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
    c = where(x > 710.0, 710.0, where(x < -40.0, -40.0, x))
    k = rint(c * LOG2E)
    r = c - k * LN2_HIGH - k * LN2_LOW
    p = r + r * r * horner(r, 0.5, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880, 1 / 3628800,
                           1 / 39916800, 1 / 479001600, 1 / 6227020800, 1 / 87178291200)
    half = power_of_2(k.to(i64) - 1)
    return where(abs(x) < 5.5e-17, x, 2.0 * (half * p + (half - 0.5)))

# 1 + x = 2^k (1 + f) with 1 + f from sqrt 1/2 to sqrt 2; f comes from x itself, so that what 1 + x loses does not
# matter. log(1 + f) = 2 atanh(s) with s = f / (2 + f), Taylor, written as f - f^2/2 + s (f^2/2 + R).
@jit
def log1p(x):
    k = (bits(1.0 + x) - 0x3fe6a09e667f3bcd) >> 52
    scale = (0x4010000000000000 - (k << 52)).to(fp64, bitcast=True)  # 4 / 2^k, which is normal also for the largest x
    f = fma(scale, 0.25 * x, 0.25 * scale - 1.0)
    s = f / (2.0 + f)
    z = s * s
    r = z * horner(z, 2 / 3, 2 / 5, 2 / 7, 2 / 9, 2 / 11, 2 / 13, 2 / 15, 2 / 17, 2 / 19, 2 / 21, 2 / 23)
    h = 0.5 * f * f
    n = k.to(fp64)
    y = n * LN2_HIGH + (f - (h - (s * (h + r) + n * LN2_LOW)))
    y = where(abs(x) < 5.5e-17, x, where(x == inf, x, y))
    return where(x > -1.0, y, where(x == -1.0, -inf, nan))

@jit
def tanh(x):
    a = abs(x)
    t = expm1(2.0 * where(a > 30.0, 30.0, a))
    g = t + 2.0
    over = 1.0 / g
    y = t * over
    y = y + (fma(-y, g, t) - y * (t - (g - 2.0))) * over  # what the quotient and the sum below it lost
    return with_sign(where(a < 1e-9, a, y), x)

# Beyond 1 by way of log(1 - erf), which is nearly a parabola; from 6 on the result is 1.
@jit
def erf(x):
    a = abs(x)
    z = a * a
    p = horner(z, 0.12837916709551257, -0.37612638903183748, 0.11283791670954908, -0.026866170645080147,
               0.0052239776248388242, -0.00085483269816001833, 0.00012055331128889671, -1.4925595496311569e-05,
               1.6461001953579866e-06, -1.6350310331102984e-07, 1.465966505819198e-08, -1.1372133881335603e-09,
               5.9555745392652832e-11)
    c = where(a > 6.0, 6.0, a)
    q = horner(c, -2.7799324446797707e-08, -1.1283789157603532, -0.63662073394416474, -0.10277081659680359,
               0.019128046893255608, 0.00020230085272973644, -0.0016749597986874093, 0.00055235437318313784,
               2.2014107720570707e-05, -0.00011078811239922583, 6.476359730477704e-05, -2.4281312122543597e-05,
               6.7844942030422376e-06, -1.4697933646480733e-06, 2.4815614533211041e-07, -3.2197225387643281e-08,
               3.1084497437413781e-09, -2.1054641415951658e-10, 8.9297515215580252e-12, -1.7840817991012965e-13)
    return with_sign(where(a < 1.0, a + a * p, 1.0 - exp(q)), x)

# ---- sin and cos --------------------------------------------------------------------------------------------------

@jit
def words(zero, *w):
    r = ()
    for j in static_range(len(w)):
        r = r + (zero + w[j],)
    return r

# Words i + k of w for every i that has only the bits of k and lower ones; `count` of them.
@jit
def pick(i, k: constexpr, count: constexpr, w):
    r = ()
    for j in static_range(count):
        if j + k < len(w):
            r = r + (where((i & k) != 0, w[j + k], w[j]),)
        else:
            r = r + (w[j],)
    return r

# The 64 bits that begin s bits into x, which y continues; s from 0 to 63.
@jit
def funnel(x, y, s):
    return (x << s) | ((y >> 1) >> (s ^ 63))

# |x| = q pi/2 + r + e with r from -pi/4 to pi/4 and e what r lacks, for every x: with |x| = m 2^E, the bits of 2/pi
# from 2^(1 - E) down to 2^(-190 - E) times m give the quadrants modulo 4, in units of 2^-126.
@jit
def quadrant(x):
    a = abs(x)
    b = a.to(u64, bitcast=True)
    m = (b & 0xfffffffffffff) | 0x10000000000000
    t = maximum(b >> 52, 1013) - 1013
    i = t >> 6
    s = t & 63
    w = words(b & 0, 0,
              0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
              0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
              0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
              0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab)
    w = pick(i, 16, 19, w)
    w = pick(i, 8, 11, w)
    w = pick(i, 4, 7, w)
    w = pick(i, 2, 5, w)
    w = pick(i, 1, 4, w)
    middle = funnel(w[1], w[2], s)
    low = m * middle
    carried = low + umulhi(m, funnel(w[2], w[3], s))
    high = m * funnel(w[0], w[1], s) + umulhi(m, middle) + (carried < low).to(u64)
    q = (high + 0x2000000000000000) >> 62
    n = (high - (q << 62)).to(i64)
    f = n.to(fp64)
    f_low = (n - f.to(i64)).to(fp64) + carried.to(fp64) * 5.421010862427522e-20
    r = f * 3.4061215800865545e-19
    e = fma(f, 3.4061215800865545e-19, -r) + f * 1.3277647201629795e-35 + f_low * 3.4061215800865545e-19
    is_near = a < 0.7853981633974483
    sum = where(is_near, a, where(a < inf, r + e, nan))
    return sum, where(is_near, 0.0, e - (sum - r)), where(is_near, 0, q.to(i32))

# Taylor: the next terms are below 2^-58 of the result on |r| <= pi/4.
@jit
def wave(r, e, q):
    z = r * r
    s = r + (r * z * horner(z, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800,
                            -1 / 1307674368000, 1 / 355687428096000) + e)
    c = horner(z, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200, 1 / 20922789888000)
    c = 1.0 - (0.5 * z - (z * z * c - r * e))
    return bits(where((q & 1) != 0, c, s)) ^ ((q & 2).to(i64) << 62)

@jit
def sin(x):
    r, e, q = quadrant(x)
    return (wave(r, e, q) ^ (bits(x) & SIGN)).to(fp64, bitcast=True)

@jit
def cos(x):
    r, e, q = quadrant(x)
    return wave(r, e, q + 1).to(fp64, bitcast=True)

# |x| = 2 n + q / 2 + f, all exact, and r + e = pi f.
@jit
def half_turns(x):
    a = abs(x)
    c = a - 2.0 * rint(0.5 * a)
    k = rint(2.0 * c)
    f = c - 0.5 * k
    r = f * 3.1415926535897931
    return r, fma(f, 3.1415926535897931, -r) + f * 1.2246467991473532e-16, where(a < inf, k, 0.0).to(i32)

@jit
def sinpi(x):
    r, e, q = half_turns(x)
    y = (wave(r, e, q) ^ (bits(x) & SIGN)).to(fp64, bitcast=True)
    return where(y == 0, x * 0.0, y)

@jit
def cospi(x):
    r, e, q = half_turns(x)
    y = wave(r, e, q + 1).to(fp64, bitcast=True)
    return where(y == 0, 0.0, y)

# ---- pow ----------------------------------------------------------------------------------------------------------

# log2 a as high + low, for a > 0: 2 atanh(s) / ln 2 with s = f / (2 + f), every leading term in two parts.
@jit
def log2_parts(a):
    is_small = a < 2.2250738585072014e-308
    n = bits(where(is_small, a * 4503599627370496.0, a))
    k = (n - 0x3fe6a09e667f3bcd) >> 52
    m = (n - (k << 52)).to(fp64, bitcast=True)
    g = m + 1.0
    f = m - 1.0
    over = 1.0 / g
    s = f * over
    s_low = (fma(-s, g, f) - s * (m - (g - 1.0))) * over
    z = s * s
    z_low = fma(s, s, -z) + 2.0 * s * s_low
    u = s * z
    u_low = fma(s, z, -u) + s * z_low + s_low * z
    c = u * 0.3333333333333333
    c_low = fma(u, 0.3333333333333333, -c) + u * 1.850371707708594e-17 + u_low * 0.3333333333333333
    q = u * z * horner(z, 1 / 5, 1 / 7, 1 / 9, 1 / 11, 1 / 13, 1 / 15, 1 / 17, 1 / 19, 1 / 21, 1 / 23, 1 / 25)
    h = s + c
    l = (c - (h - s)) + (s_low + (c_low + q))
    p = h * 2.8853900817779268
    p_low = fma(h, 2.8853900817779268, -p) + h * 4.0710547481862066e-17 + l * 2.8853900817779268
    e = where(is_small, k - 52, k).to(fp64)
    high = e + p
    return high, (p - (high - e)) + p_low

# 2^(high + low) = 2^k (p + p_low); |high| up to 2000. Taylor: the next term is below 2^-58.
@jit
def exp2_sum(high, low):
    k = rint(high)
    b = high - k
    f = b + low
    g = horner(f, 0.69314718055994529, 0.24022650695910072, 0.055504108664821583, 0.0096181291076284769,
               0.0013333558146428443, 0.00015403530393381609, 1.5252733804059841e-05, 1.321548679014431e-06,
               1.01780860092397e-07, 7.0549116208011234e-09, 4.4455382718708116e-10, 2.5678435993488206e-11,
               1.3691488853904128e-12)
    p = 1.0 + f * g
    return k.to(i64), p, fma(f, g, 1.0 - p) + ((b - f) + low) * 0.69314718055994529

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
    c = where(t > 2000.0, 2000.0, where(t < -2000.0, -2000.0, t))
    r = exp2_parts(c, where(abs(t) < 2000.0, t_low, 0.0))
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
    r, e, q = quadrant(x)
    z = r * r
    w = r * z * horner(z, 0.33333333333333376, 0.13333333333325803, 0.0539682539726501, 0.021869488406300343,
                       0.008863237808435884, 0.0035921020811717306, 0.0014560369529307718, 0.0005889077466162671,
                       0.00024359649610554207, 8.395587670858827e-05, 6.649640039929282e-05, -2.4712791708059998e-05,
                       4.786429541069175e-05, -2.3890359742099323e-05, 9.713388958870735e-06)
    t = r + w
    w = w + fma(e * t, t, e)
    t = r + w
    t_low = w - (t - r)
    c = div_rn(-1.0, t)
    c = c + c * (fma(c, t, 1.0) + c * t_low)
    y = where((q & 1) != 0, c, t)
    return (bits(y) ^ (bits(x) & SIGN)).to(fp64, bitcast=True)

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
    near = a + a * z * horner(z, -0.166666666666666102, 0.0749999999998441799, -0.0446428571278321699,
                              0.0303819437164147771, -0.0223721383587134638, 0.0173523869626934832,
                              -0.0139602323429444324, 0.011512984702381691, -0.00953414522327593116,
                              0.00746560632713136473, -0.00474752060272032656, 0.00171808780365972257)
    p = fma(a, a, 1.0)
    far = log_with_root(a, p, fma(a, a, -(p - 1.0)), 134217728.0)
    return with_sign(where(a < 0.5, near, where(a < inf, far, a)), x)

# log(1 + v) with v = t + sqrt(t (t + 2)) and t = x - 1, which is exact.
@jit
def acosh(x):
    is_far = x > 134217728.0
    t = where(is_far, 134217728.0, x) - 1.0
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
    near = a + a * z * horner(z, 0.333333333333339898, 0.199999999997951339, 0.142857143080334964, 0.111111098886538213,
                              0.0909094848484982497, 0.0769149475917403654, 0.0667794436197066176,
                              0.0577439539838218126, 0.0598241286257427872, 0.0145643376518695328, 0.144929185447186517,
                              -0.152896631323018031, 0.224777645388711682)
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
    c = where(high > 2000.0, 2000.0, where(high < -2000.0, -2000.0, high))
    return exp2_parts(c, where(abs(high) < 2000.0, low, 0.0))

# ---- erfc and its inverse -----------------------------------------------------------------------------------------

# e^(c^2) erfc(c) (1 + 2c) as a sum of two, for c from 0 to 28: a polynomial in (x - k) / (x + k).
@jit
def tail_ratio(c):
    t = div_rn(c - 4.0, c + 4.0)
    rest = horner(t, -0.139621116840562532, 0.0153796521026189942, 0.0680970542546951428, -0.101039066036250347,
                  0.093732834998259413, -0.0663303658137090283, 0.0371675155388841552, -0.0161977340369027247,
                  0.00503196996747271384, -0.000757773458433521282, -0.000199256660537328829, 0.000150622535794877223,
                  -2.43991889707474634e-05, -1.12248341159557588e-05, 5.70912859317447714e-06, 2.99708965989032968e-07,
                  -8.23248130065246518e-07, 6.69022797098123046e-08, 1.06216806912877632e-07, -1.21824203154800607e-08,
                  -1.06534467165952732e-08)
    r = fma(t, rest, 1.2329951186255526)
    return r, fma(t, rest, 1.2329951186255526 - r) - 4.62531892e-17

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

# erf(x) for |x| < 0.25.
@jit
def erf_near(x):
    z = x * x
    return x + x * horner(z, 0.12837916709551257, -0.37612638903183748, 0.11283791670954908, -0.026866170645080147,
                          0.0052239776248388242, -0.00085483269816001833, 0.00012055331128889671,
                          -1.4925595496311569e-05, 1.6461001953579866e-06)

@jit
def erfc(x):
    a = abs(x)
    i, y = tail(where(a > 28.0, 28.0, a), None)
    y = scaled(y, i)
    return where(a < 0.25, 1.0 - erf_near(x), where(x < 0, 2.0 - y, y))

# With c + c_low = |x| / sqrt(2) half of erfc(-x / sqrt(2)).
@jit
def normcdf(x):
    a = abs(x)
    a = where(a > 40.0, 40.0, a)
    c = a * 0.7071067811865476
    i, y = tail(where(c > 28.0, 28.0, c), fma(a, 0.7071067811865476, -c) + a * -4.8336466567264567e-17)
    y = scaled(y, i - 1)
    near = 0.5 + 0.5 * erf_near(0.7071067811865476 * x)
    return where(a < 0.35, near, where(x > 0, 1.0 - y, where(x < 0, y, x)))

# Near 0 e^(x^2) (1 - erf(x)); from 28 on the asymptotic series; below 0 what is missing to 2 e^(x^2).
@jit
def erfcx(x):
    a = abs(x)
    c = where(a > 28.0, 28.0, a)
    r, r_low = tail_ratio(c)
    y, y_low = over_width(r, r_low, c)
    z = 1.0 / (a * a)
    v = 0.5641895835477563 / a
    far = v + v * z * horner(z, -1 / 2, 3 / 4, -15 / 8, 105 / 16, -945 / 32, 10395 / 64, -135135 / 128)
    y = where(a > 28.0, far, y + y_low)
    i, p, p_low = bell(c, None, 1)
    e = erf_near(x)
    n = 1.0 - e
    near = n + (((1.0 - n) - e) + n * expm1(x * x))
    return where(a < 0.25, near, where(x < 0, scaled(p + p_low, i + 1) - y, where(x == x, y, x)))

# erfinv(x) for |x| <= 1/2.
@jit
def inverse_near(x):
    z = x * x
    p = horner(z, 0.232013666534654241, 0.127556175305688624, 0.0865521292301755273, 0.0649596184653115247,
               0.051731255014425204, 0.0428373728874673566, 0.0364552076435263871, 0.0318124855164711342,
               0.0269694176893775374, 0.0309172669633588561, -0.0015078991439048014, 0.0873746479093524042,
               -0.0966572635398973053, 0.120194558792656974)
    return fma(x, 0.886226925452758, x * (z * p + -3.8332932499128993e-17))

# The y with erfc(y) = q, for q from 0 to 1/2: a fit in (s - k) / (s + k) with s^2 = -log q, then a step that compares
# q / e^(-y^2) with erfc(y) / e^(-y^2).
@jit
def inverse_tail(q):
    s = sqrt_rn(-log(where(q > 0, q, 0.5)))
    y = s * horner((s - 4.0) / (s + 4.0), 0.9378398461247559, 0.18802643262463526, -0.25651989263964577,
                   0.24914152386752532, -0.20967246533351176, 0.15165062141374881, -0.090203079799598631,
                   0.028002532228364308, 0.033585978715030788, -0.049903356682105641, 0.0092905384823520508,
                   -0.069063394719439898, 0.20895048036328918, -0.10008261855581991, -0.12819614983467542,
                   0.099236683613220484)
    r, r_low = tail_ratio(y)
    w, w_low = over_width(r, r_low, y)
    i, p, p_low = bell(y, None, -1)
    n = scaled(q, -i)
    g = n / p
    u = ((w - g) + (w_low - (fma(-g, p, n) - g * p_low) / p)) * 0.886226925452758
    y = y + u / (1.0 - u * y)
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
    return where(abs(y) < inf, fma(y, 1.4142135623730951, y * -9.6672933134529135e-17), y)

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
    y = z * 0.42278433509846713
    p = z * horner(z, 0.322467033424113235, -0.0673523010531983127, 0.0205808084277805673, -0.00738555102864967945,
                   0.00289051033102376712, -0.00119275391275930188, 0.000509669515675413799, -0.00022315473515262135,
                   0.0000994576700439699644, -0.000044926531225708166, 0.0000205056172995523013,
                   -9.43723640309573925e-6, 4.38459022518509767e-6, -2.04975456444273129e-6, 9.20313409421474855e-7,
                   -4.20044465802540377e-7, 2.78495837535334487e-7, -1.4329235055856099e-7)
    y_low = fma(z, 0.42278433509846713, -y) + z * (4.9429151524306449e-18 + p) + sign * (l_low + f_low / f)
    y, rest = two_sum(y, sign * l)
    b, b_low = log_parts(a)
    c = a - 0.5
    w = 1.0 / a
    far = c * (b - 1.0)
    p = w * horner(w * w, 1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400,
                   43867 / 244188)
    far_low = where(far < inf, fma(c, b - 1.0, -far) + (c * b_low + (0.4189385332046727 + p)), 0.0)
    y_low = where(a < 8.0, y_low + rest, far_low)
    y = where(a < 8.0, y, far)
    is_reflected = (x < 0) & ~is_small
    sine = where(is_reflected, abs(sinpi(a)), 1.0)
    m, m_low = log_parts(a * sine)
    r, r_low = two_sum(1.1447298858494002, -m)
    m, rest = two_sum(r, -y)
    y = where(is_reflected, m + ((r_low + rest) + (1.0265951162707826e-17 - m_low - y_low)), y + y_low)
    return where((a == 0) | (sine == 0) | (a == inf), inf, where(x == x, y, x))
