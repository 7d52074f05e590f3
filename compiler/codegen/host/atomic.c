/* atomic.c - atomic operations on the CPU.
 *
 * In: an atomic op. Out: its elements one after the other, each LLVM's atomicrmw or cmpxchg: programs run on several
 * host threads. Method: as memory.c with chunks of one element; 16-bit floats are added by compare-and-swap.
 */
#include "codegen/host/host.h"

static LLVMAtomicOrdering ordering_of(const Op *op) {
    switch ((Order)op->attr.mem.order) {
    case ORDER_RELAXED: return LLVMAtomicOrderingMonotonic;
    case ORDER_ACQUIRE: return LLVMAtomicOrderingAcquire;
    case ORDER_RELEASE: return LLVMAtomicOrderingRelease;
    case ORDER_ACQ_REL: return LLVMAtomicOrderingAcquireRelease;
    }
    bug("atomic order %u", op->attr.mem.order);
}

static LLVMAtomicRMWBinOp operation_of(const Op *op) {
    switch ((AtomicOp)op->attr.mem.atomic) {
    case ATOMIC_ADD: return LLVMAtomicRMWBinOpAdd;
    case ATOMIC_FADD: return LLVMAtomicRMWBinOpFAdd;
    case ATOMIC_SMAX: return LLVMAtomicRMWBinOpMax;
    case ATOMIC_SMIN: return LLVMAtomicRMWBinOpMin;
    case ATOMIC_UMAX: return LLVMAtomicRMWBinOpUMax;
    case ATOMIC_UMIN: return LLVMAtomicRMWBinOpUMin;
    case ATOMIC_AND: return LLVMAtomicRMWBinOpAnd;
    case ATOMIC_OR: return LLVMAtomicRMWBinOpOr;
    case ATOMIC_XOR: return LLVMAtomicRMWBinOpXor;
    case ATOMIC_XCHG: return LLVMAtomicRMWBinOpXchg;
    case ATOMIC_COUNT: break;
    }
    bug("atomic operation %u", op->attr.mem.atomic);
}

/* The word before; both words as integers. */
static LLVMValueRef compare_and_swap(Host *h, const Op *op, const HostAccess *a, LLVMValueRef compare,
                                     LLVMValueRef value) {
    LLVMAtomicOrdering order = ordering_of(op);
    LLVMAtomicOrdering failed =
        order_acquires(op->attr.mem.order) ? LLVMAtomicOrderingAcquire : LLVMAtomicOrderingMonotonic;
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(h->m->at, a->ptr, compare, value, order, failed, 0);
    return LLVMBuildExtractValue(h->m->at, pair, 0, "");
}

static LLVMValueRef add_small_float(Host *h, const Op *op, const HostAccess *a, LLVMValueRef value) {
    LLVMBuilderRef at = h->m->at;
    DType d = op->results[0]->type.dtype;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(at),
                      loop = host_new_block(h, "atomic");
    LLVMBasicBlockRef done = host_new_block(h, "");
    LLVMValueRef zero = LLVMConstNull(a->bits);
    LLVMBuildBr(at, loop);
    LLVMPositionBuilderAtEnd(at, loop);
    LLVMValueRef expected = LLVMBuildPhi(at, a->bits, "");
    LLVMValueRef sum = math_binary(&h->math, OP_FADD, d, host_as(h, expected, a->value), value);
    LLVMValueRef old = compare_and_swap(h, op, a, expected, host_as(h, sum, a->bits));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(at);
    LLVMAddIncoming(expected, (LLVMValueRef[]){zero, old}, (LLVMBasicBlockRef[]){from, latch}, 2);
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntNE, old, expected, ""), loop, done);
    LLVMPositionBuilderAtEnd(at, done);
    return old;
}

/* The word before, as an integer. */
static LLVMValueRef perform(Host *h, const Op *op, const HostAccess *a, LLVMValueRef compare, LLVMValueRef value) {
    if (compare) return compare_and_swap(h, op, a, host_as(h, compare, a->bits), host_as(h, value, a->bits));
    bool is_float = op->attr.mem.atomic == ATOMIC_FADD;
    if (is_float && a->align == 2) return add_small_float(h, op, a, value);
    LLVMValueRef operand = is_float ? value : host_as(h, value, a->bits);
    return host_as(h, LLVMBuildAtomicRMW(h->m->at, operation_of(op), a->ptr, operand, ordering_of(op), 0), a->bits);
}

/* One element; the result as the IR's type. */
static LLVMValueRef element(Host *h, const Op *op, HostAccess *a, LLVMValueRef compare, LLVMValueRef value) {
    LLVMBuilderRef at = h->m->at;
    host_check(h, a, op, 1);
    if (!a->mask) return host_as(h, perform(h, op, a, compare, value), a->value);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(at),
                      inside = host_new_block(h, "atomic");
    LLVMBasicBlockRef after = host_new_block(h, "");
    LLVMBuildCondBr(at, a->mask, inside, after);
    LLVMPositionBuilderAtEnd(at, inside);
    LLVMValueRef old = perform(h, op, a, compare, value), zero = LLVMConstNull(a->bits);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(at);
    LLVMBuildBr(at, after);
    LLVMPositionBuilderAtEnd(at, after);
    LLVMValueRef phi = LLVMBuildPhi(at, a->bits, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){old, zero}, (LLVMBasicBlockRef[]){latch, from}, 2);
    return host_as(h, phi, a->value);
}

static LLVMValueRef operand(Host *h, Chunk *c, const Value *v) {
    return c && value_is_tile(v) ? host_eval(h, c, v) : host_scalar(h, v);
}

void host_atomic(Host *h, const Op *op) {
    uint32_t last = op->kind == OP_ATOMICCAS ? 2 : 1;
    const Value *ptr = op->args[0], *value = op->args[last], *mask = op->nargs > last + 1 ? op->args[last + 1] : NULL;
    const Value *compare = last == 2 ? op->args[1] : NULL, *r = op->results[0];
    if (!value_is_tile(ptr)) {
        HostAccess a = host_access(h, NULL, ptr, mask);
        h->scalars[r->id] = element(h, op, &a, compare ? host_scalar(h, compare) : NULL, host_scalar(h, value));
        return;
    }
    Loop l = host_loop_begin(h, llvm_int(h->m->i64, (int64_t)shape_elements(ptr->type.shape)), 1, "atomic");
    Chunk c = host_chunk(h, ptr->type.shape, l.index, 1);
    LLVMValueRef x = operand(h, &c, value), y = compare ? operand(h, &c, compare) : NULL;
    HostAccess a = host_access(h, &c, ptr, mask);
    LLVMValueRef old = element(h, op, &a, y, x);
    if (h->buffers[r->id] >= 0) host_put(h, h->buffers[r->id], r->type.dtype, l.index, old);
    host_loop_end(h, &l);
}
