/* combine.c - reductions and scans by a region: a loop along the axis.
 *
 * In: reduce_fn or scan. Out: loops at this program point; results are scalars or go to their buffers.
 * Method: the tile is [outer][axis][inner]. For each element of outer and inner the axis is walked in order, one
 * element at a time, with what is combined so far in phis.
 */
#include "codegen/host/host.h"

typedef struct Walk {
    Host *h;
    const Op *op;
    uint32_t n;
    uint64_t inner, size, all;
    bool reverse;
} Walk;

static Walk walk_of(Host *h, const Op *op) {
    Shape s = op->args[0]->type.shape;
    uint32_t axis = op->attr.axis;
    Walk w = {.h = h, .op = op, .n = op->nargs, .inner = 1, .size = shape_size(s, axis), .all = shape_elements(s)};
    for (uint32_t d = axis + 1; d < s.rank; d++) w.inner <<= s.log2[d];
    w.reverse = op->attr.flags & COMBINE_REVERSE;
    return w;
}

/* The operands' elements at a flat index. */
static void elements_at(Walk *w, LLVMValueRef index, LLVMValueRef *out) {
    Chunk c = host_chunk(w->h, w->op->args[0]->type.shape, index, 1);
    for (uint32_t i = 0; i < w->n; i++) out[i] = host_eval(w->h, &c, w->op->args[i]);
}

/* base + step * inner, counted from the other end where reversed. */
static LLVMValueRef index_of(Walk *w, LLVMValueRef base, LLVMValueRef step) {
    LLVMBuilderRef at = w->h->m->at;
    if (w->reverse) step = LLVMBuildSub(at, llvm_int(w->h->m->i64, (int64_t)w->size - 1), step, "");
    return LLVMBuildAdd(at, base, LLVMBuildMul(at, step, llvm_int(w->h->m->i64, (int64_t)w->inner), ""), "");
}

static void put_all(Walk *w, LLVMValueRef index, LLVMValueRef *x) {
    for (uint32_t i = 0; i < w->n; i++) {
        const Value *r = w->op->results[i];
        if (value_is_tile(r)) host_put(w->h, w->h->buffers[r->id], r->type.dtype, index, x[i]);
        else w->h->scalars[r->id] = x[i];
    }
}

/* so_far and the elements x through the region. */
static void combine(Walk *w, LLVMValueRef *so_far, LLVMValueRef *x, LLVMValueRef *out) {
    const Block *region = w->op->regions[0];
    for (uint32_t i = 0; i < 2 * w->n; i++)
        w->h->scalars[region->args.at[i]->id] = i < w->n ? so_far[i] : x[i - w->n];
    host_block(w->h, region);
    for (uint32_t i = 0; i < w->n; i++) out[i] = host_scalar(w->h, region->last->args[i]);
    llvm_debug_at(w->h->m, w->op->span);
}

/* Along the axis from `base`; `last` gets what is combined in the end. A scan's results are written on the way. */
static void walk(Walk *w, LLVMValueRef base, LLVMValueRef *last) {
    Host *h = w->h;
    Llvm *m = h->m;
    bool is_scan = w->op->kind == OP_SCAN;
    LLVMValueRef *sum = NEW_ARRAY(h->arena, LLVMValueRef, w->n), *x = NEW_ARRAY(h->arena, LLVMValueRef, w->n);
    LLVMValueRef first = index_of(w, base, llvm_int(m->i64, 0));
    elements_at(w, first, last);
    if (is_scan) put_all(w, first, last);
    if (w->size == 1) return;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    Loop l = host_loop_begin(h, llvm_int(m->i64, (int64_t)w->size - 1), 1, "along");
    for (uint32_t i = 0; i < w->n; i++) {
        sum[i] = LLVMBuildPhi(m->at, LLVMTypeOf(last[i]), "");
        LLVMAddIncoming(sum[i], &last[i], &before, 1);
    }
    LLVMValueRef index = index_of(w, base, LLVMBuildAdd(m->at, l.index, l.step, ""));
    elements_at(w, index, x);
    combine(w, sum, x, last);
    if (is_scan) put_all(w, index, last);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(m->at);
    host_loop_end(h, &l);
    for (uint32_t i = 0; i < w->n; i++) LLVMAddIncoming(sum[i], &last[i], &latch, 1);
}

void host_combine(Host *h, const Op *op) {
    Llvm *m = h->m;
    Walk w = walk_of(h, op);
    LLVMValueRef *last = NEW_ARRAY(h->arena, LLVMValueRef, w.n), inner = llvm_int(m->i64, (int64_t)w.inner);
    if (w.size == w.all) {
        walk(&w, llvm_int(m->i64, 0), last);
        if (op->kind == OP_REDUCEFN) put_all(&w, llvm_int(m->i64, 0), last);
        return;
    }
    Loop o = host_loop_begin(h, llvm_int(m->i64, (int64_t)(w.all / (w.size * w.inner))), 1, "outer");
    Loop i = host_loop_begin(h, inner, 1, "inner");
    LLVMValueRef stride = llvm_int(m->i64, (int64_t)(w.size * w.inner));
    walk(&w, LLVMBuildAdd(m->at, LLVMBuildMul(m->at, o.index, stride, ""), i.index, ""), last);
    LLVMValueRef to = LLVMBuildAdd(m->at, LLVMBuildMul(m->at, o.index, inner, ""), i.index, "");
    if (op->kind == OP_REDUCEFN) put_all(&w, to, last);
    host_loop_end(h, &i);
    host_loop_end(h, &o);
}
