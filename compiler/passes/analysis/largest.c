/* largest.c - which ops make a kernel as large as it is: for messages of what does not fit a GPU.
 *
 * In: a function behind the pipeline. Out: the places of the largest exchange through shared memory and of the largest
 * tile.
 */
#include "passes/passes.h"

typedef struct Search {
    const Func *f;
    FuncLargest found;
    uint64_t shared, tile;
} Search;


static void visit(void *context, Op *op) {
    Search *s = context;
    uint64_t shared = op_has_buffer(op->kind) ? buffer_bytes(&s->f->buffers.at[op->attr.buffer]) : 0;
    if (shared > s->shared) {
        s->shared = shared;
        s->found.shared = op->span;
    }
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (!value_is_tile(op->results[i])) continue;
        uint64_t tile = shape_elements(op->results[i]->type.shape);
        if (tile <= s->tile) continue;
        s->tile = tile;
        s->found.tile = op->span;
    }
}

FuncLargest func_largest(const Func *f) {
    Search s = {.f = f, .found = {f->span, f->span}};
    func_walk((Func *)(uintptr_t)f, visit, &s);
    return s.found;
}
