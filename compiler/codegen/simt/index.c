/* index.c - where a thread stands: its index, its part of an element's index, whether it is an element's owner.
 *
 * In: layouts. Out: values computed once, in the function's entry block.
 * Method: a layout's thread part is linear over F2. Thread-index bits that move by the same distance form one masked
 * shift; the shifted fields are joined by OR where they cannot meet, else by XOR.
 */
#include <string.h>

#include "codegen/simt/simt.h"

/* Builds in the entry block; enter() returns where to go back to. */
typedef struct Away {
    LLVMBasicBlockRef block;
    LLVMMetadataRef place;
} Away;

static Away enter(Simt *s) {
    Away a = {LLVMGetInsertBlock(s->m->at), LLVMGetCurrentDebugLocation2(s->m->at)};
    LLVMPositionBuilderAtEnd(s->m->at, s->entry);
    llvm_debug_at(s->m, s->f->span);
    return a;
}

static void leave(Simt *s, Away a) {
    LLVMPositionBuilderAtEnd(s->m->at, a.block);
    LLVMSetCurrentDebugLocation2(s->m->at, a.place);
}

V simt_tid(Simt *s) {
    if (s->tid) return s->tid;
    Away a = enter(s);
    s->tid = prim_call(s, PRIM_TID, NULL, 0);
    if (s->f->programs_per_block > 1)
        s->tid = LLVMBuildAnd(s->m->at, s->tid, simt_i32(s, s->f->threads_per_program - 1), "");
    leave(s, a);
    return s->tid;
}

/* Who counts for the other blocks does so before this one is seen to have begun. */
void simt_begin_cluster(Simt *s) {
    Away a = enter(s);
    for (uint32_t i = 0; i < s->f->buffers.len; i++) {
        const Buffer *b = &s->f->buffers.at[i];
        if (!b->is_counted || b->offset < 0) continue;
        V args[] = {simt_i32(s, b->offset + buffer_count_offset(b)), simt_owner_in_block(s, NULL),
                    simt_i32(s, b->stages), simt_i32(s, -1)};
        prim_call(s, PRIM_MBARRIER_INIT, args, COUNT(args));
    }
    prim_call(s, PRIM_CLUSTER_BEGIN, NULL, 0);
    leave(s, a);
}

void simt_begin_bulk(Simt *s) {
    Away a = enter(s);
    V site = simt_i32(s, -1);
    for (uint32_t i = 0; i < s->f->buffers.len; i++) {
        const Buffer *b = &s->f->buffers.at[i];
        if (!b->is_bulk || b->counts < 0) continue;
        V stages = simt_i32(s, b->stages), owner = simt_owner_in_block(s, NULL);
        V come[] = {simt_count_of(s, b, NULL), owner, stages, site};
        V read[] = {simt_readers_of(s, b, NULL), owner, stages, site};
        prim_call(s, PRIM_MBARRIER_INIT, come, COUNT(come));
        prim_call(s, PRIM_TURN_INIT, read, COUNT(read));
    }
    for (uint32_t i = 0; i < s->f->maps.len; i++)
        s->maps_at[i] = LLVMBuildPtrToInt(s->m->at, s->maps_at[i], s->m->i64, "");
    if (s->f->maps.len) prim_call(s, PRIM_BAR_BLOCK, &site, 1);
    leave(s, a);
}

V simt_cta_rank(Simt *s) {
    if (s->cta) return s->cta;
    Away a = enter(s);
    bool is_grid = s->f->scope == SCOPE_GRID;
    s->cta = prim_call(s, is_grid ? PRIM_CTAID_X : PRIM_CTARANK, NULL, 0);
    if (is_grid) s->cta = LLVMBuildAnd(s->m->at, s->cta, simt_i32(s, s->f->blocks_per_program - 1), "");
    leave(s, a);
    return s->cta;
}

static uint32_t moved(uint32_t x, int distance) {
    return distance >= 0 ? x << distance : x >> -distance;
}

/* The bits of x (only those of `existing` can be set) that go `distance` up (down where negative) under `flips`, moved
 * there; NULL if there are none. */
static V field(Simt *s, V x, uint32_t existing, const uint32_t *flips, int distance, uint32_t *reached) {
    uint32_t mask = 0;
    for (int i = 0; i < 32; i++) {
        int to = i + distance;
        if (to >= 0 && to < 32 && (flips[i] >> to & 1)) mask |= UINT32_C(1) << i;
    }
    if (!(mask & existing)) return NULL;
    *reached = moved(mask, distance);
    V r = x;
    if (moved(mask & existing, distance) != moved(existing, distance))
        r = LLVMBuildAnd(s->m->at, x, simt_i32(s, mask), "");
    if (distance > 0) r = LLVMBuildShl(s->m->at, r, simt_i32(s, distance), "");
    if (distance < 0) r = LLVMBuildLShr(s->m->at, r, simt_i32(s, -distance), "");
    return r;
}

static V join_fields(Simt *s, V sum, uint32_t *used, V x, uint32_t existing, const uint32_t *flips) {
    for (int distance = -31; distance < 32; distance++) {
        uint32_t reached = 0;
        V f = field(s, x, existing, flips, distance, &reached);
        if (!f) continue;
        if (!sum)
            sum = f;
        else
            sum = *used & reached ? LLVMBuildXor(s->m->at, sum, f, "") : LLVMBuildOr(s->m->at, sum, f, "");
        *used |= reached;
    }
    return sum;
}

static bool any(const uint32_t *bits) {
    for (uint32_t i = 0; i < LAYOUT_BITS; i++)
        if (bits[i]) return true;
    return false;
}

V simt_map(Simt *s, const ThreadMap *map) {
    for (uint32_t i = 0; i < s->maps.len; i++) {
        const ThreadMap *old = &s->maps.at[i];
        if (!memcmp(old->thread, map->thread, sizeof map->thread) && !memcmp(old->cta, map->cta, sizeof map->cta) &&
            old->is_uniform == map->is_uniform)
            return old->value;
    }
    ThreadMap made = *map;
    uint32_t used = 0;
    V tid = any(map->thread) ? simt_tid(s) : NULL, cta = any(map->cta) ? simt_cta_rank(s) : NULL;
    Away a = enter(s);
    V sum = tid ? join_fields(s, NULL, &used, tid, s->f->threads_per_program - 1, map->thread) : NULL;
    if (cta) sum = join_fields(s, sum, &used, cta, s->f->blocks_per_program - 1, map->cta);
    made.value = sum ? sum : simt_i32(s, 0);
    V first[] = {made.value, simt_i32(s, 0), simt_i32(s, -1)};
    if (sum && map->is_uniform) made.value = prim_call(s, PRIM_SHFL_IDX, first, 3);
    leave(s, a);
    vec_push(s->m->o->arena, &s->maps, made);
    return made.value;
}

V simt_thread_index(Simt *s, const Layout *l) {
    ThreadMap map = {0};
    uint32_t lanes = l->bits[IN_LANE];
    for (uint32_t i = 0; i < lanes; i++) map.thread[i] = l->basis[IN_LANE][i];
    for (uint32_t i = 0; i < l->bits[IN_WARP]; i++) map.thread[lanes + i] = l->basis[IN_WARP][i];
    for (uint32_t i = 0; i < l->bits[IN_CTA]; i++) map.cta[i] = l->basis[IN_CTA][i];
    return simt_map(s, &map);
}

uint32_t layout_register_index(const Layout *l, uint32_t reg) {
    Owner o = {{0}};
    o.at[IN_REGISTER] = reg;
    return layout_apply(l, o);
}

uint32_t layout_thread_bits(const Layout *l) {
    uint32_t bits = 0;
    for (uint32_t d = IN_LANE; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) bits |= l->basis[d][i];
    return bits;
}

bool layout_adds(const Layout *l) {
    uint32_t registers = 0;
    for (uint32_t i = 0; i < l->bits[IN_REGISTER]; i++) registers |= l->basis[IN_REGISTER][i];
    return !(registers & layout_thread_bits(l));
}

uint32_t layout_thread_most(const Layout *l) {
    uint32_t bits = 0;
    for (InDim d = IN_LANE; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) bits |= l->basis[d][i];
    return bits;
}

static OwnerTest owner_of(const Simt *s, const Layout *l) {
    OwnerTest test = {UINT32_MAX, UINT32_MAX, NULL};
    if (l) {
        test.thread = layout_free(l, IN_LANE) | layout_free(l, IN_WARP) << l->bits[IN_LANE];
        test.cta = layout_free(l, IN_CTA);
    }
    if (s->f->blocks_per_program <= 1) test.cta = 0;
    return test;
}

static V test_owner(Simt *s, OwnerTest test) {
    for (uint32_t i = 0; i < s->tests.len; i++)
        if (s->tests.at[i].thread == test.thread && s->tests.at[i].cta == test.cta) return s->tests.at[i].value;
    V tid = test.thread ? simt_tid(s) : NULL, cta = test.cta ? simt_cta_rank(s) : NULL;
    Away a = enter(s);
    test.value = llvm_int(s->m->i1, 1);
    if (tid) {
        V bits = test.thread == UINT32_MAX ? tid : LLVMBuildAnd(s->m->at, tid, simt_i32(s, test.thread), "");
        V owner = simt_i32(s, plant(PLANT_NO_OWNER) ? -1 : 0);
        test.value = LLVMBuildICmp(s->m->at, LLVMIntEQ, bits, owner, "");
    }
    if (cta) {
        V bits = LLVMBuildAnd(s->m->at, cta, simt_i32(s, test.cta), "");
        V is_zero = LLVMBuildICmp(s->m->at, LLVMIntEQ, bits, simt_i32(s, 0), "");
        test.value = LLVMBuildAnd(s->m->at, test.value, is_zero, "");
    }
    leave(s, a);
    vec_push(s->m->o->arena, &s->tests, test);
    return test.value;
}

V simt_owner(Simt *s, const Layout *l) {
    return test_owner(s, owner_of(s, l));
}

V simt_owner_among(Simt *s, const Layout *l, uint32_t threads) {
    OwnerTest test = owner_of(s, l);
    test.thread &= ~threads;
    return test_owner(s, test);
}

V simt_owner_in_block(Simt *s, const Layout *l) {
    OwnerTest test = owner_of(s, l);
    test.cta = 0;
    return test_owner(s, test);
}

V simt_program(Simt *s, uint32_t axis, bool count) {
    static const Prim index[] = {PRIM_CTAID_X, PRIM_CTAID_Y, PRIM_CTAID_Z};
    static const Prim counts[] = {PRIM_NCTAID_X, PRIM_NCTAID_Y, PRIM_NCTAID_Z};
    if (axis > 2) bug("program axis %u", axis);
    if (plant(PLANT_SWAP_AXES) && axis) axis ^= 3;
    if (axis == 0 && s->program) return count ? s->grid : s->program;
    V v = prim_call(s, count ? counts[axis] : index[axis], NULL, 0);
    if (axis == 0 && s->f->blocks_per_program > 1)
        v = LLVMBuildUDiv(s->m->at, v, simt_i32(s, s->f->blocks_per_program), "");
    return v;
}

/* index = block * programs in a block + this thread's one; a launch may have chosen fewer than programs_per_block. */
void simt_begin_packed(Simt *s) {
    LLVMBuilderRef at = s->m->at;
    V log2 = simt_i32(s, __builtin_ctz(s->f->threads_per_program));
    V packed = LLVMBuildLShr(at, prim_call(s, PRIM_NTID, NULL, 0), log2, "");
    V first = LLVMBuildMul(at, prim_call(s, PRIM_CTAID_X, NULL, 0), packed, "");
    s->program = LLVMBuildAdd(at, first, LLVMBuildLShr(at, prim_call(s, PRIM_TID, NULL, 0), log2, ""), "program");
    LLVMBasicBlockRef beyond = simt_new_block(s, "beyond"), inside = simt_new_block(s, "inside");
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntULT, s->program, s->grid, ""), inside, beyond);
    LLVMPositionBuilderAtEnd(at, beyond);
    LLVMBuildRetVoid(at);
    LLVMPositionBuilderAtEnd(at, inside);
}
