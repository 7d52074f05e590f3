/* memory.c - loads and stores of tiles and scalars.
 *
 * In: a load or store op. Out: a loop over chunks at this program point; a loaded tile goes to its buffer.
 * Method: where the facts prove that a chunk's pointers are neighbours it is one vector access at the first pointer,
 * else a gather or scatter. A masked-off element is never touched. Elements travel as integers of their width.
 */
#include "codegen/host/host.h"

/* Does the fact prove that aligned runs of `width` pointers along the chunk's dimension are neighbours? */
static bool are_neighbours(Host *h, const Value *ptr, Shape s, uint32_t width) {
    const Fact *fact = fact_of(h->facts, ptr);
    for (int d = s.rank - 1; d >= 0; d--) {
        if (s.log2[d]) return fact->contiguous[d] >= width;
    }
    return true;
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

void host_load(Host *h, const Op *op) {
    const Value *ptr = op->args[0], *mask = op->nargs > 1 ? op->args[1] : NULL,
                *other = op->nargs > 2 ? op->args[2] : NULL, *r = op->results[0];
    if (!value_is_tile(ptr)) {
        HostAccess a = access_scalar(h, ptr, mask);
        a.is_volatile = op->attr.mem.is_volatile;
        host_check(h, &a, op, 1);
        h->scalars[r->id] = emit_load(h, &a, other ? host_scalar(h, other) : NULL, 1);
        return;
    }
    uint32_t width = host_width(ptr->type.shape);
    LLVMValueRef count = llvm_int(h->m->i64, (int64_t)shape_elements(ptr->type.shape));
    Loop l = host_loop_begin(h, count, width, "load");
    Chunk c = host_chunk(h, ptr->type.shape, l.index, width);
    LLVMValueRef fill = !other               ? NULL
                        : value_is_tile(other) ? host_eval(h, &c, other)
                                               : host_splat(h, host_scalar(h, other), width);
    HostAccess a = access_tile(h, &c, ptr, mask);
    a.is_volatile = op->attr.mem.is_volatile;
    host_check(h, &a, op, width);
    host_put(h, h->buffers[r->id], r->type.dtype, l.index, emit_load(h, &a, fill, width));
    host_loop_end(h, &l);
}

void host_store(Host *h, const Op *op) {
    const Value *ptr = op->args[0], *value = op->args[1], *mask = op->nargs > 2 ? op->args[2] : NULL;
    if (!value_is_tile(ptr)) {
        HostAccess a = access_scalar(h, ptr, mask);
        host_check(h, &a, op, 1);
        emit_store(h, &a, host_scalar(h, value), 1);
        return;
    }
    uint32_t width = host_width(ptr->type.shape);
    LLVMValueRef count = llvm_int(h->m->i64, (int64_t)shape_elements(ptr->type.shape));
    Loop l = host_loop_begin(h, count, width, "store");
    Chunk c = host_chunk(h, ptr->type.shape, l.index, width);
    LLVMValueRef x = value_is_tile(value) ? host_eval(h, &c, value) : host_splat(h, host_scalar(h, value), width);
    HostAccess a = access_tile(h, &c, ptr, mask);
    host_check(h, &a, op, width);
    emit_store(h, &a, x, width);
    host_loop_end(h, &l);
}
