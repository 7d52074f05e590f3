/* box.c - which box of a matrix, or of a tensor, a load or a store takes.
 *
 * In: such an access of a tile. Out: the pointer parameter that it names, how that memory lies (a tensor map), and
 * where the box begins along each dimension.
 * Method: the address is a sum of parts (address.c): places along an axis of the tile, or scalars, times a stride. What
 * is multiplied by one stride is a dimension: one for each axis of the tile, and others of one place. A mask bounds an
 * axis: places below a number, which with where the box begins makes the extent, if that is a parameter or a constant.
 * An axis that no mask bounds has as many elements as a map can say. A truth value of all places says whether there is
 * a box at all.
 */
#include "passes/private.h"

enum { MOST_DEPTH = 24, STRIDE_FACTORS = 2, FAR = 1 << 30 };

/* ---- Dimensions -------------------------------------------------------------------------------------------------- */

static BoxDim *find_axis(Box *b, int32_t axis) {
    for (uint32_t i = 0; i < b->rank; i++)
        if (b->dims[i].axis == axis) return &b->dims[i];
    return NULL;
}

static bool add_dim(Box *b, const Part *x, int32_t axis) {
    if (b->rank == MAP_DIMS || x->scale <= 0) return false;
    b->dims[b->rank++] = (BoxDim){
        .axis = axis, .by = {x->by[0], x->by[1]}, .scale = x->scale, .most = MAP_UNBOUNDED};
    return true;
}

/* The fastest first: neighbours lie side by side. */
static bool make_axes(Box *b, const Parts *p) {
    for (uint32_t fastest = 1; fastest < 2; fastest--)
        for (uint32_t i = 0; i < p->len; i++) {
            const Part *x = &p->at[i];
            bool is_fastest = !x->by[0] && x->scale == 1;
            if (x->axis < 0 || is_fastest != (fastest == 1)) continue;
            if (find_axis(b, x->axis) || !add_dim(b, x, x->axis)) return false;
            if (fastest && b->rank > 1) return false;
            b->dims[b->rank - 1].constant = x->v->def->attr.start;
        }
    return b->rank && !b->dims[0].by[0] && b->dims[0].scale == 1;
}

/* The dimension with the widest stride that the part is a multiple of. */
static BoxDim *home_of(Box *b, const Part *x) {
    BoxDim *best = NULL;
    for (uint32_t i = 0; i < b->rank; i++) {
        BoxDim *d = &b->dims[i];
        bool is_same = d->by[0] == x->by[0] && d->by[1] == x->by[1];
        if (is_same && x->scale % d->scale == 0 && (!best || d->scale > best->scale)) best = d;
    }
    return best;
}

static bool place_scalar(Box *b, const Part *x) {
    BoxDim *d = home_of(b, x);
    if (!d && add_dim(b, x, -1)) d = &b->dims[b->rank - 1];
    if (!d) return false;
    int64_t scale = x->scale / d->scale, c, more;
    if (!x->v || value_const(x->v, &c)) {
        if (__builtin_mul_overflow(scale, x->v ? c : 1, &more)) return false;
        return !__builtin_add_overflow(d->constant, more, &d->constant);
    }
    bool is_number = !value_is_tile(x->v) && dtype_kind(x->v->type.dtype) == KIND_INT;
    if (!is_number || d->num_terms == COUNT(d->terms)) return false;
    d->terms[d->num_terms++] = (BoxTerm){(Value *)x->v, scale};
    return true;
}

static bool place_scalars(Box *b, const Parts *p) {
    const Part constant = {.scale = p->constant, .axis = -1};
    for (uint32_t i = 0; i < p->len; i++)
        if (p->at[i].axis < 0 && !place_scalar(b, &p->at[i])) return false;
    return !p->constant || place_scalar(b, &constant);
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/* A number below which places from 0 to `most` are live, without what changes nothing for them: a cut at 0, or beyond
 * `most`. */
static const Value *uncut(const Value *v, int64_t most, Axes *axes) {
    for (;;) {
        v = value_stripped(v, axes);
        const Op *op = v->def;
        int64_t c;
        bool is_cut = op && ((op->kind == OP_SMAX && value_const(op->args[1], &c) && c <= 0) ||
                             (op->kind == OP_SMIN && value_const(op->args[1], &c) && c > most));
        if (!is_cut) return v;
        v = op->args[0];
    }
}

/* `bound` and where the box begins, together: a parameter, or a constant. */
static bool set_extent(BoxDim *d, Parts *bound) {
    if (d->extent || d->most != MAP_UNBOUNDED) return false;
    for (uint32_t i = 0; i < d->num_terms; i++) parts_add(bound, d->terms[i].v, axes_own(), d->terms[i].scale);
    if (__builtin_add_overflow(bound->constant, d->constant, &d->most) || !bound->is_known) return false;
    if (!bound->len) return d->most > 0 && d->most < MAP_UNBOUNDED;
    const Part *x = &bound->at[0];
    d->extent = bound->len == 1 && x->v ? uncut(x->v, INT64_MAX, NULL) : NULL; /* it is 1 at least: the launch asks */
    return d->extent && !d->most && x->scale == 1 && !x->by[0] && value_is_param(d->extent) &&
           dtype_bits(d->extent->type.dtype) == 32;
}

/* places < number, along one axis; unsigned, also 0 <= places. */
static bool take_compare(Box *b, const Op *op, Axes axes, Shape shape) {
    if (op->kind != OP_ICMP || (op->attr.pred != PRED_SLT && op->attr.pred != PRED_ULT)) return false;
    Parts p = {.is_known = true, .factors = 1};
    parts_add(&p, op->args[0], axes, -1);
    Part *place = p.at;
    while (place < p.at + p.len && place->axis < 0) place++;
    if (!p.is_known || place == p.at + p.len) return false;
    BoxDim *d = find_axis(b, place->axis);
    if (!d || place->scale != -1 || place->by[0]) return false;
    p.constant -= place->v->def->attr.start;
    *place = p.at[--p.len];
    const Value *number = op->args[1]; /* places are from -p.constant on, if nothing else is added */
    int64_t size = (int64_t)shape_size(shape, (uint32_t)d->axis), most = size - 1 - p.constant;
    if (!p.len && p.constant <= 0 && p.constant > -FAR) number = uncut(number, most, &axes);
    parts_add(&p, number, axes, 1);
    d->is_masked_below = op->attr.pred == PRED_ULT;
    return set_extent(d, &p);
}

static bool take_mask(Box *b, const Value *mask, Axes axes, Shape shape, uint32_t depth) {
    int64_t truth;
    if (value_const(mask, &truth)) return truth != 0;
    mask = value_stripped(mask, &axes);
    const Op *op = mask->def;
    if (value_const(mask, &truth)) return truth != 0;
    if (!value_is_tile(mask)) {
        bool is_first = !b->when;
        b->when = (Value *)mask;
        return is_first;
    }
    if (!depth || !op) return false;
    if (op->kind == OP_AND)
        return take_mask(b, op->args[0], axes, shape, depth - 1) && take_mask(b, op->args[1], axes, shape, depth - 1);
    return take_compare(b, op, axes, shape);
}

bool box_of(const Op *access, Box *out) {
    Parts p;
    Shape shape = access->args[0]->type.shape;
    uint32_t mask = access->kind == OP_STORE ? 2 : 1;
    *out = (Box){.param = address_parts(access->args[0], STRIDE_FACTORS, &p)};
    if (!out->param || !p.is_known || !make_axes(out, &p)) return false;
    for (uint32_t d = 0; d < shape.rank; d++)
        if (!find_axis(out, (int32_t)d)) return false;
    if (!place_scalars(out, &p)) return false;
    return access->nargs <= mask || take_mask(out, access->args[mask], axes_own(), shape, MOST_DEPTH);
}
