/* alternate.c - exchanges in a loop take two stages in turn, which saves a barrier a round.
 *
 * In: exchanges within a block, each a store and loads of its buffer in a loop's body. Out: such a buffer has two
 * stages, and its ops have the stage of their round.
 * Method: of one stage, who stores for the next round waits at a barrier until all warps have loaded what this round
 * left. Of two stages, the barrier between a round's store and its loads is enough: who stores for round n + 2 has
 * passed that of round n + 1, and no warp comes to that before it has loaded what round n left. Left alone is what has
 * another barrier in between anyway, what is large, and what stands under a condition or in a `while`; and all of them
 * where their second stages would cost a block of a multiprocessor, or there is no room.
 */
#include "passes/private.h"

enum { MOST_BYTES = 1024 /* of a stage */, MOST_BLOCKS = 32 /* of any multiprocessor, whatever they need */ };

/* Do all warps meet between what stands behind `from` and `to`, or the block's end where that is NULL? They do at each
 * barrier, and between a store of a buffer and a load of it. */
static bool meets(const Op *from, const Op *to, bool *is_stored) {
    for (const Op *op = from; op && op != to; op = op->next) {
        if (op->kind == OP_BARRIER) return true;
        if (!op_has_buffer(op->kind)) continue;
        if (op->kind == OP_SHSTORE) is_stored[op->attr.buffer] = true;
        else if (op->kind == OP_SHLOAD && is_stored[op->attr.buffer]) return true;
    }
    return false;
}

static bool meets_before_next(const Func *f, Arena *scratch, const Exchange *x) {
    bool *is_stored = NEW_ARRAY(scratch, bool, f->buffers.len);
    return meets(x->last->next, NULL, is_stored) || meets(x->store->parent->first, x->store, is_stored);
}

static bool gains(const Func *f, Arena *scratch, const Exchange *x, const Buffer *b) {
    if (!exchange_is_rounds(x) || !x->store->parent->owner || x->store->attr.scope != SCOPE_BLOCK) return false;
    return !b->is_private && b->stages == 1 && b->bytes <= MOST_BYTES && !meets_before_next(f, scratch, x);
}

/* Blocks that shared memory allows a multiprocessor, as its buffers are now. */
static uint32_t blocks_of(Func *f, const PassContext *c) {
    Lives lives = lives_of(f, c->scratch);
    uint64_t bytes = buffers_place(f, &lives) + SHARED_OF_SYSTEM, all = c->target->max_shared + SHARED_OF_SYSTEM;
    return all / bytes < MOST_BLOCKS ? (uint32_t)(all / bytes) : MOST_BLOCKS;
}

static void take_turns(Func *f, Arena *scratch, RoundList *rounds, const Exchange *x) {
    Value *stage = round_of(f, scratch, rounds, x->store->parent)->stage;
    op_add_arg(f, x->store, stage);
    for (Op *op = x->load; op != x->last->next; op = op->next)
        if (op->kind == OP_SHLOAD && op->attr.buffer == x->store->attr.buffer) op_add_arg(f, op, stage);
}

void pass_alternate(Func *f, PassContext *c) {
    const Exchange *all = exchanges_find(f, c->scratch);
    VEC(const Exchange *) found = {0};
    RoundList rounds = {0};
    uint32_t blocks = blocks_of(f, c);
    for (uint32_t i = 0; i < f->buffers.len; i++)
        if (gains(f, c->scratch, &all[i], &f->buffers.at[i])) vec_push(c->scratch, &found, &all[i]);
    for (uint32_t i = 0; i < found.len; i++) f->buffers.at[found.at[i]->store->attr.buffer].stages = 2;
    if (found.len && blocks_of(f, c) < blocks) {
        for (uint32_t i = 0; i < found.len; i++) f->buffers.at[found.at[i]->store->attr.buffer].stages = 1;
        blocks_of(f, c); /* places as they were */
        return;
    }
    for (uint32_t i = 0; i < found.len; i++) take_turns(f, c->scratch, &rounds, found.at[i]);
}
