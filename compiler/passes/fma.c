/* fma.c - a * b + c with a product that nobody else needs becomes fma: one rounding, the same on every target.
 *
 * Also a * b - c and c - a * b, with the negation on an operand (exact). fp32 and fp64 only: narrower types are computed
 * in fp32 anyway and rounded once.
 */
#include "passes/passes.h"

static const Op *product_of(const Value *v) {
    return v->def && v->def->kind == OP_FMUL && value_used_once(v) ? v->def : NULL;
}

static Value *form(Builder *b, const Op *op) {
    Value *x = op->args[0], *y = op->args[1];
    const Op *left = product_of(x), *right = product_of(y);
    bool minus = op->kind == OP_FSUB;
    if (left) return build3(b, OP_FMA, left->args[0], left->args[1], minus ? build1(b, OP_FNEG, y) : y);
    if (right) return build3(b, OP_FMA, minus ? build1(b, OP_FNEG, right->args[0]) : right->args[0], right->args[1], x);
    return NULL;
}

static bool walk(Func *f, Block *b) {
    bool changed = false;
    for (Op *op = b->first; op;) {
        Op *next = op->next;
        for (uint32_t r = 0; r < op->nregions; r++) changed |= walk(f, op->regions[r]);
        bool sum = op->kind == OP_FADD || op->kind == OP_FSUB;
        if (sum && (op->results[0]->type.dtype == DT_FP32 || op->results[0]->type.dtype == DT_FP64)) {
            Builder at = builder_before(f, op);
            Value *fused = form(&at, op);
            if (fused) {
                value_replace(f, op->results[0], fused);
                op_erase(f, op); /* the product is dce's */
                changed = true;
            }
        }
        op = next;
    }
    return changed;
}

bool pass_fma(Func *f, PassContext *c) {
    (void)c;
    return walk(f, f->body);
}
