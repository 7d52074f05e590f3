/* fold.c - an op whose result is known, or equal to something simpler.
 *
 * In: one op. Out: what to use instead of its result, or NULL. Nothing is replaced or erased here.
 * Method: constants are evaluated (evaluate.c); else the fold_<x> named in ops.def's fold column looks for
 * identities. Each holds for every operand: wrapped integers, NaN, infinities, both zeros. Every new op is simpler
 * than the old one, so folding until nothing changes ends.
 */
#include "ir/private.h"

#include <math.h>

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static Type result_type(const Op *op) {
    return op->results[0]->type;
}

static Value *constant(Builder *b, Type t, int64_t bits) {
    return build0(b, OP_CONST, (Attr){.bits = bits}, t);
}

static Value *same_constant(Builder *b, const Op *op, int64_t bits) {
    return constant(b, result_type(op), bits);
}

static bool is_int_const(const Value *v, int64_t wanted) {
    int64_t bits;
    return value_const(v, &bits) && bits == wanted;
}

static bool is_float_const(const Value *v, double wanted) {
    double x;
    return value_const_float(v, &x) && x == wanted && signbit(x) == signbit(wanted);
}

static bool is_nan_const(const Value *v) {
    double x;
    return value_const_float(v, &x) && isnan(x);
}

static int64_t all_ones(DType d) {
    return int_wrap(d, -1);
}

static int64_t int_most(DType d) {
    return (int64_t)((UINT64_C(1) << (dtype_bits(d) - 1)) - 1);
}

static int64_t int_least(DType d) {
    return -int_most(d) - 1;
}

/* The op that defines v, if it is of this kind. */
static Op *made_by(const Value *v, OpKind k) {
    return v->def && v->def->kind == k ? v->def : NULL;
}

/* The operand that is not the constant, whichever side that is on; NULL if neither is. */
static Value *beside_const(const Op *op, int64_t *bits) {
    if (value_const(op->args[1], bits)) return op->args[0];
    return value_const(op->args[0], bits) ? op->args[1] : NULL;
}

/* (x op c1) op c2 is x op (c1 op c2) for ops that associate and commute. */
static Value *fold_nested(Builder *b, const Op *op) {
    int64_t outer, inner, both;
    Value *x = beside_const(op, &outer);
    const Op *in = x ? made_by(x, op->kind) : NULL;
    Value *y = in ? beside_const(in, &inner) : NULL;
    if (!y || !op_evaluate(op, (int64_t[]){inner, outer}, &both)) return NULL;
    return build2(b, op->kind, y, same_constant(b, op, both));
}

static Value *fold_none(Builder *b, Op *op) {
    (void)b;
    (void)op;
    return NULL;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static Value *fold_splat(Builder *b, Op *op) {
    return fold_none(b, op);
} /* of a constant: evaluated */

static Value *fold_expand(Builder *b, Op *op) {
    const Op *in = made_by(op->args[0], OP_SPLAT);
    return in ? build1_to(b, OP_SPLAT, in->args[0], result_type(op)) : NULL;
}

static Value *fold_broadcast(Builder *b, Op *op) {
    Value *x = op->args[0];
    const Op *in = made_by(x, OP_BROADCAST);
    if (type_equal(x->type, result_type(op))) return x;
    if (in && !x->type.layout) return build1_to(b, OP_BROADCAST, in->args[0], result_type(op));
    return fold_expand(b, op);
}

/* Moving what is one value everywhere gives that value. */
static Value *fold_moved_splat(Builder *b, const Op *op) {
    const Op *in = made_by(op->args[0], OP_SPLAT);
    if (!in) return NULL;
    return result_type(op).shape.rank ? build1_to(b, OP_SPLAT, in->args[0], result_type(op)) : in->args[0];
}

static Value *fold_reshape(Builder *b, Op *op) {
    Value *x = op->args[0];
    if (type_equal(x->type, result_type(op))) return x;
    bool again = made_by(x, OP_RESHAPE) || made_by(x, OP_EXPAND);
    if (again && !x->type.layout) return build1_to(b, OP_RESHAPE, x->def->args[0], result_type(op));
    return fold_moved_splat(b, op);
}

static Value *fold_trans(Builder *b, Op *op) {
    Value *x = op->args[0];
    uint32_t rank = x->type.shape.rank;
    uint8_t perm[SHAPE_RANK], first[SHAPE_RANK], straight[SHAPE_RANK] = {0, 1, 2, 3, 4, 5, 6};
    if (op->attr.perm == attr_perm(straight, rank).perm && type_equal(x->type, result_type(op))) return x;
    if (!made_by(x, OP_TRANS) || x->type.layout) return fold_moved_splat(b, op);
    attr_perm_read(op->attr, perm);
    attr_perm_read(x->def->attr, first);
    for (uint32_t i = 0; i < rank; i++) perm[i] = first[perm[i]];
    return build_trans(b, x->def->args[0], perm);
}

/* Row-major indexes are the same before and after a reshape. */
static Value *fold_flip(Builder *b, Op *op) {
    Value *x = op->args[0];
    if (op->attr.flip == 0) return x;
    if (made_by(x, OP_FLIP)) return build_flip(b, x->def->args[0], (uint32_t)(op->attr.flip ^ x->def->attr.flip));
    if ((!made_by(x, OP_RESHAPE) && !made_by(x, OP_EXPAND)) || x->type.layout) return fold_moved_splat(b, op);
    return build_reshape(b, build_flip(b, x->def->args[0], op->attr.flip), x->type.shape);
}

/* Of the two halves of one tile. */
static Value *fold_join(Builder *b, Op *op) {
    const Op *x = made_by(op->args[0], OP_SPLIT), *y = made_by(op->args[1], OP_SPLIT);
    (void)b;
    bool is_whole = x && y && x->args[0] == y->args[0] && x->attr.half == 0 && y->attr.half == 1;
    return is_whole && type_equal(x->args[0]->type, result_type(op)) ? x->args[0] : NULL;
}

static Value *fold_split(Builder *b, Op *op) {
    const Op *in = made_by(op->args[0], OP_JOIN);
    Value *half = in ? in->args[op->attr.half] : NULL;
    if (half && type_equal(half->type, result_type(op))) return half;
    return fold_moved_splat(b, op);
}

/* Of a tile that is one value everywhere. */
static Value *fold_gather(Builder *b, Op *op) {
    int64_t bits;
    return value_const(op->args[0], &bits) ? same_constant(b, op, bits) : fold_moved_splat(b, op);
}

static Value *fold_slice(Builder *b, Op *op) {
    int64_t bits;
    if (type_equal(op->args[0]->type, result_type(op))) return op->args[0];
    return value_const(op->args[0], &bits) ? same_constant(b, op, bits) : fold_moved_splat(b, op);
}

/* A product that is only added becomes the sum's beginning: dot adds in any order. In one block: elsewhere the sum may
 * run more often. */
static Value *fold_into_dot(Builder *b, const Op *op) {
    int64_t bits;
    for (uint32_t i = 0; i < 2; i++) {
        const Op *dot = made_by(op->args[i], OP_DOT);
        if (!dot || !value_used_once(op->args[i]) || dot->parent != op->parent || result_type(op).layout) continue;
        if (!value_const(dot->args[2], &bits) || bits != 0) continue;
        return build_dot(b, dot->args[0], dot->args[1], op->args[1 - i], dot->attr);
    }
    return NULL;
}

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

/* x / y * y + x % y is x, by zero too. */
static Value *fold_divided(const Op *op) {
    for (uint32_t i = 0; i < 2; i++) {
        const Op *product = made_by(op->args[i], OP_MUL), *rem = made_by(op->args[1 - i], OP_SREM);
        for (uint32_t k = 0; k < 2 && product && rem; k++) {
            const Op *div = made_by(product->args[k], OP_SDIV);
            bool is_it = div && div->args[0] == rem->args[0] && div->args[1] == rem->args[1];
            if (is_it && product->args[1 - k] == rem->args[1]) return rem->args[0];
        }
    }
    return NULL;
}

static Value *fold_add(Builder *b, Op *op) {
    int64_t c;
    Value *x = beside_const(op, &c);
    Value *r = x && c == 0 ? x : fold_nested(b, op);
    if (!r) r = fold_divided(op);
    return r ? r : fold_into_dot(b, op);
}

static Value *fold_sub(Builder *b, Op *op) {
    if (op->args[0] == op->args[1]) return same_constant(b, op, 0);
    return is_int_const(op->args[1], 0) ? op->args[0] : NULL;
}

static Value *fold_mul(Builder *b, Op *op) {
    int64_t c;
    Value *x = beside_const(op, &c);
    if (x && c == 0) return same_constant(b, op, 0);
    return x && c == 1 ? x : fold_nested(b, op);
}

static Value *fold_div(Builder *b, Op *op) {
    bool is_rem = op->kind == OP_SREM || op->kind == OP_UREM;
    if (is_int_const(op->args[0], 0)) return same_constant(b, op, 0); /* by zero too: ops.def */
    if (is_int_const(op->args[1], 0)) return is_rem ? op->args[0] : same_constant(b, op, 0);
    if (is_int_const(op->args[1], 1)) return is_rem ? same_constant(b, op, 0) : op->args[0];
    return NULL;
}

static Value *fold_bits(Builder *b, Op *op) {
    int64_t c, ones = all_ones(result_type(op).dtype);
    Value *x = beside_const(op, &c);
    if (op->args[0] == op->args[1]) return op->kind == OP_XOR ? same_constant(b, op, 0) : op->args[0];
    if (!x) return NULL;
    if (op->kind == OP_AND && c == 0) return same_constant(b, op, 0);
    if (op->kind == OP_OR && c == ones) return same_constant(b, op, ones);
    return c == (op->kind == OP_AND ? ones : 0) ? x : fold_nested(b, op);
}

static Value *fold_shift(Builder *b, Op *op) {
    int64_t by;
    DType d = result_type(op).dtype;
    if (is_int_const(op->args[0], 0)) return same_constant(b, op, 0);
    if (!value_const(op->args[1], &by)) return NULL;
    if (by == 0) return op->args[0];
    return int_unsign(d, by) >= dtype_bits(d) && op->kind != OP_ASHR ? same_constant(b, op, 0) : NULL;
}

static Value *fold_minmax(Builder *b, Op *op) {
    int64_t c;
    DType d = result_type(op).dtype;
    Value *x = beside_const(op, &c);
    if (op->args[0] == op->args[1]) return op->args[0];
    if (!x) return NULL;
    bool is_signed = op->kind == OP_SMAX || op->kind == OP_SMIN, is_max = op->kind == OP_SMAX || op->kind == OP_UMAX;
    int64_t most = is_signed ? int_most(d) : all_ones(d), least = is_signed ? int_least(d) : 0;
    if (c == (is_max ? most : least)) return same_constant(b, op, c);
    return c == (is_max ? least : most) ? x : fold_nested(b, op);
}

/* ---- Integer comparisons ----------------------------------------------------------------------------------------- */

static Pred swapped(Pred p) {
    static const Pred other[] = {PRED_EQ,  PRED_NE,  PRED_SGT, PRED_SGE, PRED_SLT,
                                 PRED_SLE, PRED_UGT, PRED_UGE, PRED_ULT, PRED_ULE};
    return other[p];
}

static bool is_signed_order(Pred p) {
    return p >= PRED_SLT && p <= PRED_SGE;
}

static bool true_of_equals(Pred p) {
    return p == PRED_EQ || p == PRED_SLE || p == PRED_SGE || p == PRED_ULE || p == PRED_UGE;
}

/* The comparison before widening. Sign extension keeps both orders; zero extension makes the signed one unsigned.
 * y is a value, or NULL and the constant c. */
static Value *narrow_compare(Builder *b, OpKind widened_by, Pred p, Value *x, Value *y, int64_t c) {
    if (widened_by == OP_ZEXT && is_signed_order(p)) p = (Pred)(p + PRED_ULT - PRED_SLT);
    if (x->type.dtype == DT_I1 && is_signed_order(p)) return NULL;
    return build_compare(b, OP_ICMP, p, x, y ? y : constant(b, x->type, c));
}

/* widened x against c, where no x widens to c: -1 where c is below them all, 1 where above. */
static Value *beyond_compare(Builder *b, const Op *op, Pred p, bool is_above) {
    if (p == PRED_EQ || p == PRED_NE) return same_constant(b, op, p == PRED_NE);
    bool less = p == PRED_SLT || p == PRED_SLE || p == PRED_ULT || p == PRED_ULE;
    return same_constant(b, op, less == is_above);
}

static Value *compare_with_const(Builder *b, const Op *op, Pred p, const Op *wide, int64_t c) {
    Value *x = wide->args[0];
    DType d = x->type.dtype;
    int64_t narrow = int_wrap(d, c), back = wide->kind == OP_SEXT && d == DT_I1 ? -narrow : narrow;
    if (wide->kind == OP_ZEXT) back = (int64_t)int_unsign(d, narrow);
    if (back == c) return narrow_compare(b, wide->kind, p, x, NULL, narrow);
    if (p == PRED_EQ || p == PRED_NE || is_signed_order(p)) return beyond_compare(b, op, p, c > 0);
    return wide->kind == OP_ZEXT ? beyond_compare(b, op, p, true) : NULL; /* unsigned, c is beyond 2^n */
}

static Value *fold_icmp(Builder *b, Op *op) {
    Value *x = op->args[0], *y = op->args[1];
    Pred p = op->attr.pred;
    int64_t c;
    if (x == y) return same_constant(b, op, true_of_equals(p));
    if (value_const(x, &c)) {
        x = op->args[1];
        y = op->args[0];
        p = swapped(p);
    }
    bool y_const = value_const(y, &c);
    if (y_const && x->type.dtype == DT_I1 && ((p == PRED_EQ && c == 1) || (p == PRED_NE && c == 0))) return x;
    const Op *wide = made_by(x, OP_SEXT) ? x->def : made_by(x, OP_ZEXT);
    if (!wide) return NULL;
    if (y_const) return compare_with_const(b, op, p, wide, c);
    const Op *other = made_by(y, wide->kind);
    if (!other || !type_equal(wide->args[0]->type, other->args[0]->type)) return NULL;
    return narrow_compare(b, wide->kind, p, wide->args[0], other->args[0], 0);
}

/* ---- Floats ------------------------------------------------------------------------------------------------------ */

static Value *fold_fadd(Builder *b, Op *op) {
    Value *x = op->args[0], *y = op->args[1];
    if (op->kind == OP_FSUB) return is_float_const(y, 0.0) ? x : NULL;
    return is_float_const(y, -0.0) ? x : is_float_const(x, -0.0) ? y : fold_into_dot(b, op);
}

static Value *fold_fmul(Builder *b, Op *op) {
    (void)b;
    return is_float_const(op->args[1], 1.0) ? op->args[0] : is_float_const(op->args[0], 1.0) ? op->args[1] : NULL;
}

/* By a power of two: the same as times its reciprocal, where that is a normal number too. */
static Value *fold_fdiv(Builder *b, Op *op) {
    double c;
    int exponent;
    DType d = result_type(op).dtype;
    int bias = d == DT_FP64 ? 1023 : d == DT_FP16 ? 15 : 127;
    if (is_float_const(op->args[1], 1.0)) return op->args[0];
    if (!value_const_float(op->args[1], &c) || !isfinite(c) || fabs(frexp(c, &exponent)) != 0.5) return NULL;
    if (exponent - 1 <= -bias || exponent - 1 >= bias) return NULL;
    return build2(b, OP_FMUL, op->args[0], same_constant(b, op, float_to_bits(d, 1 / c)));
}

static Value *fold_fneg(Builder *b, Op *op) {
    const Op *neg = made_by(op->args[0], OP_FNEG);
    if (op->kind == OP_FNEG) return neg ? neg->args[0] : NULL;
    if (made_by(op->args[0], OP_FABS)) return op->args[0];
    return neg ? build1(b, OP_FABS, neg->args[0]) : NULL;
}

static Value *fold_fminmax(Builder *b, Op *op) {
    bool is_max = op->kind == OP_FMAX || op->kind == OP_FMAXNAN,
         keeps_nan = op->kind == OP_FMAXNAN || op->kind == OP_FMINNAN;
    int64_t c;
    Value *x = beside_const(op, &c), *y = x == op->args[0] ? op->args[1] : op->args[0];
    double top = is_max ? (double)INFINITY : -(double)INFINITY;
    if (op->args[0] == op->args[1]) return op->args[0];
    if (!x) return NULL;
    if (is_nan_const(y)) return keeps_nan ? same_constant(b, op, float_nan(result_type(op).dtype)) : x;
    if (!keeps_nan && is_float_const(y, top)) return same_constant(b, op, c);
    return keeps_nan && is_float_const(y, -top) ? x : NULL;
}

static Value *fold_fcmp(Builder *b, Op *op) {
    if (is_nan_const(op->args[0]) || is_nan_const(op->args[1])) return same_constant(b, op, op->attr.pred == PRED_NE);
    bool strict = op->attr.pred == PRED_SLT || op->attr.pred == PRED_SGT;
    return op->args[0] == op->args[1] && strict ? same_constant(b, op, 0) : NULL;
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static Value *fold_ext(Builder *b, Op *op) {
    const Op *in = made_by(op->args[0], OP_ZEXT); /* its result is never negative */
    if (!in && op->kind == OP_SEXT) in = made_by(op->args[0], OP_SEXT);
    return in ? build1_to(b, in->kind, in->args[0], result_type(op)) : NULL;
}

static Value *fold_trunc(Builder *b, Op *op) {
    Value *x = op->args[0];
    const Op *in = made_by(x, OP_SEXT) ? x->def : made_by(x, OP_ZEXT);
    uint32_t to = dtype_bits(result_type(op).dtype);
    if (!in && made_by(x, OP_TRUNC)) return build1_to(b, OP_TRUNC, x->def->args[0], result_type(op));
    if (!in) return NULL;
    uint32_t from = dtype_bits(in->args[0]->type.dtype);
    if (from == to) return in->args[0];
    return build1_to(b, from > to ? OP_TRUNC : in->kind, in->args[0], result_type(op));
}

static Value *fold_itof(Builder *b, Op *op) {
    return fold_none(b, op);
} /* of a constant: evaluated */

static Value *fold_ftoi(Builder *b, Op *op) {
    return fold_none(b, op);
} /* of a constant: evaluated */

static Value *fold_fpext(Builder *b, Op *op) {
    const Op *in = made_by(op->args[0], OP_FPEXT);
    return in ? build1_to(b, OP_FPEXT, in->args[0], result_type(op)) : NULL;
}

/* Of a choice that is one for the whole tile, one arm a constant: the narrower elements are chosen. */
static Value *round_chosen(Builder *b, const Op *op, const Op *chosen) {
    int64_t c;
    bool is_one = value_is_tile(chosen->results[0]) && !value_is_tile(chosen->args[0]);
    if (!is_one || !value_used_once(chosen->results[0])) return NULL;
    if (!value_const(chosen->args[1], &c) && !value_const(chosen->args[2], &c)) return NULL;
    Value *arms[2];
    Attr round = {.round = op->attr.round};
    for (uint32_t i = 0; i < 2; i++)
        arms[i] = op_build(b, OP_FPTRUNC, &chosen->args[i + 1], 1, round, result_type(op))->results[0];
    return build3(b, OP_SELECT, chosen->args[0], arms[0], arms[1]);
}

/* Of an exact widening: nothing was lost, so the way is shorter. */
static Value *fold_fptrunc(Builder *b, Op *op) {
    const Op *in = made_by(op->args[0], OP_FPEXT), *chosen = made_by(op->args[0], OP_SELECT);
    if (chosen) return round_chosen(b, op, chosen);
    if (!in) return NULL;
    DType from = in->args[0]->type.dtype, to = result_type(op).dtype;
    if (from == to) return in->args[0];
    if (dtype_bits(from) < dtype_bits(to)) return build1_to(b, OP_FPEXT, in->args[0], result_type(op));
    if (dtype_bits(from) == dtype_bits(to)) return NULL;
    return op_build(b, OP_FPTRUNC, in->args, 1, op->attr, result_type(op))->results[0];
}

static Value *fold_bitcast(Builder *b, Op *op) {
    const Op *in = made_by(op->args[0], OP_BITCAST);
    if (type_equal(op->args[0]->type, result_type(op))) return op->args[0];
    return in ? build1_to(b, OP_BITCAST, in->args[0], result_type(op)) : NULL;
}

/* ---- Choice, memory, layouts ------------------------------------------------------------------------------------- */

static Value *fold_select(Builder *b, Op *op) {
    int64_t c;
    (void)b;
    if (op->args[1] == op->args[2]) return op->args[1];
    if (value_const(op->args[0], &c)) return op->args[c ? 1 : 2];
    bool is_itself = is_int_const(op->args[1], 1) && is_int_const(op->args[2], 0);
    return is_itself && type_equal(op->args[0]->type, result_type(op)) ? op->args[0] : NULL;
}

static Value *fold_addptr(Builder *b, Op *op) {
    (void)b;
    return is_int_const(op->args[1], 0) ? op->args[0] : NULL;
}

static Value *fold_convert(Builder *b, Op *op) {
    const Op *in = op->args[0]->def;
    if (type_equal(op->args[0]->type, result_type(op))) return op->args[0];
    if (!in) return NULL;
    if (in->kind == OP_ARANGE) return build0(b, OP_ARANGE, in->attr, result_type(op));
    if (in->kind == OP_SPLAT) return build1_to(b, OP_SPLAT, in->args[0], result_type(op));
    if (in->kind != OP_CONVERT) return NULL;
    bool is_back = type_equal(in->args[0]->type, result_type(op));
    return is_back ? in->args[0] : build1_to(b, OP_CONVERT, in->args[0], result_type(op));
}

/* Two arms that hold nothing but their yield are a choice. */
static Value *fold_if(Builder *b, Op *op) {
    const Op *yes = op->regions[0]->first, *no = op->regions[1]->first;
    int64_t c;
    if (!yes || !no || yes->kind != OP_YIELD || no->kind != OP_YIELD) return NULL;
    if (yes->args[0] == no->args[0]) return yes->args[0];
    if (value_const(op->args[0], &c)) return c ? yes->args[0] : no->args[0];
    return build3(b, OP_SELECT, op->args[0], yes->args[0], no->args[0]);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static Value *evaluate(Builder *b, Op *op) {
    int64_t bits[3] = {0}, r;
    if (op->nargs == 0 || op->nargs > COUNT(bits)) return NULL;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!value_const(op->args[i], &bits[i])) return NULL;
    return op_evaluate(op, bits, &r) ? same_constant(b, op, r) : NULL;
}

Value *op_fold(Builder *b, Op *op) {
    if (op->nresults != 1) return NULL;
    Value *v = evaluate(b, op);
    if (v) return v;
    switch (op->kind) {
#define OP(e, name, nargs, nresults, attr, class, effect, stage, cost, algebra, neutral, infer, fold, meaning)         \
    case OP_##e:                                                                                                       \
        return fold_##fold(b, op);
#include "ir/ops.def"
#undef OP
    case OP_COUNT: break;
    }
    bug("op_fold: op kind %d", (int)op->kind);
}
