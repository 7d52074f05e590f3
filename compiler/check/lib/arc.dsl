# arc.dsl - inverse circular functions of fp32 and fp64; narrower types come widened,
# and their results are rounded once.
#
# Every bound is in numerics.md. A sum of a product and a term is one fma (the pass fma), and the exact steps lean
# on that. Coefficients are weighted minimax fits; the weight makes the result's relative error even.

@jit
def horner(x, *c):
    r = c[len(c) - 1]
    for i in static_range(len(c) - 2, -1, -1):
        r = r * x + c[i]
    return r

@jit
def is_negative(x):  # so is -0
    if x.dtype == fp64:
        return x.to(i64, bitcast=True) < 0
    else:
        return x.to(i32, bitcast=True) < 0

@jit
def with_sign(y, x):  # y >= 0
    return where(is_negative(x), -y, y)

# pi / 2 as high + low.
@jit
def quarter(x):
    if x.dtype == fp64:
        return 1.5707963267948966, 6.1232339957367659e-17
    else:
        return 1.57079637, -4.371139e-08

# atan t - t for t from 0 to 1, where t + t_low is the argument.
@jit
def atan_rest(t, t_low):
    z = t * t
    if t.dtype == fp64:
        p = horner(z, -0.333333333333330681, 0.199999999999514627, -0.142857142825750674, 0.111111110070228307,
                   -0.0909090700291832904, 0.0769227983839048538, -0.0666640405023187398, 0.058805277722514499,
                   -0.0525351837239556393, 0.0472232163365223891, -0.0421917750298355688, 0.0366418827658404723,
                   -0.0299038159689775582, 0.0219848034844441935, -0.013900515204495889, 0.00719647278326047092,
                   -0.0028849034679919392, 0.000831316773522871472, -0.000152159810503616376, 1.32249740392254928e-05)
    else:
        p = horner(z, -0.333332991, 0.199985483, -0.142642421, 0.109521873, -0.0840345285, 0.0579576089, -0.0311778389,
                   0.0109145924, -0.00179361699)
    return t * z * p + t_low * (1.0 - 0.5 * z)

@jit
def atan(x):
    high, low = quarter(x)
    a = abs(x)
    is_far = a > 1.0
    c = where(a > 1e20, 1e20, a)
    t = where(is_far, div_rn(1.0, c), a)
    w = atan_rest(t, where(is_far, fma(-t, c, 1.0) * t, 0.0))
    return with_sign(where(is_far, high - (t - (low - w)), t + w), x)

# The angle of the point (x, y): that of the octant, and from there by quarters and signs.
@jit
def atan2(y, x):
    high, low = quarter(x)
    a = abs(x)
    b = abs(y)
    is_far = b > a
    n = where(is_far, a, b)
    d = where(is_far, b, a)
    t = div_rn(n, d)
    t_low = where((n < d) & (d < inf), fma(-t, d, n) / d, 0.0)
    t = where(n == d, where(d == 0, 0.0, 1.0), t)
    w = atan_rest(t, t_low)
    is_left = is_negative(x)
    turns = where(is_far, 1.0, where(is_left, 2.0, 0.0)).to(x.dtype)
    is_back = is_far != is_left
    r = turns * high + (where(is_back, -t, t) + (turns * low + where(is_back, -w, w)))
    return with_sign(r, y)

# asin of |x| below 1/2 is s + w with s = |x|; above it is pi/2 - 2 (s + w) with s = sqrt((1 - |x|) / 2).
@jit
def asin_parts(a):
    is_far = a > 0.5
    z = where(is_far, 0.5 - 0.5 * a, a * a)
    root = sqrt_rn(z)
    s = where(is_far, root, a)
    s_low = where(is_far & (z > 0), fma(-root, root, z) / (root + root), 0.0)
    if a.dtype == fp64:
        p = horner(z, 0.166666666666667604, 0.0749999999997079827, 0.0446428571746133655, 0.0303819427077197622,
                   0.022372214989160996, 0.0173516119915757412, 0.0139808207573277976, 0.0113989108638295627,
                   0.0107802589575461831, 0.00370638934368690639, 0.0217074874224017897, -0.0209991125018842658,
                   0.0326286517907498857)
    else:
        p = horner(z, 0.166667524, 0.0749530025, 0.0454701228, 0.0241804306, 0.0421652254)
    return is_far, s, s * z * p + s_low

@jit
def asin(x):
    high, low = quarter(x)
    is_far, s, w = asin_parts(abs(x))
    return with_sign(where(is_far, high - (2.0 * s - (low - 2.0 * w)), s + w), x)

@jit
def acos(x):
    high, low = quarter(x)
    is_far, s, w = asin_parts(abs(x))
    is_left = x < 0
    near = high - (x - (low - where(is_left, -w, w)))
    far = where(is_left, 2.0 * high - (2.0 * s - (2.0 * low - 2.0 * w)), 2.0 * (s + w))
    return where(is_far, far, near)
