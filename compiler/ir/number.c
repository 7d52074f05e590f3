/* number.c - the bits of constants: integers of every width, floats of every format, without the host's help.
 *
 * In: doubles, integers, bits. Out: bits as ATTR_BITS holds them.
 * Method: a double is cut to the format's mantissa in integer arithmetic, so each value is rounded once. What a double
 * cannot hold exactly comes in rounded to odd: the last bit says "not exact", and the second rounding is then right.
 */
#include "ir/private.h"

#include <math.h>
#include <string.h>

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

int64_t int_wrap(DType d, int64_t x) {
    uint32_t bits = dtype_bits(d);
    if (bits == 64) return x;
    uint64_t low = (uint64_t)x & ((UINT64_C(1) << bits) - 1), sign = UINT64_C(1) << (bits - 1);
    return bits == 1 ? (int64_t)low : (int64_t)((low ^ sign) - sign);
}

uint64_t int_unsign(DType d, int64_t bits) {
    uint32_t n = dtype_bits(d);
    return n == 64 ? (uint64_t)bits : (uint64_t)bits & ((UINT64_C(1) << n) - 1);
}

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

typedef struct Format {
    int mantissa, bias;
    uint64_t top, nan; /* the codes of infinity (of the largest number, if there is none) and of the quiet NaN */
    bool has_inf;
} Format;

static Format format_of(DType d) {
    switch (d) {
    case DT_FP8E4NV: return (Format){3, 7, 0x7e, 0x7f, false};
    case DT_FP8E5: return (Format){2, 15, 0x7c, 0x7e, true};
    case DT_FP16: return (Format){10, 15, 0x7c00, 0x7e00, true};
    case DT_BF16: return (Format){7, 127, 0x7f80, 0x7fc0, true};
    case DT_FP32: return (Format){23, 127, 0x7f800000, 0x7fc00000, true};
    case DT_FP64: return (Format){52, 1023, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000), true};
    default: bug("format_of: %s is no float", dtype_name(d));
    }
}

static uint64_t double_code(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double double_of(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

int64_t float_nan(DType d) {
    return (int64_t)format_of(d).nan;
}

double float_from_bits(DType d, int64_t bits) {
    Format f = format_of(d);
    if (d == DT_FP64) return double_of((uint64_t)bits);
    uint64_t sign = (uint64_t)bits >> (dtype_bits(d) - 1) & 1,
             code = (uint64_t)bits & ((UINT64_C(1) << (dtype_bits(d) - 1)) - 1);
    uint64_t fraction = code & ((UINT64_C(1) << f.mantissa) - 1);
    int exponent = (int)(code >> f.mantissa);
    double x;
    if (code > f.top)
        x = (double)NAN;
    else if (f.has_inf && code == f.top)
        x = (double)INFINITY;
    else if (exponent == 0)
        x = ldexp((double)fraction, 1 - f.bias - f.mantissa);
    else
        x = ldexp((double)(fraction | UINT64_C(1) << f.mantissa), exponent - f.bias - f.mantissa);
    return copysign(x, sign ? -1.0 : 1.0);
}

/* ---- Rounding ---------------------------------------------------------------------------------------------------- */

/* The code of a finite positive double. */
static uint64_t round_code(Format f, uint64_t u, Round r) {
    int exponent = (int)(u >> 52) - 1023, least = 1 - f.bias;
    uint64_t significand = (u & ((UINT64_C(1) << 52) - 1)) | (u >> 52 ? UINT64_C(1) << 52 : 0);
    int drop = 52 - f.mantissa + (exponent < least ? least - exponent : 0);
    if (drop > 54) drop = 54; /* below half of the smallest number either way */
    uint64_t kept = significand >> drop, rest = significand & ((UINT64_C(1) << drop) - 1),
             half = (UINT64_C(1) << drop) >> 1;
    if (r == ROUND_NEAREST && drop > 0 && (rest > half || (rest == half && (kept & 1)))) kept++;
    /* A carry out of the mantissa lands in the exponent, which is where it belongs. */
    uint64_t code = exponent < least ? kept : kept + ((uint64_t)(exponent - least) << f.mantissa);
    uint64_t most = f.has_inf && r == ROUND_ZERO ? f.top - 1 : f.top;
    return code < most ? code : most;
}

int64_t float_round(DType d, double x, Round r) {
    uint64_t u = double_code(x), sign = u >> 63;
    if (d == DT_FP64 && !isnan(x)) return (int64_t)u;
    Format f = format_of(d);
    u &= ~(UINT64_C(1) << 63);
    uint64_t code = isnan(x) ? f.nan : isinf(x) ? f.top : round_code(f, u, r);
    return (int64_t)(code | sign << (dtype_bits(d) - 1));
}

int64_t float_to_bits(DType d, double x) {
    return float_round(d, x, ROUND_NEAREST);
}

int64_t float_from_int(DType d, bool negative, uint64_t magnitude) {
    double x;
    if (d == DT_FP64 || magnitude >> 53 == 0) {
        x = (double)magnitude; /* to nearest even, at once */
    } else {
        uint64_t odd = magnitude >> 11 | ((magnitude & 0x7ff) != 0);
        x = ldexp((double)odd, 11);
    }
    return float_to_bits(d, negative ? -x : x);
}

int64_t float_fma(DType d, double a, double b, double c) {
    if (d == DT_FP64) {
        double r = fma(a, b, c);
        return isnan(r) ? float_nan(d) : float_to_bits(d, r);
    }
    double product = a * b, sum = product + c; /* the product is exact: 24 + 24 bits */
    if (isnan(sum)) return float_nan(d);
    if (isinf(sum)) return float_to_bits(d, sum);
    double part = sum - product;
    double error = (product - (sum - part)) + (c - part); /* exactly product + c - sum */
    uint64_t u = double_code(sum);
    if (error != 0 && !(u & 1)) sum = double_of((error > 0) == (sum > 0) ? u + 1 : u - 1);
    return float_to_bits(d, sum);
}
