/* shape.c - lazy tiles whose elements change their places: reshape, trans, join, split, flip, gather.
 *
 * In: an op and a chunk of its result. Out: the chunk, from chunks of the operands.
 * Method: sizes are powers of two, so a place is a rearrangement of bits of the flat index. Where the elements of a
 * chunk are neighbours in the operand too they come as one vector, else lane by lane; plan.c has stored such operands,
 * unless they are pointers, whose chunks mostly need the first lane only.
 */
#include "codegen/host/host.h"

bool host_crosses(const Host *h, const Value *v, uint32_t width) {
    const Op *op = v->def;
    if (h->buffers[v->id] >= 0 || width <= host_inner(v->type.shape)) return true;
    switch (op ? op->kind : OP_COUNT) {
    case OP_CONST:
    case OP_SPLAT: return true;
    case OP_EXPAND:
    case OP_RESHAPE: return host_crosses(h, op->args[0], width);
    case OP_JOIN: return host_crosses(h, op->args[0], width / 2) && host_crosses(h, op->args[1], width / 2);
    default: return false;
    }
}

/* Does the innermost dimension of the result lie innermost in the operand, too? */
static bool keeps_inner(const Op *op) {
    Shape to = op->results[0]->type.shape, from = op->args[0]->type.shape;
    uint8_t perm[SHAPE_RANK];
    int d = to.rank - 1, s = from.rank - 1;
    attr_perm_read(op->attr, perm);
    while (d > 0 && to.log2[d] == 0) d--;
    while (s > 0 && from.log2[s] == 0) s--;
    return perm[d] == s;
}

/* Does a chunk of the part lie in one row of the whole? */
static bool slice_keeps_rows(const Host *h, const Op *op) {
    Shape to = op->results[0]->type.shape;
    return shape_size(to, to.rank - 1u) >= host_width(h, to);
}

bool host_takes_lanes(const Host *h, const Op *op) {
    if (op->kind == OP_GATHER) return true;
    if (op->kind == OP_SLICE) return !slice_keeps_rows(h, op);
    if (op->kind != OP_RESHAPE && op->kind != OP_SPLIT && op->kind != OP_TRANS) return false;
    const Value *from = op->args[0];
    uint32_t width = value_is_tile(op->results[0]) ? host_width(h, op->results[0]->type.shape) : 1;
    switch (op->kind) {
    case OP_RESHAPE: return !host_crosses(h, from, width);
    case OP_SPLIT: return !host_crosses(h, from, 2 * width);
    default: return width > 1 && !keeps_inner(op);
    }
}

bool host_reads_elsewhere(const Host *h, const Value *v) {
    const Op *op = v->def;
    if (!op || !value_is_tile(v) || h->buffers[v->id] >= 0) return false;
    if (op_class(op->kind) == CLASS_MOVE && op->kind != OP_RESHAPE) return true;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (host_reads_elsewhere(h, op->args[i])) return true;
    return false;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static LLVMValueRef shifted(Host *h, LLVMValueRef x, uint32_t left, uint32_t right) {
    LLVMTypeRef t = LLVMTypeOf(x);
    if (left > right) return LLVMBuildShl(h->m->at, x, llvm_int(t, left - right), "");
    return left < right ? LLVMBuildLShr(h->m->at, x, llvm_int(t, right - left), "") : x;
}

/* The flat index in trans' operand of the result's element `index`. */
static LLVMValueRef trans_index(Host *h, const Op *op, LLVMValueRef index) {
    Llvm *m = h->m;
    Shape to = op->results[0]->type.shape, from = op->args[0]->type.shape;
    LLVMValueRef sum = llvm_int(m->i64, 0);
    uint8_t perm[SHAPE_RANK];
    attr_perm_read(op->attr, perm);
    for (uint32_t d = 0; d < to.rank; d++) {
        if (!to.log2[d]) continue;
        LLVMValueRef field = LLVMBuildAnd(m->at, index, llvm_int(m->i64, shape_field(to, d)), "");
        field = shifted(h, field, shape_offset(from, perm[d]), shape_offset(to, d));
        sum = LLVMBuildOr(m->at, sum, field, "");
    }
    return sum;
}

/* The flat index in the whole of the part's element `index`. */
static LLVMValueRef slice_index(Host *h, const Op *op, LLVMValueRef index) {
    Llvm *m = h->m;
    Shape to = op->results[0]->type.shape, from = op->args[0]->type.shape;
    uint32_t axis = op->attr.axis, low = shape_offset(to, axis), high = low + to.log2[axis];
    LLVMValueRef below = LLVMBuildAnd(m->at, index, llvm_int(m->i64, (INT64_C(1) << high) - 1), "");
    LLVMValueRef above = shifted(h, LLVMBuildSub(m->at, index, below, ""), from.log2[axis], to.log2[axis]);
    LLVMValueRef at = LLVMBuildZExt(m->at, host_scalar(h, op->args[1]), m->i64, "");
    at = LLVMBuildShl(m->at, at, llvm_int(m->i64, low), "");
    return LLVMBuildAdd(m->at, LLVMBuildAdd(m->at, below, above, ""), at, "");
}

static LLVMValueRef place_of(Host *h, const Op *op, LLVMValueRef index) {
    if (op->kind == OP_SLICE) return slice_index(h, op, index);
    if (op->kind == OP_TRANS) return trans_index(h, op, index);
    if (op->kind != OP_SPLIT) return index;
    LLVMValueRef twice = LLVMBuildShl(h->m->at, index, llvm_int(h->m->i64, 1), "");
    return LLVMBuildOr(h->m->at, twice, llvm_int(h->m->i64, op->attr.half), "");
}

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

static LLVMValueRef eval_at(Host *h, const Value *v, LLVMValueRef index, uint32_t width) {
    Chunk c = host_chunk(h, v->type.shape, index, width);
    return host_eval(h, &c, v);
}

static LLVMValueRef insert(Host *h, LLVMValueRef vector, LLVMValueRef x, uint32_t lane) {
    return LLVMBuildInsertElement(h->m->at, vector, x, llvm_int(h->m->i32, lane), "");
}

static LLVMValueRef eval_lanes(Host *h, const Chunk *c, const Op *op) {
    LLVMValueRef r = LLVMGetPoison(host_type(h, op->results[0]->type.dtype, c->width));
    for (uint32_t i = 0; i < c->width; i++) {
        LLVMValueRef index = LLVMBuildAdd(h->m->at, c->index, llvm_int(h->m->i64, i), "");
        r = insert(h, r, eval_at(h, op->args[0], place_of(h, op, index), 1), i);
    }
    return r;
}

/* Every second lane of a vector twice as wide. */
static LLVMValueRef eval_split(Host *h, const Chunk *c, const Op *op) {
    LLVMValueRef lanes[HOST_WIDTH], first = LLVMBuildShl(h->m->at, c->index, llvm_int(h->m->i64, 1), "");
    LLVMValueRef both = eval_at(h, op->args[0], first, 2 * c->width);
    for (uint32_t i = 0; i < c->width; i++) lanes[i] = llvm_int(h->m->i32, 2 * i + op->attr.half);
    LLVMValueRef order = LLVMConstVector(lanes, c->width);
    return LLVMBuildShuffleVector(h->m->at, both, LLVMGetPoison(LLVMTypeOf(both)), order, "");
}

LLVMValueRef host_join(Host *h, const Chunk *c, const Op *op) {
    Llvm *m = h->m;
    LLVMValueRef index = LLVMBuildLShr(m->at, c->index, llvm_int(m->i64, 1), "");
    uint32_t half = c->width > 1 ? c->width / 2 : 1;
    LLVMValueRef x = eval_at(h, op->args[0], index, half), y = eval_at(h, op->args[1], index, half);
    if (c->width == 1) return LLVMBuildSelect(m->at, LLVMBuildTrunc(m->at, c->index, m->i1, ""), y, x, "");
    if (half == 1) return insert(h, insert(h, LLVMGetPoison(host_type(h, op->results[0]->type.dtype, 2)), x, 0), y, 1);
    LLVMValueRef lanes[2 * HOST_WIDTH];
    for (uint32_t i = 0; i < c->width; i++) lanes[i] = llvm_int(m->i32, (i & 1) * half + i / 2);
    return LLVMBuildShuffleVector(m->at, x, y, LLVMConstVector(lanes, c->width), "");
}

/* The flat index in the operand: along the axis the index, which wraps, elsewhere the result's own coordinates. */
static LLVMValueRef gathered_index(Host *h, const Op *op, LLVMValueRef flat, LLVMValueRef index) {
    Llvm *m = h->m;
    Shape to = op->results[0]->type.shape, from = op->args[0]->type.shape;
    uint32_t axis = op->attr.axis, low = shape_offset(to, axis), high = low + to.log2[axis];
    LLVMValueRef place = LLVMBuildZExt(m->at, index, m->i64, "");
    place = LLVMBuildAnd(m->at, place, llvm_int(m->i64, (int64_t)shape_size(from, axis) - 1), "");
    place = LLVMBuildShl(m->at, place, llvm_int(m->i64, low), "");
    LLVMValueRef below = LLVMBuildAnd(m->at, flat, llvm_int(m->i64, (INT64_C(1) << low) - 1), "");
    LLVMValueRef above = LLVMBuildLShr(m->at, flat, llvm_int(m->i64, high), "");
    above = LLVMBuildShl(m->at, above, llvm_int(m->i64, low + from.log2[axis]), "");
    return LLVMBuildOr(m->at, LLVMBuildOr(m->at, place, below, ""), above, "");
}

LLVMValueRef host_gather(Host *h, Chunk *c, const Op *op) {
    Llvm *m = h->m;
    LLVMValueRef indexes = host_eval(h, c, op->args[1]);
    LLVMValueRef r = c->width > 1 ? LLVMGetPoison(host_type(h, op->results[0]->type.dtype, c->width)) : NULL;
    for (uint32_t i = 0; i < c->width; i++) {
        LLVMValueRef lane = llvm_int(m->i32, i), flat = LLVMBuildAdd(m->at, c->index, llvm_int(m->i64, i), "");
        LLVMValueRef index = r ? LLVMBuildExtractElement(m->at, indexes, lane, "") : indexes;
        LLVMValueRef x = eval_at(h, op->args[0], gathered_index(h, op, flat, index), 1);
        if (!r) return x;
        r = insert(h, r, x, i);
    }
    return r;
}

/* Another chunk, whose lanes change places. */
LLVMValueRef host_flip(Host *h, const Chunk *c, const Op *op) {
    Llvm *m = h->m;
    uint32_t within = op->attr.flip & (c->width - 1);
    LLVMValueRef lanes[HOST_WIDTH], mask = llvm_int(m->i64, op->attr.flip ^ within);
    LLVMValueRef x = eval_at(h, op->args[0], LLVMBuildXor(m->at, c->index, mask, ""), c->width);
    if (!within) return x;
    for (uint32_t i = 0; i < c->width; i++) lanes[i] = llvm_int(m->i32, i ^ within);
    return LLVMBuildShuffleVector(m->at, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(lanes, c->width), "");
}

LLVMValueRef host_move(Host *h, Chunk *c, const Op *op) {
    if (c->width == 1) return eval_at(h, op->args[0], place_of(h, op, c->index), 1);
    if (op->kind == OP_SPLIT && host_crosses(h, op->args[0], 2 * c->width)) return eval_split(h, c, op);
    bool neighbours = op->kind == OP_TRANS   ? keeps_inner(op)
                      : op->kind == OP_SLICE ? slice_keeps_rows(h, op)
                                             : op->kind == OP_RESHAPE && host_crosses(h, op->args[0], c->width);
    if (neighbours) return eval_at(h, op->args[0], place_of(h, op, c->index), c->width);
    return eval_lanes(h, c, op);
}
