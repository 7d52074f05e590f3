/* fma.c - the pass fma: a product that is only added becomes part of the sum, rounded once.
 *
 * In: any stage. Out: fadd and fsub of an fmul that has no other use, in the same block, are fma.
 *   a * b + c -> fma(a, b, c)      a * b - c -> fma(a, b, -c)      c - a * b -> fma(-a, b, c)
 * Method: one walk; the product stays for dce to drop. Across blocks nothing is joined: the product may run less often.
 */
#include "passes/private.h"

static bool is_product(const Value *v, const Op *sum) {
    return v->def && v->def->kind == OP_FMUL && value_used_once(v) && v->def->parent == sum->parent;
}

/* -v; where v repeats a smaller tile, that one is negated. So v stays one that each layout has for the asking. */
static Value *negative(Builder *b, Value *v) {
    const Op *d = v->def;
    if (!d || op_class(d->kind) != CLASS_REPEAT) return build1(b, OP_FNEG, v);
    Value *of = negative(b, d->args[0]);
    return op_build(b, d->kind, &of, 1, d->attr, v->type)->results[0];
}

static Value *join_product(Builder *b, const Op *sum, Value *product, Value *other) {
    Value *x = product->def->args[0], *y = product->def->args[1];
    if (sum->kind == OP_FSUB && sum->args[0] == product) other = negative(b, other);
    if (sum->kind == OP_FSUB && sum->args[1] == product) x = negative(b, x);
    return build3(b, OP_FMA, x, y, other);
}

static void visit(void *context, Op *op) {
    Func *f = context;
    if (op->kind != OP_FADD && op->kind != OP_FSUB) return;
    uint32_t i = is_product(op->args[1], op) ? 1 : 0;
    if (!is_product(op->args[i], op)) return;
    Builder b = builder_before(f, op);
    Value *sum = join_product(&b, op, op->args[i], op->args[1 - i]);
    op_replace(f, op, sum);
}

void pass_fma(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, visit, f);
}
