/* evaluate.c - what an elementwise op gives on constants.
 *
 * In: an op and the bits of its operands. Out: the bits of its result, the same on every machine.
 * Method: integers in 64 bits, wrapped. Floats in double, rounded once: for + - * / sqrt of a format with at most 24
 * bits the double's own rounding cannot be seen. exp and its kin have a tolerance, not a value, and are not
 * evaluated.
 */
#include "ir/private.h"

#include <math.h>

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

static int64_t divide(OpKind k, DType d, int64_t a, int64_t b) {
    uint64_t ua = int_unsign(d, a), ub = int_unsign(d, b);
    if (b == 0) return k == OP_SDIV || k == OP_UDIV ? 0 : a;
    switch (k) {
    case OP_UDIV: return (int64_t)(ua / ub);
    case OP_UREM: return (int64_t)(ua % ub);
    case OP_SDIV: return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
    default: return b == -1 ? 0 : a % b;
    }
}

static int64_t shift(OpKind k, DType d, int64_t a, int64_t b) {
    uint64_t by = int_unsign(d, b), bits = dtype_bits(d);
    if (k == OP_ASHR) return a >> (by < 63 ? by : 63); /* a is sign extended: 63 fills with the sign */
    if (by >= bits) return 0;
    return (int64_t)(k == OP_SHL ? (uint64_t)a << by : int_unsign(d, a) >> by);
}

/* The high half of the product, by halves of 32 bits where 64 do not hold it. */
static uint64_t multiply_high(uint32_t bits, uint64_t a, uint64_t b) {
    if (bits <= 32) return (a * b) >> bits;
    uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    uint64_t middle = ah * bl + ((al * bl) >> 32);
    return ah * bh + (middle >> 32) + ((al * bh + (middle & UINT32_MAX)) >> 32);
}

static bool int_binary(OpKind k, DType d, int64_t a, int64_t b, int64_t *r) {
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    bool above = int_unsign(d, a) > int_unsign(d, b);
    switch (k) {
    case OP_ADD: *r = (int64_t)(ua + ub); break;
    case OP_SUB: *r = (int64_t)(ua - ub); break;
    case OP_MUL: *r = (int64_t)(ua * ub); break;
    case OP_UMULHI: *r = (int64_t)multiply_high(dtype_bits(d), int_unsign(d, a), int_unsign(d, b)); break;
    case OP_SDIV:
    case OP_UDIV:
    case OP_SREM:
    case OP_UREM: *r = divide(k, d, a, b); break;
    case OP_AND: *r = a & b; break;
    case OP_OR: *r = a | b; break;
    case OP_XOR: *r = a ^ b; break;
    case OP_SHL:
    case OP_ASHR:
    case OP_LSHR: *r = shift(k, d, a, b); break;
    case OP_SMAX: *r = a > b ? a : b; break;
    case OP_SMIN: *r = a < b ? a : b; break;
    case OP_UMAX: *r = above ? a : b; break;
    case OP_UMIN: *r = above ? b : a; break;
    default: return false;
    }
    *r = int_wrap(d, *r);
    return true;
}

static bool int_compare(Pred p, DType d, int64_t a, int64_t b) {
    uint64_t ua = int_unsign(d, a), ub = int_unsign(d, b);
    if (d == DT_PTR && p >= PRED_SLT && p <= PRED_SGE) p = (Pred)(p + PRED_ULT - PRED_SLT);
    switch (p) {
    case PRED_EQ: return a == b;
    case PRED_NE: return a != b;
    case PRED_SLT: return a < b;
    case PRED_SLE: return a <= b;
    case PRED_SGT: return a > b;
    case PRED_SGE: return a >= b;
    case PRED_ULT: return ua < ub;
    case PRED_ULE: return ua <= ub;
    case PRED_UGT: return ua > ub;
    case PRED_UGE: return ua >= ub;
    }
    bug("int_compare: predicate %d", (int)p);
}

/* ---- Floats ------------------------------------------------------------------------------------------------------ */

static int64_t rounded(DType d, double x) {
    return isnan(x) ? float_nan(d) : float_to_bits(d, x);
}

/* The larger (or smaller) of two, and zeros told apart; a NaN wins or loses. */
static int64_t float_choose(OpKind k, DType d, const int64_t *bits) {
    double a = float_from_bits(d, bits[0]), b = float_from_bits(d, bits[1]);
    bool nan_wins = k == OP_FMAXNAN || k == OP_FMINNAN, is_max = k == OP_FMAX || k == OP_FMAXNAN;
    if (isnan(a) || isnan(b)) {
        if (nan_wins || (isnan(a) && isnan(b))) return float_nan(d);
        return isnan(a) ? bits[1] : bits[0];
    }
    if (a == b) return (signbit(a) != 0) == is_max ? bits[1] : bits[0];
    return (a > b) == is_max ? bits[0] : bits[1];
}

static bool float_compare(Pred p, double a, double b) {
    switch (p) {
    case PRED_EQ: return a == b;
    case PRED_NE: return a != b;
    case PRED_SLT: return a < b;
    case PRED_SLE: return a <= b;
    case PRED_SGT: return a > b;
    case PRED_SGE: return a >= b;
    default: bug("float_compare: predicate %d", (int)p);
    }
}

static bool float_op(OpKind k, DType d, const int64_t *bits, uint32_t n, int64_t *r) {
    double x[3] = {0};
    for (uint32_t i = 0; i < n; i++) x[i] = float_from_bits(d, bits[i]);
    int64_t sign = (int64_t)(UINT64_C(1) << (dtype_bits(d) - 1));
    switch (k) {
    case OP_FADD: *r = rounded(d, x[0] + x[1]); return true;
    case OP_FSUB: *r = rounded(d, x[0] - x[1]); return true;
    case OP_FMUL: *r = rounded(d, x[0] * x[1]); return true;
    case OP_FDIVRN:
    case OP_FDIV: *r = rounded(d, x[0] / x[1]); return true;
    case OP_FREM: *r = rounded(d, fmod(x[0], x[1])); return true;
    case OP_FLOOR: *r = rounded(d, floor(x[0])); return true;
    case OP_CEIL: *r = rounded(d, ceil(x[0])); return true;
    case OP_FTRUNC: *r = rounded(d, trunc(x[0])); return true;
    case OP_RINT: *r = rounded(d, rint(x[0])); return true;
    case OP_SQRTRN:
    case OP_SQRT: *r = rounded(d, sqrt(x[0])); return true;
    case OP_FMA: *r = float_fma(d, x[0], x[1], x[2]); return true;
    case OP_FNEG: *r = bits[0] ^ sign; return true;
    case OP_FABS: *r = bits[0] & ~sign; return true;
    case OP_FMAX:
    case OP_FMIN:
    case OP_FMAXNAN:
    case OP_FMINNAN: *r = float_choose(k, d, bits); return true;
    default: return false;
    }
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static int64_t to_signed(DType d, double x) {
    double top = ldexp(1, (int)dtype_bits(d) - 1);
    if (isnan(x)) return 0;
    if (x >= top) return int_wrap(d, (int64_t)((UINT64_C(1) << (dtype_bits(d) - 1)) - 1));
    return x <= -top ? int_wrap(d, (int64_t)(UINT64_C(1) << (dtype_bits(d) - 1))) : (int64_t)x;
}

static int64_t to_unsigned(DType d, double x) {
    if (isnan(x) || x <= 0) return 0;
    return x >= ldexp(1, (int)dtype_bits(d)) ? -1 : int_wrap(d, (int64_t)(uint64_t)x);
}

static bool convert(const Op *op, DType from, DType to, int64_t a, int64_t *r) {
    switch (op->kind) {
    case OP_SEXT: *r = from == DT_I1 ? -a : a; return true;
    case OP_ZEXT: *r = int_wrap(to, (int64_t)int_unsign(from, a)); return true;
    case OP_TRUNC: *r = int_wrap(to, a); return true;
    case OP_SITOFP:
        if (from == DT_I1) a = -a;
        *r = float_from_int(to, a < 0, a < 0 ? 0 - (uint64_t)a : (uint64_t)a);
        return true;
    case OP_UITOFP: *r = float_from_int(to, false, int_unsign(from, a)); return true;
    case OP_FPTOSI: *r = to_signed(to, float_from_bits(from, a)); return true;
    case OP_FPTOUI: *r = to_unsigned(to, float_from_bits(from, a)); return true;
    case OP_FPEXT: *r = float_to_bits(to, float_from_bits(from, a)); return true;
    case OP_FPTRUNC: *r = float_round(to, float_from_bits(from, a), (Round)op->attr.i); return true;
    case OP_BITCAST: *r = dtype_kind(to) == KIND_INT ? int_wrap(to, a) : (int64_t)int_unsign(to, a); return true;
    default: return false;
    }
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

bool op_evaluate(const Op *op, const int64_t *args, int64_t *result) {
    if (!op_is_pure(op->kind) || op->nargs == 0 || op->nresults != 1) return false;
    DType from = op->args[0]->type.dtype, to = op->results[0]->type.dtype;
    switch (op->kind) {
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_TRANS:
    case OP_FLIP:
    case OP_SPLIT:
    case OP_GATHER:
    case OP_CONVERT:
    case OP_AGAIN:
    case OP_PARK: *result = args[0]; return true;
    case OP_JOIN: *result = args[0]; return args[0] == args[1];
    case OP_SELECT: *result = args[0] ? args[1] : args[2]; return true;
    case OP_ICMP: *result = int_compare((Pred)op->attr.i, from, args[0], args[1]); return true;
    case OP_FCMP:
        *result = float_compare((Pred)op->attr.i, float_from_bits(from, args[0]), float_from_bits(from, args[1]));
        return true;
    case OP_ADDPTR: {
        uint64_t bytes = (dtype_bits(op->args[0]->type.pointee) + 7) / 8;
        *result = (int64_t)((uint64_t)args[0] + (uint64_t)args[1] * bytes);
        return true;
    }
    default: break;
    }
    if (op->nargs == 2 && dtype_kind(from) == KIND_INT) return int_binary(op->kind, from, args[0], args[1], result);
    if (from == to && dtype_kind(from) == KIND_FLOAT && float_op(op->kind, from, args, op->nargs, result)) return true;
    return op->nargs == 1 && convert(op, from, to, args[0], result);
}
