/* defer.c - the pass defer: weights behind a reduction are loaded vector by vector, by the stores that need them.
 *
 * In: a function whose exchanges are spelled out. Out: such loads, and the elementwise ops on them, are `stored`; in
 * their block, tiles that nothing but a reduction takes are `needed`.
 * Method: weight and bias of a norm take no part in its reductions, and the row lives in registers until it is stored.
 * Loaded as a whole they would live beside it. That a load may wait is due to its pointer: nobody writes what a const
 * one names. A load that the pass hoist has moved before a reduction stays.
 */
#include "passes/private.h"

/* Words of the load in a thread, at least: of little tiles ptxas loads and uses one vector after the other. Uses on the
 * way to the stores, at most. */
enum { LEAST_WORDS = 16, MOST_USES = 256 };

typedef struct Defer {
    const Func *f;
    uint32_t *met; /* by op id: reductions that end before it, in its block; NULL: it does not matter */
    uint32_t uses;
} Defer;

/* Is v, and all that is made of it, element by element until it is stored, before the next reduction? */
static bool is_for_store(Defer *d, const Value *v, const Op *load) {
    if (!v->uses || v->def->kind == OP_SPILL || when_wrong(d->f, v->def, WHEN_NEEDED)) return false;
    for (const Use *u = v->uses; u; u = u->next) {
        if (++d->uses > MOST_USES || (d->met && d->met[u->op->id] != d->met[load->id])) return false;
        if (u->op->kind == OP_STORE) continue;
        if (u->op->nresults == 0 || !is_for_store(d, u->op->results[0], load)) return false;
    }
    return true;
}

static bool may_wait(Defer *d, const Op *op) {
    const Value *v = op->kind == OP_LOAD ? op->results[0] : NULL;
    if (!v || !value_is_tile(v) || op->attr.mem.is_volatile || !op_loads_constant(d->f, op)) return false;
    uint32_t vector = dtype_bits(v->type.dtype) << op->attr.mem.vec_log2;
    uint32_t words = layout_registers(v->type.layout) * dtype_bits(v->type.dtype) / 32;
    d->uses = 0;
    return vector == 128 && words >= LEAST_WORDS && is_for_store(d, v, op);
}

bool load_is_for_stores(const Func *f, const Op *op) {
    return may_wait(&(Defer){.f = f}, op);
}

static void mark(Op *op) {
    op->attr.when = WHEN_STORED;
    for (const Use *u = op->results[0]->uses; u; u = u->next)
        if (u->op->kind != OP_STORE && u->op->attr.when != WHEN_STORED) mark(u->op);
}

/* Squares, say, that nothing needs but a reduction. */
static bool is_combined(const Defer *d, const Op *op) {
    const Value *v = op->nresults == 1 ? op->results[0] : NULL;
    return v && value_used_once(v) && v->uses->op->kind == OP_REDUCEWARP && op->kind != OP_LOAD &&
           op->kind != OP_SPILL && !when_wrong(d->f, op, WHEN_NEEDED);
}

static void defer_block(Defer *d, Block *b) {
    uint32_t met = 0;
    for (const Op *op = b->first; op; op = op->next) {
        bool ends = op->kind == OP_REDUCEWARP || (op->kind == OP_SHLOAD && op_is_exchange(d->f, op));
        d->met[op->id] = met += ends;
        for (uint32_t r = 0; r < op->nregions; r++) defer_block(d, op->regions[r]);
    }
    bool found = false;
    for (Op *op = b->first; op; op = op->next) {
        if (!d->met[op->id] || !may_wait(d, op)) continue;
        mark(op);
        found = true;
    }
    for (Op *op = b->first; op && found; op = op->next)
        if (is_combined(d, op)) op->attr.when = WHEN_NEEDED;
}

void pass_defer(Func *f, PassContext *c) {
    Defer d = {.f = f, .met = NEW_ARRAY(c->scratch, uint32_t, f->next_op)};
    defer_block(&d, f->body);
}
