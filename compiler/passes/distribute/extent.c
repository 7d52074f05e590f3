/* extent.c - how far the loops over a row's chunks have to go: to its end, or to that of what its masks let through.
 *
 * In: the planned loops, before they are built. Out: elements, a multiple of a chunk; what reductions begin with.
 * Method: beyond the extent no mask is true. So there a load gives its `other`, a select its third operand, and an op
 * of constants a constant. Chunks beyond it need not be visited where nothing is stored there and where each reduction
 * takes one constant that changes nothing the second time: it begins with that.
 */
#include <math.h>

#include "passes/distribute/chunk.h"

enum { MOST_DEPTH = 32 };

typedef struct Extent {
    const Chunk *k;
    const Facts *facts;
    uint64_t end;
} Extent;

static bool ends_before(const Extent *e, const Value *mask) {
    return value_is_tile(mask) && facts_live(e->facts, mask, 0) <= e->end;
}

/* What every element of v beyond the extent is; false: that is not known. */
static bool beyond(const Extent *e, const Value *v, int64_t *bits, uint32_t depth) {
    const Op *op = v->def;
    int64_t args[3];
    if (value_const(v, bits)) return true;
    if (!op || depth == MOST_DEPTH) return false;
    switch (op->kind) {
    case OP_LOAD:
        *bits = 0;
        if (op->nargs < 2 || !ends_before(e, op->args[1])) return false;
        return op->nargs == 2 || beyond(e, op->args[2], bits, depth + 1);
    case OP_SPLAT: return beyond(e, op->args[0], bits, depth + 1);
    case OP_SELECT:
        if (ends_before(e, op->args[0])) return beyond(e, op->args[2], bits, depth + 1);
        break;
    default: break;
    }
    if (!op_is_elementwise(op->kind) || !op->nargs || op->nargs > COUNT(args)) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!beyond(e, op->args[i], args + i, depth + 1)) return false;
    return op_evaluate(op, args, bits);
}

/* Combining it once more changes nothing. */
static bool is_stable(const Op *reduction, int64_t bits) {
    DType d = reduction->results[0]->type.dtype;
    Value of = {.type = type_scalar(d)}, *result[] = {&of};
    Op pair = {.kind = reduction->attr.combine, .nargs = 2, .nresults = 1, .results = result};
    Value *args[] = {&of, &of};
    pair.args = args;
    int64_t two[] = {bits, bits}, both;
    return op_evaluate(&pair, two, &both) && both == bits;
}

/* A sum of a softmax takes e^-inf there: 0, as its pivot is finite. */
static bool vanishes(const Extent *e, const SoftmaxMatch *p) {
    const Op *d = p->difference;
    int64_t h, factor;
    if (!beyond(e, d->args[0], &h, 0) || float_from_bits(d->args[0]->type.dtype, h) != -INFINITY) return false;
    if (d->kind == OP_FSUB) return true;
    return beyond(e, d->args[1], &factor, 0) && float_from_bits(d->args[1]->type.dtype, factor) > 0;
}

static bool ends_loop(const Extent *e, StripLoop *w) {
    for (uint32_t i = 0; i < w->ends.len; i++) {
        const Op *end = w->ends.at[i];
        int64_t bits;
        if (end->kind == OP_STORE && (end->nargs < 3 || !ends_before(e, end->args[2]))) return false;
        if (end->kind != OP_REDUCE) continue;
        if (!beyond(e, end->args[0], &bits, 0) || !is_stable(end, bits)) return false;
        vec_push(e->k->scratch, &w->first, bits);
    }
    for (uint32_t i = 0; i < w->softmaxes.len; i++)
        if (!vanishes(e, &w->softmaxes.at[i])) return false;
    return true;
}

uint64_t chunk_extent(const Chunk *k, const Facts *facts) {
    uint64_t live = live_elements(k->f, facts, shape_row(log2_floor(k->row)));
    Extent e = {k, facts, (live + k->size - 1) / k->size * k->size};
    bool ends = e.end < k->row;
    for (uint32_t i = 0; i < k->strip_loops.len && ends; i++) ends = ends_loop(&e, &k->strip_loops.at[i]);
    for (uint32_t i = 0; i < k->strip_loops.len && !ends; i++) k->strip_loops.at[i].first.len = 0;
    return ends ? e.end : k->row;
}
