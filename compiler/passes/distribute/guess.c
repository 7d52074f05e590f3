/* guess.c - predicts the layout of a value whose op was not reached yet: what a loop carries needs one from the start.
 *
 * In: a value. Out: the layout that the rules of layout.c will give it. Method: through definitions to the next load.
 */
#include "passes/distribute/assign.h"

enum { MAX_GUESS = 32 /* how far a layout is looked for through definitions */ };

bool op_is_move(OpKind k) {
    return k == OP_RESHAPE || k == OP_TRANS;
}

const Layout *guess_moved(Assign *s, const Op *op, const Layout *from) {
    Shape to = op->results[0]->type.shape;
    const Layout *l = op_moved_layout(s->f->layouts, op->kind, op->attr, from, to);
    return l ? layout_sort(s->f->layouts, l, anchor_shape_axis(s, to)) : NULL;
}

const Layout *guess_combined(Assign *s, const Op *op, const Layout *l) {
    uint32_t axis = op->attr.axis;
    if (!l || !layout_axis_plan(l, axis).ordered) l = anchor_default(s, op->args[0]->type.shape);
    return op->kind == OP_SCAN ? l : layout_slice(s->f->layouts, l, axis, false);
}

const Layout *guess_dot(Assign *s, Shape shape) {
    return layout_dot(s->f->layouts, shape, s->lanes_log2, s->warps_log2, s->ctas_log2);
}

/* Of a product, or of a loop's sum of products; NULL: it is none. */
static const Layout *guess_product(Assign *s, const Value *v) {
    while (v->def && v->def->kind == OP_FOR) v = v->def->regions[0]->last->args[v->index];
    if (!v->def || op_class(v->def->kind) != CLASS_MATRIX) return NULL;
    if (v->def->kind == OP_DOT) return guess_dot(s, v->type.shape);
    return mma_layout(s->f->layouts, v->def->attr, v->type.shape, s->warps_log2, MMA_C);
}

static const Layout *guess(Assign *s, const Value *v, uint32_t depth) {
    if (v->type.layout || !value_is_tile(v) || depth > MAX_GUESS) return v->type.layout;
    if (!v->def || value_is_cheap(s, v)) return NULL;
    const Op *op = v->def;
    if (op->kind == OP_LOAD)
        return v->id < s->known ? anchor_access(s, op) : NULL;
    if (op->kind == OP_REDUCE) {
        const Layout *l = guess(s, op->args[0], depth + 1);
        if (!l) l = anchor_default(s, op->args[0]->type.shape);
        return layout_slice(s->f->layouts, l, op->attr.axis, false);
    }
    if (op_is_move(op->kind) || op->kind == OP_JOIN || op->kind == OP_SPLIT) {
        const Layout *l = value_is_tile(op->args[0]) ? guess(s, op->args[0], depth + 1) : NULL;
        return l ? guess_moved(s, op, l) : NULL;
    }
    if (op->kind == OP_GATHER) return guess(s, op->args[1], depth + 1);
    if (op->kind == OP_IF) {
        const Layout *l = guess(s, op->regions[0]->last->args[v->index], depth + 1);
        return l ? l : guess(s, op->regions[1]->last->args[v->index], depth + 1);
    }
    const Layout *product = guess_product(s, v);
    if (product) return product;
    if (op_is_combine(op->kind)) return guess_combined(s, op, guess(s, op->args[0], depth + 1));
    if (!op_is_pure(op->kind)) return NULL;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *a = op->args[i];
        const Layout *l =
            value_is_hard(s, a) && shape_equal(a->type.shape, v->type.shape) ? guess(s, a, depth + 1) : NULL;
        if (l) return l;
    }
    return NULL;
}

const Layout *guess_of(Assign *s, const Value *x, const Value *y) {
    const Layout *l = y ? guess_product(s, y) : NULL;
    if (!l) l = guess(s, x, 0);
    if (!l && y) l = guess(s, y, 0);
    return l ? l : anchor_default(s, x->type.shape);
}
