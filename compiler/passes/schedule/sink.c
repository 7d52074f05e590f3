/* sink.c - the pass sink: where registers bind, tiles are made register by register, where each is needed first.
 *
 * In: a function behind remat. Out: ops whose users take registers one by one are `needed`: loads, copies and
 * elementwise ops of floats if the function has an `opaque_copy` or a `spill_shared`; else what only stores take, where
 * a row is reduced; what is computed of a product behind the loop that makes it; and what becomes of fewer bits an
 * operand that a product takes from registers: a step is made while the steps before it are multiplied.
 * Method: op by op each tile would be there as a whole before the next op begins. Those two ops say that tiles do not
 * fit in registers; the sums of a product take most of them. So a register goes from the loaded word or the sum to the
 * op that combines or stores it before the next one begins.
 */
#include "passes/private.h"

static void find_tight(void *context, Op *op) {
    if (op_class(op->kind) == CLASS_COPY) *(bool *)context = true;
}

static void mark(const Func *f, Op *op) {
    if (op->attr.when == WHEN_HERE && !when_wrong(f, op, WHEN_NEEDED)) op->attr.when = WHEN_NEEDED;
}

static bool makes_floats(const Op *op) {
    return op->nresults == 1 && dtype_kind(op->results[0]->type.dtype) == KIND_FLOAT;
}

static void mark_floats(void *context, Op *op) {
    if (makes_floats(op) && op->kind != OP_BITCAST) mark(context, op);
}

/* ---- Behind products --------------------------------------------------------------------------------------------- */

static bool multiplies(const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        if (op_class(op->kind) == CLASS_MATRIX) return true;
        for (uint32_t i = 0; i < op->nregions; i++)
            if (multiplies(op->regions[i])) return true;
    }
    return false;
}

/* Floats, and what bits and conditions are made of them on the way. */
static bool is_of_floats(const Op *op) {
    bool is = makes_floats(op);
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *v = op->args[i];
        is |= dtype_kind(v->type.dtype) == KIND_FLOAT || (v->def && v->def->attr.when == WHEN_NEEDED);
    }
    return is;
}

/* Not in a loop that multiplies itself: its rounds have an order of their own. */
static void mark_behind(const Func *f, Block *b, bool is_round) {
    Op *op = b->last;
    for (; op && op_class(op->kind) != CLASS_MATRIX; op = op->prev) {
        bool has = false;
        for (uint32_t i = 0; i < op->nregions; i++) {
            if (!multiplies(op->regions[i])) continue;
            has = true;
            mark_behind(f, op->regions[i], op_is_loop(op));
        }
        if (has) break;
    }
    if (!op || (is_round && op_class(op->kind) == CLASS_MATRIX)) return;
    for (op = op->next; op; op = op->next)
        if (is_of_floats(op)) mark(f, op);
}

/* ---- Operands in registers --------------------------------------------------------------------------------------- */

enum { MOST_OPS = 64 /* between such elements and the operand */ };

/* Is v made of elements that had fewer bits? So many ops are looked at. */
static bool is_widened(const Value *v, uint32_t *ops) {
    const Op *op = v->def;
    if (!op || !op_is_elementwise(op->kind) || !makes_floats(op) || !*ops) return false;
    --*ops;
    bool found = op->nargs == 1 && dtype_bits(op->args[0]->type.dtype) < dtype_bits(v->type.dtype);
    for (uint32_t i = 0; i < op->nargs && !found; i++) found = is_widened(op->args[i], ops);
    return found;
}

static void mark_made(const Func *f, const Value *v) {
    Op *op = v->def;
    if (!op || !op_is_elementwise(op->kind) || !makes_floats(op) || op->attr.when) return;
    mark(f, op);
    for (uint32_t i = 0; i < op->nargs && op->attr.when; i++) mark_made(f, op->args[i]);
}

static void mark_operand(void *f, Op *op) {
    uint32_t ops = MOST_OPS;
    bool is_held = op->kind == OP_DOTASYNC && value_is_tile(op->args[MMA_A]);
    if (is_held && is_widened(op->args[MMA_A], &ops)) mark_made(f, op->args[MMA_A]);
}

/* ---- Beside reductions ------------------------------------------------------------------------------------------- */

enum { FEW = 4 /* log2 of a tile's registers in a thread that need no care */ };

static bool is_for_stores(const Op *op) {
    const Value *v = op->nresults == 1 ? op->results[0] : NULL;
    bool is = v && op->kind != OP_LOAD && value_is_tile(v) && v->type.layout->bits[IN_REGISTER] > FEW;
    for (const Use *u = is ? v->uses : NULL; u; u = u->next)
        is &= u->op->attr.when != WHEN_HERE || (u->op->kind == OP_STORE && u->index == 1);
    return is;
}

/* What nothing but stores takes is made as they come to it. */
static void mark_stored(const Func *f) {
    bool reduces = false;
    for (Op *op = f->body->last; op; op = op->prev) reduces |= op_class(op->kind) == CLASS_REDUCE;
    for (Op *op = f->body->last; op && reduces; op = op->prev)
        if (is_for_stores(op)) mark(f, op);
}

void pass_sink(Func *f, PassContext *c) {
    (void)c;
    bool is_tight = false;
    func_walk(f, find_tight, &is_tight);
    if (is_tight) func_walk(f, mark_floats, f);
    else mark_stored(f);
    mark_behind(f, f->body, false);
    func_walk(f, mark_operand, f);
}
