/* guard.c - the pass guard: what vectors beyond a row's end store is not made.
 *
 * In: a function behind sink. Out: stores are `guarded` whose tile is made register by register, where that is worth a
 * branch. A row of 8193 elements has 4 vectors in each of 256 threads, and one more in the first one.
 */
#include "passes/private.h"

enum {
    LITTLE = 8, /* instructions for an element that are not worth a branch around a vector */
    MOST_MADE = 64 /* ops for an element: behind a branch what has two users is made twice */
};

/* What it takes to make an element of v for its one user. */
static uint32_t work(const Value *v) {
    const Op *op = v->def;
    if (!op || !op->attr.when || op->kind == OP_LOAD || !value_used_once(v)) return 0;
    uint32_t sum = op_cost(op);
    for (uint32_t i = 0; i < op->nargs; i++) sum += work(op->args[i]);
    return sum;
}

/* Does an element of v take no more ops than *left? */
static bool is_short(const Value *v, uint32_t *left) {
    const Op *op = v->def;
    if (!op || !op->attr.when || op->kind == OP_LOAD) return true;
    if (!*left) return false;
    --*left;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!is_short(op->args[i], left)) return false;
    return true;
}

static void mark(void *context, Op *op) {
    uint32_t left = MOST_MADE;
    (void)context;
    if (op->kind == OP_STORE && op->nargs > 2 && op->attr.mem.vec_log2)
        op->attr.mem.is_guarded = is_short(op->args[1], &left) && work(op->args[1]) >= LITTLE;
}

void pass_guard(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, mark, NULL);
}
