/* shape.c - the builtins that give a tile another shape or order: broadcast, reshape, trans, join, cat, ….
 *
 * In: a bound Call. Out: a Sem, or a tuple of them.
 * Method: reshape, trans, join, split and gather are ops; the others are written in terms of these. What is done to an
 * integer is done to its wide form too.
 */
#include "check/builtin/builtin.h"

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* reshape(x, (4, 8)) or x.reshape(4, 8). */
static bool shape_arguments(Checker *c, Call *call, Shape *out) {
    const char *what = argument_of(c, call, 1);
    if (call->arg[1]->kind == SEM_TUPLE || !call->arg[2]) {
        bool is_single = true;
        for (uint32_t i = 1; i < SHAPE_RANK; i++) is_single &= !call->arg[1 + i];
        if (is_single) return read_shape(c, call->arg[1], call->at[1], what, out);
        diag(c->d, call->span, E_SHAPE_TWICE, what);
        diag_note(c->d, call->span, "write '%s' with (4, 8), or with 4, 8 by position", call->builtin->name);
        return false;
    }
    const Sem *items[SHAPE_RANK];
    uint32_t n = 0;
    while (n < SHAPE_RANK && call->arg[1 + n]) {
        items[n] = call->arg[1 + n];
        n++;
    }
    Sem tuple = {.kind = SEM_TUPLE, .items = items, .count = n};
    return read_shape(c, &tuple, span_join(call->at[1], call->at[n]), what, out);
}

static const Sem *as_run(Checker *c, Call *call) {
    return to_run(c, call->arg[0], call->at[0]);
}

const Sem *builtin_broadcast(Checker *c, Call *call) {
    const Sem *x = as_run(c, call), *y = to_run(c, call->arg[1], call->at[1]);
    Shape shape;
    if (sem_is_error(x) || sem_is_error(y) || !broadcast_shape(c, x, y, call->span, &shape)) return &sem_error;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, 2);
    items[0] = broadcast_to(c, x, shape);
    items[1] = broadcast_to(c, y, shape);
    return sem_tuple(c, items, 2);
}

static const Sem *bad_shape(Checker *c, Call *call, const Sem *x, Shape to, const char *note) {
    diag(c->d, call->span, E_RESHAPE, call->builtin->name, sem_type_text(c, x),
         type_text(c, x->type, x->is_pointer, to));
    diag_note(c->d, call->span, "%s", note);
    return &sem_error;
}

const Sem *builtin_broadcast_to(Checker *c, Call *call) {
    const Sem *x = as_run(c, call);
    Shape shape, joined;
    if (sem_is_error(x) || !shape_arguments(c, call, &shape)) return &sem_error;
    if (!shape_join(sem_shape(x), shape, &joined) || !shape_equal(joined, shape)) {
        return bad_shape(c, call, x, shape, "dimensions are matched from the last; each must be equal, or 1 before");
    }
    return broadcast_to(c, x, shape);
}

static const Sem *no_new_axis(Checker *c, Call *call, const Sem *x, int64_t axis) {
    uint32_t rank = sem_shape(x).rank;
    diag(c->d, call->at[1], E_AXIS_NEW, call->builtin->name, sem_type_text(c, x), (long long)axis);
    if (rank == SHAPE_RANK) diag_note(c->d, call->at[1], "a tile has %d dimensions at most", SHAPE_RANK);
    else diag_note(c->d, call->at[1], "the new axis is 0 to %u; expand_dims(x, -1) adds it behind the last", rank);
    return &sem_error;
}

const Sem *builtin_expand_dims(Checker *c, Call *call) {
    const Sem *x = as_run(c, call), *axes = call->arg[1];
    if (sem_is_error(x)) return x;
    if (axes->kind != SEM_TUPLE) axes = sem_tuple(c, &call->arg[1], 1);
    int64_t rank = sem_shape(x).rank + axes->count;
    bool is_new[SHAPE_RANK] = {false};
    for (uint32_t i = 0; i < axes->count; i++) {
        int64_t axis;
        if (!sem_want_int(c, axes->items[i], call->at[1], argument_of(c, call, 1), &axis)) return &sem_error;
        int64_t at = axis < 0 ? axis + rank : axis;
        if (rank > SHAPE_RANK || at < 0 || at >= rank || is_new[at]) return no_new_axis(c, call, x, axis);
        is_new[at] = true;
    }
    for (uint32_t i = 0; i < rank; i++)
        if (is_new[i]) x = expand_at(c, x, i);
    return x;
}

/* ---- Reshape ----------------------------------------------------------------------------------------------------- */

static Value *reshape_value(Checker *c, Value *v, Shape to) {
    if (!v || shape_equal(v->type.shape, to)) return v;
    return v->type.shape.rank ? build_reshape(&c->b, v, to) : build_splat(&c->b, v, to);
}

const Sem *reshape_to(Checker *c, const Sem *x, Shape to) {
    return sem_with(c, x, reshape_value(c, x->v, to), reshape_value(c, x->wide, to));
}

/* Where the new shape only has more dimensions of size 1, these are added; any other is a reshape. */
const Sem *builtin_reshape(Checker *c, Call *call) {
    const Sem *x = as_run(c, call);
    Shape to;
    if (sem_is_error(x) || !shape_arguments(c, call, &to)) return &sem_error;
    if (shape_log2(to) != shape_log2(sem_shape(x))) {
        const char *why = "a reshape keeps the number of elements: %llu here, %llu there";
        return bad_shape(c, call, x, to,
                         arena_printf(c->a, why, (unsigned long long)shape_elements(sem_shape(x)),
                                      (unsigned long long)shape_elements(to)));
    }
    const Sem *r = x;
    for (uint32_t i = 0; i < to.rank; i++) {
        Shape now = sem_shape(r);
        bool is_new = i == now.rank || (i < now.rank && now.log2[i] != 0);
        if (now.rank < to.rank && to.log2[i] == 0 && is_new) r = expand_at(c, r, i);
    }
    return shape_equal(sem_shape(r), to) ? r : reshape_to(c, x, to);
}

const Sem *builtin_ravel(Checker *c, Call *call) {
    const Sem *x = as_run(c, call);
    if (sem_is_error(x)) return x;
    return reshape_to(c, x, shape_row(shape_log2(sem_shape(x))));
}

/* An axis of x out of argument `arg`, counted from the end where negative. */
static bool read_axis(Checker *c, Call *call, const Sem *s, uint32_t arg, const Sem *x, uint32_t *axis) {
    Span at = call->arg[arg] ? call->at[arg] : call->span;
    int64_t i;
    if (!sem_want_int(c, s, at, argument_of(c, call, arg), &i) || !own_axis(c, call, at, x, &i)) return false;
    *axis = (uint32_t)i;
    return true;
}

const Sem *builtin_squeeze(Checker *c, Call *call) {
    const Sem *x = as_run(c, call);
    uint32_t axis;
    if (sem_is_error(x) || !read_axis(c, call, call->arg[1], 1, x, &axis)) return &sem_error;
    if (sem_shape(x).log2[axis] == 0) return reshape_to(c, x, shape_remove(sem_shape(x), axis));
    diag(c->d, call->at[1], E_AXIS_SQUEEZE, axis, sem_type_text(c, x),
         (unsigned long long)shape_size(sem_shape(x), axis));
    diag_note(c->d, call->at[1], "only an axis of size 1 can be left out");
    return &sem_error;
}

const Sem *builtin_unsqueeze(Checker *c, Call *call) {
    const Sem *x = as_run(c, call);
    int64_t axis;
    if (sem_is_error(x) || !sem_want_int(c, call->arg[1], call->at[1], argument_of(c, call, 1), &axis))
        return &sem_error;
    uint32_t rank = sem_shape(x).rank;
    if (axis >= 0 && axis <= rank && rank < SHAPE_RANK) return expand_at(c, x, (uint32_t)axis);
    return no_new_axis(c, call, x, axis);
}

/* ---- Order of axes ----------------------------------------------------------------------------------------------- */

static const Sem *permuted(Checker *c, const Sem *x, const uint8_t *perm) {
    if (sem_shape(x).rank < 2) return x; /* a scalar, too, has its one order */
    return sem_with(c, x, build_trans(&c->b, x->v, perm), x->wide ? build_trans(&c->b, x->wide, perm) : NULL);
}

const Sem *check_transpose(Checker *c, const char *name, const Sem *x, Span at) {
    uint8_t perm[SHAPE_RANK] = {0, 1, 2, 3, 4, 5, 6};
    uint32_t rank = sem_shape(x).rank;
    if (rank < 2) {
        diag(c->d, at, E_NO_SWAP, name, sem_type_text(c, x));
        return &sem_error;
    }
    perm[rank - 2] = (uint8_t)(rank - 1);
    perm[rank - 1] = (uint8_t)(rank - 2);
    return permuted(c, x, perm);
}

static const Sem *bad_order(Checker *c, Call *call, const Sem *x, Span at) {
    if (sem_shape(x).rank < 2) return check_transpose(c, call->builtin->name, x, call->span);
    diag(c->d, at, E_AXIS_ONCE, call->builtin->name, sem_type_text(c, x), sem_shape(x).rank);
    diag_note(c->d, at, "the new order names axes of the tile, as in trans(x, 1, 0)");
    return &sem_error;
}

/* trans(x), trans(x, 1, 0) or trans(x, (1, 0)). */
const Sem *builtin_trans(Checker *c, Call *call) {
    const Sem *x = as_run(c, call), *const *dims = call->arg + 1;
    uint32_t n = 0, seen = 0;
    uint8_t perm[SHAPE_RANK] = {0};
    if (sem_is_error(x)) return x;
    while (n < SHAPE_RANK && call->arg[1 + n]) n++;
    if (!values_close_ranks(c, call, 1 + n, SHAPE_RANK)) return &sem_error;
    if (n == 0) return check_transpose(c, call->builtin->name, x, call->span);
    Span at = span_join(call->at[1], call->at[n]);
    if (dims[0]->kind == SEM_TUPLE && call->arg[2]) {
        diag(c->d, call->at[2], E_SHAPE_TWICE, argument_of(c, call, 1));
        return &sem_error;
    }
    if (n == 1 && dims[0]->kind == SEM_TUPLE) {
        n = dims[0]->count;
        dims = dims[0]->items;
    }
    if (n != sem_shape(x).rank) return bad_order(c, call, x, at);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis;
        if (!read_axis(c, call, dims[i], 1, x, &axis)) return &sem_error;
        perm[i] = (uint8_t)axis;
        seen |= 1u << axis;
    }
    return seen == (1u << n) - 1 ? permuted(c, x, perm) : bad_order(c, call, x, at);
}

/* ---- Two into one, one into two ---------------------------------------------------------------------------------- */

/* Two values of one type and shape. */
static bool read_pair(Checker *c, Call *call, const Sem *pair[2]) {
    const Sem *x = call->arg[0], *y = call->arg[1];
    if (sem_is_number(x) && y->kind == SEM_RUN && !y->is_pointer) x = convert_to(c, x, y->type, call->at[0]);
    if (sem_is_number(y) && x->kind == SEM_RUN && !x->is_pointer) y = convert_to(c, y, x->type, call->at[1]);
    x = to_run(c, x, call->at[0]);
    y = to_run(c, y, call->at[1]);
    Shape shape;
    if (sem_is_error(x) || sem_is_error(y)) return false;
    if (x->type != y->type || x->is_pointer != y->is_pointer) {
        diag(c->d, call->span, E_ELEMENT_TYPES, call->builtin->name, sem_type_text(c, x), sem_type_text(c, y));
        diag_note(c->d, call->at[1], "convert one of them, as in x.to(fp32)");
        return false;
    }
    if (!broadcast_shape(c, x, y, call->span, &shape)) return false;
    pair[0] = broadcast_to(c, x, shape);
    pair[1] = broadcast_to(c, y, shape);
    return true;
}

/* x[..], y[..] to r[.., 0], r[.., 1]; of scalars a tile of two. */
static const Sem *joined(Checker *c, const Sem *x, const Sem *y) {
    bool is_scalar = sem_shape(x).rank == 0, is_wide = x->wide || y->wide;
    if (is_scalar) {
        x = expand_at(c, x, 0);
        y = expand_at(c, y, 0);
    }
    Value *wide = is_wide ? build_join(&c->b, wide_value(c, x), wide_value(c, y)) : NULL;
    const Sem *r = sem_with(c, x, build_join(&c->b, x->v, y->v), wide);
    return is_scalar ? reshape_to(c, r, shape_row(1)) : r;
}

static bool may_join(Checker *c, Call *call, const Sem *x) {
    if (sem_shape(x).rank < SHAPE_RANK) return check_elements(c, shape_join_halves(sem_shape(x)), call->span);
    diag(c->d, call->span, E_RANK_THROUGH, call->builtin->name, sem_type_text(c, x), SHAPE_RANK + 1, SHAPE_RANK);
    return false;
}

const Sem *builtin_join(Checker *c, Call *call) {
    const Sem *pair[2];
    if (!read_pair(c, call, pair) || !may_join(c, call, pair[0])) return &sem_error;
    return joined(c, pair[0], pair[1]);
}

/* The elements of x and y by turns, along the last axis. */
const Sem *builtin_interleave(Checker *c, Call *call) {
    const Sem *pair[2];
    if (!read_pair(c, call, pair) || !may_join(c, call, pair[0])) return &sem_error;
    const Sem *r = joined(c, pair[0], pair[1]);
    Shape to = sem_shape(pair[0]);
    if (to.rank == 0) return r;
    to.log2[to.rank - 1]++;
    return reshape_to(c, r, to);
}

/* y behind x along an axis: joined, the new axis put in front of that one, the two made one. */
const Sem *builtin_cat(Checker *c, Call *call) {
    const Sem *pair[2], *axis_given = call->arg[3] ? call->arg[3] : sem_i64(c, 0);
    uint32_t axis;
    if (!read_pair(c, call, pair)) return &sem_error;
    Shape to = sem_shape(pair[0]);
    if (to.rank == 0 || !shape_equal(sem_shape(call->arg[0]), sem_shape(call->arg[1]))) {
        diag(c->d, call->span, E_CAT, sem_type_text(c, call->arg[0]), sem_type_text(c, call->arg[1]));
        diag_note(c->d, call->span, "it takes two tiles of one shape");
        return &sem_error;
    }
    if (!read_axis(c, call, axis_given, 3, pair[0], &axis) || !may_join(c, call, pair[0])) return &sem_error;
    uint8_t perm[SHAPE_RANK] = {0};
    for (uint32_t i = 0; i <= to.rank; i++) perm[i] = (uint8_t)(i < axis ? i : i == axis ? to.rank : i - 1);
    to.log2[axis]++;
    return reshape_to(c, permuted(c, joined(c, pair[0], pair[1]), perm), to);
}

static const Sem *half_of(Checker *c, const Sem *x, uint32_t half) {
    return sem_with(c, x, build_split(&c->b, x->v, half), x->wide ? build_split(&c->b, x->wide, half) : NULL);
}

const Sem *builtin_split(Checker *c, Call *call) {
    const Sem *x = as_run(c, call), **halves = NEW_ARRAY(c->a, const Sem *, 2);
    if (sem_is_error(x)) return x;
    Shape s = sem_shape(x);
    if (s.rank == 0 || s.log2[s.rank - 1] != 1) {
        diag(c->d, call->span, E_SPLIT, sem_type_text(c, x));
        diag_note(c->d, call->span, "reshape and trans bring what is to be parted into a last axis of size 2");
        return &sem_error;
    }
    if (s.rank == 1) x = reshape_to(c, x, shape_insert(s, 0));
    for (uint32_t i = 0; i < 2; i++) {
        halves[i] = half_of(c, x, i);
        if (s.rank == 1) halves[i] = reshape_to(c, halves[i], shape_scalar());
    }
    return sem_tuple(c, halves, 2);
}

/* ---- Elements chosen by an index --------------------------------------------------------------------------------- */

static const Sem *gathered(Checker *c, const Sem *x, Value *index, uint32_t axis) {
    return sem_with(c, x, build_gather(&c->b, x->v, index, axis),
                    x->wide ? build_gather(&c->b, x->wide, index, axis) : NULL);
}

/* The index wraps at the axis' size, so only its low bits matter. */
const Sem *builtin_gather(Checker *c, Call *call) {
    const Sem *x = as_run(c, call), *index = call->arg[1];
    uint32_t axis;
    if (sem_is_error(x)) return &sem_error;
    if (!sem_is_tile(index) || index->is_pointer || stype_is_float(index->type) ||
        stype_class(index->type) == CLASS_BOOL) {
        diag(c->d, call->at[1], E_GATHER_INDEX, sem_type_text(c, index));
        return &sem_error;
    }
    if (!read_axis(c, call, call->arg[2], 2, x, &axis)) return &sem_error;
    Shape fits = sem_shape(x), other = sem_shape(index);
    if (fits.rank == other.rank) fits.log2[axis] = other.log2[axis];
    if (!shape_equal(fits, other)) {
        diag(c->d, call->span, E_GATHER_SHAPE, sem_type_text(c, x), sem_type_text(c, index), axis);
        diag_note(c->d, call->at[1], "along all other axes the two must have the same size");
        return &sem_error;
    }
    return gathered(c, x, convert_to(c, index, ST_I32, call->at[1])->v, axis);
}

const Sem *builtin_flip(Checker *c, Call *call) {
    const Sem *x = as_run(c, call), *given = call->arg[1];
    uint32_t axis;
    if (sem_is_error(x)) return x;
    if (!given || given->kind == SEM_NONE) given = sem_i64(c, -1);
    if (!read_axis(c, call, given, 1, x, &axis)) return &sem_error;
    uint32_t mask = shape_field(sem_shape(x), axis);
    return sem_with(c, x, build_flip(&c->b, x->v, mask), x->wide ? build_flip(&c->b, x->wide, mask) : NULL);
}
