/* ir_reference.h - what every elementwise op gives on constants, written a second time, in plain C.
 *
 * In: an op and bits. Out: bits; and random bits of every type, those with which arithmetic goes wrong among them.
 * fp32 and fp64 are the machine's own. Smaller floats are rounded by looking the two neighbours up among all numbers of
 * the format, not by shifting bits.
 */
#ifndef IR_REFERENCE_H
#define IR_REFERENCE_H

#include "ir_random.h"

static Random rng;

/* ---- The reference for small floats ------------------------------------------------------------------------------ */

/* Value of a code, from the format's definition. */
static inline double small_value(DType d, uint32_t code) {
    int mantissa = d == DT_FP16 ? 10 : d == DT_BF16 ? 7 : d == DT_FP8E4NV ? 3 : 2;
    int bits = (int)dtype_bits(d), exponent_bits = bits - 1 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
    uint32_t fraction = code & ((1u << mantissa) - 1), exponent = code >> mantissa & ((1u << exponent_bits) - 1);
    double sign = code >> (bits - 1) ? -1 : 1;
    bool top = exponent == (1u << exponent_bits) - 1;
    if (d == DT_FP8E4NV && top && fraction == 7) return (double)NAN;
    if (d != DT_FP8E4NV && top) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * pow(2, 1 - bias - mantissa) * fraction;
    return sign * pow(2, (int)exponent - bias) * (1 + fraction / pow(2, mantissa));
}

/* The code of the largest finite number. */
static inline uint32_t small_most(DType d) {
    return d == DT_FP16 ? 0x7bff : d == DT_BF16 ? 0x7f7f : d == DT_FP8E4NV ? 0x7e : 0x7b;
}

/* x and what x lost when it was computed, which matters where x is a tie. */
static inline int64_t small_round_sum(DType d, long double x, long double lost, bool to_zero) {
    uint32_t low = 0, most = small_most(d), high = most, sign = signbit(x) ? 1u << (dtype_bits(d) - 1) : 0;
    long double a = fabsl(x), largest = small_value(d, most), step = largest - small_value(d, most - 1);
    if (isnan(x)) return -1;
    if (a >= largest + step / 2 && (!to_zero || isinf(x))) return (d == DT_FP8E4NV ? most : most + 1) | sign;
    while (high > low) { /* the largest code whose value is at most a */
        uint32_t middle = (low + high + 1) / 2;
        if (small_value(d, middle) <= a)
            low = middle;
        else
            high = middle - 1;
    }
    if (to_zero || low == most) return low | sign;
    long double below = a - small_value(d, low), above = small_value(d, low + 1) - a;
    if (below == above && lost != 0) return ((lost > 0) == (x > 0) ? low + 1 : low) | sign;
    return (below > above || (below == above && (low & 1)) ? low + 1 : low) | sign;
}

static inline int64_t small_round(DType d, long double x, bool to_zero) {
    return small_round_sum(d, x, 0, to_zero);
}

/* ---- Bits and values --------------------------------------------------------------------------------------------- */

static inline float float_of(int64_t bits) {
    uint32_t u = (uint32_t)bits;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline double double_of(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int64_t bits_of_double(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline int64_t bits_of_float(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double value_of(DType d, int64_t bits) {
    return d == DT_FP64 ? double_of(bits) : d == DT_FP32 ? (double)float_of(bits) : small_value(d, (uint32_t)bits);
}

static inline bool same_bits(DType d, int64_t a, int64_t b) {
    if (dtype_kind(d) != KIND_FLOAT) return a == b;
    return (isnan(value_of(d, a)) && (b == -1 || isnan(value_of(d, b)))) || a == b;
}

static inline int64_t sign_extend(DType d, int64_t x) {
    switch (d) {
    case DT_I1: return x & 1;
    case DT_I8: return (int8_t)x;
    case DT_I16: return (int16_t)x;
    case DT_I32: return (int32_t)x;
    default: return x;
    }
}

/* All kinds of numbers: any bits, near the format's edges, small integers. */
static inline int64_t random_constant(DType d) {
    int64_t any = (int64_t)random_bits(&rng), small = (int64_t)random_below(&rng, 9) - 4;
    uint32_t how = random_below(&rng, 4), n = dtype_bits(d);
    if (dtype_kind(d) != KIND_FLOAT) {
        int64_t edge = (int64_t)((UINT64_C(1) << (n - 1)) + (uint64_t)small);
        uint64_t high = UINT64_C(1) << random_below(&rng, n), low = UINT64_C(1) << random_below(&rng, n);
        int64_t ties = (int64_t)((high | low | high >> 7) + (uint64_t)small); /* near the middle of two floats */
        return sign_extend(d, how == 0 ? small : how == 1 ? edge : how == 2 ? ties : any >> random_below(&rng, 64));
    }
    if (how == 0)
        return d == DT_FP64   ? bits_of_double((double)small)
               : d == DT_FP32 ? bits_of_float((float)small)
                              : small_round(d, small, false);
    uint64_t mask = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1, low = random_below(&rng, 3), top;
    top = d == DT_FP64 ? UINT64_C(0x7ff0000000000000) : d == DT_FP32 ? 0x7f800000 : small_most(d) + (d != DT_FP8E4NV);
    if (how == 1) return (int64_t)((top - 1 + low) | (any < 0 ? (mask >> 1) + 1 : 0));
    return (int64_t)((uint64_t)any & mask);
}

/* ---- Plain C ----------------------------------------------------------------------------------------------------- */

/* The high half of a * b, bit by bit. */
static inline uint64_t ref_high(uint32_t n, uint64_t a, uint64_t b) {
    uint64_t high = 0, low = 0, top = UINT64_C(1) << (n - 1), mask = top | (top - 1);
    for (uint32_t i = n; i-- > 0;) {
        high = ((high << 1) | ((low & top) != 0)) & mask;
        low = (low << 1) & mask;
        if (!((b >> i) & 1)) continue;
        low = (low + a) & mask;
        if (low < a) high++;
    }
    return high;
}

static inline int64_t ref_int(OpKind k, DType d, int64_t a, int64_t b) {
    uint32_t n = dtype_bits(d);
    uint64_t mask = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1, ua = (uint64_t)a & mask, ub = (uint64_t)b & mask;
    switch (k) {
    case OP_ADD: return sign_extend(d, (int64_t)(ua + ub));
    case OP_SUB: return sign_extend(d, (int64_t)(ua - ub));
    case OP_MUL: return sign_extend(d, (int64_t)(ua * ub));
    case OP_UMULHI: return sign_extend(d, (int64_t)ref_high(n, ua, ub));
    case OP_SDIV: return b == 0 ? 0 : b == -1 ? sign_extend(d, (int64_t)(0 - ua)) : a / b;
    case OP_UDIV: return b == 0 ? 0 : sign_extend(d, (int64_t)(ua / ub));
    case OP_SREM: return b == 0 ? a : b == -1 ? 0 : a % b;
    case OP_UREM: return b == 0 ? a : sign_extend(d, (int64_t)(ua % ub));
    case OP_AND: return sign_extend(d, a & b);
    case OP_OR: return sign_extend(d, a | b);
    case OP_XOR: return sign_extend(d, a ^ b);
    case OP_SHL: return ub >= n ? 0 : sign_extend(d, (int64_t)(ua << ub));
    case OP_LSHR: return ub >= n ? 0 : sign_extend(d, (int64_t)(ua >> ub));
    case OP_ASHR: return ub >= n ? (a < 0 ? -1 : 0) : a >> ub;
    case OP_SMAX: return a < b ? b : a;
    case OP_SMIN: return a < b ? a : b;
    case OP_UMAX: return ua < ub ? b : a;
    case OP_UMIN: return ua < ub ? a : b;
    default: fail_msg("ref_int: %s", op_info[k].name);
    }
    return 0;
}

static inline bool ref_compare(Pred p, double a, double b) {
    bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    return results[p];
}

static inline bool ref_icmp(Pred p, DType d, int64_t a, int64_t b) {
    uint64_t mask = dtype_bits(d) == 64 ? UINT64_MAX : (UINT64_C(1) << dtype_bits(d)) - 1, ua = (uint64_t)a & mask,
             ub = (uint64_t)b & mask;
    bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
    return results[p];
}

static inline double ref_choose(OpKind k, double a, double b) {
    bool nan_wins = k == OP_FMAXNAN || k == OP_FMINNAN, is_max = k == OP_FMAX || k == OP_FMAXNAN;
    if (isnan(a)) return nan_wins ? a : b;
    if (isnan(b)) return nan_wins ? b : a;
    if (a == b && a == 0) return is_max ? (signbit(a) ? b : a) : (signbit(a) ? a : b);
    return is_max ? (a > b ? a : b) : (a < b ? a : b);
}

static inline double ref_double(OpKind k, const double *x) {
    switch (k) {
    case OP_FADD: return x[0] + x[1];
    case OP_FSUB: return x[0] - x[1];
    case OP_FMUL: return x[0] * x[1];
    case OP_FDIV: return x[0] / x[1];
    case OP_FDIVRN: return x[0] / x[1];
    case OP_FLOOR: return floor(x[0]);
    case OP_CEIL: return ceil(x[0]);
    case OP_FTRUNC: return trunc(x[0]);
    case OP_RINT: return nearbyint(x[0]);
    case OP_SQRTRN: return sqrt(x[0]);
    case OP_FREM: return fmod(x[0], x[1]);
    case OP_FMA: return fma(x[0], x[1], x[2]);
    case OP_SQRT: return sqrt(x[0]);
    case OP_FNEG: return -x[0];
    case OP_FABS: return fabs(x[0]);
    default: return ref_choose(k, x[0], x[1]);
    }
}

static inline float ref_float(OpKind k, const float *x) {
    switch (k) {
    case OP_FADD: return x[0] + x[1];
    case OP_FSUB: return x[0] - x[1];
    case OP_FMUL: return x[0] * x[1];
    case OP_FDIV: return x[0] / x[1];
    case OP_FDIVRN: return x[0] / x[1];
    case OP_FLOOR: return floorf(x[0]);
    case OP_CEIL: return ceilf(x[0]);
    case OP_FTRUNC: return truncf(x[0]);
    case OP_RINT: return nearbyintf(x[0]);
    case OP_SQRTRN: return sqrtf(x[0]);
    case OP_FREM: return fmodf(x[0], x[1]);
    case OP_FMA: return fmaf(x[0], x[1], x[2]);
    case OP_SQRT: return sqrtf(x[0]);
    case OP_FNEG: return -x[0];
    case OP_FABS: return fabsf(x[0]);
    default: return (float)ref_choose(k, (double)x[0], (double)x[1]);
    }
}

/* Exactly x + y: the rounded sum, and what it lost. */
static inline int64_t ref_sum(DType d, long double x, long double y) {
    long double sum = x + y, lost = 0;
    if (isfinite(sum)) lost = fabsl(x) >= fabsl(y) ? y - (sum - x) : x - (sum - y);
    return small_round_sum(d, sum, lost, false);
}

static inline int64_t ref_small(OpKind k, DType d, const double *x) {
    if (k == OP_FMA) return ref_sum(d, (long double)x[0] * (long double)x[1], (long double)x[2]);
    if (k == OP_FADD || k == OP_FSUB)
        return ref_sum(d, (long double)x[0], k == OP_FADD ? (long double)x[1] : -(long double)x[1]);
    if (k == OP_FDIV || k == OP_FDIVRN) return small_round(d, (long double)x[0] / (long double)x[1], false);
    return small_round(d, (long double)ref_double(k, x), false);
}

static inline int64_t ref_op(OpKind k, DType d, const int64_t *bits) {
    double x[3];
    float f[3];
    for (uint32_t i = 0; i < 3; i++) x[i] = value_of(d, bits[i]);
    if (d == DT_FP64) return bits_of_double(ref_double(k, x));
    if (d != DT_FP32) return ref_small(k, d, x);
    for (uint32_t i = 0; i < 3; i++) f[i] = float_of(bits[i]);
    return bits_of_float(ref_float(k, f));
}

static inline int64_t ref_to_float(DType to, long double x, bool to_zero) {
    if (to != DT_FP32 && to != DT_FP64) return small_round(to, x, to_zero);
    double wide = (double)x;
    if (to == DT_FP64) return bits_of_double(wide);
    float narrow = (float)x;
    if (to_zero && fabsl((long double)narrow) > fabsl(x)) narrow = nextafterf(narrow, 0);
    return bits_of_float(narrow);
}

static inline int64_t ref_to_int(DType to, bool is_signed, double x) {
    long double top = powl(2, (long double)dtype_bits(to) - is_signed), t = truncl((long double)x);
    if (isnan(x)) return 0;
    if (t >= top) t = top - 1;
    if (t < (is_signed ? -top : 0)) t = is_signed ? -top : 0;
    return is_signed ? (int64_t)t : sign_extend(to, (int64_t)(uint64_t)t);
}

static inline int64_t ref_convert(const Op *op, int64_t a) {
    DType from = op->args[0]->type.dtype, to = op->results[0]->type.dtype;
    uint64_t mask = dtype_bits(from) == 64 ? UINT64_MAX : (UINT64_C(1) << dtype_bits(from)) - 1;
    long double as_signed = (long double)(from == DT_I1 ? -a : a), as_unsigned = (long double)((uint64_t)a & mask);
    switch (op->kind) {
    case OP_SEXT: return from == DT_I1 ? -a : a;
    case OP_ZEXT: return (int64_t)((uint64_t)a & mask);
    case OP_TRUNC: return sign_extend(to, a);
    case OP_SITOFP: return ref_to_float(to, as_signed, false);
    case OP_UITOFP: return ref_to_float(to, as_unsigned, false);
    case OP_FPTOSI: return ref_to_int(to, true, value_of(from, a));
    case OP_FPTOSIRN: return ref_to_int(to, true, nearbyint(value_of(from, a)));
    case OP_FPTOUI: return ref_to_int(to, false, value_of(from, a));
    case OP_FPEXT: return ref_to_float(to, (long double)value_of(from, a), false);
    case OP_FPTRUNC: return ref_to_float(to, (long double)value_of(from, a), op->attr.round == ROUND_ZERO);
    case OP_BITCAST: return dtype_kind(to) == KIND_INT ? sign_extend(to, a) : (int64_t)((uint64_t)a & mask);
    default: fail_msg("ref_convert: %s", op_info[op->kind].name);
    }
    return 0;
}

/* What the op gives, or false where it has no value at compile time. */
static inline bool reference(const Op *op, const int64_t *a, int64_t *r) {
    DType d = op->args[0]->type.dtype;
    OpKind k = op->kind;
    if (k == OP_EXP || k == OP_EXP2 || k == OP_LOG || k == OP_LOG2 || k == OP_RSQRT) return false;
    if (k == OP_SELECT)
        *r = a[0] ? a[1] : a[2];
    else if (k == OP_ADDPTR)
        *r = a[0] + a[1] * (int64_t)dtype_bits(op->args[0]->type.pointee) / 8;
    else if (k == OP_ICMP)
        *r = ref_icmp(op->attr.pred, d, a[0], a[1]);
    else if (k == OP_FCMP)
        *r = ref_compare(op->attr.pred, value_of(d, a[0]), value_of(d, a[1]));
    else if (k == OP_BITCAST || op->results[0]->type.dtype != d)
        *r = ref_convert(op, a[0]);
    else if (dtype_kind(d) == KIND_INT)
        *r = ref_int(k, d, a[0], a[1]);
    else
        *r = ref_op(k, d, a);
    return true;
}

#endif
