/* opaque_copy.c - the op `opaque_copy`: a copy of a tile that LLVM and ptxas cannot see through.
 *
 * In: a tile. Out: the same elements. Method: the 32-bit words of the tile pass through a primitive that no optimiser
 * looks into. So what is computed from the copy is computed behind it, and only the words are live until then. A tile
 * that was loaded in words is copied as it was loaded; other narrow tiles are packed first. Constants stay as they are.
 */
#include "codegen/simt/simt.h"

static bool has_words(const Tile *x, uint32_t n) {
    for (uint32_t i = 0; i < n && x->words; i++)
        if (!x->words[i]) return false;
    return x->words != NULL;
}

static V *words_of(Simt *s, const Value *v, uint32_t per_word) {
    Tile *x = tile_on_demand(s, v);
    if (has_words(x, x->n / per_word)) return x->words;
    x = tile_of(s, v);
    V *words = NEW_ARRAY(s->m->o->arena, V, x->n / per_word), elements[4];
    for (uint32_t i = 0; i < x->n / per_word; i++) {
        for (uint32_t e = 0; e < per_word; e++) elements[e] = tile_slot(s, x, i * per_word + e);
        elements_pack(s, v->type.dtype, elements, per_word, (Access){1, 32}, words + i);
    }
    return words;
}

void simt_opaque_copy(Simt *s, const Op *op) {
    Value *v = op->results[0];
    uint32_t bytes = type_bytes(type_scalar(v->type.dtype)), n = tile_registers(v),
             per_word = bytes < 4 ? 4 / bytes : 1;
    if (value_is_deferred(op->args[0])) s->values[v->id] = *tile_on_demand(s, op->args[0]); /* no words live */
    /* no whole number of words: it lives as it is */
    else if (bytes > 4 || n % per_word) s->values[v->id] = *tile_of(s, op->args[0]);
    else s->values[v->id] = tile_packed(s, op, n, words_of(s, op->args[0], per_word), per_word, true);
    if (!op->attr.when) tile_of(s, v);
}
