/* product.c - the pass product: sums of broadcast products become products of matrices.
 *
 * In: before layouts. Out: sum over k of x[i, k, 1] * y[1, k, j], in any order of the axes, is dot(x, y), with fp32 and
 * fp64 multiplied exactly; where it is only added to something, that is where the sum begins.
 * Method: the product of three axes has to be the reduction's alone, and each operand a tile that is repeated along an
 * axis of its own. The three-dimensional tile, which no program's registers hold, is never made.
 */
#include "passes/private.h"

enum { RANK = 3 };

/* What v repeats along `axis`, where that is all that it repeats; else NULL. */
static Value *repeated_along(const Value *v, uint32_t axis) {
    Value *of = v->def && v->def->kind == OP_BROADCAST ? v->def->args[0] : NULL;
    for (uint32_t i = 0; of && i < RANK; i++) {
        bool repeats = of->type.shape.log2[i] != v->type.shape.log2[i];
        if (repeats != (i == axis)) return NULL;
    }
    return of;
}

/* v without the axis, which has one element; its other two axes in the order `first`, the other one. */
static Value *matrix_of(Builder *b, Value *v, uint32_t axis, uint32_t first) {
    static const uint8_t turn[] = {1, 0};
    Shape shape = {.rank = RANK - 1};
    for (uint32_t i = 0, k = 0; i < RANK; i++)
        if (i != axis) shape.log2[k++] = v->type.shape.log2[i];
    bool is_expanded = v->def && v->def->kind == OP_EXPAND && v->def->attr.axis == axis;
    Value *m = is_expanded ? v->def->args[0] : build_reshape(b, v, shape);
    bool comes_first = first == (axis == 0 ? 1 : 0);
    if (comes_first) return m;
    return m->def && m->def->kind == OP_TRANS ? m->def->args[0] : build_trans(b, m, turn);
}

/* The sum that op is, as op's only use adds to it; NULL: nothing does. */
static Op *added_to(const Op *op) {
    const Value *r = op->results[0];
    if (!value_used_once(r)) return NULL;
    Op *use = r->uses->op;
    return use->kind == OP_FADD && use->parent == op->parent && use->args[0] != use->args[1] ? use : NULL;
}

static void visit(void *context, Op *op) {
    Func *f = context;
    const Value *v = op->kind == OP_REDUCE && op->attr.combine == OP_FADD ? op->args[0] : NULL;
    const Op *product = v && v->def && v->def->kind == OP_FMUL && value_used_once(v) ? v->def : NULL;
    if (!product || v->type.shape.rank != RANK || (v->type.dtype != DT_FP32 && v->type.dtype != DT_FP64)) return;
    uint32_t k = op->attr.axis, i = k == 0 ? 1 : 0, j = k == 2 ? 1 : 2;
    for (uint32_t side = 0; side < 2; side++) {
        Value *x = repeated_along(product->args[side], j), *y = repeated_along(product->args[1 - side], i);
        if (!x || !y) continue;
        Op *sum = added_to(op), *last = sum ? sum : op;
        Builder b = builder_before(f, last);
        Value *zero = build0(&b, OP_CONST, (Attr){0}, op->results[0]->type);
        Value *begin = !sum ? zero : sum->args[0] == op->results[0] ? sum->args[1] : sum->args[0];
        Value *r = build_dot(&b, matrix_of(&b, x, j, i), matrix_of(&b, y, i, k), begin,
                             (Attr){.precision = PRECISION_IEEE});
        r->name = last->results[0]->name;
        value_replace(f, last->results[0], r);
        return; /* dce drops the rest */
    }
}

void pass_product(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, visit, f);
}
