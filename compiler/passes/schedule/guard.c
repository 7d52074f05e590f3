/* guard.c - the pass guard: what vectors beyond a row's end store is not made.
 *
 * In: a function behind sink. Out: stores are `guarded` whose tile is made register by register for them alone, and is
 * worth a branch. A row of 8193 elements has 8 vectors of each thread, and one more of the first one.
 */
#include "passes/private.h"

/* Instructions for an element that are not worth a branch around a vector. */
enum { LITTLE = 8 };

/* What it takes to make an element of v for its one user. */
static uint32_t work(const Value *v) {
    const Op *op = v->def;
    if (!op || !op->attr.when || op->kind == OP_LOAD || !value_used_once(v)) return 0;
    uint32_t sum = op_cost(op);
    for (uint32_t i = 0; i < op->nargs; i++) sum += work(op->args[i]);
    return sum;
}

static void mark(void *context, Op *op) {
    (void)context;
    if (op->kind == OP_STORE && op->nargs > 2 && op->attr.mem.vec_log2)
        op->attr.mem.is_guarded = work(op->args[1]) >= LITTLE;
}

void pass_guard(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, mark, NULL);
}
