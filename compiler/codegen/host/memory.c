/* memory.c - loads and stores of scalars, and of tiles a chunk at a time.
 *
 * In: a load or store op. Out: the access; a loaded chunk goes to the tile's buffer, if it has one.
 * Method: where the facts prove that a chunk's pointers are neighbours it is one vector access at the first pointer,
 * else a gather or scatter. A masked-off element is never touched. Elements travel as integers of their width.
 */
#include "codegen/host/host.h"

enum {
    CACHE_LINE = 64,
    PREFETCH_MOST = 1 << 14, /* bytes ahead */
    STREAM_LEAST = 1 << 25,  /* bytes that all programs store: the last cache does not keep them for the next kernel */
};

/* Does the fact prove that aligned runs of `width` pointers along the chunk's dimension are neighbours? */
static bool are_neighbours(const Host *h, const Value *ptr, Shape s, uint32_t width) {
    const Fact *fact = fact_of(h->facts, ptr);
    for (int d = s.rank - 1; d >= 0; d--) {
        if (s.log2[d]) return fact->contiguous[d] >= width;
    }
    return true;
}

bool host_is_run(const Host *h, const Value *ptr) {
    return are_neighbours(h, ptr, ptr->type.shape, host_width(h, ptr->type.shape));
}

static HostAccess access_tile(Host *h, Chunk *c, const Value *ptr, const Value *mask) {
    Llvm *m = h->m;
    DType pointee = ptr->type.pointee;
    HostAccess a = {.value = host_type(h, pointee, c->width), .align = type_bytes(type_scalar(pointee))};
    a.bits = llvm_like(LLVMIntTypeInContext(m->context, a.align * 8), a.value);
    if (c->width == 1 || are_neighbours(h, ptr, c->shape, c->width)) {
        Chunk first = host_chunk(h, c->shape, c->index, 1);
        a.ptr = host_eval(h, &first, ptr);
    } else {
        a.ptr = host_eval(h, c, ptr);
        a.is_vector = true;
    }
    if (mask) a.mask = value_is_tile(mask) ? host_eval(h, c, mask) : host_splat(h, host_scalar(h, mask), c->width);
    return a;
}

static HostAccess access_scalar(Host *h, const Value *ptr, const Value *mask) {
    DType pointee = ptr->type.pointee;
    uint32_t bytes = type_bytes(type_scalar(pointee));
    return (HostAccess){.value = llvm_type(h->m, pointee),
                    .bits = LLVMIntTypeInContext(h->m->context, bytes * 8),
                    .align = bytes,
                    .ptr = host_scalar(h, ptr),
                    .mask = mask ? host_scalar(h, mask) : NULL};
}

HostAccess host_access(Host *h, Chunk *c, const Value *ptr, const Value *mask) {
    return c ? access_tile(h, c, ptr, mask) : access_scalar(h, ptr, mask);
}

LLVMValueRef host_as(Host *h, LLVMValueRef x, LLVMTypeRef t) {
    if (LLVMTypeOf(x) == t) return x;
    bool to_ptr =
        LLVMGetTypeKind(t) == LLVMPointerTypeKind ||
        (LLVMGetTypeKind(t) == LLVMVectorTypeKind && LLVMGetTypeKind(LLVMGetElementType(t)) == LLVMPointerTypeKind);
    LLVMTypeRef from = LLVMTypeOf(x);
    bool from_ptr = LLVMGetTypeKind(from) == LLVMPointerTypeKind ||
                    (LLVMGetTypeKind(from) == LLVMVectorTypeKind &&
                     LLVMGetTypeKind(LLVMGetElementType(from)) == LLVMPointerTypeKind);
    if (to_ptr) return LLVMBuildIntToPtr(h->m->at, x, t, "");
    if (from_ptr) return LLVMBuildPtrToInt(h->m->at, x, t, "");
    return LLVMBuildBitCast(h->m->at, x, t, "");
}

/* Masked intrinsics carry the alignment as an attribute of their pointer argument. */
static void align_argument(Host *h, LLVMValueRef call, uint32_t index, uint32_t align) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(call, index + 1, LLVMCreateEnumAttribute(h->m->context, kind, align));
}

static LLVMValueRef guarded_load(Host *h, const HostAccess *a, LLVMValueRef other) {
    Llvm *m = h->m;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(m->context, h->function, "load");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(m->context, h->function, "");
    LLVMBuildCondBr(m->at, a->mask, inside, after);
    LLVMPositionBuilderAtEnd(m->at, inside);
    LLVMValueRef x = LLVMBuildLoad2(m->at, a->bits, a->ptr, "");
    LLVMSetAlignment(x, a->align);
    LLVMSetVolatile(x, a->is_volatile);
    LLVMBuildBr(m->at, after);
    LLVMPositionBuilderAtEnd(m->at, after);
    LLVMValueRef phi = LLVMBuildPhi(m->at, a->bits, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){x, other}, (LLVMBasicBlockRef[]){inside, before}, 2);
    return phi;
}

static LLVMValueRef emit_load(Host *h, const HostAccess *a, LLVMValueRef other, uint32_t width) {
    Llvm *m = h->m;
    LLVMValueRef bits_other = other ? host_as(h, other, a->bits) : LLVMConstNull(a->bits), x;
    if (a->is_vector) {
        LLVMValueRef all = a->mask ? a->mask : LLVMConstAllOnes(LLVMVectorType(m->i1, width));
        LLVMTypeRef over[] = {a->bits, LLVMTypeOf(a->ptr)};
        x = llvm_intrinsic(m, "llvm.masked.gather", over, 2, (LLVMValueRef[]){a->ptr, all, bits_other}, 3);
        align_argument(h, x, 0, a->align);
    } else if (!a->mask) {
        x = LLVMBuildLoad2(m->at, a->bits, a->ptr, "");
        LLVMSetAlignment(x, a->align);
        LLVMSetVolatile(x, a->is_volatile);
    } else if (width == 1) {
        x = guarded_load(h, a, bits_other);
    } else {
        LLVMTypeRef over[] = {a->bits, m->ptr};
        x = llvm_intrinsic(m, "llvm.masked.load", over, 2, (LLVMValueRef[]){a->ptr, a->mask, bits_other}, 3);
        align_argument(h, x, 0, a->align);
    }
    return host_as(h, x, a->value);
}

static void emit_store(Host *h, const HostAccess *a, LLVMValueRef value, uint32_t width) {
    Llvm *m = h->m;
    LLVMValueRef bits = host_as(h, value, a->bits);
    if (a->is_vector) {
        LLVMValueRef all = a->mask ? a->mask : LLVMConstAllOnes(LLVMVectorType(m->i1, width));
        LLVMTypeRef over[] = {a->bits, LLVMTypeOf(a->ptr)};
        LLVMValueRef call = llvm_intrinsic(m, "llvm.masked.scatter", over, 2, (LLVMValueRef[]){bits, a->ptr, all}, 3);
        align_argument(h, call, 1, a->align);
    } else if (a->mask && width > 1) {
        LLVMTypeRef over[] = {a->bits, m->ptr};
        LLVMValueRef call = llvm_intrinsic(m, "llvm.masked.store", over, 2, (LLVMValueRef[]){bits, a->ptr, a->mask}, 3);
        align_argument(h, call, 1, a->align);
    } else {
        LLVMBasicBlockRef after = NULL;
        if (a->mask) {
            LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(m->context, h->function, "store");
            after = LLVMAppendBasicBlockInContext(m->context, h->function, "");
            LLVMBuildCondBr(m->at, a->mask, inside, after);
            LLVMPositionBuilderAtEnd(m->at, inside);
        }
        LLVMSetAlignment(LLVMBuildStore(m->at, bits, a->ptr), a->align);
        if (after) {
            LLVMBuildBr(m->at, after);
            LLVMPositionBuilderAtEnd(m->at, after);
        }
    }
}

static const Value *operand(const Op *op, uint32_t i) {
    return i < op->nargs ? op->args[i] : NULL;
}

void host_load(Host *h, const Op *op) {
    const Value *other = operand(op, 2);
    HostAccess a = access_scalar(h, op->args[0], operand(op, 1));
    a.is_volatile = op->attr.mem.is_volatile;
    host_check(h, &a, op, 1);
    h->scalars[op->results[0]->id] = emit_load(h, &a, other ? host_scalar(h, other) : NULL, 1);
}

/* The same place of the next row, which is the next program's: it comes while this one is computed. */
static void prefetch(Host *h, const HostAccess *a, Shape s, uint32_t width) {
    Llvm *m = h->m;
    uint64_t ahead = shape_elements(s) * a->align;
    if (ahead > PREFETCH_MOST) ahead = PREFETCH_MOST;
    for (uint64_t line = 0; line < (uint64_t)width * a->align; line += CACHE_LINE) {
        LLVMValueRef by = llvm_int(m->i64, (int64_t)(ahead + line));
        LLVMValueRef args[] = {LLVMBuildGEP2(m->at, m->i8, a->ptr, &by, 1, ""), llvm_int(m->i32, 0),
                               llvm_int(m->i32, 2), llvm_int(m->i32, 1)}; /* of data, to be read, into L2 */
        llvm_intrinsic(m, "llvm.prefetch", &m->ptr, 1, args, 4);
    }
}

void host_load_chunk(Host *h, const Op *op, Chunk *c) {
    const Value *other = operand(op, 2), *r = op->results[0];
    LLVMValueRef fill = !other               ? NULL
                        : value_is_tile(other) ? host_eval(h, c, other)
                                               : host_splat(h, host_scalar(h, other), c->width);
    HostAccess a = access_tile(h, c, op->args[0], operand(op, 1));
    a.is_volatile = op->attr.mem.is_volatile;
    host_check(h, &a, op, c->width);
    if (!a.is_vector && c->width * a.align >= CACHE_LINE) prefetch(h, &a, c->shape, c->width);
    LLVMValueRef x = emit_load(h, &a, fill, c->width);
    if (h->buffers[r->id] >= 0) host_put(h, h->buffers[r->id], r->type.dtype, c->index, x);
    host_remember(h, c, r, x);
}

void host_store(Host *h, const Op *op) {
    HostAccess a = access_scalar(h, op->args[0], operand(op, 2));
    host_check(h, &a, op, 1);
    emit_store(h, &a, host_scalar(h, op->args[1]), 1);
}

/* Whether this chunk should go by the caches: all of it, in whole lines, of a grid that writes more than caches hold.
 * NULL: never. */
static LLVMValueRef streams(Host *h, const HostAccess *a, Shape s, uint32_t width) {
    Llvm *m = h->m;
    if (!h->programs || a->is_vector || width * a->align % CACHE_LINE != 0) return NULL;
    LLVMValueRef most = llvm_int(m->i64, (int64_t)(STREAM_LEAST / (shape_elements(s) * a->align)));
    LLVMValueRef address = LLVMBuildPtrToInt(m->at, a->ptr, m->i64, "");
    LLVMValueRef rest = LLVMBuildAnd(m->at, address, llvm_int(m->i64, CACHE_LINE - 1), "");
    LLVMValueRef yes = LLVMBuildAnd(m->at, LLVMBuildICmp(m->at, LLVMIntUGE, h->programs, most, ""),
                                    LLVMBuildICmp(m->at, LLVMIntEQ, rest, llvm_int(m->i64, 0), ""), "");
    if (!a->mask) return yes;
    LLVMTypeRef t = LLVMTypeOf(a->mask);
    LLVMValueRef mask = a->mask, all = llvm_intrinsic(m, "llvm.vector.reduce.and", &t, 1, &mask, 1);
    return LLVMBuildAnd(m->at, yes, all, "");
}

static void stream_or_store(Host *h, const HostAccess *a, LLVMValueRef x, LLVMValueRef yes, uint32_t width) {
    Llvm *m = h->m;
    LLVMBasicBlockRef stream = LLVMAppendBasicBlockInContext(m->context, h->function, "stream");
    LLVMBasicBlockRef store = LLVMAppendBasicBlockInContext(m->context, h->function, "");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(m->context, h->function, "");
    LLVMMetadataRef one = LLVMValueAsMetadata(llvm_int(m->i32, 1));
    LLVMValueRef node = LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, &one, 1));
    LLVMBuildCondBr(m->at, yes, stream, store);
    LLVMPositionBuilderAtEnd(m->at, stream);
    LLVMValueRef direct = LLVMBuildStore(m->at, host_as(h, x, a->bits), a->ptr);
    LLVMSetAlignment(direct, CACHE_LINE);
    LLVMSetMetadata(direct, LLVMGetMDKindIDInContext(m->context, "nontemporal", 11), node);
    LLVMBuildBr(m->at, after);
    LLVMPositionBuilderAtEnd(m->at, store);
    emit_store(h, a, x, width);
    LLVMBuildBr(m->at, after);
    LLVMPositionBuilderAtEnd(m->at, after);
    h->has_streams = true;
}

void host_store_chunk(Host *h, const Op *op, Chunk *c) {
    const Value *value = op->args[1];
    LLVMValueRef x = value_is_tile(value) ? host_eval(h, c, value) : host_splat(h, host_scalar(h, value), c->width);
    HostAccess a = access_tile(h, c, op->args[0], operand(op, 2));
    host_check(h, &a, op, c->width);
    LLVMValueRef yes = streams(h, &a, c->shape, c->width);
    if (yes) stream_or_store(h, &a, x, yes, c->width);
    else emit_store(h, &a, x, c->width);
}
