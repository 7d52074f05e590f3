/* builtin_reduce.c - sum, max and min over one axis or all of a tile.
 *
 * In: a bound Call. Out: a Sem of lower rank, or of the same rank with keep_dims.
 * Method: the element type is chosen first (language.md: types under 32 bits widen, 16-bit float sums accumulate in
 * fp32 and round once), then one reduce op for each axis, from the last to the first.
 */
#include "check/sema.h"

typedef struct Reduction {
    const Sem *x;
    int64_t axis; /* -1: all */
    bool keep_dims;
    const Sem *dtype; /* or NULL */
} Reduction;

static bool read_reduction(Checker *c, Call *call, uint32_t keep_dims, uint32_t dtype, Reduction *r) {
    *r = (Reduction){.x = call->arg[0], .axis = -1};
    if (!sem_is_value(r->x)) {
        diag_error(c->d, call->at[0], "'%s' takes a tile, not %s", call->builtin->name, sem_type_text(c, r->x));
        return false;
    }
    r->x = to_run(c, r->x, call->at[0]);
    int64_t rank = sem_shape(r->x).rank;
    if (call->arg[1] && call->arg[1]->kind != SEM_NONE) {
        if (!sem_want_int(c, call->arg[1], call->at[1], "axis", &r->axis)) return false;
        if (r->axis < -rank || r->axis >= rank) {
            diag_error(c->d, call->at[1], "axis %lld of %s", (long long)r->axis, sem_type_text(c, r->x));
            if (rank)
                diag_note(c->d, call->at[1], "it has axes 0 to %lld", (long long)rank - 1);
            else
                diag_note(c->d, call->at[0], "a scalar has no axes: there is nothing to reduce");
            return false;
        }
        if (r->axis < 0) r->axis += rank;
    }
    if (call->arg[keep_dims] &&
        !sem_want_bool(c, call->arg[keep_dims], call->at[keep_dims], "keep_dims", &r->keep_dims)) {
        return false;
    }
    const Sem *t = call->arg[dtype];
    if (t && t->kind != SEM_NONE) {
        if (t->kind != SEM_TYPE || t->is_pointer) {
            diag_error(c->d, call->at[dtype], "dtype must be a type such as fp32, not %s", sem_type_text(c, t));
            return false;
        }
        r->dtype = t;
    }
    return true;
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
    if (!r->keep_dims || from.rank == 0) return s;
    if (r->axis >= 0 && from.rank > 1) return expand_at(c, s, (uint32_t)r->axis);
    Shape ones = {.rank = from.rank};
    return broadcast_to(c, s, ones);
}

const Sem *builtin_sum(Checker *c, Call *call) {
    Reduction r;
    if (!read_reduction(c, call, 2, 3, &r)) return &sem_error;
    SType t = r.x->type;
    if (r.dtype) {
        t = r.dtype->type;
    } else if (!stype_is_float(t) && stype_bits(t) < 32) {
        t = stype_class(t) == CLASS_UNSIGNED ? ST_U32 : ST_I32;
    }
    bool through_fp32 = stype_is_float(t) && stype_bits(t) < 32;
    r.x = convert_to(c, r.x, through_fp32 ? ST_FP32 : t, call->span);
    const Sem *s = reduce_axes(c, &r, stype_is_float(t) ? OP_FADD : t == ST_I1 ? OP_OR : OP_ADD, call->span);
    return convert_to(c, s, t, call->span);
}

/* max(a, b), max(a, b, c): elementwise, as in Python. */
static const Sem *elementwise(Checker *c, Call *call, MinMax which) {
    const Sem *r = call->arg[0];
    for (uint32_t i = 1; i < call->positional; i++) r = minmax(c, which, false, r, call->arg[i], call->span);
    return r;
}

const Sem *builtin_max(Checker *c, Call *call) {
    MinMax which = (MinMax)call->builtin->aux;
    const Sem *x = call->arg[0];
    if (call->is_bare && call->positional >= 2 && call->positional == call->node->list.len)
        return elementwise(c, call, which);
    if (x->kind == SEM_TUPLE && x->count) {
        const Sem *r = x->items[0];
        for (uint32_t i = 1; i < x->count; i++) r = minmax(c, which, false, r, x->items[i], call->span);
        return r;
    }
    bool indices = false, nan = false;
    if (call->arg[2] && !sem_want_bool(c, call->arg[2], call->at[2], "return_indices", &indices)) return &sem_error;
    if (indices) {
        diag_error(c->d, call->at[2], "'%s' with return_indices is not compiled yet", call->builtin->name);
        return &sem_error;
    }
    if (call->arg[6] && !sem_want_bool(c, call->arg[6], call->at[6], "propagate_nan", &nan)) return &sem_error;
    Reduction r;
    if (!read_reduction(c, call, 4, 5, &r)) return &sem_error;
    SType t = r.x->type;
    if (r.dtype) {
        t = r.dtype->type;
    } else if (stype_bits(t) < 32) {
        t = stype_is_float(t) ? ST_FP32 : ST_I32;
    }
    r.x = convert_to(c, r.x, stype_is_float(t) && stype_bits(t) == 8 ? ST_FP32 : t, call->span);
    return convert_to(c, reduce_axes(c, &r, minmax_op(which, r.x->type, nan), call->span), t, call->span);
}
