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
        V bits = element_bits(s, mv->d, tile_slot(s, mv->value, reg));
        V args[] = {element_address(s, mv, v, e), mask, bits, mv->policy, mv->site};
        prim_access(s, PRIM_STORE_GLOBAL, mv->single, args, 5);
    }
    simt_at(s, 0, 0);
    s->is_aside = false;
    aside_close(s, aside, NULL, NULL, 0);
}

void simt_store(Simt *s, const Op *op) {
    Move mv = move_open(s, op, op->args[1], true);
    for (uint32_t v = 0; v < mv.vectors; v++)
        if (!move_skips(&mv, v) && !is_false(mv.all[v])) store_whole(s, &mv, v);
    if (mv.may_be_partial) store_slow(s, &mv, mv.partial);
    if (mv.may_be_misaligned) store_slow(s, &mv, mv.misaligned);
}
