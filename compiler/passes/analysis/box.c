/* box.c - which box of a matrix, or of a tensor, a load takes.
 *
 * In: a load of a tile. Out: the pointer parameter that it reads, how that memory lies (a tensor map), and where the
 * box begins along each dimension.
 * Method: the address is taken apart into sums of places times strides: arange along an axis of the tile, or scalars.
 * What is multiplied by one stride is a dimension: one for each axis of the tile, where its arange goes, and others of
 * one place. A mask bounds an axis: places below a number, which with where the box begins makes the extent, if that is
 * a parameter or a constant. An axis that no mask bounds has as many elements as a map can say. A truth value of all
 * places says whether there is a box at all.
 * Sums count as if they never wrapped: an address that wraps lies in no buffer.
 */
#include "passes/private.h"

enum { MOST_TERMS = 16, MOST_DEPTH = 24, MAX_PLACE = INT32_MAX };

/* scale * by[0] * by[1] * v. */
typedef struct Term {
    const Value *v;     /* a scalar; NULL: the constant 1, or the place along `axis` */
    const Value *by[2]; /* scalar parameters, in their order; NULL, behind the others: 1 */
    int64_t scale;
    int32_t axis; /* of the tile; -1: none */
} Term;

typedef struct Terms {
    Term at[MOST_TERMS];
    uint32_t len;
    bool is_known;
} Terms;

/* Axis d of the value that is looked at is axis at[d] of the load's tile. */
typedef struct Axes {
    int32_t at[SHAPE_RANK];
} Axes;

static bool same_stride(const Value *const *x, const Value *const *y) {
    return x[0] == y[0] && x[1] == y[1];
}

static void add_term(Terms *t, Term x) {
    for (uint32_t i = 0; i < t->len; i++) {
        Term *old = &t->at[i];
        if (old->v != x.v || !same_stride(old->by, x.by) || old->axis != x.axis) continue;
        old->scale += x.scale;
        if (!old->scale) *old = t->at[--t->len];
        return;
    }
    if (!x.scale) return;
    if (t->len == MOST_TERMS) t->is_known = false;
    else t->at[t->len++] = x;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* Another width of the number, … */
static bool is_cast(const Op *op) {
    return op->kind == OP_SEXT || op->kind == OP_ZEXT || op->kind == OP_TRUNC;
}

/* … or another place in tile or threads. */
static bool is_moved(const Op *op) {
    return op->kind == OP_CONVERT || op->kind == OP_TRANS || op_class(op->kind) == CLASS_REPEAT;
}

static const Value *strip(const Value *v) {
    while (v->def && (is_cast(v->def) || is_moved(v->def))) v = v->def->args[0];
    return v;
}

static bool narrow_product(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out) && *out < INT64_C(1) << 40 && *out > -(INT64_C(1) << 40);
}

static void walk(Terms *t, const Value *v, Axes axes, Term by, uint32_t depth);

static bool multiply(Term *t, const Value *param) {
    if (t->by[1]) return false;
    bool is_first = !t->by[0] || param->index < t->by[0]->index;
    if (is_first) t->by[1] = t->by[0];
    t->by[is_first ? 0 : 1] = param;
    return true;
}

/* A product by a constant, or by a scalar parameter; false: it is neither. */
static bool walk_product(Terms *t, const Op *op, Axes axes, Term by, uint32_t depth) {
    for (uint32_t i = 0; i < 2; i++) {
        const Value *factor = strip(op->args[i]);
        int64_t c;
        Term with = by;
        if (value_const(factor, &c)) {
            if (!narrow_product(by.scale, c, &with.scale)) return false;
        } else if (!value_is_param(factor) || !multiply(&with, factor)) {
            continue;
        }
        walk(t, op->args[1 - i], axes, with, depth);
        return true;
    }
    return false;
}

static Axes axes_in(const Op *op, Axes axes) {
    Axes in = axes;
    uint8_t perm[SHAPE_RANK];
    if (op->kind == OP_EXPAND)
        for (uint32_t d = op->attr.axis; d + 1 < SHAPE_RANK; d++) in.at[d] = axes.at[d + 1];
    if (op->kind != OP_TRANS) return in;
    attr_perm_read(op->attr, perm);
    for (uint32_t d = 0; d < op->results[0]->type.shape.rank; d++) in.at[perm[d]] = axes.at[d];
    return in;
}

static void walk(Terms *t, const Value *v, Axes axes, Term by, uint32_t depth) {
    const Op *op = v->def;
    int64_t c;
    if (!depth || !t->is_known) {
        t->is_known = false;
        return;
    }
    if (value_const(v, &c)) {
        if (narrow_product(by.scale, c, &by.scale)) add_term(t, by);
        else t->is_known = false;
        return;
    }
    OpKind k = op ? op->kind : OP_COUNT;
    Term less = by;
    less.scale = -by.scale;
    if (k == OP_ADD || k == OP_SUB) {
        walk(t, op->args[0], axes, by, depth - 1);
        walk(t, op->args[1], axes, k == OP_ADD ? by : less, depth - 1);
    } else if (op && (is_cast(op) || is_moved(op))) {
        walk(t, op->args[0], axes_in(op, axes), by, depth - 1);
    } else if (k == OP_ARANGE) {
        Term start = by, place = by;
        place.axis = axes.at[0];
        start.scale = by.scale * op->attr.start;
        add_term(t, start);
        add_term(t, place);
    } else if (k == OP_MUL && walk_product(t, op, axes, by, depth - 1)) {
        return;
    } else if (v->type.shape.rank) {
        t->is_known = false;
    } else {
        by.v = v;
        add_term(t, by);
    }
}

static Axes own_axes(void) {
    Axes a;
    for (uint32_t d = 0; d < SHAPE_RANK; d++) a.at[d] = (int32_t)d;
    return a;
}

static Terms sum_of(const Value *v, Axes axes, int64_t scale) {
    Terms t = {.is_known = true};
    walk(&t, v, axes, (Term){.scale = scale, .axis = -1}, MOST_DEPTH);
    return t;
}

/* The parameter that the pointers are of; what is added to it. */
static const Value *address_of(const Value *ptr, Terms *t) {
    Axes axes = own_axes();
    *t = (Terms){.is_known = true};
    for (uint32_t n = 0; ptr->def && n < MOST_DEPTH; n++) {
        const Op *op = ptr->def;
        if (op->kind == OP_ADDPTR)
            walk(t, op->args[1], axes, (Term){.scale = 1, .axis = -1}, MOST_DEPTH);
        else if (!is_moved(op)) return NULL;
        axes = axes_in(op, axes);
        ptr = op->args[0];
    }
    return t->is_known && value_is_param(ptr) ? ptr : NULL;
}

/* ---- Dimensions -------------------------------------------------------------------------------------------------- */

static BoxDim *find_axis(Box *b, int32_t axis) {
    for (uint32_t i = 0; i < b->rank; i++)
        if (b->dims[i].axis == axis) return &b->dims[i];
    return NULL;
}

static bool add_dim(Box *b, const Term *t, int64_t scale, int32_t axis) {
    if (b->rank == MAP_DIMS || scale <= 0) return false;
    b->dims[b->rank++] = (BoxDim){
        .axis = axis, .by = {t->by[0], t->by[1]}, .scale = scale, .most = MAP_UNBOUNDED};
    return true;
}

/* The fastest first: neighbours lie side by side. */
static bool make_axes(Box *b, const Terms *t) {
    for (uint32_t fastest = 1; fastest < 2; fastest--)
        for (uint32_t i = 0; i < t->len; i++) {
            const Term *x = &t->at[i];
            bool is_fastest = !x->by[0] && x->scale == 1;
            if (x->axis < 0 || is_fastest != (fastest == 1)) continue;
            if (find_axis(b, x->axis) || !add_dim(b, x, x->scale, x->axis)) return false;
            if (fastest && b->rank > 1) return false;
        }
    return b->rank && !b->dims[0].by[0] && b->dims[0].scale == 1;
}

/* The dimension with the widest stride that the term is a multiple of. */
static BoxDim *home_of(Box *b, const Term *t) {
    BoxDim *best = NULL;
    for (uint32_t i = 0; i < b->rank; i++) {
        BoxDim *d = &b->dims[i];
        if (same_stride(d->by, t->by) && t->scale % d->scale == 0 && (!best || d->scale > best->scale)) best = d;
    }
    return best;
}

static bool place_scalars(Box *b, const Terms *t) {
    for (uint32_t i = 0; i < t->len; i++) {
        const Term *x = &t->at[i];
        if (x->axis >= 0) continue;
        BoxDim *d = home_of(b, x);
        if (!d && add_dim(b, x, x->scale, -1)) d = &b->dims[b->rank - 1];
        if (!d) return false;
        int64_t scale = x->scale / d->scale;
        if (!x->v) d->constant += scale;
        else if (d->num_terms == COUNT(d->terms)) return false;
        else d->terms[d->num_terms++] = (BoxTerm){(Value *)x->v, scale};
    }
    return true;
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/* A number that counts live places may be cut to those that there are. */
static const Value *uncut(const Value *v, uint64_t size) {
    int64_t c;
    for (;;) {
        const Op *op = v->def;
        if (!op) return v;
        bool is_cut = (op->kind == OP_SMAX && value_const(op->args[1], &c) && c <= 0) ||
                      (op->kind == OP_SMIN && value_const(op->args[1], &c) && c >= (int64_t)size);
        if (!is_cut && !is_cast(op) && !is_moved(op)) return v;
        v = op->args[0];
    }
}

/* `bound` and where the box begins, together: a parameter, or a constant. */
static bool set_extent(BoxDim *d, Terms bound) {
    if (d->extent || d->most != MAP_UNBOUNDED) return false;
    for (uint32_t i = 0; i < d->num_terms; i++) {
        Terms more = sum_of(d->terms[i].v, own_axes(), d->terms[i].scale);
        for (uint32_t k = 0; k < more.len; k++) add_term(&bound, more.at[k]);
        if (!more.is_known) return false;
    }
    add_term(&bound, (Term){.scale = d->constant, .axis = -1});
    if (!bound.is_known || bound.len != 1 || bound.at[0].by[0] || bound.at[0].axis >= 0) return false;
    const Term *x = &bound.at[0];
    if (!x->v) return d->most = x->scale, x->scale > 0 && x->scale <= MAX_PLACE;
    d->extent = strip(x->v);
    return x->scale == 1 && value_is_param(d->extent) && dtype_bits(d->extent->type.dtype) == 32;
}

/* places < number, along one axis; unsigned, also 0 <= places. */
static bool take_compare(Box *b, const Op *op, Axes axes, Shape shape) {
    if (op->kind != OP_ICMP || (op->attr.pred != PRED_SLT && op->attr.pred != PRED_ULT)) return false;
    Terms t = sum_of(op->args[0], axes, -1);
    int32_t axis = -1;
    for (uint32_t i = 0; i < t.len; i++)
        if (t.at[i].axis >= 0) axis = t.at[i].axis;
    BoxDim *d = axis < 0 ? NULL : find_axis(b, axis);
    if (!d || !t.is_known) return false;
    add_term(&t, (Term){.scale = 1, .axis = axis}); /* leaves nothing of it */
    Terms more = sum_of(uncut(op->args[1], shape_size(shape, (uint32_t)axis)), axes, 1);
    for (uint32_t i = 0; i < more.len; i++) add_term(&t, more.at[i]);
    t.is_known = t.is_known && more.is_known;
    d->is_masked_below = op->attr.pred == PRED_ULT;
    return set_extent(d, t);
}

static bool take_mask(Box *b, const Value *mask, Axes axes, Shape shape, uint32_t depth) {
    const Op *op = mask->def;
    int64_t truth;
    if (!depth || !op) return false;
    if (value_const(mask, &truth)) return truth != 0;
    if (op->kind == OP_AND)
        return take_mask(b, op->args[0], axes, shape, depth - 1) && take_mask(b, op->args[1], axes, shape, depth - 1);
    if (is_moved(op) && !value_is_tile(op->args[0]) && !value_const(op->args[0], &truth)) {
        bool is_first = !b->when;
        b->when = op->args[0];
        return is_first;
    }
    if (is_moved(op)) return take_mask(b, op->args[0], axes_in(op, axes), shape, depth - 1);
    return take_compare(b, op, axes, shape);
}

bool box_of(const Op *load, Box *out) {
    Terms t;
    Shape shape = load->args[0]->type.shape;
    *out = (Box){.param = address_of(load->args[0], &t)};
    if (!out->param || !make_axes(out, &t)) return false;
    for (uint32_t d = 0; d < shape.rank; d++)
        if (!find_axis(out, (int32_t)d)) return false;
    return place_scalars(out, &t) && (load->nargs < 2 || take_mask(out, load->args[1], own_axes(), shape, MOST_DEPTH));
}
