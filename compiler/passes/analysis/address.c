/* address.c - an address as its pointer and a sum: what warnings and remarks read off it, and what makes a box.
 *
 * In: a pointer or an integer, scalar or tile. Out: the parameter below, and scale * by * v for every part of the
 * offset. Conversions and changes of shape are looked through; a part is whatever else is no sum, no product by a
 * constant or a parameter. Which axis of the tile an arange goes along comes with it.
 * Exact but for values that wrap: such an address lies in no buffer.
 */
#include "passes/private.h"

enum { MOST_DEPTH = 16, MOST_VISITS = 200 };

bool value_is_param(const Value *v) {
    return !v->def && v->block && !v->block->owner;
}

Axes axes_own(void) {
    Axes a = {.from = {0}};
    for (uint32_t d = 0; d < SHAPE_RANK; d++) a.at[d] = (int32_t)d;
    return a;
}

/* Is it a part that begins at a known element? */
static bool begins_at(const Op *op, int64_t *begin) {
    return op->kind == OP_SLICE && value_const(op->args[1], begin);
}

/* Of the op's operand, whose result has these. */
static Axes axes_in(const Op *op, Axes axes) {
    Axes in = axes;
    uint8_t perm[SHAPE_RANK];
    int64_t begin;
    if (begins_at(op, &begin)) in.from[op->attr.axis] += begin;
    for (uint32_t d = op->attr.axis; op->kind == OP_EXPAND && d + 1 < SHAPE_RANK; d++) {
        in.at[d] = axes.at[d + 1];
        in.from[d] = axes.from[d + 1];
    }
    if (op->kind != OP_TRANS) return in;
    attr_perm_read(op->attr, perm);
    for (uint32_t d = 0; d < op->results[0]->type.shape.rank; d++) {
        in.at[perm[d]] = axes.at[d];
        in.from[perm[d]] = axes.from[d];
    }
    return in;
}

/* Of numbers that do not wrap; those of 8 and 16 bits may. */
static bool is_cast(const Op *op) {
    OpKind k = op->kind;
    bool is_wide = k == OP_TRUNC ? dtype_bits(op->results[0]->type.dtype) >= 32
                                 : k == OP_ZEXT && dtype_bits(op->args[0]->type.dtype) >= 32;
    return is_wide || k == OP_SEXT || k == OP_BITCAST;
}

const Value *value_stripped(const Value *v, Axes *axes) {
    int64_t begin;
    while (v->def) {
        OpKind k = v->def->kind;
        bool moves = op_class(k) == CLASS_REPEAT || k == OP_CONVERT || k == OP_TRANS || begins_at(v->def, &begin);
        if (!is_cast(v->def) && !moves) break;
        if (axes) *axes = axes_in(v->def, *axes);
        v = v->def->args[0];
    }
    return v;
}

static void add_part(Parts *p, Part x) {
    for (uint32_t i = 0; i < p->len; i++) {
        Part *old = &p->at[i];
        if (old->v != x.v || old->by[0] != x.by[0] || old->by[1] != x.by[1] || old->axis != x.axis) continue;
        if (__builtin_add_overflow(old->scale, x.scale, &old->scale)) p->is_known = false;
        if (!old->scale) *old = p->at[--p->len];
        return;
    }
    if (p->len == COUNT(p->at)) p->is_known = false;
    else if (x.scale) p->at[p->len++] = x;
}

static bool scale_by(Parts *p, Part *x, int64_t c) {
    if (__builtin_mul_overflow(x->scale, c, &x->scale)) p->is_known = false;
    return p->is_known;
}

/* A product by a scalar parameter more, as far as p has room for their factors. */
static bool multiply(const Parts *p, Part *x, const Value *param) {
    uint32_t n = x->by[0] ? x->by[1] ? 2 : 1 : 0;
    if (n == p->factors) return false;
    bool is_first = !n || param->index < x->by[0]->index;
    if (is_first) x->by[1] = x->by[0];
    x->by[is_first ? 0 : 1] = param;
    return true;
}

static void add_value(Parts *p, const Value *v, Axes axes, Part by, uint32_t depth);

/* By a constant, or by a scalar parameter; false: it is neither. */
static bool add_product(Parts *p, const Op *op, Axes axes, Part by, uint32_t depth) {
    int64_t c;
    for (uint32_t i = 2; i-- > 0;) {
        Part more = by;
        if (!value_const(op->args[i], &c)) continue;
        if (scale_by(p, &more, c)) add_value(p, op->args[1 - i], axes, more, depth);
        return true;
    }
    for (uint32_t i = 2; i-- > 0;) {
        const Value *param = value_stripped(op->args[i], NULL);
        Part more = by;
        if (!value_is_param(param) || !multiply(p, &more, param)) continue;
        add_value(p, op->args[1 - i], axes, more, depth);
        return true;
    }
    return false;
}

/* Of a part of the tile, the elements of the whole that it begins with are a number beside it. */
static void add_index(Parts *p, const Value *v, Axes axes, Part x) {
    Part begin = {.by = {x.by[0], x.by[1]}, .scale = x.scale, .axis = -1};
    x.v = v;
    x.axis = axes.at[0];
    add_part(p, x);
    if (!axes.from[0] || !scale_by(p, &begin, axes.from[0])) return;
    if (begin.by[0]) add_part(p, begin);
    else if (__builtin_add_overflow(p->constant, begin.scale, &p->constant)) p->is_known = false;
}

static void add_value(Parts *p, const Value *v, Axes axes, Part by, uint32_t depth) {
    if (++p->visits > MOST_VISITS) p->is_known = false;
    if (!p->is_known) return;
    v = value_stripped(v, &axes);
    const Op *op = v->def;
    OpKind k = op && depth ? op->kind : OP_COUNT;
    int64_t c;
    if (op && !by.by[0] && value_const(v, &c)) {
        if (scale_by(p, &by, c) && __builtin_add_overflow(p->constant, by.scale, &p->constant)) p->is_known = false;
    } else if (k == OP_ADD || k == OP_SUB) {
        Part second = by;
        if (k == OP_SUB) second.scale = -by.scale;
        add_value(p, op->args[0], axes, by, depth - 1);
        add_value(p, op->args[1], axes, second, depth - 1);
    } else if (op && op->kind == OP_ARANGE) {
        add_index(p, v, axes, by);
    } else if (k != OP_MUL || !add_product(p, op, axes, by, depth - 1)) {
        by.v = v;
        add_part(p, by);
    }
}

void parts_add(Parts *p, const Value *v, Axes axes, int64_t scale) {
    add_value(p, v, axes, (Part){.scale = scale, .axis = -1}, MOST_DEPTH);
}

Parts parts_of(const Value *v) {
    Parts p = {.is_known = true, .factors = 1};
    parts_add(&p, v, axes_own(), 1);
    return p;
}

const Value *address_parts(const Value *ptr, uint32_t factors, Parts *p) {
    Axes axes = axes_own();
    *p = (Parts){.is_known = true, .factors = factors};
    for (ptr = value_stripped(ptr, &axes); ptr->def && ptr->def->kind == OP_ADDPTR;
         ptr = value_stripped(ptr->def->args[0], &axes))
        parts_add(p, ptr->def->args[1], axes, 1);
    return value_is_param(ptr) ? ptr : NULL;
}
