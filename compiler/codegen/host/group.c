/* group.c - the loop of a group: anchors of one shape, and the tiles that it keeps, a chunk of each at a time.
 *
 * In: a group of plan.c. Out: a loop at this program point; loaded and kept tiles are in their buffers, sums are done.
 * Method: a reduction's tile is [outer][axis][inner]. Where inner is 1 the chunk runs along the axis: vectors
 * accumulate lane by lane and a tree joins the lanes at the end. Else the chunk runs along inner and the axis is walked
 * in order. Both orders depend on the shape only, so a sum is the same in every run.
 */
#include "codegen/host/host.h"

enum { RUN = 64 };

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static LLVMValueRef combine(Host *h, const Op *op, LLVMValueRef x, LLVMValueRef y) {
    return math_binary(&h->math, op->attr.combine, op->args[0]->type.dtype, x, y);
}

/* The lanes of a vector to one value: halves, quarters, … */
static LLVMValueRef join_lanes(Host *h, const Op *op, LLVMValueRef x, uint32_t width) {
    Llvm *m = h->m;
    while (width > 1) {
        LLVMValueRef low[HOST_WIDTH], high[HOST_WIDTH];
        uint32_t half = width / 2;
        for (uint32_t i = 0; i < half; i++) {
            low[i] = llvm_int(m->i32, i);
            high[i] = llvm_int(m->i32, half + i);
        }
        LLVMValueRef poison = LLVMGetPoison(LLVMTypeOf(x));
        LLVMValueRef a = LLVMBuildShuffleVector(m->at, x, poison, LLVMConstVector(low, half), "");
        LLVMValueRef b = LLVMBuildShuffleVector(m->at, x, poison, LLVMConstVector(high, half), "");
        if (half == 1) { /* a vector of one is a scalar here */
            a = LLVMBuildExtractElement(m->at, a, llvm_int(m->i32, 0), "");
            b = LLVMBuildExtractElement(m->at, b, llvm_int(m->i32, 0), "");
        }
        x = combine(h, op, a, b);
        width = half;
    }
    return x;
}

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

/* All that the group does in one chunk; sums[i]: what its i-th op, a reduction, takes in. */
static void do_chunk(Host *h, const Group *g, Chunk *c, LLVMValueRef *sums) {
    for (uint32_t i = 0; i < g->ahead.len; i++) host_prefetch(h, g->ahead.at[i], c);
    for (uint32_t i = 0; i < g->ops.len; i++) {
        const Op *op = g->ops.at[i];
        llvm_debug_at(h->m, op->span);
        if (op->kind == OP_LOAD) host_load_chunk(h, op, c);
        else if (op->kind == OP_STORE) host_store_chunk(h, op, c);
        else sums[i] = host_eval(h, c, op->args[0]);
    }
    for (uint32_t i = 0; i < g->kept.len; i++) {
        const Value *v = g->kept.at[i];
        llvm_debug_at(h->m, v->def->span);
        host_put(h, h->buffers[v->id], v->type.dtype, c->index, host_eval(h, c, v));
    }
}

static bool is_sum(const Group *g, uint32_t i) {
    return g->ops.at[i]->kind == OP_REDUCE;
}

static bool has_sums(const Group *g) {
    for (uint32_t i = 0; i < g->ops.len; i++)
        if (is_sum(g, i)) return true;
    return false;
}

/* Does the mask let some element of the chunk through, that is, the first? NULL: the group's loop has no such end. */
static LLVMValueRef is_within(Host *h, const Group *g, const Chunk *c) {
    Chunk first = host_chunk(h, c->shape, c->index, 1);
    return g->ends ? host_eval(h, &first, g->ends) : NULL;
}

/* Walks `count` chunks, `stride` elements apart, from `first`: the accumulated chunks. A long way is walked in runs,
 * whose results are then accumulated: no chunk passes through more than RUN roundings at each level. Returns whether
 * the last chunk was within the row, NULL: all are. */
static LLVMValueRef walk(Host *h, const Group *g, LLVMValueRef first, uint64_t count, uint64_t stride, uint32_t width,
                         LLVMValueRef *sums) {
    Llvm *m = h->m;
    if (count == 1) {
        Chunk c = host_chunk(h, g->shape, first, width);
        do_chunk(h, g, &c, sums);
        return is_within(h, g, &c);
    }
    uint64_t run = 1;
    while (has_sums(g) && run * RUN < count) run *= RUN;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    LLVMValueRef *phis = NEW_ARRAY(h->arena, LLVMValueRef, g->ops.len);
    Loop l = host_loop_begin(h, llvm_int(m->i64, (int64_t)(count * stride)), run * stride, op_info[g->last->kind].name);
    for (uint32_t i = 0; i < g->ops.len; i++) {
        if (!is_sum(g, i)) continue;
        const Op *op = g->ops.at[i];
        DType d = op->args[0]->type.dtype;
        LLVMValueRef none = llvm_splat(h->m, llvm_bits(m, d, op_neutral(op->attr.combine, d)), width);
        phis[i] = LLVMBuildPhi(m->at, LLVMTypeOf(none), "");
        LLVMAddIncoming(phis[i], &none, &before, 1);
    }
    l.goes_on = walk(h, g, LLVMBuildAdd(m->at, first, l.index, ""), run, stride, width, sums);
    for (uint32_t i = 0; i < g->ops.len; i++)
        if (is_sum(g, i)) sums[i] = combine(h, g->ops.at[i], phis[i], sums[i]);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(m->at);
    host_loop_end(h, &l);
    for (uint32_t i = 0; i < g->ops.len; i++)
        if (is_sum(g, i)) LLVMAddIncoming(phis[i], &sums[i], &latch, 1);
    return l.goes_on;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static void end_sum(Host *h, const Op *op, LLVMValueRef at, LLVMValueRef sum) {
    const Value *r = op->results[0];
    if (value_is_tile(r)) host_put(h, h->buffers[r->id], r->type.dtype, at, sum);
    else h->scalars[r->id] = sum;
}

void host_group(Host *h, const Group *g) {
    Llvm *m = h->m;
    uint32_t width = host_width(h, g->shape);
    uint64_t all = shape_elements(g->shape), row = has_sums(g) || g->ends ? host_inner(g->shape) : all;
    LLVMValueRef *sums = NEW_ARRAY(h->arena, LLVMValueRef, g->ops.len), at = llvm_int(m->i64, 0), first = at;
    Loop rows = {0};
    h->now = g;
    if (row < all) {
        rows = host_loop_begin(h, llvm_int(m->i64, (int64_t)(all / row)), 1, "rows");
        at = rows.index;
        first = LLVMBuildMul(m->at, at, llvm_int(m->i64, (int64_t)row), "");
    }
    (void)walk(h, g, first, row / width, width, width, sums);
    for (uint32_t i = 0; i < g->ops.len; i++)
        if (is_sum(g, i)) end_sum(h, g->ops.at[i], at, join_lanes(h, g->ops.at[i], sums[i], width));
    if (row < all) host_loop_end(h, &rows);
    h->now = NULL;
}

/* A reduction that does not go along rows. */
void host_reduce(Host *h, const Op *op) {
    Llvm *m = h->m;
    Shape s = op->args[0]->type.shape;
    Group g = {.shape = s, .last = op};
    uint64_t inner = 1, size = shape_size(s, op->attr.axis), all = shape_elements(s);
    for (uint32_t d = op->attr.axis + 1u; d < s.rank; d++) inner <<= s.log2[d];
    uint32_t width = inner > 1 ? host_width(h, s) : 1;
    LLVMValueRef sum = NULL, outer_stride = llvm_int(m->i64, (int64_t)(size * inner)),
                 inner_size = llvm_int(m->i64, (int64_t)inner);
    vec_push(h->arena, &g.ops, op);
    Loop o = host_loop_begin(h, llvm_int(m->i64, (int64_t)(all / (size * inner))), 1, "outer");
    Loop i = host_loop_begin(h, inner_size, width, "inner");
    LLVMValueRef first = LLVMBuildAdd(m->at, LLVMBuildMul(m->at, o.index, outer_stride, ""), i.index, "");
    (void)walk(h, &g, first, size, inner, width, &sum);
    LLVMValueRef to = LLVMBuildAdd(m->at, LLVMBuildMul(m->at, o.index, inner_size, ""), i.index, "");
    end_sum(h, op, to, sum);
    host_loop_end(h, &i);
    host_loop_end(h, &o);
}
