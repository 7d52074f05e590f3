/* shared.c - tiles through shared memory, and barriers.
 *
 * In: shared_store, shared_load with their byte offset, barrier. Out: accesses of up to 16 bytes in flat element order.
 * Method: a byte offset is the thread's part of the flat index plus the register's, scaled; runs of registers that hold
 * consecutive elements move together. Only an element's canonical owner stores it (in its block, or in every block of
 * the cluster); everyone loads, from the own block.
 */
#include "codegen/simt/simt.h"

static uint32_t element_bytes(DType d) {
    return dtype_bits(d) < 8 ? 1 : dtype_bits(d) / 8;
}

/* log2 of the registers that one access moves. */
static uint32_t vector_log2(const Layout *l, uint32_t bytes) {
    uint32_t v = 0;
    while (v < l->bits[IN_REGISTER] && l->basis[IN_REGISTER][v] == UINT32_C(1) << v && bytes << (v + 1) <= 16) v++;
    for (uint32_t d = 0; d < IN_COUNT; d++) /* no other bit may reach into the vector */
        for (uint32_t i = d == IN_REGISTER ? v : 0; i < l->bits[d]; i++)
            while (v && l->basis[d][i] & ((UINT32_C(1) << v) - 1)) v--;
    return v;
}

/* What of the tile goes through shared memory. */
static const Layout *exchanged(Simt *s, const Op *op, const Value *v) {
    if (!value_is_tile(v)) return NULL;
    return op->attr.is_own ? layout_own(s->f->layouts, v->type.layout) : v->type.layout;
}

/* Where the vector of `vec` elements that begins at register `reg` lies, in bytes. */
static V byte_offset(Simt *s, const Op *op, const Layout *l, uint32_t bytes, uint32_t reg, uint32_t vec) {
    if (op->attr.offset < 0) bug("shared memory was not allocated");
    if (!l) return simt_i32(s, op->attr.offset);
    V thread = simt_thread_index(s, l);
    uint32_t part = layout_register_index(l, reg), flip = (uint32_t)op->attr.flip & layout_thread_bits(l);
    part ^= (uint32_t)op->attr.flip & ~layout_thread_bits(l) & ~(vec - 1);
    if (flip) thread = LLVMBuildXor(s->m->at, thread, simt_i32(s, flip), "");
    if (!layout_adds(l) && part) {
        thread = LLVMBuildXor(s->m->at, thread, simt_i32(s, part), "");
        part = 0;
    }
    V scaled = LLVMBuildMul(s->m->at, thread, simt_i32(s, bytes), "");
    return LLVMBuildAdd(s->m->at, scaled, simt_i32(s, op->attr.offset + (int64_t)part * bytes), "");
}

/* Threads that hold the same elements, where lanes hold different ones: each stores into other blocks. */
typedef struct Targets {
    uint32_t threads, log2; /* bits of the thread's index that choose the block, and how many */
    V first;
} Targets;

static Targets targets_of(Simt *s, const Layout *l) {
    Targets t = {0};
    ThreadMap map = {0};
    uint32_t lanes = l ? l->bits[IN_LANE] : 0, held = 0;
    for (uint32_t i = 0; i < lanes; i++) held |= l->basis[IN_LANE][i];
    if (!held) return t;
    for (uint32_t i = 0; i < lanes + l->bits[IN_WARP] && s->f->blocks_per_program >> (t.log2 + 1); i++) {
        if (i < lanes ? l->basis[IN_LANE][i] : l->basis[IN_WARP][i - lanes]) continue;
        map.thread[i] = UINT32_C(1) << t.log2++;
        t.threads |= UINT32_C(1) << i;
    }
    if (t.log2) t.first = simt_map(s, &map);
    return t;
}

/* args: those of store.cluster, but for the block. */
static void put_shared(Simt *s, const Op *op, const Targets *t, Access a, V *args) {
    if (op->attr.scope != SCOPE_CLUSTER) {
        args[1] = args[0];
        prim_access(s, PRIM_STORE_SHARED, a, args + 1, 3 + a.words);
        return;
    }
    for (uint32_t i = 0; i < s->f->blocks_per_program >> t->log2; i++) {
        args[1] = simt_i32(s, i << t->log2);
        if (t->log2) args[1] = LLVMBuildOr(s->m->at, t->first, args[1], "");
        prim_access(s, PRIM_STORE_CLUSTER, a, args, 4 + a.words);
    }
}

void simt_shared_store(Simt *s, const Op *op) {
    bool to_cluster = op->attr.scope == SCOPE_CLUSTER;
    if (op->attr.scope == SCOPE_GRID) {
        simt_grid_store(s, op);
        return;
    }
    const Value *v = op->args[0];
    const Layout *l = exchanged(s, op, v);
    const Tile *x = tile_of(s, v);
    uint32_t bytes = element_bytes(v->type.dtype), vec = l ? vector_log2(l, bytes) : 0, n = UINT32_C(1) << vec;
    uint32_t free_registers = l ? layout_free(l, IN_REGISTER) : 0;
    Access a = access_of(bytes, n);
    Targets targets = to_cluster ? targets_of(s, l) : (Targets){0};
    V owner = to_cluster ? simt_owner_among(s, l, targets.threads) : simt_owner_in_block(s, l);
    for (uint32_t reg = 0; reg < x->n; reg += n) {
        if (reg & free_registers) continue;
        V offset = byte_offset(s, op, l, bytes, reg, n);
        if (plant(PLANT_LATE_STORE)) offset = LLVMBuildAdd(s->m->at, offset, simt_i32(s, n * bytes), "");
        V args[8] = {offset, NULL, owner}, elements[16];
        for (uint32_t i = 0; i < n; i++) elements[i] = tile_slot(s, x, reg + i);
        elements_pack(s, v->type.dtype, elements, n, a, args + 3);
        args[3 + a.words] = simt_site(s);
        put_shared(s, op, &targets, a, args);
    }
}

static V part_offset(Simt *s, const Op *op, const Layout *l) {
    V at = tile_slot(s, tile_of(s, op->args[0]), 0);
    uint32_t bytes = element_bytes(op->results[0]->type.dtype) << shape_offset(l->shape, op->attr.axis);
    return LLVMBuildMul(s->m->at, at, simt_i32(s, bytes), "");
}

void simt_shared_load(Simt *s, const Op *op) {
    Value *v = op->results[0];
    const Layout *l = exchanged(s, op, v);
    V from = NULL; /* of a part: where it begins, in bytes behind the whole */
    if (op->nargs) {
        from = part_offset(s, op, l);
        l = layout_within(s->f->layouts, l, op->attr.axis, op->attr.size_log2);
    }
    Tile r = tile_create(s, tile_registers(v));
    uint32_t bytes = element_bytes(v->type.dtype), vec = l ? vector_log2(l, bytes) : 0, n = UINT32_C(1) << vec;
    uint32_t within = (uint32_t)op->attr.flip & (n - 1); /* a vector's elements change places after it is here */
    Access a = access_of(bytes, n);
    for (uint32_t reg = 0; reg < r.n; reg += n) {
        V args[] = {byte_offset(s, op, l, bytes, reg, n), simt_site(s)}, words[4], elements[16];
        if (from) args[0] = LLVMBuildAdd(s->m->at, args[0], from, "");
        V result = prim_access(s, PRIM_LOAD_SHARED, a, args, 2);
        for (uint32_t i = 0; i < a.words; i++) words[i] = access_result(s, a, result, i);
        elements_unpack(s, v->type.dtype, words, a, elements, n);
        for (uint32_t i = 0; i < n; i++) r.at[reg + (i ^ within)].base = elements[i];
    }
    s->values[v->id] = r;
}

/* The flat index of the element wanted: along the axis the index, which wraps,
 * elsewhere the result's own coordinates. */
static V gathered_index(Simt *s, const Op *op, V index, uint32_t reg) {
    const Layout *l = op->results[0]->type.layout;
    LLVMBuilderRef at = s->m->at;
    uint32_t axis = (uint32_t)op->attr.axis, low = shape_offset(l->shape, axis), size = op->attr.size_log2;
    uint32_t high = low + l->shape.log2[axis], part = layout_register_index(l, reg), elements = shape_log2(l->shape);
    V flat = simt_thread_index(s, l), place = LLVMBuildAnd(at, index, simt_i32(s, (INT64_C(1) << size) - 1), "");
    if (part) flat = LLVMBuildXor(at, flat, simt_i32(s, part), "");
    place = LLVMBuildShl(at, place, simt_i32(s, low), "");
    V below = LLVMBuildAnd(at, flat, simt_i32(s, (INT64_C(1) << low) - 1), "");
    place = LLVMBuildOr(at, place, below, "");
    if (high >= elements) return place;
    V above = LLVMBuildShl(at, LLVMBuildLShr(at, flat, simt_i32(s, high), ""), simt_i32(s, low + size), "");
    return LLVMBuildOr(at, place, above, "");
}

void simt_shared_gather(Simt *s, const Op *op) {
    Value *v = op->results[0];
    Tile r = tile_create(s, tile_registers(v));
    uint32_t bytes = element_bytes(v->type.dtype);
    Access a = access_of(bytes, 1);
    if (op->attr.offset < 0) bug("shared memory was not allocated");
    for (uint32_t reg = 0; reg < r.n; reg++) {
        V place = gathered_index(s, op, tile_slot(s, tile_of(s, op->args[0]), reg), reg);
        V scaled = LLVMBuildMul(s->m->at, place, simt_i32(s, bytes), "");
        V args[] = {LLVMBuildAdd(s->m->at, scaled, simt_i32(s, op->attr.offset), ""), simt_site(s)};
        V word = access_result(s, a, prim_access(s, PRIM_LOAD_SHARED, a, args, 2), 0);
        elements_unpack(s, v->type.dtype, &word, a, &r.at[reg].base, 1);
    }
    s->values[v->id] = r;
}

void simt_barrier(Simt *s, const Op *op) {
    static const Prim of[] = {[SCOPE_WARP] = PRIM_BAR_WARP,
                              [SCOPE_BLOCK] = PRIM_BAR_BLOCK,
                              [SCOPE_CLUSTER] = PRIM_BAR_CLUSTER,
                              [SCOPE_GRID] = PRIM_BAR_GRID};
    V site = simt_site(s);
    simt_grid_wait(s);
    if (op->attr.is_begin) {
        if (plant(PLANT_NO_BEGIN)) return;
        simt_begin_cluster(s);
        prim_call(s, PRIM_CLUSTER_BEGUN, &site, 1);
        return;
    }
    if (plant(PLANT_DROP_BARRIER) && op->attr.scope != SCOPE_WARP) return;
    if (op->attr.scope == SCOPE_GRID) simt_grid_meet(s, op);
    prim_call(s, of[op->attr.scope], &site, 1);
    simt_grid_passed(s, op);
}
