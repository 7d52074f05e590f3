/* memory.c - loads and stores of scalars, and of tiles a chunk at a time.
 *
 * In: a load or store op. Out: the access; a loaded chunk goes to the tile's buffer, if it has one.
 * Method: where the facts prove that a chunk's pointers are neighbours it is one vector access at the first pointer,
 * else a gather or scatter. A masked-off element is never touched. Elements travel as integers of their width.
 * A vector of which the mask takes nothing is an access without a mask: processors fetch ahead of those alone.
 */
#include "codegen/host/host.h"

enum {
    CACHE_LINE = 64,         /* bytes */
    PREFETCH_FAR = 1 << 14,  /* bytes ahead within a row */
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

/* Does the mask let the whole chunk through? Of a mask that is true and then false, its last element says so. */
static LLVMValueRef lets_all(Host *h, const Chunk *c, const Value *mask, LLVMValueRef lanes) {
    Llvm *m = h->m;
    LLVMTypeRef t = LLVMTypeOf(lanes);
    if (!host_is_prefix(h, mask, c->shape, c->width))
        return llvm_intrinsic(m, "llvm.vector.reduce.and", &t, 1, &lanes, 1);
    LLVMValueRef last = LLVMBuildAdd(m->at, c->index, llvm_int(m->i64, c->width - 1), "");
    Chunk at_last = host_chunk(h, c->shape, last, 1);
    return host_eval(h, &at_last, mask);
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
    if (!mask) return a;
    a.mask = value_is_tile(mask) ? host_eval(h, c, mask) : llvm_splat(h->m, host_scalar(h, mask), c->width);
    if (!a.is_vector && c->width > 1)
        a.all = value_is_tile(mask) ? lets_all(h, c, mask, a.mask) : host_scalar(h, mask);
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

static LLVMValueRef plain_load(Host *h, const HostAccess *a) {
    LLVMValueRef x = LLVMBuildLoad2(h->m->at, a->bits, a->ptr, "");
    LLVMSetAlignment(x, a->align);
    LLVMSetVolatile(x, a->is_volatile);
    return x;
}

static LLVMValueRef vector_mask(Host *h, const HostAccess *a, uint32_t width) {
    return a->mask ? a->mask : LLVMConstAllOnes(LLVMVectorType(h->m->i1, width));
}

/* Element by element; where the mask is false, from a place of the frame. LLVM 22 cannot select gathers of SVE into
 * elements of less than 4 bytes wherever their bits are taken apart again. */
static LLVMValueRef gather_narrow(Host *h, const HostAccess *a, LLVMValueRef other, uint32_t width) {
    Llvm *m = h->m;
    LLVMTypeRef element = LLVMGetElementType(a->bits);
    LLVMValueRef mask = vector_mask(h, a, width), nowhere = llvm_splat(h->m, llvm_frame(m, element), width);
    LLVMValueRef from = LLVMBuildSelect(m->at, mask, a->ptr, nowhere, ""), r = LLVMGetPoison(a->bits);
    for (uint32_t i = 0; i < width; i++) {
        LLVMValueRef lane = llvm_int(m->i32, i), at = LLVMBuildExtractElement(m->at, from, lane, "");
        LLVMValueRef x = LLVMBuildLoad2(m->at, element, at, "");
        LLVMSetAlignment(x, a->align);
        r = LLVMBuildInsertElement(m->at, r, x, lane, "");
    }
    return LLVMBuildSelect(m->at, mask, r, other, "");
}

static LLVMValueRef masked_load(Host *h, const HostAccess *a, LLVMValueRef other, uint32_t width) {
    if (h->processor->sve_bytes && a->is_vector && a->align < 4) return gather_narrow(h, a, other, width);
    const char *name = a->is_vector ? "llvm.masked.gather" : "llvm.masked.load";
    LLVMTypeRef over[] = {a->bits, LLVMTypeOf(a->ptr)};
    LLVMValueRef args[] = {a->ptr, vector_mask(h, a, width), other};
    LLVMValueRef x = llvm_intrinsic(h->m, name, over, 2, args, 3);
    align_argument(h, x, 0, a->align);
    return x;
}

/* The bits of a load where the mask, or a chunk's `all`, is true; behind it what else there is. */
static LLVMValueRef branching_load(Host *h, const HostAccess *a, LLVMValueRef other, uint32_t width) {
    Llvm *m = h->m;
    LLVMBasicBlockRef plain = host_new_block(h, "load"), rest = width > 1 ? host_new_block(h, "masked") : NULL,
                      after = host_new_block(h, ""), from[] = {plain, rest ? rest : LLVMGetInsertBlock(m->at)};
    LLVMBuildCondBr(m->at, width > 1 ? a->all : a->mask, plain, rest ? rest : after);
    LLVMPositionBuilderAtEnd(m->at, plain);
    LLVMValueRef x[] = {plain_load(h, a), other};
    LLVMBuildBr(m->at, after);
    if (rest) {
        LLVMPositionBuilderAtEnd(m->at, rest);
        x[1] = masked_load(h, a, other, width);
        LLVMBuildBr(m->at, after);
    }
    LLVMPositionBuilderAtEnd(m->at, after);
    LLVMValueRef phi = LLVMBuildPhi(m->at, a->bits, "");
    LLVMAddIncoming(phi, x, from, 2);
    return phi;
}

static LLVMValueRef emit_load(Host *h, const HostAccess *a, LLVMValueRef other, uint32_t width) {
    LLVMValueRef bits_other = other ? host_as(h, other, a->bits) : LLVMConstNull(a->bits), x;
    if (!a->mask && !a->is_vector) x = plain_load(h, a);
    else if (a->all || width == 1) x = branching_load(h, a, bits_other, width);
    else x = masked_load(h, a, bits_other, width);
    return host_as(h, x, a->value);
}

static void plain_store(Host *h, const HostAccess *a, LLVMValueRef bits) {
    LLVMSetAlignment(LLVMBuildStore(h->m->at, bits, a->ptr), a->align);
}

/* The alignment that a chunk of so many bytes needs to go past the caches: a line, or half of one where it is half a
 * line, which the processor joins with the other half; 0: it does not go there. */
static uint32_t stream_unit(uint32_t bytes) {
    return bytes % CACHE_LINE == 0 ? CACHE_LINE : bytes == CACHE_LINE / 2 ? bytes : 0;
}

/* Past the caches. LLVM 22 has no such store of halves, and makes it a plain one: they go as words of fp32, with a
 * fence that keeps it from seeing what the words are. */
static void stream(Host *h, const HostAccess *a, LLVMValueRef bits) {
    Llvm *m = h->m;
    if (a->align == 2) {
        LLVMTypeRef words = LLVMVectorType(m->f32, LLVMGetVectorSize(a->bits) / 2);
        bits = LLVMBuildBitCast(m->at, bits, words, "");
        bits = llvm_intrinsic(m, "llvm.arithmetic.fence", &words, 1, &bits, 1);
    }
    LLVMMetadataRef one = LLVMValueAsMetadata(llvm_int(m->i32, 1));
    LLVMValueRef node = LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, &one, 1));
    LLVMValueRef direct = LLVMBuildStore(m->at, bits, a->ptr);
    LLVMSetAlignment(direct, stream_unit(LLVMGetVectorSize(a->bits) * a->align));
    LLVMSetMetadata(direct, LLVMGetMDKindIDInContext(m->context, "nontemporal", 11), node);
}

static void masked_store(Host *h, const HostAccess *a, LLVMValueRef bits, uint32_t width) {
    const char *name = a->is_vector ? "llvm.masked.scatter" : "llvm.masked.store";
    LLVMTypeRef over[] = {a->bits, LLVMTypeOf(a->ptr)};
    LLVMValueRef args[] = {bits, a->ptr, vector_mask(h, a, width)};
    align_argument(h, llvm_intrinsic(h->m, name, over, 2, args, 3), 1, a->align);
}

/* streams: i1, whether a chunk that the mask lets through goes past the caches; NULL: never. */
static void emit_store(Host *h, const HostAccess *a, LLVMValueRef value, LLVMValueRef streams, uint32_t width) {
    Llvm *m = h->m;
    LLVMValueRef bits = host_as(h, value, a->bits);
    if (a->is_vector || (a->mask && width > 1 && !a->all)) {
        masked_store(h, a, bits, width);
        return;
    }
    LLVMBasicBlockRef after = a->mask || streams ? host_new_block(h, "") : NULL;
    if (a->mask) {
        LLVMBasicBlockRef plain = host_new_block(h, "store"), rest = width > 1 ? host_new_block(h, "masked") : after;
        LLVMBuildCondBr(m->at, width > 1 ? a->all : a->mask, plain, rest);
        if (width > 1) {
            LLVMPositionBuilderAtEnd(m->at, rest);
            masked_store(h, a, bits, width);
            LLVMBuildBr(m->at, after);
        }
        LLVMPositionBuilderAtEnd(m->at, plain);
    }
    if (streams) {
        LLVMBasicBlockRef past = host_new_block(h, "stream"), plain = host_new_block(h, "store");
        LLVMBuildCondBr(m->at, streams, past, plain);
        LLVMPositionBuilderAtEnd(m->at, past);
        stream(h, a, bits);
        LLVMBuildBr(m->at, after);
        LLVMPositionBuilderAtEnd(m->at, plain);
    }
    plain_store(h, a, bits);
    if (!after) return;
    LLVMBuildBr(m->at, after);
    LLVMPositionBuilderAtEnd(m->at, after);
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

void host_prefetch(Host *h, const Op *load, const Chunk *c) {
    Llvm *m = h->m;
    const Value *ptr = load->args[0];
    uint32_t bytes = type_bytes(type_scalar(ptr->type.pointee));
    uint64_t ahead = shape_elements(c->shape) * bytes;
    Chunk first = host_chunk(h, c->shape, c->index, 1);
    if ((uint64_t)c->width * bytes < CACHE_LINE / 2) return;
    if (ahead > HOST_NEXT_ROW) ahead = PREFETCH_FAR;
    LLVMValueRef from = host_eval(h, &first, ptr);
    for (uint64_t line = 0; line < (uint64_t)c->width * bytes; line += CACHE_LINE) {
        LLVMValueRef by = llvm_int(m->i64, (int64_t)(ahead + line));
        LLVMValueRef args[] = {LLVMBuildGEP2(m->at, m->i8, from, &by, 1, ""), llvm_int(m->i32, 0),
                               llvm_int(m->i32, 2), llvm_int(m->i32, 1)}; /* of data, to be read, into L2 */
        llvm_intrinsic(m, "llvm.prefetch", &m->ptr, 1, args, 4);
    }
}

LLVMValueRef host_load_again(Host *h, const Op *op, Chunk *c) {
    const Value *other = operand(op, 2);
    LLVMValueRef fill = !other               ? NULL
                        : value_is_tile(other) ? host_eval(h, c, other)
                                               : llvm_splat(h->m, host_scalar(h, other), c->width);
    HostAccess a = access_tile(h, c, op->args[0], operand(op, 1));
    a.is_volatile = op->attr.mem.is_volatile;
    host_check(h, &a, op, c->width);
    return emit_load(h, &a, fill, c->width);
}

void host_load_chunk(Host *h, const Op *op, Chunk *c) {
    const Value *r = op->results[0];
    LLVMValueRef x = host_load_again(h, op, c);
    if (h->buffers[r->id] >= 0) host_put(h, h->buffers[r->id], r->type.dtype, c->index, x);
    host_remember(h, c, r, x);
}

void host_store(Host *h, const Op *op) {
    HostAccess a = access_scalar(h, op->args[0], operand(op, 2));
    host_check(h, &a, op, 1);
    emit_store(h, &a, host_scalar(h, op->args[1]), NULL, 1);
}

/* Whether this chunk goes past the caches: of a grid that writes more than they hold. NULL: never. */
static LLVMValueRef is_stream(Host *h, const HostAccess *a, Shape s, uint32_t width) {
    Llvm *m = h->m;
    uint32_t unit = stream_unit(width * a->align);
    if (!h->programs || a->is_vector || (a->mask && !a->all) || !unit) return NULL;
    LLVMValueRef most = llvm_int(m->i64, (int64_t)(STREAM_LEAST / (shape_elements(s) * a->align)));
    LLVMValueRef address = LLVMBuildPtrToInt(m->at, a->ptr, m->i64, "");
    LLVMValueRef rest = LLVMBuildAnd(m->at, address, llvm_int(m->i64, unit - 1), "");
    return LLVMBuildAnd(m->at, LLVMBuildICmp(m->at, LLVMIntUGE, h->programs, most, ""),
                        LLVMBuildICmp(m->at, LLVMIntEQ, rest, llvm_int(m->i64, 0), ""), "");
}

void host_store_chunk(Host *h, const Op *op, Chunk *c) {
    const Value *value = op->args[1];
    LLVMValueRef x = value_is_tile(value) ? host_eval(h, c, value) : llvm_splat(h->m, host_scalar(h, value), c->width);
    HostAccess a = access_tile(h, c, op->args[0], operand(op, 2));
    host_check(h, &a, op, c->width);
    emit_store(h, &a, x, is_stream(h, &a, c->shape, c->width), c->width);
}
