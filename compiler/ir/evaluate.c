/* evaluate.c - what an elementwise op gives on constants.
 *
 * In: an op and the bits of its operands. Out: the bits of its result, the same on every machine.
 * Method: integers in 64 bits, wrapped. Floats in double, rounded once: for + - * / sqrt of a format with at most 24
 * bits the double's own rounding cannot be seen. exp and its kin have a tolerance, not a value, and are not
 * evaluated. The switch does not compile until it has every elementwise op of ops.def.
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

static int64_t from_integer(DType to, bool is_signed, DType from, int64_t a) {
    if (!is_signed) return float_from_int(to, false, int_unsign(from, a));
    if (from == DT_I1) a = -a;
    return float_from_int(to, a < 0, a < 0 ? 0 - (uint64_t)a : (uint64_t)a);
}

/* ---- The ops ----------------------------------------------------------------------------------------------------- */

typedef struct Elements {
    OpKind kind;
    DType from, to, pointee; /* of operand 0, of the result, of what operand 0 points to */
    const Attr *attr;
} Elements;

/* Does the op have a value, rather than a tolerance? *r is one within it, else. clang-format off */
static bool evaluate(const Elements *e, const int64_t *a, uint32_t n, int64_t *r) {
    double x[3] = {0};
    DType d = e->from, to = e->to;
    uint64_t ua = (uint64_t)a[0], ub = n > 1 ? (uint64_t)a[1] : 0, sign = UINT64_C(1) << (dtype_bits(d) - 1);
    bool above = n > 1 && int_unsign(d, a[0]) > int_unsign(d, a[1]);
    for (uint32_t i = 0; i < n && dtype_kind(d) == KIND_FLOAT; i++) x[i] = float_from_bits(d, a[i]);
    switch (e->kind) {
    case OP_ADD: *r = (int64_t)(ua + ub); break;
    case OP_SUB: *r = (int64_t)(ua - ub); break;
    case OP_MUL: *r = (int64_t)(ua * ub); break;
    case OP_UMULHI: *r = (int64_t)multiply_high(dtype_bits(d), int_unsign(d, a[0]), int_unsign(d, a[1])); break;
    case OP_SDIV: case OP_UDIV: case OP_SREM: case OP_UREM: *r = divide(e->kind, d, a[0], a[1]); break;
    case OP_AND: *r = a[0] & a[1]; break;
    case OP_OR: *r = a[0] | a[1]; break;
    case OP_XOR: *r = a[0] ^ a[1]; break;
    case OP_SHL: case OP_ASHR: case OP_LSHR: *r = shift(e->kind, d, a[0], a[1]); break;
    case OP_SMAX: *r = a[0] > a[1] ? a[0] : a[1]; break;
    case OP_SMIN: *r = a[0] < a[1] ? a[0] : a[1]; break;
    case OP_UMAX: *r = above ? a[0] : a[1]; break;
    case OP_UMIN: *r = above ? a[1] : a[0]; break;
    case OP_ICMP: *r = int_compare(e->attr->pred, d, a[0], a[1]); break;
    case OP_FADD: *r = rounded(d, x[0] + x[1]); break;
    case OP_FSUB: *r = rounded(d, x[0] - x[1]); break;
    case OP_FMUL: *r = rounded(d, x[0] * x[1]); break;
    case OP_FDIVRN: case OP_FDIV: *r = rounded(d, x[0] / x[1]); break;
    case OP_FREM: *r = rounded(d, fmod(x[0], x[1])); break;
    case OP_FNEG: *r = (int64_t)(ua ^ sign); break;
    case OP_FABS: *r = (int64_t)(ua & ~sign); break;
    case OP_FLOOR: *r = rounded(d, floor(x[0])); break;
    case OP_CEIL: *r = rounded(d, ceil(x[0])); break;
    case OP_FTRUNC: *r = rounded(d, trunc(x[0])); break;
    case OP_RINT: *r = rounded(d, rint(x[0])); break;
    case OP_FMA: *r = float_fma(d, x[0], x[1], x[2]); break;
    case OP_FMAX: case OP_FMIN: case OP_FMAXNAN: case OP_FMINNAN: *r = float_choose(e->kind, d, a); break;
    case OP_FCMP: *r = float_compare(e->attr->pred, x[0], x[1]); break;
    case OP_SQRTRN: case OP_SQRT: *r = rounded(d, sqrt(x[0])); break;
    case OP_EXP: *r = rounded(d, exp(x[0])); return false;
    case OP_EXP2: *r = rounded(d, exp2(x[0])); return false;
    case OP_LOG: *r = rounded(d, log(x[0])); return false;
    case OP_LOG2: *r = rounded(d, log2(x[0])); return false;
    case OP_RSQRT: *r = rounded(d, 1 / sqrt(x[0])); return false;
    case OP_SEXT: *r = d == DT_I1 ? -a[0] : a[0]; break;
    case OP_ZEXT: *r = (int64_t)int_unsign(d, a[0]); break;
    case OP_TRUNC: *r = a[0]; break;
    case OP_SITOFP: *r = from_integer(to, true, d, a[0]); break;
    case OP_UITOFP: *r = from_integer(to, false, d, a[0]); break;
    case OP_FPTOSI: *r = to_signed(to, x[0]); break;
    case OP_FPTOSIRN: *r = to_signed(to, rint(x[0])); break;
    case OP_FPTOUI: *r = to_unsigned(to, x[0]); break;
    case OP_FPEXT: *r = float_to_bits(to, x[0]); break;
    case OP_FPTRUNC: *r = float_round(to, x[0], e->attr->round); break;
    case OP_BITCAST: *r = dtype_kind(to) == KIND_INT ? a[0] : (int64_t)int_unsign(to, a[0]); break;
    case OP_SELECT: *r = a[0] ? a[1] : a[2]; break;
    case OP_ADDPTR: *r = (int64_t)(ua + ub * ((dtype_bits(e->pointee) + 7) / 8)); break;
#define CASE_ELEMENT(other)
#define CASE_OTHER(other) case other:
#include "ir/cases.def"
    case OP_COUNT: bug("'%s' is no arithmetic", op_info[e->kind].name);
    }
    if (dtype_kind(to) == KIND_INT) *r = int_wrap(to, *r);
    return true;
}
/* clang-format on */

bool op_evaluate(const Op *op, const int64_t *args, int64_t *result) {
    if (op_moves(op->kind)) {
        *result = args[0];
        return op->kind != OP_JOIN || args[0] == args[1];
    }
    if (op_class(op->kind) != CLASS_ELEMENT) return false;
    Type t = op->args[0]->type;
    Elements e = {op->kind, t.dtype, op->results[0]->type.dtype, t.pointee, &op->attr};
    return evaluate(&e, args, op->nargs, result);
}

double op_value(OpKind k, double x) {
    Elements e = {.kind = k, .from = DT_FP64, .to = DT_FP64, .attr = &(Attr){0}};
    int64_t r = 0, bits = float_to_bits(DT_FP64, x);
    evaluate(&e, &bits, 1, &r);
    return float_from_bits(DT_FP64, r);
}
