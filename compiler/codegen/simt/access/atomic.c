/* atomic.c - atomic operations on global memory.
 *
 * In: pointer, value and mask tiles in one layout. Out: one predicated primitive for each element that this thread is
 * the canonical owner of, so that each is performed once; registers that replicate another take its result.
 * Method: 16-bit floats go through compare-and-swap where the target has no addition of theirs: the first attempt
 * expects zero, each further one what the last found.
 */
#include "codegen/simt/simt.h"

uint32_t atomic_pack(AtomicCode a) {
    return a.op | (uint32_t)a.order << 8 | (uint32_t)a.reach << 12 | (uint32_t)a.is_dropped << 16 |
           (uint32_t)a.is_bf16 << 17;
}

AtomicCode atomic_unpack(uint64_t x) {
    return (AtomicCode){x & 255, x >> 8 & 15, x >> 12 & 15, x >> 16 & 1, x >> 17 & 1};
}

/* The operands of one op that all its elements share. */
typedef struct Atomic {
    const Op *op;
    DType d;
    Access access;
    const Tile *ptr, *compare, *value, *mask; /* NULL where there is none */
    V owner, code, site;
    bool by_loop;
} Atomic;

static Atomic atomic_open(Simt *s, const Op *op) {
    bool is_cas = op->kind == OP_ATOMICCAS;
    uint32_t last = is_cas ? 2 : 1;
    const Value *p = op->args[0], *r = op->results[0];
    Atomic a = {.op = op, .d = p->type.pointee, .ptr = tile_of(s, p), .value = tile_of(s, op->args[last])};
    const MemAttr *m = &op->attr.mem;
    a.compare = is_cas ? tile_of(s, op->args[1]) : NULL;
    a.mask = op->nargs > last + 1 ? tile_of(s, op->args[last + 1]) : NULL;
    a.access = access_of(type_bytes(type_scalar(a.d)), 1);
    a.owner = simt_owner(s, value_is_tile(p) ? p->type.layout : NULL);
    bool is_small_float = !is_cas && m->atomic == ATOMIC_FADD && dtype_bits(a.d) == 16;
    a.by_loop = is_small_float && !target_has(s->t, a.d == DT_BF16 ? FEATURE_ATOMIC_BF16 : FEATURE_ATOMIC_FP16);
    AtomicCode code = {m->atomic, m->order, m->reach, !value_used(r) && !a.by_loop, a.d == DT_BF16};
    a.code = simt_i32(s, atomic_pack(code));
    a.site = simt_site(s);
    return a;
}

static V compare_and_swap(Simt *s, const Atomic *a, V address, V predicate, V compare, V value) {
    V args[] = {address, predicate, compare, value, a->code, a->site};
    return prim_access(s, PRIM_ATOMIC_CAS, a->access, args, 6);
}

/* old = memory: until old + value could be put in its place. */
static V add_by_loop(Simt *s, const Atomic *a, V address, V predicate, V value) {
    LLVMBuilderRef at = s->m->at;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(at), loop = simt_new_block(s, "atomic"),
                      done = simt_new_block(s, "added");
    V zero = llvm_int(access_word(s, a->access), 0), yes = llvm_int(s->m->i1, 1);
    LLVMBuildCondBr(at, predicate, loop, done);
    LLVMPositionBuilderAtEnd(at, loop);
    V expected = LLVMBuildPhi(at, LLVMTypeOf(zero), "");
    V sum = math_binary(&s->math, OP_FADD, a->d, element_from_bits(s, a->d, expected), value);
    V old = compare_and_swap(s, a, address, yes, expected, element_bits(s, a->d, sum));
    V again = LLVMBuildICmp(at, LLVMIntNE, old, expected, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(at);
    LLVMAddIncoming(expected, (V[]){zero, old}, (LLVMBasicBlockRef[]){from, latch}, 2);
    LLVMBuildCondBr(at, again, loop, done);
    LLVMPositionBuilderAtEnd(at, done);
    V result = LLVMBuildPhi(at, LLVMTypeOf(zero), "");
    LLVMAddIncoming(result, (V[]){zero, old}, (LLVMBasicBlockRef[]){from, latch}, 2);
    return result;
}

static V atomic_element(Simt *s, const Atomic *a, uint32_t reg) {
    V address = tile_slot(s, a->ptr, reg), value = tile_slot(s, a->value, reg), predicate = a->owner;
    if (a->mask) predicate = LLVMBuildAnd(s->m->at, predicate, tile_slot(s, a->mask, reg), "");
    if (a->by_loop) return add_by_loop(s, a, address, predicate, value);
    V bits = element_bits(s, a->d, value);
    if (a->compare) {
        V compare = element_bits(s, a->d, tile_slot(s, a->compare, reg));
        return compare_and_swap(s, a, address, predicate, compare, bits);
    }
    V args[] = {address, predicate, bits, a->code, a->site};
    return prim_access(s, PRIM_ATOMIC_RMW, a->access, args, 5);
}

void simt_atomic(Simt *s, const Op *op) {
    const Value *p = op->args[0], *v = op->results[0];
    const Layout *l = value_is_tile(p) ? p->type.layout : NULL;
    uint32_t replicas = l ? layout_free(l, IN_REGISTER) : 0;
    Atomic a = atomic_open(s, op);
    Tile r = tile_create(s, tile_registers(v));
    for (uint32_t reg = 0; reg < r.n; reg++) {
        uint32_t first = reg & ~replicas; /* comes before reg */
        simt_at(s, reg, 1);
        r.at[reg].base = first < reg ? r.at[first].base : element_from_bits(s, a.d, atomic_element(s, &a, reg));
    }
    s->values[v->id] = r;
}
