/* create.c - programs, creation and casts.
 *
 * In: a bound Call. Out: a Sem.
 */
#include "check/builtin/builtin.h"

#include <string.h>

const Sem *builtin_program(Checker *c, Call *call) {
    int64_t axis;
    if (!sem_want_int(c, call->arg[0], call->at[0], argument_of(c, call, 0), &axis)) return &sem_error;
    if (axis < 0 || axis > 2) {
        diag(c->d, call->at[0], E_GRID_AXIS, call->builtin->name, (long long)axis);
        return &sem_error;
    }
    Attr attr = {.axis = (uint32_t)axis};
    return sem_run(c, ST_I32, build0(&c->b, (OpKind)call->builtin->aux, attr, type_scalar(DT_I32)), NULL);
}

const Sem *builtin_arange(Checker *c, Call *call) {
    int64_t start, end;
    uint8_t log2;
    if (!sem_want_int(c, call->arg[0], call->at[0], argument_of(c, call, 0), &start)) return &sem_error;
    if (!sem_want_int(c, call->arg[1], call->at[1], argument_of(c, call, 1), &end)) return &sem_error;
    if (start < INT32_MIN || end > INT32_MAX + (int64_t)1 || start > INT32_MAX || end < INT32_MIN) {
        if (start == 0) return (dimension_log2(c, end, call->at[1], &log2), &sem_error);
        diag(c->d, call->span, E_ARANGE_WIDE, (long long)start, (long long)end);
        return &sem_error;
    }
    if (end <= start) {
        diag(c->d, call->span, E_ARANGE_EMPTY, (long long)start, (long long)end);
        return &sem_error;
    }
    if (!dimension_log2(c, end - start, start == 0 ? call->at[1] : call->span, &log2)) return &sem_error;
    return sem_run(c, ST_I32, build_arange(&c->b, start, end), NULL);
}

/* ---- Shapes as arguments ----------------------------------------------------------------------------------------- */

/* (M, N), [M, N] or M. */
bool read_shape(Checker *c, const Sem *given, Span at, const char *what, Shape *out) {
    *out = shape_scalar();
    if (sem_is_error(given)) return false;
    const Sem *s = given->kind == SEM_INT ? sem_tuple(c, &given, 1) : given;
    if (s->kind != SEM_TUPLE) {
        diag(c->d, at, E_SHAPE, what, sem_type_text(c, s));
        return false;
    }
    if (s->count > SHAPE_RANK) {
        diag(c->d, at, E_RANK, s->count, SHAPE_RANK);
        return false;
    }
    out->rank = (uint8_t)s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t size;
        if (!sem_want_int(c, s->items[i], at, arena_printf(c->a, "each dimension of %s", what), &size)) return false;
        if (!dimension_log2(c, size, at, &out->log2[i])) return false;
    }
    return check_elements(c, *out, at);
}

/* A number or scalar as element type t, explicitly: floats truncate to ints. */
static const Sem *cast_scalar(Checker *c, const Sem *s, SType t, Span at) {
    if (!sem_is_number(s)) return convert_to(c, s, t, at);
    if (s->kind == SEM_FLOAT && !stype_is_float(t)) {
        Int i;
        if (!int_from_double(s->f, &i)) return convert_to(c, s, t, at); /* its error */
        s = sem_int(c, i);
    }
    return t == ST_I1 ? sem_run(c, t, const_value(c, s, t, shape_scalar()), NULL) : convert_to(c, s, t, at);
}

const Sem *builtin_full(Checker *c, Call *call) {
    Shape shape;
    const Sem *value = call->arg[1];
    if (!read_shape(c, call->arg[0], call->at[0], argument_of(c, call, 0), &shape)) return &sem_error;
    if (!sem_is_value(value) || sem_is_tile(value)) {
        diag(c->d, call->at[1], E_FULL_SCALAR, sem_type_text(c, value));
        return &sem_error;
    }
    SType t = sem_natural(value);
    if (call->arg[2] && call->arg[2]->kind == SEM_TYPE) t = call->arg[2]->type;
    const Sem *s = cast_scalar(c, value, t, call->at[1]);
    if (sem_is_error(s) || shape.rank == 0) return s;
    if (sem_is_number(value) && !(value->kind == SEM_FLOAT && !stype_is_float(t))) {
        return sem_run(c, t, const_value(c, value, t, shape), NULL);
    }
    return broadcast_to(c, s, shape);
}

const Sem *builtin_zeros(Checker *c, Call *call) {
    Shape shape;
    SType t = call->arg[1] ? call->arg[1]->type : ST_FP32;
    if (!read_shape(c, call->arg[0], call->at[0], argument_of(c, call, 0), &shape)) return &sem_error;
    return sem_run(c, t, const_value(c, sem_i64(c, 0), t, shape), NULL);
}

const Sem *builtin_zeros_like(Checker *c, Call *call) {
    const Sem *x = call->arg[0];
    return sem_run(c, sem_natural(x), const_value(c, sem_i64(c, 0), sem_natural(x), sem_shape(x)), NULL);
}

/* ---- Casts ------------------------------------------------------------------------------------------------------- */

static bool read_rounding(Checker *c, Call *call, Round *out) {
    const Sem *s = call->arg[2];
    *out = ROUND_NEAREST;
    if (!s || s->kind == SEM_NONE) return true;
    if (s->kind == SEM_STRING && strcmp(s->s, "rtne") == 0) return true;
    *out = ROUND_ZERO;
    if (s->kind == SEM_STRING && strcmp(s->s, "rtz") == 0) return true;
    diag(c->d, call->at[2], E_ROUNDING, sem_type_text(c, s));
    diag_note(c->d, call->at[2], "it is \"rtne\" (to nearest even) or \"rtz\" (toward zero)");
    return false;
}

const Sem *builtin_cast(Checker *c, Call *call) {
    const Sem *x = call->arg[0], *t = call->arg[1];
    Round round;
    bool bitcast = call_flag(call, 3, false);
    if (!read_rounding(c, call, &round)) return &sem_error;
    bool is_pointer = x->kind == SEM_RUN && x->is_pointer;
    if (is_pointer && !bitcast && !t->is_pointer && stype_bits(t->type) != 64) {
        diag(c->d, call->span, E_CAST_POINTER, call->builtin->name, sem_type_text(c, x), stype_name(t->type));
        diag_note(c->d, call->at[0], "load what it points to, as in load(x); an address itself converts to i64 only");
        return &sem_error;
    }
    if (bitcast || t->is_pointer || is_pointer) {
        return bitcast_to(c, x, t->type, t->is_pointer, call->span);
    }
    if (x->kind == SEM_RUN) return convert_rounded(c, x, t->type, round);
    return cast_scalar(c, x, t->type, call->at[0]);
}

const Sem *builtin_pointer_type(Checker *c, Call *call) {
    return sem_type(c, call->arg[0]->type, true);
}
