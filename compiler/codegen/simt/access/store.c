/* store.c - stores of global memory.
 *
 * In: a store op of a tile. Out: a predicated access for each vector, and the elements of partial vectors one by one
 * (memory.c has the method, and loads).
 */
#include "codegen/simt/access/move.h"

#include <string.h>

void store_whole(Simt *s, const Move *mv, uint32_t v) {
    simt_at(s, v * mv->n, mv->n);
    V args[8] = {whole_address(s, mv, v), mv->all[v]};
    Access a = mv->whole;
    memcpy(args + 2, store_words(s, mv, v), a.words * sizeof *args);
    args[2 + a.words] = mv->policy;
    args[3 + a.words] = mv->site;
    prim_access(s, PRIM_STORE_GLOBAL, a, args, 4 + a.words);
    simt_at(s, 0, 0);
}

/* An element of a vector, from its words where they are there: what made them may stand behind its branch. */
static V stored_bits(Simt *s, const Move *mv, uint32_t v, uint32_t e) {
    uint32_t w = mv->whole.words, per_word = mv->n / w;
    bool is_kept = mv->words[v * w] != NULL;
    V x = is_kept ? element_of_word(s, mv->d, mv->words[v * w + e / per_word], e % per_word)
                  : tile_slot(s, mv->value, v * mv->n + e);
    return element_bits(s, mv->d, x);
}

void store_slow(Simt *s, const Move *mv, const V *which) {
    if (move_has_edges(mv)) {
        store_edges(s, mv, which);
        return;
    }
    Aside aside = aside_open(s, mv, which);
    s->is_aside = true;
    for (uint32_t reg = 0; reg < mv->vectors * mv->n; reg++) {
        uint32_t v = reg / mv->n, e = reg % mv->n;
        V mask = move_single(mv, which, v) ? single_mask(s, mv, which, v, e) : NULL;
        if (!mask || is_false(mask)) continue;
        simt_at(s, reg, 1);
        V args[] = {element_address(s, mv, v, e), mask, stored_bits(s, mv, v, e), mv->policy, mv->site};
        prim_access(s, PRIM_STORE_GLOBAL, mv->single, args, 5);
    }
    simt_at(s, 0, 0);
    s->is_aside = false;
    aside_close(s, aside, NULL, NULL, 0);
}

/* A vector that may lie beyond the end is made behind a branch, if any of it moves. Its words stay, for its parts. */
static void store_guarded(Simt *s, Move *mv, uint32_t v) {
    uint32_t w = mv->whole.words;
    V moves = known_or(s, mv->all[v], known_or(s, mv->partial[v], mv->misaligned[v])), zero[16];
    LLVMBasicBlockRef from = LLVMGetInsertBlock(s->m->at), inside = simt_new_block(s, "inside"),
                      done = simt_new_block(s, "stored");
    LLVMBuildCondBr(s->m->at, moves, inside, done);
    LLVMPositionBuilderAtEnd(s->m->at, inside);
    s->is_aside = true;
    V *own = store_words(s, mv, v);
    s->is_aside = false;
    memcpy(mv->words + v * w, own, w * sizeof *own);
    store_whole(s, mv, v);
    inside = LLVMGetInsertBlock(s->m->at);
    LLVMBuildBr(s->m->at, done);
    LLVMPositionBuilderAtEnd(s->m->at, done);
    for (uint32_t i = 0; i < w; i++) zero[i] = LLVMConstNull(LLVMTypeOf(own[i]));
    join_words(s, mv->words + v * w, inside, zero, from, w);
}

/* Of rotated rows, whose ends keep one warp behind the others anyway: a branch more saves less than it costs that warp
 * where there are more vectors (docs/lab/cross-entropy.md). */
enum { MOST_GUARDED = 5 };

static uint32_t count_moving(const Move *mv) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < mv->vectors; v++) n += !is_false(mv->all[v]);
    return n;
}

/* Is it worth a branch? What is cut at its beginning, or as good as always inside, is not. */
static bool may_be_beyond(Simt *s, const Move *mv, uint32_t v) {
    bool is_first = mv->vectors > 1 && move_begins(mv, v);
    return mv->op->attr.mem.is_guarded && !is_first && !LLVMIsConstant(mv->all[v]) &&
           !known_mostly(s, mv->mask_value, v * mv->n) && (!mv->is_rotated || count_moving(mv) <= MOST_GUARDED);
}

void simt_store(Simt *s, const Op *op) {
    Move mv = move_open(s, op, op->args[1], true);
    for (uint32_t v = 0; v < mv.vectors; v++) {
        if (move_skips(&mv, v) || is_false(mv.all[v])) continue;
        if (may_be_beyond(s, &mv, v)) store_guarded(s, &mv, v);
        else store_whole(s, &mv, v);
    }
    if (mv.may_be_partial) store_slow(s, &mv, mv.partial);
    if (mv.may_be_misaligned) store_slow(s, &mv, mv.misaligned);
}
