/* reduce.c - reductions over one axis of a tile.
 *
 * In: a reduce op. Out: a loop nest at this program point; the result is a scalar or goes to its buffer.
 * Method: the tile is [outer][axis][inner]. Where inner is 1 the chunk runs along the axis: vectors accumulate lane by
 * lane and a tree joins the lanes at the end. Else the chunk runs along inner and the axis is walked in order.
 * Both orders depend on the shape only, so a sum is the same in every run.
 */
#include "codegen/host/host.h"

enum { RUN = 64 };

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

static LLVMValueRef chunk_at(Host *h, const Value *v, LLVMValueRef index, uint32_t width) {
    Chunk c = host_chunk(h, v->type.shape, index, width);
    return host_eval(h, &c, v);
}

/* Walks `count` chunks, `stride` elements apart, from `first`: the accumulated chunk. A long way is walked in runs,
 * whose results are then accumulated: no chunk passes through more than RUN roundings at each level. */
static LLVMValueRef walk(Host *h, const Op *op, LLVMValueRef first, uint64_t count, uint64_t stride, uint32_t width) {
    Llvm *m = h->m;
    if (count == 1) return chunk_at(h, op->args[0], first, width);
    uint64_t run = 1;
    while (run * RUN < count) run *= RUN;
    LLVMValueRef start = walk(h, op, first, run, stride, width);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    count /= run;
    stride *= run;
    Loop l = host_loop_begin(h, llvm_int(m->i64, (int64_t)((count - 1) * stride)), stride, "reduce");
    LLVMValueRef sum = LLVMBuildPhi(m->at, LLVMTypeOf(start), "");
    LLVMValueRef index = LLVMBuildAdd(m->at, LLVMBuildAdd(m->at, first, l.index, ""), l.step, "");
    LLVMValueRef next = combine(h, op, sum, walk(h, op, index, run, stride / run, width));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(m->at);
    host_loop_end(h, &l);
    LLVMAddIncoming(sum, (LLVMValueRef[]){start, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    return next;
}

void host_reduce(Host *h, const Op *op) {
    Llvm *m = h->m;
    const Value *v = op->args[0], *r = op->results[0];
    Shape s = v->type.shape;
    uint32_t axis = op->attr.axis;
    uint64_t inner = 1, size = (uint64_t)1 << s.log2[axis], all = shape_elements(s);
    for (uint32_t d = axis + 1; d < s.rank; d++) inner <<= s.log2[d];

    if (inner > 1) {
        uint32_t width = host_width(s);
        LLVMValueRef outer_stride = llvm_int(m->i64, (int64_t)(size * inner)),
                     inner_size = llvm_int(m->i64, (int64_t)inner);
        Loop o = host_loop_begin(h, llvm_int(m->i64, (int64_t)(all / (size * inner))), 1, "outer");
        Loop i = host_loop_begin(h, inner_size, width, "inner");
        LLVMValueRef first = LLVMBuildAdd(m->at, LLVMBuildMul(m->at, o.index, outer_stride, ""), i.index, "");
        LLVMValueRef sum = walk(h, op, first, size, inner, width);
        LLVMValueRef to = LLVMBuildAdd(m->at, LLVMBuildMul(m->at, o.index, inner_size, ""), i.index, "");
        host_put(h, h->buffers[r->id], r->type.dtype, to, sum);
        host_loop_end(h, &i);
        host_loop_end(h, &o);
        return;
    }
    uint32_t width = size > 1 ? host_width(s) : 1;
    if (!value_is_tile(r)) {
        LLVMValueRef sum = walk(h, op, llvm_int(m->i64, 0), size / width, width, width);
        h->scalars[r->id] = join_lanes(h, op, sum, width);
        return;
    }
    Loop o = host_loop_begin(h, llvm_int(m->i64, (int64_t)(all / size)), 1, "outer");
    LLVMValueRef first = LLVMBuildMul(m->at, o.index, llvm_int(m->i64, (int64_t)size), "");
    LLVMValueRef sum = walk(h, op, first, size / width, width, width);
    host_put(h, h->buffers[r->id], r->type.dtype, o.index, join_lanes(h, op, sum, width));
    host_loop_end(h, &o);
}
