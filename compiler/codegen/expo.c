/* expo.c - exp, exp2, log, log2, square roots and division, as LLVM instructions.
 *
 * In: a float value. Out: the function within ops.def's bound, with IEEE's special values and subnormals.
 * Method: exp = 2^n * polynomial, or 2^n times the target's ex2 of what is left;
 * log = e * ln 2 + log1p(f). math.c brings fp16 and bf16 to fp32 and back; fp64 never goes through fp32.
 */
#include <math.h>

#include "codegen/mathimpl.h"

#define LOG2E          1.4426950408889634074
#define LN2            0.69314718055994530942
#define LOG2E_F32      0x1.715476p+0 /* log2 e as fp32 */
#define LOG2E_F32_REST 0x1.4ae0cp-26 /* what that leaves */
#define LOG2E_F32_LEAD 0x1.714p+0    /* its leading 11 bits */
#define LOG2E_F64_LEAD 0x1.715476p+0 /* its leading 24 bits */
#define LOG2E_F64_REST 0x1.777d0ffda0d24p-56

/* What the two formats differ in. ln2_high has so few bits that n * ln2_high is exact for every exponent n. */
typedef struct Format {
    DType d;
    int bits, mantissa;
    double ln2_high, ln2_low, exp_limit; /* e^±exp_limit is far outside the range */
    int64_t one, log_start;              /* bits of 1; bits of the least m in log's interval [m, 2m) around 1 */
    const double *exp_poly;
    unsigned exp_terms;
} Format;

/* (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2: minimax fit, relative error of e^r 2^-28. */
static const double exp_poly32[] = {0.5, 0.16666518, 0.041666206, 0.008368882, 0.0013950476};
/* (2^f - 1) / f on |f| <= 1/2: minimax fits, relative errors of 2^f 1.1e-7 and 2.9e-6. */
static const double exp_poly_term[] = {0.693147, 0.24022242, 0.055507336, 0.009671513, 0.0013264727};
static const double exp_poly_relaxed[] = {0.6931242, 0.24024099, 0.055906426, 0.009582853};
/* (e^r - 1 - r) / r^2: Taylor, 1 / (k + 2)!; the next term is below 2^-58. */
static const double exp_poly64[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                    1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                    1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
/* (log1p(f) - f + f^2 / 2) / f^3 on |f| <= 1/3: minimax fit, relative error of log1p 2^-30. */
static const double log_poly32[] = {0.33333334,  -0.2499982,  0.19999598,  -0.16679579, 0.14304455,
                                    -0.12195774, 0.107542604, -0.12845077, 0.120070525};
/* (log((1 + s) / (1 - s)) - 2s) / (s * s^2) in s^2: Taylor, 2 / (2k + 3); s <= 0.172, the next term is below 2^-60. */
static const double log_poly64[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                    2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};

static const Format format32 = {DT_FP32, 32,         23,         0x1.62ep-1, 0x1.0bfbe8p-15,
                                150.0,   0x3f800000, 0x3f2aaaab, exp_poly32, COUNT(exp_poly32)};
static const Format format64 = {DT_FP64,
                                64,
                                52,
                                0x1.62e42fefp-1,
                                0x1.473de6af278edp-34,
                                800.0,
                                INT64_C(0x3ff0000000000000),
                                INT64_C(0x3fe6a09e667f3bcd),
                                exp_poly64,
                                COUNT(exp_poly64)};

V math_fma(const Math *k, V x, V y, V z) {
    LLVMTypeRef t = LLVMTypeOf(x);
    V args[] = {x, y, z};
    return llvm_intrinsic(k->m, "llvm.fma", &t, 1, args, 3);
}

V math_mad(const Math *k, V x, V y, V z) {
    return math_has(k, FEATURE_FMA) ? math_fma(k, x, y, z) : mk_fadd(k, mk_fmul(k, x, y), z);
}

V math_poly(const Math *k, V x, const double *c, unsigned n) {
    V r = mk_real(x, c[n - 1]);
    for (unsigned i = n - 1; i-- > 0;) r = math_mad(k, r, x, mk_real(x, c[i]));
    return r;
}

V math_approx(const Math *k, Approx which, V x, V y) {
    return k->approx ? k->approx(k, which, x, y) : NULL;
}

static LLVMTypeRef bits_type(const Math *k, const Format *f) {
    return f->bits == 64 ? k->m->i64 : k->m->i32;
}
static LLVMTypeRef real_type(const Math *k, const Format *f) {
    return f->bits == 64 ? k->m->f64 : k->m->f32;
}

/* ---- exp and exp2 ------------------------------------------------------------------------------------------------ */

/* NaN stays. */
static V at_most(const Math *k, V x, double limit) {
    if (math_has(k, FEATURE_MINMAX_NAN)) return llvm_binary(k->m, "llvm.minimum", x, mk_real(x, limit));
    return mk_select(k, mk_fcmp(k, LLVMRealOGT, x, mk_real(x, limit)), mk_real(x, limit), x);
}

static V at_least(const Math *k, V x, double limit) {
    if (math_has(k, FEATURE_MINMAX_NAN)) return llvm_binary(k->m, "llvm.maximum", x, mk_real(x, limit));
    return mk_select(k, mk_fcmp(k, LLVMRealOLT, x, mk_real(x, limit)), mk_real(x, limit), x);
}

/* 2^n for an integer n within the normal exponents. */
static V power(const Math *k, const Format *f, V n) {
    V b = LLVMBuildShl(k->m->at, n, mk_int(n, f->mantissa), "");
    return mk_cast(k, mk_add(k, b, mk_int(b, f->one)), real_type(k, f));
}

/* base 2 or e: 2^n * e^r with |r| <= ln 2 / 2. The scaling takes two steps so that subnormal results round once. */
static V exp_poly(const Math *k, const Format *f, bool base2, V x) {
    double limit = base2 ? f->exp_limit * 1.45 : f->exp_limit;
    V keep = NULL;
    if (k->scale) { /* it may take 150 cycles to find that a result is 0 */
        keep = mk_fcmp(k, LLVMRealUGE, x, mk_real(x, (f->bits == 64 ? -1075 : -150) * (base2 ? 1 : LN2)));
        x = mk_select(k, keep, at_most(k, x, limit), mk_real(x, 0));
    } else {
        x = at_least(k, at_most(k, x, limit), -limit);
    }
    double magic_value = f->bits == 64 ? 0x1.8p52 : 0x1.8p23;
    V magic = mk_real(x, magic_value);
    V shifted = base2 ? mk_fadd(k, x, magic) : math_mad(k, x, mk_real(x, LOG2E), magic);
    V nf = mk_fsub(k, shifted, magic);
    V r;
    if (base2) {
        r = mk_fmul(k, mk_fsub(k, x, nf), mk_real(x, LN2));
    } else {
        r = math_mad(k, nf, mk_real(x, -f->ln2_high), x); /* the product is exact */
        r = math_mad(k, nf, mk_real(x, -f->ln2_low), r);
    }
    V q = math_poly(k, r, f->exp_poly, f->exp_terms);
    V y = mk_fadd(k, math_mad(k, mk_fmul(k, r, r), q, r), mk_real(x, 1));
    if (k->scale) return k->scale(k, y, nf, keep);
    V n = mk_sub(k, mk_cast(k, shifted, bits_type(k, f)), mk_cast(k, magic, bits_type(k, f)));
    V half = LLVMBuildAShr(k->m->at, n, mk_int(n, 1), "");
    return mk_fmul(k, mk_fmul(k, y, power(k, f, half)), power(k, f, mk_sub(k, n, half)));
}

/* base 2 or e, relaxed or a term, as 2^n 2^f: t = n + f is rounded by 2^-24 of itself, and log2 e by less. So results
 * above 2^-126 err by 6.7e-6, subnormal ones by 1e-5. Of infinity f is NaN, which `scale` makes infinity again. */
static V exp_short(const Math *k, bool base2, bool is_term, V x) {
    V keep = mk_fcmp(k, LLVMRealUGE, x, mk_real(x, -150 * (base2 ? 1 : LN2)));
    V t = mk_select(k, keep, base2 ? x : mk_fmul(k, x, mk_real(x, LOG2E_F32)), mk_real(x, 0));
    V n = llvm_unary(k->m, "llvm.nearbyint", t), f = mk_fsub(k, t, n);
    V q = is_term ? math_poly(k, f, exp_poly_term, COUNT(exp_poly_term))
                  : math_poly(k, f, exp_poly_relaxed, COUNT(exp_poly_relaxed));
    return k->scale(k, math_mad(k, q, f, mk_real(x, 1)), n, keep);
}

/* base 2 or e as the square of ex2 of half of it: ex2 would flush what is subnormal, a product does not. Its argument,
 * 75 at most, is rounded by 2^-24 of itself, and half of log2 e by as much: together 7e-6, 17 bits. */
static V exp_relaxed(const Math *k, bool base2, V x) {
    V y = math_approx(k, APPROX_EX2, mk_fmul(k, x, mk_real(x, base2 ? 0.5 : LOG2E_F32 / 2)), NULL);
    return mk_fmul(k, y, y);
}

/* base 2 or e within 2 ulp: 2^(n - 1) 2^(1 + f), all of the error is ex2's and the rounding of 1 + f, as f = x
 * log2(base) - n is exact to 2^-25. ex2 errs by up to 2.06 ulp between -1/2 and 0, by 1.40 above 0 (measured on sm_90):
 * hence the 1. n - 1 stays within the normal exponents and f takes the rest, so that what overflows and what is
 * subnormal round once; a NaN passes through f. */
static V exp_approx(const Math *k, bool base2, V x) {
    double magic = 0x1.8p23 + 126; /* the low bits of a sum are the biased exponent of 2^(n - 1) */
    V log2_base = mk_real(x, base2 ? 1 : LOG2E_F32);
    V sum = math_fma(k, x, log2_base, mk_real(x, magic));
    sum = llvm_binary(k->m, "llvm.maxnum", sum, mk_real(x, magic - 125));
    sum = llvm_binary(k->m, "llvm.minnum", sum, mk_real(x, magic + 128));
    V f = math_fma(k, x, log2_base, mk_fsub(k, mk_real(x, magic), sum));
    if (!base2) f = math_fma(k, x, mk_real(x, LOG2E_F32_REST), f);
    f = mk_fadd(k, f, mk_real(x, 1));
    V bits = mk_cast(k, sum, k->m->i32);
    V scale = mk_cast(k, LLVMBuildShl(k->m->at, bits, mk_int(bits, format32.mantissa), ""), k->m->f32);
    return mk_fmul(k, math_approx(k, APPROX_EX2, f, NULL), scale);
}

/* A term: x log2 e is rounded by 2^-24 of itself and log2 e by less, e^x |x| is 1/e at most, and ex2 errs by 2 ulp. */
V math_exp(const Math *k, bool base2, Accuracy accuracy, DType d, V x) {
    if (d == DT_FP64) return exp_poly(k, &format64, base2, x);
    if (!k->approx && k->scale && (k->fast || accuracy != ACCURACY_FULL))
        return exp_short(k, base2, accuracy == ACCURACY_TERM, x);
    if (!k->approx) return exp_poly(k, &format32, base2, x);
    if (k->fast || accuracy == ACCURACY_TERM)
        return math_approx(k, APPROX_EX2, base2 ? x : mk_fmul(k, x, mk_real(x, LOG2E_F32)), NULL);
    return accuracy == ACCURACY_RELAXED ? exp_relaxed(k, base2, x) : exp_approx(k, base2, x);
}

/* ---- log and log2 ------------------------------------------------------------------------------------------------ */

/* log1p(f) for m = 1 + f. fp32: f - f^2/2 + f^3 P(f). fp64: with s = f / (2 + f), f - (h - s (h + R(s^2))),
 * h = f^2/2. */
static V log1p_poly(const Math *k, const Format *f, V x) {
    if (f->bits == 32) {
        V p = math_mad(k, math_poly(k, x, log_poly32, COUNT(log_poly32)), x, mk_real(x, -0.5));
        return math_mad(k, mk_fmul(k, x, x), p, x);
    }
    V s = mk_fdiv(k, x, mk_fadd(k, x, mk_real(x, 2)));
    V z = mk_fmul(k, s, s);
    V r = mk_fmul(k, z, math_poly(k, z, log_poly64, COUNT(log_poly64)));
    V h = mk_fmul(k, mk_fmul(k, x, x), mk_real(x, 0.5));
    return mk_fsub(k, x, mk_fsub(k, h, mk_fmul(k, s, mk_fadd(k, h, r))));
}

/* r log2(e) + e within half an ulp more than r itself.
 * Without an fma the leading half of r makes the large product exact. */
static V log2_scale(const Math *k, const Format *f, V r, V e) {
    bool wide = f->bits == 64;
    V rest = math_mad(k, r, mk_real(r, wide ? LOG2E_F64_REST : LOG2E_F32_REST),
                      math_has(k, FEATURE_FMA) ? e : mk_real(r, 0));
    if (math_has(k, FEATURE_FMA)) return math_fma(k, r, mk_real(r, wide ? LOG2E : LOG2E_F32), rest);
    double lead = wide ? LOG2E_F64_LEAD : LOG2E_F32_LEAD, tail = (wide ? LOG2E : LOG2E_F32) - lead;
    V bits = mk_cast(k, r, bits_type(k, f));
    V high = mk_cast(k, mk_and(k, bits, mk_int(bits, -(INT64_C(1) << (wide ? 27 : 12)))), real_type(k, f));
    V low = mk_fsub(k, r, high);
    V small = mk_fadd(k, mk_fadd(k, mk_fmul(k, low, mk_real(r, lead)), mk_fmul(k, r, mk_real(r, tail))), rest);
    return mk_fadd(k, mk_fadd(k, e, mk_fmul(k, high, mk_real(r, lead))), small);
}

static V log_poly(const Math *k, const Format *f, bool base2, V x) {
    LLVMTypeRef it = bits_type(k, f), ft = real_type(k, f);
    V least = mk_cast(k, mk_int(mk_cast(k, x, it), INT64_C(1) << f->mantissa), ft);
    V low = mk_fcmp(k, LLVMRealOLT, x, least); /* subnormal: work 2^mantissa higher */
    V scaled = mk_select(k, low, mk_fmul(k, x, mk_real(x, ldexp(1, f->mantissa))), x);
    V b = mk_cast(k, scaled, it);
    V d = mk_sub(k, b, mk_int(b, f->log_start));
    V e = LLVMBuildAShr(k->m->at, d, mk_int(d, f->mantissa), "");
    V m = mk_cast(k, mk_sub(k, b, LLVMBuildShl(k->m->at, e, mk_int(e, f->mantissa), "")), ft);
    e = mk_add(k, e, mk_select(k, low, mk_int(e, -f->mantissa), mk_int(e, 0)));
    if (f->bits == 64) e = mk_trunc(k, e, k->m->i32); /* hardware converts 32-bit integers faster */
    V ef = LLVMBuildSIToFP(k->m->at, e, LLVMTypeOf(x), "");
    V r = log1p_poly(k, f, mk_fsub(k, m, mk_real(m, 1)));
    V y;
    if (base2) {
        y = log2_scale(k, f, r, ef);
    } else {
        y = mk_fadd(k, math_mad(k, ef, mk_real(x, f->ln2_low), r), mk_fmul(k, ef, mk_real(x, f->ln2_high)));
    }
    /* Positive and finite is one unsigned compare of the bits; else 0 gives -inf, +inf itself, the rest NaN. */
    int64_t infinity = ((INT64_C(1) << (f->bits - 1 - f->mantissa)) - 1) << f->mantissa;
    V bits = mk_cast(k, x, it);
    V plain = mk_icmp(k, LLVMIntULT, mk_sub(k, bits, mk_int(bits, 1)), mk_int(bits, infinity - 1));
    V other = mk_select(k, mk_fcmp(k, LLVMRealOGT, x, mk_real(x, 0)), x, mk_real(x, (double)NAN));
    other = mk_select(k, mk_fcmp(k, LLVMRealOEQ, x, mk_real(x, 0)), mk_real(x, -(double)INFINITY), other);
    return mk_select(k, plain, y, other);
}

V math_log(const Math *k, bool base2, DType d, V x) {
    V y = k->fast && d == DT_FP32 ? math_approx(k, APPROX_LG2, x, NULL) : NULL;
    if (!y) return log_poly(k, d == DT_FP64 ? &format64 : &format32, base2, x);
    return base2 ? y : mk_fmul(k, y, mk_real(y, LN2));
}

/* ---- Roots and division ------------------------------------------------------------------------------------------ */

V math_sqrt(const Math *k, DType d, V x) {
    V y = k->fast && d != DT_FP64 ? math_approx(k, APPROX_SQRT, x, NULL) : NULL;
    return y ? y : llvm_unary(k->m, "llvm.sqrt", x);
}

V math_rsqrt(const Math *k, DType d, V x) {
    V y = d != DT_FP64 ? math_approx(k, APPROX_RSQRT, x, NULL) : NULL;
    return y ? y : mk_fdiv(k, mk_real(x, 1), llvm_unary(k->m, "llvm.sqrt", x));
}

V math_fdiv(const Math *k, DType d, V x, V y) {
    if (d == DT_FP64) return mk_fdiv(k, x, y);
    V r = k->fast ? math_approx(k, APPROX_RCP, y, NULL) : NULL;
    if (r) return mk_fmul(k, x, r);
    r = math_approx(k, APPROX_DIV, x, y);
    return r ? r : mk_fdiv(k, x, y);
}

/* One Newton step makes the reciprocal good to half an ulp; where y is 0, infinite or NaN it would spoil it. Scaling
 * keeps 1 / y normal; x * scale overflows only where x / y does and loses bits only where x / y is 0. */
Divisor math_divisor(const Math *k, V y) {
    V a = llvm_unary(k->m, "llvm.fabs", y);
    V scale = mk_select(k, mk_fcmp(k, LLVMRealOLT, a, mk_real(y, 0x1p-100)), mk_real(y, 0x1p64), mk_real(y, 1));
    scale = mk_select(k, mk_fcmp(k, LLVMRealOGT, a, mk_real(y, 0x1p122)), mk_real(y, 0x1p-8), scale);
    V ys = mk_fmul(k, y, scale);
    V r = math_approx(k, APPROX_RCP, ys, NULL);
    if (!r) return (Divisor){scale, mk_fdiv(k, mk_real(ys, 1), ys)};
    V rest = math_fma(k, LLVMBuildFNeg(k->m->at, ys, ""), r, mk_real(y, 1));
    V better = math_fma(k, r, rest, r);
    V fine = mk_fcmp(k, LLVMRealOLT, llvm_unary(k->m, "llvm.fabs", better), mk_real(y, (double)INFINITY));
    return (Divisor){scale, mk_select(k, fine, better, r)};
}

V math_divide(const Math *k, V x, Divisor by) {
    return mk_fmul(k, mk_fmul(k, x, by.scale), by.reciprocal);
}
