/* async.c - the pass async: sums are waited for as late as their first reader.
 *
 * In: products of four warps, each with a wait for all of them behind it; rings. Out: waits further down. Where a loop
 * hands its sums from product to product, a round waits for the round before alone, and the last one is waited for
 * behind the loop.
 * Rules: a product reads its operands until it is waited for. So a round may leave its products to the next one if
 * nothing writes their buffers in the loop, or a ring does that is a stage longer than the copies under way need
 * (pipeline.c): then they go into the stage of the round before the last. Elsewhere a wait stands before anything but
 * what others wait for or what may write there. It leaves as many groups as were begun since its own.
 */
#include "base/plant.h"
#include "passes/private.h"

/* ---- Loops that hand on sums ------------------------------------------------------------------------------------- */

static Op *wait_of(const Op *dot) {
    Value *v = dot->results[0];
    return value_used_once(v) && v->uses->op->kind == OP_DOTWAIT ? v->uses->op : NULL;
}

/* Does the next round's product alone take the sum, or whoever comes behind the loop? */
static bool is_handed_on(const Op *dot) {
    const Op *wait = wait_of(dot);
    if (!wait || !value_used_once(wait->results[0])) return false;
    const Use *u = wait->results[0]->uses;
    if (u->op->kind != OP_YIELD || u->op != dot->parent->last) return false;
    const Value *sum = dot->parent->args.at[1 + u->index];
    return dot->args[MMA_C] == sum && value_used_once(sum);
}

static bool products_fit(const Block *b, const Block *body, uint32_t *n) {
    bool fits = true;
    for (const Op *op = b->first; op && fits; op = op->next) {
        for (uint32_t r = 0; r < op->nregions && fits; r++) fits = products_fit(op->regions[r], body, n);
        if (op->kind != OP_DOTASYNC) continue;
        fits = fits && b == body && is_handed_on(op);
        ++*n;
    }
    return fits;
}

uint32_t loop_sums(const Op *loop) {
    uint32_t n = 0;
    bool fits = loop->kind == OP_FOR && products_fit(loop->regions[0], loop->regions[0], &n);
    return fits ? n : 0;
}

/* ---- What products read meanwhile -------------------------------------------------------------------------------- */

static bool is_written(const Block *b, uint32_t buffer) {
    for (const Op *op = b->first; op; op = op->next) {
        if (op->kind == OP_SHSTORE && op->attr.buffer == buffer) return true;
        for (uint32_t r = 0; r < op->nregions; r++)
            if (is_written(op->regions[r], buffer)) return true;
    }
    return false;
}

/* Of the bulk copies into the buffer that `at` names, in its loop. */
static uint32_t rounds_ahead(const Op *at) {
    uint32_t most = 0;
    for (const Op *op = at->parent->first; op; op = op->next)
        if (op->kind == OP_BULKLOAD && op->attr.buffer == at->attr.buffer && op->attr.ahead > most)
            most = op->attr.ahead;
    return most;
}

/* Are copies under way in fewer stages than the buffer has beside those of this round and the one before? Registers
 * that a product reads have no stages. */
static bool has_room(const Func *f, const Value *operand) {
    const Op *at = operand->def;
    if (value_is_tile(operand)) return false;
    const Buffer *b = &f->buffers.at[at->attr.buffer];
    const Op *wait = at;
    if (b->is_bulk) return rounds_ahead(at) + 1 <= b->stages;
    while (wait && wait->kind != OP_COPYWAIT) wait = wait->prev;
    return b->stages == 1 ? !is_written(at->parent, at->attr.buffer) : wait && wait->attr.pending + 3 <= b->stages;
}

static bool all_have_room(const Func *f, const Op *loop) {
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op->kind == OP_DOTASYNC && !(has_room(f, op->args[MMA_A]) && has_room(f, op->args[MMA_B])))
            return false;
    return true;
}

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

static Value *build_wait(Builder *b, Value *sum, uint32_t pending) {
    return op_build(b, OP_DOTWAIT, &sum, 1, (Attr){.pending = pending}, sum->type)->results[0];
}

/* The rounds wait for all groups but their own n. */
static void wait_for_rounds(Func *f, Op *loop, uint32_t n) {
    Op *end = loop->regions[0]->last, *last = end;
    while (last->kind != OP_DOTASYNC) last = last->prev;
    Builder b = builder_after(f, last);
    for (uint32_t i = 0; i < end->nargs; i++) {
        Op *wait = end->args[i]->def;
        if (!wait || wait->kind != OP_DOTWAIT || wait->parent != end->parent) continue;
        Value *sum = wait->args[0];
        op_set_arg(f, end, i, build_wait(&b, sum, plant(PLANT_ROUND_LATE) ? 2 * n : n));
        op_erase(f, wait);
        Value *result = loop->results[i];
        Builder behind = builder_after(f, loop);
        Value *done = build_wait(&behind, result, 0);
        for (Use *u = result->uses, *next; u; u = next) {
            next = u->next;
            if (u->op != done->def) op_set_arg(f, u->op, u->index, done);
        }
        done->name = result->name;
        result->name = NULL;
    }
}

static bool takes(const Op *op, const Value *v) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i] == v) return true;
    return false;
}

/* What may happen while a product reads: nothing that others wait for, or that writes where it reads. Copies of a round
 * go where no product of it reads; all have been waited for at the barrier before them. */
static bool may_pass(const Op *op) {
    bool is_copy = op->kind == OP_COPYCOMMIT || (op_is_copy(op->kind) && op->attr.is_prefetch),
         is_place = op->kind == OP_SHMATRIX || op->kind == OP_PROXYFENCE || op->kind == OP_SHWAIT;
    bool reads = op->kind == OP_LOAD || op->kind == OP_SHLOAD;
    return op_is_pure(op->kind) || reads || op_class(op->kind) == CLASS_MATRIX || is_place || is_copy;
}

/* Down to its first reader; it leaves the products that are begun meanwhile under way. */
static void sink(Op *wait) {
    uint32_t begun = 0, passed = 0;
    Op *to = wait->next, *last = to;
    for (; may_pass(to) && !takes(to, wait->results[0]); to = to->next) {
        begun += to->kind == OP_DOTASYNC;
        if (op_is_pure(to->kind) || to->kind == OP_DOTASYNC) last = to->next, passed = begun;
    }
    if (last == wait->next) return;
    wait->attr.pending += passed;
    op_move_before(wait, last);
}

/* ---- Bulk copies for later rounds -------------------------------------------------------------------------------- */

/* A copy may always come later; what is read in front of it is none of its stage. */
static bool lets_copies_pass(const Op *op) {
    bool is_copy = op_is_copy(op->kind) || op->kind == OP_COPYCOMMIT || op->kind == OP_COPYWAIT;
    return may_pass(op) ? op->kind != OP_DOTWAIT : is_copy || op->kind == OP_COPYREAD;
}

/* Behind the round's first products, which go on while warps say that they have read the stage; and behind the wait for
 * the round before, if that is in this one. */
static void place_copy(const Func *f, Op *copy) {
    Op *to = copy->next;
    for (Op *op = to; lets_copies_pass(op); op = op->next)
        if (op->kind == OP_DOTASYNC) to = op->next;
    op_move_before(copy, to);
    while (to && copy_overwrites(f, copy)) {
        for (to = copy->next; to && to->kind != OP_DOTWAIT;) to = to->next;
        if (to) op_move_before(copy, to->next);
    }
}

/* ---- Fences ------------------------------------------------------------------------------------------------------ */

/* Does another one show all that it shows, in front of the next barrier, or was nothing written since the last one? */
static bool is_needless(const Op *fence) {
    const Op *next = fence->next, *last = fence->prev;
    while (next && next->kind != OP_PROXYFENCE && next->kind != OP_BARRIER && next->kind != OP_DOTASYNC &&
           next->kind != OP_BULKSTORE && !next->nregions)
        next = next->next;
    while (last && last->kind != OP_PROXYFENCE && last->kind != OP_SHSTORE && last->kind != OP_COPYWAIT &&
           !last->nregions)
        last = last->prev;
    return (next && next->kind == OP_PROXYFENCE) || (last && last->kind == OP_PROXYFENCE);
}

typedef struct Async {
    Func *f;
    Arena *scratch;
    VEC(Op *) waits, copies; /* who moves would take the walk with it */
} Async;

static void visit(void *context, Op *op) {
    Async *x = context;
    uint32_t n = loop_sums(op);
    if (n && all_have_room(x->f, op)) wait_for_rounds(x->f, op, n);
    if (op->kind == OP_PROXYFENCE && is_needless(op)) op_erase(x->f, op);
}

static void note(void *context, Op *op) {
    Async *x = context;
    if (op->kind == OP_DOTWAIT) vec_push(x->scratch, &x->waits, op);
    if (op->kind == OP_BULKLOAD && op->attr.is_prefetch) vec_push(x->scratch, &x->copies, op);
}

void pass_async(Func *f, PassContext *c) {
    Async x = {.f = f, .scratch = c->scratch};
    func_walk(f, visit, &x);
    func_walk(f, note, &x);
    for (uint32_t i = 0; i < x.waits.len; i++) sink(x.waits.at[i]);
    for (uint32_t i = x.copies.len; i-- > 0;) place_copy(f, x.copies.at[i]);
}
