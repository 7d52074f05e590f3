/* launch_wait.c - the pass launch_wait: a launch that may begin early waits ahead of its first access.
 *
 * In: a Func at STAGE_TILE. Out: if launches may overlap (PassContext.overlap), a `gdc_wait` in the body. Where the
 * source has one, none is added.
 * Method: the wait stands in front of the first op of the body that is neither pure nor an order. What is computed goes
 * on beside the launch ahead. An access in a region has its wait in front of the region's op, so every program waits.
 */
#include "passes/private.h"

void pass_launch_wait(Func *f, PassContext *c) {
    Op *first = NULL;
    if (!c->overlap) return;
    for (Op *op = f->body->first; op; op = op->next) {
        if (op->kind == OP_GDCWAIT) return;
        bool is_order = op_class(op->kind) == CLASS_ORDER || op_class(op->kind) == CLASS_END;
        if (!first && !op_is_pure(op->kind) && !is_order) first = op;
    }
    if (!first) return;
    Builder b = builder_before(f, first);
    op_build(&b, OP_GDCWAIT, NULL, 0, (Attr){0}, (Type){0});
}
