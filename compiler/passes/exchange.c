/* exchange.c - what crosses warps becomes traffic through shared memory: a store, and loads by those who need it.
 *
 * In: a Func at STAGE_SIMT. Out: no `reduce`, and no convert_layout that shuffles within a warp cannot do.
 * A reduction over several warps: each warp reduces its part, the partials go to shared memory, and every thread that
 * needs the result reads its share of them and reduces again. Slots number the exchanges; offsets come later.
 */
#include "passes/passes.h"

typedef struct Exchange {
    Func *f;
    int64_t slots;
    bool changed;
} Exchange;

static Type with_layout(Type t, const Layout *l) {
    t.shape = l->shape;
    t.layout = l->shape.rank ? l : NULL;
    return t;
}

/* v through shared memory into another layout (of as many elements, in the same order). */
static Value *through_shared(Exchange *x, Builder *b, Value *v, Type to) {
    Attr slot = {.i = -1, .j = x->slots++};
    op_build(b, OP_SHSTORE, &v, 1, slot, v->type);
    return op_build(b, OP_SHLOAD, NULL, 0, slot, to)->results[0];
}

static void split_reduce(Exchange *x, Op *op) {
    Func *f = x->f;
    Builder b = builder_before(f, op);
    Value *v = op->args[0];
    const Layout *l = v->type.layout;
    uint32_t axis = (uint32_t)op->attr.i;
    ReducePlan plan = layout_reduce_plan(l, axis);
    if (plan.mixed) bug("reduce over axis %u of a mixed layout in %s", axis, f->name);
    if (plan.combine[IN_CTA]) bug("reduce across the blocks of a cluster in %s", f->name);
    const Layout *result = layout_slice(f->layouts, l, axis, false);
    if (plan.combine[IN_WARP]) {
        const Layout *partial = layout_partial(f->layouts, l, axis);
        Value *part = op_build(&b, OP_REDUCEWARP, &v, 1, op->attr, with_layout(v->type, partial))->results[0];
        const Layout *spread = layout_spread(f->layouts, result, axis, partial->shape.log2[axis]);
        v = through_shared(x, &b, part, with_layout(v->type, spread));
    }
    Value *r = op_build(&b, OP_REDUCEWARP, &v, 1, op->attr, op->results[0]->type)->results[0];
    r->name = op->results[0]->name;
    value_replace(f, op->results[0], r);
    op_erase(f, op);
    x->changed = true;
}

static void split_convert(Exchange *x, Op *op) {
    Func *f = x->f;
    Value *v = op->args[0];
    if (convert_kind(v->type.layout, op->results[0]->type.layout) < CONVERT_SHARED) return;
    Builder b = builder_before(f, op);
    Value *r = through_shared(x, &b, v, op->results[0]->type);
    value_replace(f, op->results[0], r);
    op_erase(f, op);
    x->changed = true;
}

static void visit(void *context, Op *op) {
    if (op->kind == OP_REDUCE) split_reduce(context, op);
    if (op->kind == OP_CONVERT) split_convert(context, op);
}

bool pass_exchange(Func *f, PassContext *c) {
    (void)c;
    Exchange x = {.f = f};
    func_walk(f, visit, &x);
    return x.changed;
}
