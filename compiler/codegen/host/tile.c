/* tile.c - the elements of a tile, one chunk at a time.
 *
 * In: a value and a chunk. Out: one LLVM vector (a scalar where the chunk's width is 1).
 * Method: a stored tile is read from its buffer; a lazy one is computed from its operands' chunks, memoised per chunk.
 * Shape ops are index arithmetic: sizes are powers of two, so a dimension is a field of bits of the flat index.
 */
#include "codegen/host/host.h"

#include <string.h>

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

uint32_t host_inner(Shape s) {
    for (int d = s.rank - 1; d >= 0; d--) {
        if (s.log2[d]) return 1u << s.log2[d];
    }
    return 1;
}

uint32_t host_width(const Host *h, Shape s) {
    uint32_t inner = host_inner(s);
    return inner < h->width ? inner : h->width;
}

bool host_is_prefix(const Host *h, const Value *mask, Shape s, uint32_t run) {
    const Fact *fact = fact_of(h->facts, mask);
    for (int d = s.rank - 1; d >= 0; d--)
        if (s.log2[d]) return fact->prefix[d] && fact->contiguous[d] >= run;
    return false;
}

LLVMTypeRef host_type(const Host *h, DType d, uint32_t width) {
    LLVMTypeRef t = llvm_type(h->m, d);
    return width == 1 ? t : LLVMVectorType(t, width);
}

Chunk host_chunk(Host *h, Shape s, LLVMValueRef index, uint32_t width) {
    return (Chunk){.shape = s, .index = index, .width = width, .stamp = ++h->stamp};
}

LLVMValueRef host_scalar(Host *h, const Value *v) {
    LLVMValueRef x = h->scalars[v->id];
    if (!x) bug("host: scalar %%%u of %s has no value yet", v->id, h->f->name);
    return x;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

Loop host_loop_begin(Host *h, LLVMValueRef count, uint64_t step, const char *name) {
    Llvm *m = h->m;
    Loop l = {.count = count, .step = llvm_int(m->i64, (int64_t)step)};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    l.body = host_new_block(h, name);
    l.done = host_new_block(h, "");
    LLVMBuildBr(m->at, l.body); /* counts are at least one step: no tile is empty */
    LLVMPositionBuilderAtEnd(m->at, l.body);
    l.index = LLVMBuildPhi(m->at, m->i64, "i");
    LLVMValueRef zero = llvm_int(m->i64, 0);
    LLVMAddIncoming(l.index, &zero, &before, 1);
    return l;
}

void host_loop_end(Host *h, Loop *l) {
    Llvm *m = h->m;
    LLVMValueRef next = LLVMBuildNUWAdd(m->at, l->index, l->step, "");
    LLVMValueRef more = LLVMBuildICmp(m->at, LLVMIntULT, next, l->count, "");
    if (l->goes_on) more = LLVMBuildAnd(m->at, more, l->goes_on, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(m->at);
    LLVMBuildCondBr(m->at, more, l->body, l->done);
    LLVMAddIncoming(l->index, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(m->at, l->done);
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

int64_t host_allocate(Host *h, Type t) {
    uint64_t bytes = shape_elements(t.shape) * type_bytes(type_scalar(t.dtype));
    int64_t offset = (int64_t)h->scratch_bytes;
    h->scratch_bytes += (bytes + 63) / 64 * 64;
    return offset;
}

static LLVMValueRef buffer_at(Host *h, int64_t buffer, DType d, LLVMValueRef index) {
    Llvm *m = h->m;
    LLVMValueRef offset = llvm_int(m->i64, buffer);
    LLVMValueRef base = LLVMBuildInBoundsGEP2(m->at, m->i8, h->scratch, &offset, 1, "");
    return LLVMBuildInBoundsGEP2(m->at, d == DT_I1 ? m->i8 : llvm_type(m, d), base, &index, 1, "");
}

/* Truth values are bytes in memory. */
LLVMValueRef host_get(Host *h, int64_t buffer, DType d, LLVMValueRef index, uint32_t width) {
    Llvm *m = h->m;
    LLVMTypeRef t = host_type(h, d == DT_I1 ? DT_I8 : d, width);
    LLVMValueRef x = LLVMBuildLoad2(m->at, t, buffer_at(h, buffer, d, index), "");
    LLVMSetAlignment(x, type_bytes(type_scalar(d)));
    return d == DT_I1 ? LLVMBuildTrunc(m->at, x, host_type(h, DT_I1, width), "") : x;
}

void host_put(Host *h, int64_t buffer, DType d, LLVMValueRef index, LLVMValueRef x) {
    Llvm *m = h->m;
    if (d == DT_I1) x = LLVMBuildZExt(m->at, x, llvm_like(m->i8, LLVMTypeOf(x)), "");
    LLVMValueRef store = LLVMBuildStore(m->at, x, buffer_at(h, buffer, d, index));
    LLVMSetAlignment(store, type_bytes(type_scalar(d)));
}

void host_store_tile(Host *h, const Value *v, int64_t buffer) {
    Shape s = v->type.shape;
    uint32_t width = host_width(h, s);
    Loop l = host_loop_begin(h, llvm_int(h->m->i64, (int64_t)shape_elements(s)), width, op_info[OP_YIELD].name);
    Chunk c = host_chunk(h, s, l.index, width);
    host_put(h, buffer, v->type.dtype, l.index, host_eval(h, &c, v));
    host_loop_end(h, &l);
}

void host_copy(Host *h, int64_t from, int64_t to, Type t) {
    Llvm *m = h->m;
    LLVMValueRef zero = llvm_int(m->i64, 0);
    uint64_t bytes = shape_elements(t.shape) * type_bytes(type_scalar(t.dtype));
    LLVMBuildMemCpy(m->at, buffer_at(h, to, DT_I8, zero), 64, buffer_at(h, from, DT_I8, zero), 64,
                    llvm_int(m->i64, (int64_t)bytes));
}

/* ---- Lazy tiles -------------------------------------------------------------------------------------------------- */

/* The flat index of broadcast's operand: the bits of the dimensions that it has. */
static LLVMValueRef source_index(Host *h, Shape from, Shape to, LLVMValueRef index) {
    Llvm *m = h->m;
    LLVMValueRef result = llvm_int(m->i64, 0);
    uint32_t at_from = 0, at_to = 0; /* bit offsets, from the innermost dimension out */
    for (int d = to.rank - 1; d >= 0; d--) {
        uint32_t bits = from.log2[d];
        if (bits) {
            LLVMValueRef field = LLVMBuildLShr(m->at, index, llvm_int(m->i64, at_to), "");
            field = LLVMBuildAnd(m->at, field, llvm_int(m->i64, ((int64_t)1 << bits) - 1), "");
            field = LLVMBuildShl(m->at, field, llvm_int(m->i64, at_from), "");
            result = LLVMBuildOr(m->at, result, field, "");
        }
        at_from += bits;
        at_to += to.log2[d];
    }
    return result;
}

bool host_runs_along(Shape from, Shape to) {
    for (int d = to.rank - 1; d >= 0; d--) {
        if (to.log2[d]) return from.log2[d] != 0;
    }
    return false;
}

static LLVMValueRef eval_broadcast(Host *h, Chunk *c, const Value *from) {
    bool along = c->width > 1 && host_runs_along(from->type.shape, c->shape);
    LLVMValueRef index = source_index(h, from->type.shape, c->shape, c->index);
    Chunk inner = host_chunk(h, from->type.shape, index, along ? c->width : 1);
    LLVMValueRef x = host_eval(h, &inner, from);
    return along ? x : llvm_splat(h->m, x, c->width);
}

static LLVMValueRef eval_arange(Host *h, const Chunk *c, const Op *op) {
    Llvm *m = h->m;
    LLVMValueRef first = LLVMBuildTrunc(m->at, c->index, m->i32, "");
    first = LLVMBuildAdd(m->at, first, llvm_int(m->i32, op->attr.start), "");
    if (c->width == 1) return first;
    LLVMValueRef lanes[HOST_WIDTH];
    for (uint32_t i = 0; i < c->width; i++) lanes[i] = llvm_int(m->i32, i);
    return LLVMBuildAdd(m->at, llvm_splat(h->m, first, c->width), LLVMConstVector(lanes, c->width), "");
}

static LLVMValueRef eval_addptr(Host *h, LLVMValueRef ptr, LLVMValueRef offset, DType pointee) {
    Llvm *m = h->m;
    LLVMTypeRef i64 = llvm_like(m->i64, LLVMTypeOf(offset));
    LLVMValueRef wide = LLVMTypeOf(offset) == i64 ? offset : LLVMBuildSExt(m->at, offset, i64, "");
    return LLVMBuildGEP2(m->at, llvm_type(m, pointee), ptr, &wide, 1, "");
}

/* One number for the whole tile, or NULL. */
static const Value *splat_of(const Value *v) {
    return v->def && v->def->kind == OP_SPLAT ? v->def->args[0] : NULL;
}

static LLVMValueRef eval_elementwise(Host *h, Chunk *c, const Op *op) {
    LLVMValueRef args[3] = {NULL, NULL, NULL};
    const Value *by = op->kind == OP_FDIV && op->results[0]->type.dtype == DT_FP32 ? splat_of(op->args[1]) : NULL;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *a = op->args[i];
        args[i] = value_is_tile(a) ? host_eval(h, c, a) : llvm_splat(h->m, host_scalar(h, a), c->width);
    }
    if (op->kind == OP_ADDPTR) return eval_addptr(h, args[0], args[1], op->results[0]->type.pointee);
    if (by && c->width > 1) return math_divide(&h->math, args[0], math_divisor(&h->math, args[1]));
    return math_op(&h->math, op, args);
}

/* clang-format off */
LLVMValueRef host_compute(Host *h, Chunk *c, const Op *op) {
    switch (op->kind) {
    case OP_CONST: return llvm_splat(h->m, llvm_bits(h->m, op->results[0]->type.dtype, op->attr.bits), c->width);
    case OP_ARANGE: return eval_arange(h, c, op);
    case OP_SPLAT: return llvm_splat(h->m, host_scalar(h, op->args[0]), c->width);
    case OP_BROADCAST: return eval_broadcast(h, c, op->args[0]);
    case OP_EXPAND: { /* the same flat indexes */
        Chunk same = host_chunk(h, op->args[0]->type.shape, c->index, c->width);
        return host_eval(h, &same, op->args[0]);
    }
    case OP_GATHER: return host_gather(h, c, op);
    case OP_JOIN: return host_join(h, c, op);
    case OP_FLIP: return host_flip(h, c, op);
    case OP_RESHAPE: case OP_TRANS: case OP_SPLIT: case OP_SLICE: return host_move(h, c, op);
#define CASE_ELEMENT(element) case element:
#include "ir/cases.def"
        return eval_elementwise(h, c, op);
    case OP_PID: case OP_NPROG: break; /* scalars */
    case OP_ROTATED: case OP_MOVED: case OP_SPREADWARP: case OP_CONVERT: break; /* of threads */
#define CASE_CREATE(value)
#define CASE_INDEX(value)
#define CASE_REPEAT(value)
#define CASE_MOVE(value)
#define CASE_ELEMENT(value)
#define CASE_OTHER(effect) case effect:
#include "ir/cases.def"
    case OP_COUNT: break;
    }
    bug("host: op '%s' is no tile that is computed where it is needed", op_info[op->kind].name);
}
/* clang-format on */

void host_remember(Host *h, const Chunk *c, const Value *v, LLVMValueRef x) {
    h->memo[v->id] = x;
    h->stamps[v->id] = c->stamp;
}

LLVMValueRef host_eval(Host *h, Chunk *c, const Value *v) {
    if (h->stamps[v->id] == c->stamp) return h->memo[v->id];
    bool is_stored = h->buffers[v->id] >= 0 && !(h->now && h->keepers[v->id] == h->now);
    LLVMMetadataRef here = LLVMGetCurrentDebugLocation2(h->m->at);
    if (h->m->o->count && v->def) llvm_debug_at(h->m, v->def->span); /* not the line that uses it */
    bool is_load = v->def && v->def->kind == OP_LOAD;
    LLVMValueRef x = is_stored ? host_get(h, h->buffers[v->id], v->type.dtype, c->index, c->width)
                     : is_load ? host_load_again(h, v->def, c)
                     : v->def  ? host_compute(h, c, v->def)
                               : NULL;
    LLVMSetCurrentDebugLocation2(h->m->at, here);
    if (!x) bug("host: tile argument %%%u of %s has no buffer", v->id, h->f->name);
    host_remember(h, c, v, x);
    return x;
}
