/* largest.c - which ops make a kernel as large as it is: for messages of what does not fit a GPU.
 *
 * In: a function behind the pipeline. Out: the places of the largest exchange through shared memory and of the largest
 * tile.
 */
#include "passes/passes.h"

typedef struct Search {
    FuncLargest found;
    uint64_t shared, tile;
} Search;

static uint64_t shared_of(const Op *op) {
    if (op->kind == OP_SHSTORE) return shape_elements(op->args[0]->type.shape) * type_bytes(op->args[0]->type);
    return op->kind == OP_SPILL ? (uint64_t)(op->attr.end - op->attr.start) : 0;
}

static void visit(void *context, Op *op) {
    Search *s = context;
    uint64_t shared = shared_of(op);
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
    Search s = {.found = {f->span, f->span}};
    func_walk((Func *)(uintptr_t)f, visit, &s);
    return s.found;
}
