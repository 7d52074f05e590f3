/* compare.c - comparisons, elementwise max and min, and choice between run-time values.
 *
 * In: two Sems, at least one of them RUN. Out: an i1 Sem (comparison) or one of the common type.
 * Method: integers compare in their common type where that is exact, else in 64 bits on their wide forms, so that a
 * comparison is true exactly when it is true of the mathematical values. So are max and min of a signed and an unsigned
 * one. In a Triton file those two are converted to their common type instead.
 */
#include "check/sema.h"

static Pred pred_of(CompareOp op, bool is_unsigned) {
    switch (op) {
    case CMP_EQ: return PRED_EQ;
    case CMP_NE: return PRED_NE;
    case CMP_LT: return is_unsigned ? PRED_ULT : PRED_SLT;
    case CMP_LE: return is_unsigned ? PRED_ULE : PRED_SLE;
    case CMP_GT: return is_unsigned ? PRED_UGT : PRED_SGT;
    case CMP_GE: return is_unsigned ? PRED_UGE : PRED_SGE;
    default: bug("pred_of: operator %s", compare_text[op]);
    }
}

static const Sem *build_cmp(Checker *c, OpKind kind, Pred p, const Sem *x, const Sem *y, Shape shape) {
    Value *v = build_compare(&c->b, kind, p, broadcast_to(c, x, shape)->v, broadcast_to(c, y, shape)->v);
    return sem_run(c, ST_I1, v, NULL);
}

/* Every value of type `from` is one of `t`. */
static bool type_holds(SType from, SType t) {
    if (stype_is_unsigned(from))
        return stype_bits(t) > stype_bits(from) || (stype_is_unsigned(t) && stype_bits(t) == stype_bits(from));
    return !stype_is_unsigned(t) && stype_bits(t) >= stype_bits(from);
}

static bool exact_in(const Sem *s, SType t) {
    if (sem_is_number(s)) return number_fits(s, t);
    return !s->wide && type_holds(s->type, t);
}

/* ---- Signed and unsigned ----------------------------------------------------------------------------------------- */

/* Converting it to t may make another number of it. */
static bool changes_in(const Sem *s, SType t) {
    return sem_is_number(s) ? !number_fits(s, t) : !type_holds(s->type, t);
}

/* A signed and an unsigned integer whose common type does not hold both. */
static bool clashes(const Sem *x, const Sem *y, SType t) {
    return !stype_is_float(t) && mixes_signs(x, y) && (changes_in(x, t) || changes_in(y, t));
}

static void warn_of_clash(Checker *c, const char *what, const Sem *x, const Sem *y, SType t, Span at) {
    if (c->file->is_library) return;
    diag(c->d, at, W_MIXED_SIGN, what, sem_type_text(c, x), sem_type_text(c, y), stype_name(t));
    diag_note(c->d, at, "convert one side first, as in x.to(%s), to say what is meant", stype_name(t));
}

/* In 64 bits only an unsigned reading holds it. */
static bool is_above_i64(const Sem *s) {
    return sem_is_number(s) ? !s->i.neg && s->i.mag > (uint64_t)INT64_MAX : s->type == ST_U64;
}

static const Sem *as_wide(Checker *c, const Sem *s) {
    return sem_run(c, ST_I64, wide_value(c, s), NULL);
}

/* s, signed, against u, unsigned, both of 64 bits: a negative s is less than every u. */
static const Sem *compare_mixed(Checker *c, CompareOp op, const Sem *s, const Sem *u, Shape shape) {
    bool below = op == CMP_LT || op == CMP_LE || op == CMP_NE; /* what holds of a negative s */
    const Sem *a = as_wide(c, s), *b = as_wide(c, u), *zero = as_wide(c, sem_i64(c, 0));
    const Sem *sign = build_cmp(c, OP_ICMP, below ? PRED_SLT : PRED_SGE, a, zero, shape);
    const Sem *rest = build_cmp(c, OP_ICMP, pred_of(op, true), a, b, shape);
    return sem_run(c, ST_I1, build2(&c->b, below ? OP_OR : OP_AND, sign->v, rest->v), NULL);
}

static CompareOp turned_round(CompareOp op) {
    return op == CMP_LT ? CMP_GT : op == CMP_LE ? CMP_GE : op == CMP_GT ? CMP_LT : op == CMP_GE ? CMP_LE : op;
}

/* Below -2^63, which only a number of compile time is. */
static bool is_below_i64(const Sem *s) {
    return sem_is_number(s) && s->i.neg && s->i.mag > (uint64_t)INT64_MAX + 1;
}

/* True of the mathematical values. */
static const Sem *compare_exactly(Checker *c, CompareOp op, const Sem *x, const Sem *y, Shape shape) {
    if (is_below_i64(x) || is_below_i64(y)) {
        const Sem *edge = sem_i64(c, is_below_i64(x) ? 0 : 1), *other = sem_i64(c, is_below_i64(x) ? 1 : 0);
        const Sem *known = const_compare(c, op, edge, other, c->b.span);
        return broadcast_to(c, to_run(c, known, c->b.span), shape);
    }
    bool above = is_above_i64(x);
    if (above == is_above_i64(y)) {
        const Sem *a = as_wide(c, x), *b = as_wide(c, y);
        return build_cmp(c, OP_ICMP, pred_of(op, above), a, b, shape);
    }
    return above ? compare_mixed(c, turned_round(op), y, x, shape) : compare_mixed(c, op, x, y, shape);
}

static const Sem *compare_ints(Checker *c, CompareOp op, const Sem *x, const Sem *y, SType t, Shape shape, Span at) {
    bool clash = clashes(x, y, t), converts = clash && triton_rules(c);
    if (converts) {
        x = to_run(c, x, at);
        y = to_run(c, y, at);
    } else if (clash) {
        warn_of_clash(c, compare_text[op], x, y, t, at);
    }
    if (!converts && (!exact_in(x, t) || !exact_in(y, t))) return compare_exactly(c, op, x, y, shape);
    const Sem *a = convert_to(c, x, t, at), *b = convert_to(c, y, t, at);
    return build_cmp(c, OP_ICMP, pred_of(op, stype_is_unsigned(t)), a, b, shape);
}

static const Sem *compare_pointers(Checker *c, CompareOp op, const Sem *x, const Sem *y, Span at) {
    Shape shape;
    bool both = x->kind == SEM_RUN && y->kind == SEM_RUN && x->is_pointer && y->is_pointer;
    if (!both || stype_memory(x->type) != stype_memory(y->type)) {
        diag(c->d, at, E_OPERANDS, compare_text[op], sem_type_text(c, x), sem_type_text(c, y));
        diag_note(c->d, at, "a pointer compares with a pointer of the same type");
        return &sem_error;
    }
    if (!broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    return build_cmp(c, OP_ICMP, pred_of(op, true), x, y, shape);
}

const Sem *arith_compare(Checker *c, CompareOp op, const Sem *x, const Sem *y, Span at) {
    if (sem_is_error(x) || sem_is_error(y)) return &sem_error;
    c->b.span = at;
    bool is_identity = op == CMP_IS || op == CMP_IS_NOT;
    if (x->kind == SEM_NONE || y->kind == SEM_NONE) { /* a run-time value is never None */
        if (is_identity || op == CMP_EQ || op == CMP_NE) return sem_bool(c, op == CMP_IS_NOT || op == CMP_NE);
    }
    if (is_identity || op == CMP_IN || op == CMP_NOT_IN) {
        diag(c->d, at, E_OPERANDS_KNOWN, compare_text[op], sem_type_text(c, x), sem_type_text(c, y));
        return &sem_error;
    }
    if (x->is_pointer || y->is_pointer) return compare_pointers(c, op, x, y, at);
    if (!sem_is_value(x) || !sem_is_value(y)) {
        diag(c->d, at, E_OPERANDS, compare_text[op], sem_type_text(c, x), sem_type_text(c, y));
        return &sem_error;
    }
    SType t;
    Shape shape;
    if (!check_promote(c, x, y, at, &t) || !broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    if (!stype_is_float(t)) return compare_ints(c, op, x, y, t, shape, at);
    if (stype_bits(t) == 8) t = ST_FP32;
    return build_cmp(c, OP_FCMP, pred_of(op, false), convert_to(c, x, t, at), convert_to(c, y, t, at), shape);
}

/* ---- Max, min, choice -------------------------------------------------------------------------------------------- */

OpKind minmax_op(MinMax which, SType t, bool propagate_nan) {
    bool is_max = which == TAKE_MAX;
    if (stype_is_float(t)) return propagate_nan ? (is_max ? OP_FMAXNAN : OP_FMINNAN) : (is_max ? OP_FMAX : OP_FMIN);
    if (stype_is_unsigned(t)) return is_max ? OP_UMAX : OP_UMIN;
    return is_max ? OP_SMAX : OP_SMIN;
}

static bool has_wide(const Sem *s) {
    return s->kind == SEM_RUN && s->wide;
}

/* The larger of the two is as large as the unsigned one at least, the smaller no larger than the signed one. */
static const Sem *minmax_mixed(Checker *c, MinMax which, const Sem *x, const Sem *y, SType t, Shape shape, Span at) {
    bool is_max = which == TAKE_MAX;
    warn_of_clash(c, is_max ? "maximum" : "minimum", x, y, t, at);
    const Sem *takes = compare_exactly(c, is_max ? CMP_GE : CMP_LE, x, y, shape);
    SType in = is_max ? t : stype_signed(t);
    const Sem *a = convert_to(c, to_run(c, x, at), in, at), *b = convert_to(c, to_run(c, y, at), in, at);
    return arith_select(c, takes, a, b, at);
}

const Sem *arith_minmax(Checker *c, MinMax which, bool propagate_nan, const Sem *x, const Sem *y, Span at) {
    if (sem_is_error(x) || sem_is_error(y)) return &sem_error;
    c->b.span = at;
    SType t;
    Shape shape;
    if (!check_promote(c, x, y, at, &t) || !broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    bool clash = clashes(x, y, t);
    if (clash && !triton_rules(c)) return minmax_mixed(c, which, x, y, t, shape, at);
    if (clash) {
        x = to_run(c, x, at);
        y = to_run(c, y, at);
    }
    SType in = stype_is_float(t) && stype_bits(t) == 8 ? ST_FP32 : t;
    const Sem *a = convert_to(c, x, in, at), *b = convert_to(c, y, in, at);
    if (sem_is_error(a) || sem_is_error(b)) return &sem_error;
    Value *v =
        build2(&c->b, minmax_op(which, in, propagate_nan), broadcast_to(c, a, shape)->v, broadcast_to(c, b, shape)->v);
    if (!stype_is_float(t) && t != ST_U64 && (has_wide(x) || has_wide(y))) {
        a = broadcast_to(c, sem_run(c, ST_I64, wide_value(c, x), NULL), shape);
        b = broadcast_to(c, sem_run(c, ST_I64, wide_value(c, y), NULL), shape);
        return sem_run(c, t, v, build2(&c->b, minmax_op(which, ST_I64, false), a->v, b->v));
    }
    return convert_to(c, sem_run(c, in, v, NULL), t, at);
}

static const Sem *select_pointers(Checker *c, const Sem *cond, const Sem *x, const Sem *y, Span at) {
    if (!x->is_pointer || !y->is_pointer || x->type != y->type) {
        diag(c->d, at, E_COMMON_TYPE, sem_type_text(c, x), sem_type_text(c, y));
        return &sem_error;
    }
    Shape shape;
    if (!broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    if (!shape_join(shape, sem_shape(cond), &shape)) return (broadcast_shape(c, cond, x, at, &shape), &sem_error);
    Value *v = build3(&c->b, OP_SELECT, sem_is_tile(cond) ? broadcast_to(c, cond, shape)->v : cond->v,
                      broadcast_to(c, x, shape)->v, broadcast_to(c, y, shape)->v);
    return sem_with(c, x->is_const ? x : y, v, NULL);
}

const Sem *arith_select(Checker *c, const Sem *cond, const Sem *x, const Sem *y, Span at) {
    if (sem_is_error(cond) || sem_is_error(x) || sem_is_error(y)) return &sem_error;
    c->b.span = at;
    const Sem *given = cond;
    cond = convert_to(c, to_run(c, cond, at), ST_I1, at);
    if (sem_is_error(cond)) return cond;
    if (x->is_pointer || y->is_pointer) return select_pointers(c, cond, x, y, at);
    SType t;
    Shape shape, all;
    if (!check_promote(c, x, y, at, &t) || !broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    const Sem *a = convert_to(c, x, t, at), *b = convert_to(c, y, t, at);
    if (sem_is_error(a) || sem_is_error(b)) return &sem_error;
    a = broadcast_to(c, a, shape);
    b = broadcast_to(c, b, shape);
    if (!broadcast_shape(c, given, a, at, &all)) return &sem_error;
    if (sem_is_tile(cond)) cond = broadcast_to(c, cond, all);
    Value *v = build3(&c->b, OP_SELECT, cond->v, broadcast_to(c, a, all)->v, broadcast_to(c, b, all)->v);
    if (stype_is_float(t) || (!has_wide(x) && !has_wide(y))) return sem_run(c, t, v, NULL);
    a = broadcast_to(c, sem_run(c, ST_I64, wide_value(c, x), NULL), all);
    b = broadcast_to(c, sem_run(c, ST_I64, wide_value(c, y), NULL), all);
    return sem_run(c, t, v, build3(&c->b, OP_SELECT, cond->v, a->v, b->v));
}
