/* shared.c - tiles through shared buffers, and barriers.
 *
 * In: shared_store, shared_load of buffers with bytes, barrier. Out: accesses of up to 16 bytes.
 * Method: the layout over the buffer's offsets says where a register's element lies: the thread's part plus the
 * register's, scaled; runs of registers that hold consecutive offsets move together. Only an element's canonical owner
 * stores it (in its block, or in every block of the cluster); everyone loads, from the own block. In a private buffer
 * each thread has its own elements.
 */
#include "codegen/simt/simt.h"

#include <string.h>

/* A planted fault: offsets that lose what a swizzle adds to them. */
static const Layout *without_swizzle(Simt *s, const Buffer *b, const Layout *in) {
    Layout l = *in;
    if (b->places == layout_flat(s->f->layouts, b->places->shape)) return in;
    for (InDim d = IN_LANE; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l.bits[d]; i++)
            while (l.basis[d][i] & (l.basis[d][i] - 1)) l.basis[d][i] &= l.basis[d][i] - 1;
    return layout_intern(s->f->layouts, &l);
}

/* Of a part that begins at a constant: what that adds to offsets, as a sum of bits. */
static bool begins_at(const Buffer *b, const Op *op, uint32_t *offset) {
    Linear inverse;
    int64_t at;
    if (!value_const(op->args[0], &at) || !layout_invert(b->places, &inverse)) return false;
    uint64_t flat = (uint64_t)at << shape_offset(b->places->shape, op->attr.axis);
    *offset = plant(PLANT_PART_BEGIN) ? 0 : (uint32_t)linear_apply(&inverse, flat);
    return true;
}

BufferView buffer_view(Simt *s, const Op *op, Type t, const Value *stage) {
    const Buffer *b = &s->f->buffers.at[op->attr.buffer];
    BufferView p = {.buffer = b, .bytes = type_bytes(type_scalar(b->dtype)), .n = 1};
    Linear inverse;
    if (b->offset < 0) bug("shared memory was not allocated");
    uint32_t step = op->kind == OP_SHSLICE ? p.bytes << shape_offset(t.shape, op->attr.axis) : b->bytes;
    if (op->kind == OP_SHSLICE && (begins_at(p.buffer, op, &p.begin) || plant(PLANT_PART_BEGIN))) stage = NULL;
    bool takes_turns = !b->is_private && !b->is_counted && (op->kind == OP_SHSTORE || op->kind == OP_SHLOAD);
    if (plant(PLANT_TURN_STAGE) && takes_turns) stage = NULL;
    if (stage) p.stage = LLVMBuildMul(s->m->at, tile_slot(s, tile_of(s, stage), 0), simt_i32(s, step), "");
    if (op->kind == OP_SHSLICE && op->nargs > 1) {
        V begin = LLVMBuildMul(s->m->at, tile_slot(s, tile_of(s, op->args[1]), 0), simt_i32(s, b->bytes), "");
        p.stage = p.stage ? LLVMBuildAdd(s->m->at, p.stage, begin, "") : begin;
    }
    if (t.shape.rank) p.layout = layout_in(s->f->layouts, b->places, access_layout(s->f, op, t));
    bool is_read = op->kind == OP_SHLOAD || op->kind == OP_SHSLICE;
    if (plant(PLANT_SWIZZLE) && is_read && p.layout) p.layout = without_swizzle(s, b, p.layout);
    if (op->attr.is_matrices && !layout_matrices(s->f->layouts, p.layout, p.bytes, &p.matrices))
        bug("matrices where they do not fit");
    if (op->attr.is_matrices) p.layout = p.matrices.rows;
    uint32_t v = p.layout ? layout_in_vector(p.layout, p.bytes, p.bits) : 0;
    p.n = UINT32_C(1) << v;
    for (uint32_t i = 0; i < v; i++) p.inside |= UINT32_C(1) << p.bits[i];
    if (op->attr.flip && layout_invert(b->places, &inverse)) p.flip = (uint32_t)linear_apply(&inverse, op->attr.flip);
    p.access = access_of(p.bytes, p.n);
    return p;
}

V view_offset(Simt *s, const BufferView *p, uint32_t reg) {
    V at = simt_i32(s, 0);
    uint32_t part = 0;
    if (p->layout) {
        V thread = simt_thread_index(s, p->layout);
        part = layout_register_index(p->layout, reg) ^ p->begin ^ (p->flip & ~(p->n - 1));
        if (p->buffer->is_private && plant(PLANT_SHARED_PLACE))
            thread = LLVMBuildAnd(s->m->at, thread, simt_i32(s, ~(int64_t)p->n), "");
        uint32_t met = part & layout_thread_bits(p->layout); /* the rest is added, mostly by the access itself */
        if (met) thread = LLVMBuildXor(s->m->at, thread, simt_i32(s, met), "");
        part ^= met;
        at = LLVMBuildMul(s->m->at, thread, simt_i32(s, p->bytes), "");
    }
    if (p->stage) at = LLVMBuildAdd(s->m->at, at, p->stage, "");
    return LLVMBuildAdd(s->m->at, at, simt_i32(s, p->buffer->offset + (int64_t)part * p->bytes), "");
}

static V matrices_code(Simt *s, const BufferView *p) {
    bool turns = p->matrices.is_transposed != plant(PLANT_MATRIX_TRANSPOSED);
    return simt_i32(s, matrix_pack((MatrixCode){(uint8_t)(1u << p->matrices.count_log2), turns}));
}

/* Does a vector begin at this register? */
static bool begins(const BufferView *p, uint32_t reg) {
    return !(reg & p->inside);
}

/* Are a vector's elements registers one behind the other? Their bits can be the lowest ones in another order. */
static bool is_run(const BufferView *p) {
    for (uint32_t k = 0; UINT32_C(1) << k < p->n; k++)
        if (p->bits[k] != k) return false;
    return true;
}

/* Of the vector that begins at reg, the register of element i. */
static uint32_t register_in(const BufferView *p, uint32_t reg, uint32_t i) {
    for (uint32_t k = 0; UINT32_C(1) << k < p->n; k++) reg |= (i >> k & 1) << p->bits[k];
    return reg;
}

/* What moves the vector that begins at this register is next. */
static void at_vector(Simt *s, const BufferView *p, uint32_t reg) {
    bool is_together = is_run(p);
    simt_at(s, is_together ? reg : 0, is_together ? p->n : 0);
}

/* The words of the vector that begins at register reg. */
static void pack_vector(Simt *s, const BufferView *p, const Tile *x, uint32_t reg, V *words) {
    V elements[16];
    uint32_t first = reg / p->n * p->access.words;
    if (p->access.bits == 32 && is_run(p) && tile_has_words(x, first, p->access.words)) {
        memcpy(words, x->words + first, p->access.words * sizeof *words);
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) elements[i] = tile_slot(s, x, register_in(p, reg, i));
    elements_pack(s, p->buffer->dtype, elements, p->n, p->access, words);
}

/* ---- Stores ------------------------------------------------------------------------------------------------------ */

/* Threads that hold the same elements, where lanes hold different ones or bytes are counted: each stores into other
 * blocks. */
typedef struct Targets {
    uint32_t threads, log2; /* bits of the thread's index that choose the block, and how many */
    V first;
} Targets;

static Targets targets_of(Simt *s, const Layout *l, bool is_counted) {
    Targets t = {0};
    ThreadMap map = {0};
    uint32_t lanes = l ? l->bits[IN_LANE] : 0, held = 0;
    for (uint32_t i = 0; i < lanes; i++) held |= l->basis[IN_LANE][i];
    if (!held && !is_counted) return t;
    for (uint32_t i = 0; i < lanes + l->bits[IN_WARP] && s->f->blocks_per_program >> (t.log2 + 1); i++) {
        if (i < lanes ? l->basis[IN_LANE][i] : l->basis[IN_WARP][i - lanes]) continue;
        map.thread[i] = UINT32_C(1) << t.log2++;
        t.threads |= UINT32_C(1) << i;
    }
    if (t.log2) t.first = simt_map(s, &map);
    return t;
}

/* args: those of store.async, but for the block; `count` is NULL where nothing is counted. */
static void put_shared(Simt *s, const Op *op, const Targets *t, Access a, V count, V *args) {
    if (op->attr.scope != SCOPE_CLUSTER) {
        args[2] = args[0];
        prim_access(s, PRIM_STORE_SHARED, a, args + 2, 3 + a.words);
        return;
    }
    if (count) args[1] = count;
    for (uint32_t i = 0; i < s->f->blocks_per_program >> t->log2; i++) {
        args[2] = simt_i32(s, i << t->log2);
        if (t->log2) args[2] = LLVMBuildOr(s->m->at, t->first, args[2], "");
        if (count) prim_access(s, PRIM_STORE_ASYNC, a, args, 5 + a.words);
        else prim_access(s, PRIM_STORE_CLUSTER, a, args + 1, 4 + a.words);
    }
}

V simt_count_of(Simt *s, const Buffer *b, V stage) {
    V first = simt_i32(s, b->is_bulk ? b->counts : b->offset + buffer_count_offset(b));
    return stage ? LLVMBuildAdd(s->m->at, first, LLVMBuildMul(s->m->at, stage, simt_i32(s, COUNT_BYTES), ""), "")
                 : first;
}

V simt_readers_of(Simt *s, const Buffer *b, V stage) {
    return LLVMBuildAdd(s->m->at, simt_count_of(s, b, stage), simt_i32(s, b->stages * COUNT_BYTES), "");
}

void simt_expect(Simt *s, const Buffer *b, V count, V predicate) {
    V bytes = simt_i32(s, plant(PLANT_COUNT_SHORT) ? b->bytes / 2 : b->bytes);
    V args[] = {count, predicate, bytes, simt_site(s)};
    prim_call(s, PRIM_MBARRIER_EXPECT, args, COUNT(args));
}

void simt_shared_wait(Simt *s, const Op *op) {
    const Buffer *b = &s->f->buffers.at[op->attr.buffer];
    if (b->is_bulk && plant(PLANT_BULK_WAIT)) return;
    V stage = op->nargs ? tile_slot(s, tile_of(s, op->args[0]), 0) : NULL;
    V phase = op->nargs ? tile_slot(s, tile_of(s, op->args[1]), 0) : simt_i32(s, 0);
    if (plant(PLANT_COUNT_PHASE)) phase = LLVMBuildXor(s->m->at, phase, simt_i32(s, 1), "");
    V args[] = {simt_count_of(s, b, stage), phase, simt_site(s)};
    prim_call(s, PRIM_MBARRIER_WAIT, args, COUNT(args));
}

/* The words of all matrices, in the order of the registers: those of an instruction follow each other. */
static void store_matrices(Simt *s, const BufferView *p, const Tile *x) {
    uint32_t each = 1u << p->matrices.word_log2, n = 1u << p->matrices.count_log2;
    for (uint32_t reg = 0, k = 0; reg < x->n; reg += each * n, k++) {
        V words[4], elements[4];
        simt_at(s, reg, each * n);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t e = 0; e < each; e++) elements[e] = tile_slot(s, x, reg + i * each + e);
            elements_pack(s, p->buffer->dtype, elements, each, (Access){1, 32}, &words[i]);
        }
        V args[] = {view_offset(s, p, k << p->matrices.row_log2), tuple_make(s->m, words, n), matrices_code(s, p),
                    simt_site(s)};
        prim_tuple(s, PRIM_STMATRIX, NULL, args, 4);
    }
}

static Tile load_matrices(Simt *s, const Op *op, const BufferView *p) {
    uint32_t registers = tile_registers(op->results[0]), each = 1u << p->matrices.word_log2,
             n = 1u << p->matrices.count_log2;
    V *words = NEW_ARRAY(s->m->o->arena, V, registers / each);
    LLVMTypeRef tuple = tuple_type(s->m, s->m->i32, n);
    for (uint32_t k = 0; k < registers / each / n; k++) {
        simt_at(s, k * n * each, n * each);
        V args[] = {view_offset(s, p, k << p->matrices.row_log2), matrices_code(s, p), simt_site(s)};
        const V *made = tuple_values(s->m, prim_tuple(s, PRIM_LDMATRIX, tuple, args, 3));
        for (uint32_t i = 0; i < n; i++) words[k * n + i] = made[i];
    }
    return tile_packed(s, op, registers, words, each, false);
}

/* 0, and nobody knows it before all scalars from operand `first` on have come. */
static V zero_behind(Simt *s, const Op *op, uint32_t first) {
    V zero = prim_call(s, PRIM_ZERO, NULL, 0), any = NULL;
    for (uint32_t i = first; i < op->nargs; i++) {
        V bits = element_bits(s, op->args[i]->type.dtype, tile_slot(s, tile_of(s, op->args[i]), 0));
        bits = LLVMBuildIntCast2(s->m->at, bits, s->m->i32, false, "");
        any = any ? LLVMBuildOr(s->m->at, any, bits, "") : bits;
    }
    return LLVMBuildAnd(s->m->at, any, zero, "");
}

void simt_shared_store(Simt *s, const Op *op) {
    bool to_cluster = op->attr.scope == SCOPE_CLUSTER;
    if (op->attr.scope == SCOPE_GRID) {
        simt_grid_store(s, op);
        return;
    }
    const Value *v = op->args[0];
    const Tile *x = tile_on_demand(s, v);
    uint32_t first = store_waits_from(&s->f->buffers.at[op->attr.buffer]);
    const Value *staged = first > 1 ? op->args[1] : NULL;
    BufferView p = buffer_view(s, op, v->type, staged);
    if (op->attr.is_matrices) {
        store_matrices(s, &p, x);
        return;
    }
    const Layout *l = value_is_tile(v) ? access_layout(s->f, op, v->type) : NULL;
    uint32_t free_registers = l ? layout_free(l, IN_REGISTER) : 0;
    V stage = staged ? tile_slot(s, tile_of(s, staged), 0) : NULL, late = NULL;
    V count = p.buffer->is_counted ? simt_count_of(s, p.buffer, stage) : NULL;
    if (count) simt_expect(s, p.buffer, count, simt_owner_in_block(s, NULL));
    Targets targets = to_cluster ? targets_of(s, l, count) : (Targets){0};
    if (op->nargs > first) late = zero_behind(s, op, first);
    V owner = to_cluster ? simt_owner_among(s, l, targets.threads) : simt_owner_in_block(s, l);
    for (uint32_t reg = 0; reg < x->n; reg++) {
        if (!begins(&p, reg) || reg & free_registers) continue;
        at_vector(s, &p, reg);
        V offset = view_offset(s, &p, reg);
        if (late) offset = LLVMBuildOr(s->m->at, offset, late, "");
        if (plant(PLANT_LATE_STORE)) offset = LLVMBuildAdd(s->m->at, offset, simt_i32(s, p.n * p.bytes), "");
        V args[9] = {offset, offset, NULL, owner};
        pack_vector(s, &p, x, reg, args + 4);
        args[4 + p.access.words] = simt_site(s);
        put_shared(s, op, &targets, p.access, count, args);
    }
}

void simt_shared_load(Simt *s, const Op *op) {
    Value *v = op->results[0];
    BufferView p = buffer_view(s, op, v->type, op->nargs ? op->args[0] : NULL);
    if (op->attr.is_matrices) {
        s->values[v->id] = load_matrices(s, op, &p);
        return;
    }
    Tile r = tile_create(s, tile_registers(v));
    uint32_t within = p.flip & (p.n - 1), w = p.access.words; /* a vector's elements change places after it is here */
    V *words = NEW_ARRAY(s->m->o->arena, V, r.n / p.n * w);
    for (uint32_t reg = 0, n = 0; reg < r.n; reg++) {
        if (!begins(&p, reg)) continue;
        at_vector(s, &p, reg);
        V args[] = {view_offset(s, &p, reg), simt_site(s)}, *at = words + n++ * w, elements[16];
        V result = prim_access(s, PRIM_LOAD_SHARED, p.access, args, 2);
        for (uint32_t i = 0; i < w; i++) at[i] = access_result(s, p.access, result, i);
        elements_unpack(s, v->type.dtype, at, p.access, elements, p.n);
        for (uint32_t i = 0; i < p.n; i++) r.at[register_in(&p, reg, i ^ within)].base = elements[i];
    }
    if (p.access.bits == 32 && is_run(&p) && !within) r.words = words;
    s->values[v->id] = r;
}

/* The flat index of the element wanted: along the axis the index, which wraps,
 * elsewhere the result's own coordinates. */
static V gathered_index(Simt *s, const Op *op, V index, uint32_t reg) {
    const Layout *l = op->results[0]->type.layout;
    LLVMBuilderRef at = s->m->at;
    uint32_t axis = op->attr.axis, low = shape_offset(l->shape, axis),
             size = s->f->buffers.at[op->attr.buffer].places->shape.log2[axis];
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
    const Buffer *b = &s->f->buffers.at[op->attr.buffer];
    uint32_t bytes = type_bytes(type_scalar(b->dtype));
    Access a = access_of(bytes, 1);
    if (b->offset < 0) bug("shared memory was not allocated");
    for (uint32_t reg = 0; reg < r.n; reg++) {
        simt_at(s, reg, 1);
        V place = gathered_index(s, op, tile_slot(s, tile_of(s, op->args[0]), reg), reg);
        V scaled = LLVMBuildMul(s->m->at, place, simt_i32(s, bytes), "");
        V args[] = {LLVMBuildAdd(s->m->at, scaled, simt_i32(s, b->offset), ""), simt_site(s)};
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
    bool is_ring = op->prev && op->prev->kind == OP_COPYWAIT;
    if (plant(PLANT_RING_BARRIER) && is_ring) return;
    if (plant(PLANT_DROP_BARRIER) && op->attr.scope != SCOPE_WARP) return;
    if (op->attr.scope == SCOPE_GRID) simt_grid_meet(s, op);
    prim_call(s, of[op->attr.scope], &site, 1);
    simt_grid_passed(s, op);
}

/* Before Hopper a launch begins when the one ahead has ended. */
void simt_launch_order(Simt *s, const Op *op) {
    if (target_has(s->t, FEATURE_CLUSTERS))
        prim_call(s, op->kind == OP_GDCWAIT ? PRIM_GDC_WAIT : PRIM_GDC_LAUNCH, NULL, 0);
}
