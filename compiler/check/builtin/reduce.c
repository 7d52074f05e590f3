/* reduce.c - sum, max, min, xor_sum, argmax and argmin over one axis or all of a tile.
 *
 * In: a bound Call. Out: a Sem of lower rank, or of the same rank with keep_dims.
 * Method: the element type is chosen first (language.md: types under 32 bits widen, 16-bit float sums accumulate in
 * fp32 and round once), then one reduce op for each axis, from the last to the first.
 */
#include "check/builtin/builtin.h"

typedef struct Reduction {
    const Sem *x;
    int64_t axis; /* or ALL_AXES */
    bool keep_dims;
    const Sem *dtype; /* or NULL */
} Reduction;

bool own_axis(Checker *c, Call *call, Span at, const Sem *x, int64_t *axis) {
    int64_t rank = sem_shape(x).rank;
    if (*axis < -rank || *axis >= rank) {
        diag(c->d, at, E_AXIS, call->builtin->name, (long long)*axis, sem_type_text(c, x));
        if (rank > 1) diag_note(c->d, at, "it has axes 0 to %lld", (long long)rank - 1);
        else diag_note(c->d, at, rank ? "it has axis 0 only" : "a scalar has no axes");
        return false;
    }
    if (*axis < 0) *axis += rank;
    return true;
}

bool read_reduced_axis(Checker *c, Call *call, uint32_t arg, const Sem *x, int64_t *axis) {
    *axis = ALL_AXES;
    if (!call->arg[arg] || call->arg[arg]->kind == SEM_NONE) return true;
    if (!sem_want_int(c, call->arg[arg], call->at[arg], argument_of(c, call, arg), axis)) return false;
    return own_axis(c, call, call->at[arg], x, axis);
}

const Sem *result_type(const Call *call, uint32_t arg) {
    return call->arg[arg] && call->arg[arg]->kind == SEM_TYPE ? call->arg[arg] : NULL;
}

static bool read_reduction(Checker *c, Call *call, uint32_t keep_dims, uint32_t dtype, Reduction *r) {
    *r = (Reduction){.x = call->arg[0], .axis = ALL_AXES};
    if (!sem_is_value(r->x)) {
        diag(c->d, call->at[0], E_TAKES_TILE, call->builtin->name, sem_type_text(c, r->x));
        return false;
    }
    r->x = to_run(c, r->x, call->at[0]);
    if (!read_reduced_axis(c, call, 1, r->x, &r->axis)) return false;
    r->keep_dims = call_flag(call, keep_dims, false);
    r->dtype = result_type(call, dtype);
    return true;
}

const Sem *restore_axes(Checker *c, const Sem *s, int64_t axis, Shape from) {
    if (from.rank == 0) return s;
    if (axis >= 0 && from.rank > 1) return expand_at(c, s, (uint32_t)axis);
    Shape ones = {.rank = from.rank};
    return broadcast_to(c, s, ones);
}

/* One op per axis; `r->x` is in the type to compute in. */
static const Sem *reduce_axes(Checker *c, const Reduction *r, OpKind combine, Span at) {
    c->b.span = at;
    Shape from = sem_shape(r->x);
    Value *v = r->x->v;
    if (r->axis >= 0) {
        v = build_reduce(&c->b, v, (uint32_t)r->axis, combine);
    } else {
        while (v->type.shape.rank) v = build_reduce(&c->b, v, v->type.shape.rank - 1u, combine);
    }
    const Sem *s = sem_run(c, r->x->type, v, NULL);
    return r->keep_dims ? restore_axes(c, s, r->axis, from) : s;
}

/* Of less than 32 bits: an integer of 32. Truth values are unsigned to Triton. */
SType sum_type(const Checker *c, SType t) {
    if (stype_is_float(t) || stype_bits(t) >= 32) return t;
    return stype_is_unsigned(t) && (t != ST_I1 || triton_rules(c)) ? ST_U32 : ST_I32;
}

/* Of truth values, where i1 was asked for, whether any is true; to Triton a sum that wraps at 2. */
OpKind sum_op(const Checker *c, SType t) {
    if (stype_is_float(t)) return OP_FADD;
    return t != ST_I1 ? OP_ADD : triton_rules(c) ? OP_XOR : OP_OR;
}

const Sem *builtin_sum(Checker *c, Call *call) {
    Reduction r;
    if (!read_reduction(c, call, 2, 3, &r)) return &sem_error;
    SType t = r.dtype ? r.dtype->type : sum_type(c, r.x->type);
    bool through_fp32 = stype_is_float(t) && stype_bits(t) < 32;
    r.x = convert_to(c, r.x, through_fp32 ? ST_FP32 : t, call->span);
    const Sem *s = reduce_axes(c, &r, sum_op(c, t), call->span);
    return convert_to(c, s, t, call->span);
}

const Sem *builtin_reduce_bits(Checker *c, Call *call) {
    Reduction r;
    if (!read_reduction(c, call, 2, BUILTIN_ARGS - 1, &r)) return &sem_error;
    if (!stype_is_float(r.x->type)) return reduce_axes(c, &r, (OpKind)call->builtin->aux, call->span);
    diag(c->d, call->at[0], E_BITS_INTEGERS, call->builtin->name, sem_type_text(c, r.x));
    return &sem_error;
}

const Sem *builtin_argmax(Checker *c, Call *call) {
    Reduction r;
    Extreme e = {.which = (MinMax)call->builtin->aux};
    if (!read_reduction(c, call, 3, BUILTIN_ARGS - 1, &r)) return &sem_error;
    e.propagate_nan = call_flag(call, 4, false);
    e.keep_dims = r.keep_dims;
    e.takes_last = !call_flag(call, 2, true);
    e.axis = r.axis;
    SType t = r.x->type;
    if (stype_bits(t) < 32) t = stype_is_float(t) ? ST_FP32 : ST_I32;
    return extreme_pair(c, &e, convert_to(c, r.x, t, call->span), call->span)->items[1];
}

/* max(a, b), max(a, b, c): elementwise, as in Python. */
static const Sem *elementwise(Checker *c, Call *call, MinMax which) {
    const Sem *r = call->arg[0];
    for (uint32_t i = 1; i < call->positional; i++) r = check_minmax(c, which, false, r, call->arg[i], call->span);
    return r;
}

/* Of an extreme beside its index: to Triton narrow types stay as they are there, but for bf16. */
static SType paired_type(const Checker *c, SType given, SType wide) {
    return triton_rules(c) && given != ST_BF16 ? given : wide;
}

static const Sem *with_indices(Checker *c, const Extreme *e, const Sem *x, SType t, Span at) {
    const Sem *pair = extreme_pair(c, e, x, at);
    if (sem_is_error(pair)) return pair;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, 2);
    items[0] = convert_to(c, pair->items[0], t, at);
    items[1] = pair->items[1];
    return sem_tuple(c, items, 2);
}

const Sem *builtin_max(Checker *c, Call *call) {
    MinMax which = (MinMax)call->builtin->aux;
    const Sem *x = call->arg[0];
    if (call_is_elementwise(call)) return elementwise(c, call, which);
    if (x->kind == SEM_TUPLE && x->count) {
        const Sem *r = x->items[0];
        for (uint32_t i = 1; i < x->count; i++) r = check_minmax(c, which, false, r, x->items[i], call->span);
        return r;
    }
    bool indices = call_flag(call, 2, false), nan = call_flag(call, 6, false), left = call_flag(call, 3, true);
    Reduction r;
    if (!read_reduction(c, call, 4, 5, &r)) return &sem_error;
    SType given = r.x->type, t = given;
    if (r.dtype) {
        t = r.dtype->type;
    } else if (stype_bits(t) < 32) {
        t = stype_is_float(t) ? ST_FP32 : ST_I32;
    }
    r.x = convert_to(c, r.x, stype_is_float(t) && stype_bits(t) == 8 ? ST_FP32 : t, call->span);
    Extreme e = {which, nan, r.keep_dims, !left, r.axis};
    if (indices) return with_indices(c, &e, r.x, r.dtype ? t : paired_type(c, given, t), call->span);
    return convert_to(c, reduce_axes(c, &r, minmax_op(which, r.x->type, nan), call->span), t, call->span);
}
