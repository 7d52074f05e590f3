/* sink.c - the pass sink: where registers bind, tiles are made register by register, where each is needed first.
 *
 * In: a function behind remat. Out: if it has an `opaque_copy` or a `spill_shared`, loads, copies and elementwise ops
 * of floats whose users take registers one by one are `needed`.
 * Method: those two ops say that the function's tiles do not fit in registers. Op by op each tile would be there as a
 * whole before the next op begins. So a register goes from the loaded word to the op that combines or stores it before
 * the next one begins.
 */
#include "passes/private.h"

static void find_tight(void *context, Op *op) {
    if (op_class(op->kind) == CLASS_COPY) *(bool *)context = true;
}

static void mark(void *context, Op *op) {
    if (op->attr.when == WHEN_HERE && !when_wrong(context, op, WHEN_NEEDED)) op->attr.when = WHEN_NEEDED;
}

void pass_sink(Func *f, PassContext *c) {
    (void)c;
    bool is_tight = false;
    func_walk(f, find_tight, &is_tight);
    if (is_tight) func_walk(f, mark, f);
}
