# The functions of the mathematical library, a few to a kernel, so that none needs more registers than there are.
@kernel(grid=(1,))
def singles(x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(x + i, sin(v) + cos(v) + tanh(v) + erf(v) + expm1(v) + log1p(v) + sigmoid(v) + softmax(v) + v ** v)
    store(x + i, where(isnan(v) | isinf(v), 0.0, libdevice.round(v)))

@kernel(grid=(1,))
def singles_more(x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(x + i, tan(v) + asin(v) + acos(v) + atan(v) + sinh(v) + cosh(v) + asinh(v) + acosh(v) + atanh(v) + cbrt(v) + erfc(v))

@kernel(grid=(1,))
def singles_pairs(x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(x + i, atan2(v, v) + hypot(v, v) + fmod(v, v) + remainder(v, v) + nextafter(v, v) + exp10(v) + log10(v))
    store(x + i, rcbrt(v) + sinpi(v) + cospi(v) + logb(v) + ldexp(v, i) + scalbn(2.0, ilogb(v)))

@kernel(grid=(1,))
def doubles(d: *fp64):
    i = arange(0, 128)
    w = load(d + i)
    store(d + i, sin(w) + cos(w) + tanh(w) + erf(w) + expm1(w) + log1p(w) + sigmoid(w) + softmax(w) + w ** w)

@kernel(grid=(1,))
def doubles_more(d: *fp64):
    i = arange(0, 128)
    w = load(d + i)
    store(d + i, tan(w) + asin(w) + acos(w) + atan(w) + sinh(w) + cosh(w) + asinh(w) + acosh(w) + atanh(w) + cbrt(w) + erfc(w))

@kernel(grid=(1,))
def doubles_pairs(d: *fp64):
    i = arange(0, 128)
    w = load(d + i)
    store(d + i, atan2(w, w) + hypot(w, w) + fmod(w, w) + remainder(w, w) + nextafter(w, w) + exp10(w) + log10(w))
    store(d + i, rcbrt(w) + sinpi(w) + cospi(w) + logb(w) + ldexp(w, i) + scalbn(w, ilogb(w)))

@kernel(grid=(1,))
def areas(x: *fp32, d: *fp64):
    i = arange(0, 128)
    v = load(x + i)
    store(x + i, erfcx(v) + erfinv(v) + erfcinv(v) + normcdf(v) + normcdfinv(v) + rhypot(v, v) + lgamma(v))
    store(x + i, (popc(i) + clz(i) + ffs(i) + brev(i) + byte_perm(i, i, i)).to(fp32))
    store(d + i, normcdfinv(load(d + i)))

@kernel(grid=(1,))
def areas_doubles(d: *fp64):
    i = arange(0, 128)
    w = load(d + i)
    store(d + i, erfcx(w) + rhypot(w, w) + normcdf(w) + lgamma(w))

@kernel(grid=(1,))
def halves(h: *fp16, b: *bf16):
    i = arange(0, 128)
    p = load(h + i)
    store(h + i, sin(p) + tanh(p) + erf(p) + p ** p + floor(p) + softmax(p))
    q = load(b + i)
    store(b + i, cos(q) + expm1(q) + log1p(q) + q ** 0.5 + round(q) + softmax(q))
    store(h + i, atan2(p, p) + hypot(p, p) + fmod(p, p) + nextafter(p, p) + copysign(p, p) + fdim(p, p) + erfc(p))
