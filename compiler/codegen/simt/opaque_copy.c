/* opaque_copy.c - the op `opaque_copy`: a copy of a tile that LLVM and ptxas cannot see through.
 *
 * In: a tile. Out: the same elements. Method: the 32-bit words of the tile pass through a primitive that no optimiser
 * looks into. So what is computed from the copy is computed behind it, and only the words are live until then. A tile
 * that was loaded in words is copied as it was loaded; other narrow tiles are packed first. Constants stay as they are.
 */
#include "codegen/simt/simt.h"

void simt_opaque_copy(Simt *s, const Op *op) {
    Value *v = op->results[0];
    uint32_t bytes = type_bytes(type_scalar(v->type.dtype)), n = tile_registers(v),
             per_word = bytes < 4 ? 4 / bytes : 1;
    if (value_is_deferred(op->args[0])) s->values[v->id] = *tile_on_demand(s, op->args[0]); /* no words live */
    /* no whole number of words: it lives as it is */
    else if (bytes > 4 || n % per_word) s->values[v->id] = *tile_of(s, op->args[0]);
    else s->values[v->id] = tile_packed(s, op, n, words_of_tile(s, op->args[0], per_word), per_word, true);
    if (!op->attr.when) tile_of(s, v);
}
