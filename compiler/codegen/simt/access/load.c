/* load.c - loads of global memory.
 *
 * In: a load op. Out: predicated accesses of up to 16 bytes.
 * Method: every vector that lies wholly inside its mask moves as one access, all issued back to back. If a mask may cut
 * a vector, one block for the whole op moves the partial vectors; it is entered only if there is one. Rows with another
 * misalignment have a block, or a version, of their own: there the aligned words are loaded that each vector lies
 * across, as far as all are the row's.
 */
#include "codegen/simt/access/move.h"

#include <string.h>

void load_whole(Simt *s, const Move *mv, uint32_t v, V *words) {
    V args[8] = {whole_address(s, mv, v), mv->all[v]};
    Access a = mv->whole;
    others_pack(s, mv, v, words);
    memcpy(args + 2, words, a.words * sizeof *args);
    if (is_false(mv->all[v])) return;
    simt_at(s, v * mv->n, mv->n);
    args[2 + a.words] = mv->policy;
    args[3 + a.words] = mv->site;
    V r = prim_access(s, PRIM_LOAD_GLOBAL, a, args, 4 + a.words);
    for (uint32_t i = 0; i < a.words; i++) words[i] = access_result(s, a, r, i);
    simt_at(s, 0, 0);
}

/* The elements of vector v: one predicated load each, over `old`. */
static void load_single(Simt *s, const Move *mv, const V *which, uint32_t v, const V *old, V *elements) {
    for (uint32_t e = 0; e < mv->n; e++) {
        simt_at(s, v * mv->n + e, 1);
        V mask = single_mask(s, mv, which, v, e);
        elements[e] = mask ? load_element(s, mv, element_address(s, mv, v, e), mask, old[e]) : old[e];
    }
}

enum { FEW = 4 };

/* A few vectors are loaded beside what the whole loads left, so as not to wait for these; many over it,
 * to save registers. */
void load_slow(Simt *s, const Move *mv, const V *which, V *words) {
    if (move_has_edges(mv)) {
        load_edges(s, mv, which, words);
        return;
    }
    uint32_t w = mv->whole.words;
    bool beside = (which == mv->partial || which == mv->misaligned) && count_single(mv, which) <= FEW;
    Aside aside = aside_open(s, mv, which);
    V *elements = NEW_ARRAY(s->m->o->arena, V, mv->vectors * mv->n),
      *packed = NEW_ARRAY(s->m->o->arena, V, mv->vectors * w);
    for (uint32_t v = 0; v < mv->vectors; v++) {
        V old[16];
        if (!move_single(mv, which, v)) continue;
        if (!beside) elements_unpack(s, mv->d, words + v * w, mv->whole, old, mv->n);
        for (uint32_t e = 0; e < mv->n && beside; e++) old[e] = other_slot(s, mv, v * mv->n + e);
        load_single(s, mv, which, v, old, elements + v * mv->n);
    }
    simt_at(s, 0, 0);
    for (uint32_t v = 0; v < mv->vectors; v++) {
        if (!move_single(mv, which, v)) continue;
        elements_pack(s, mv->d, elements + v * mv->n, mv->n, mv->whole, packed + v * w);
        for (uint32_t i = v * w; i < (v + 1) * w && beside; i++)
            packed[i] = LLVMBuildSelect(s->m->at, which[v], packed[i], words[i], "");
    }
    aside_close(s, aside, words, packed, mv->vectors * w);
}

/* ---- Rows that begin otherwise: the words that a vector lies across ---------------------------------------------- */

bool move_crosses(const Move *mv) {
    return mv->place && mv->is_row && !mv->op->attr.mem.is_volatile && mv->whole.bits == 32 && mv->whole.words == 4 &&
           !plant(PLANT_EQUAL_ROTATIONS);
}

/* Elements of a word beside one. */
static int64_t neighbours(const Move *mv) {
    return 4 / (int64_t)type_bytes(type_scalar(mv->d)) - 1;
}

V across_inside(Simt *s, const Move *mv, uint32_t v) {
    int64_t beside = neighbours(mv), size = (int64_t)shape_elements(mv->layout->shape),
            all = plant(PLANT_ACROSS_END) ? 0 : mv->n + beside;
    V inside = known_within(s, beside, mv->place, v * mv->n, all, size, mv->end); /* one that wraps goes beyond size */
    return known_and(s, mv->misaligned[v], inside);
}

void begin_across(Simt *s, const Move *mv, uint32_t v, V beyond, V mask, V w[5]) {
    LLVMBuilderRef at = s->m->at;
    Slot slot = mv->ptr->at[v * mv->n];
    V zero = simt_i32(s, 0), start = slot.base, is_odd = NULL;
    simt_at(s, v * mv->n, mv->n);
    if (neighbours(mv)) {
        V back = LLVMBuildAnd(at, beyond, simt_i32(s, 3), "");
        is_odd = known_and(s, mask, LLVMBuildICmp(at, LLVMIntNE, back, zero, ""));
        if (plant(PLANT_LATE_ALIGNED)) is_odd = llvm_int(s->m->i1, 0);
        start = LLVMBuildSub(at, start, LLVMBuildZExt(at, back, s->m->i64, ""), "");
    }
    for (uint32_t i = 0; i < (is_odd ? 5 : 4); i++) {
        V from = LLVMBuildAdd(at, start, llvm_int(s->m->i64, slot.offset + 4 * (int64_t)i), "");
        V args[] = {from, i < 4 ? mask : is_odd, zero, mv->policy, mv->site};
        w[i] = prim_access(s, PRIM_LOAD_GLOBAL, (Access){1, 32}, args, 5);
    }
    simt_at(s, 0, 0);
}

void end_across(Simt *s, const Move *mv, V beyond, V mask, V w[5], V *words) {
    LLVMBuilderRef at = s->m->at;
    V bits = LLVMBuildShl(at, LLVMBuildAnd(at, beyond, simt_i32(s, 3), ""), simt_i32(s, 3), "");
    for (uint32_t i = 0; i < 4; i++) {
        V word = neighbours(mv) ? llvm_ternary(s->m, "llvm.fshr", w[i + 1], w[i], bits) : w[i];
        bool is_zero = LLVMIsConstant(words[i]) && LLVMIsNull(words[i]); /* as what a load that does not happen gives */
        words[i] = is_zero ? word : LLVMBuildSelect(at, mask, word, words[i], "");
    }
}

/* Vectors under way at once when `done` have come: two, as long as their 5 words each, 4 once put together, are
 * together little more than all the vectors. The next ones' addresses wait for these, or ptxas would load all. */
static uint32_t under_way(const Move *mv, uint32_t done) {
    return done + 3 < mv->vectors ? 2 : 1;
}

/* Of rows that begin otherwise: a vector whose words are all its row's takes those,
 * what is left goes element by element. */
static void load_misaligned(Simt *s, const Move *mv, V *words) {
    V last = tile_slot(s, mv->ptr, (mv->vectors - 1) * mv->n);
    Aside aside = aside_open(s, mv, mv->misaligned);
    V *rest = NEW_ARRAY(s->m->o->arena, V, mv->vectors), *own = NEW_ARRAY(s->m->o->arena, V, mv->vectors * 4);
    V rotation = LLVMBuildAnd(s->m->at, LLVMBuildTrunc(s->m->at, last, s->m->i32, ""), simt_i32(s, 15), ""),
      beyond = rotation;
    V zero = prim_call(s, PRIM_ZERO, NULL, 0), got = NULL;
    for (uint32_t v = 0, moved = 0, wait = under_way(mv, 0); v < mv->vectors; v++) {
        V inside = across_inside(s, mv, v), w[5];
        rest[v] = known_and(s, mv->misaligned[v], known_not(s, inside));
        memcpy(own + 4 * v, words + 4 * v, 4 * sizeof *own);
        if (!move_single(mv, mv->misaligned, v) || is_false(inside)) continue;
        begin_across(s, mv, v, beyond, inside, w);
        end_across(s, mv, beyond, inside, w, own + 4 * v);
        for (uint32_t i = 0; i < 4; i++) got = got ? LLVMBuildOr(s->m->at, got, own[4 * v + i], "") : own[4 * v + i];
        if (++moved < wait) continue;
        wait = moved + under_way(mv, moved);
        beyond = LLVMBuildOr(s->m->at, rotation, LLVMBuildAnd(s->m->at, got, zero, ""), "");
        got = NULL;
    }
    if (count_single(mv, rest)) load_slow(s, mv, rest, own);
    aside_close(s, aside, words, own, mv->vectors * 4);
}

static void load_whole_vectors(Simt *s, const Move *mv, V *words) {
    for (uint32_t i = 0; i < mv->vectors; i++) load_whole(s, mv, i, words + i * mv->whole.words);
}

static void load_otherwise(Simt *s, const Move *mv, V *words) {
    if (mv->may_be_misaligned && move_crosses(mv) && mv->n > 4) load_misaligned(s, mv, words);
    else if (mv->may_be_misaligned) load_slow(s, mv, mv->misaligned, words);
}

static void load_partial(Simt *s, const Move *mv, V *words) {
    if (mv->may_be_partial) load_slow(s, mv, mv->partial, words);
}

/* What a mask cuts, and rows with another misalignment. */
static void load_parts(Simt *s, const Move *mv, V *words) {
    load_partial(s, mv, words);
    load_otherwise(s, mv, words);
}

/* An arm for rows that begin as the rotation has it, and one for others. */
static void load_arms(Simt *s, const Move *mv, V *words) {
    uint32_t w = mv->whole.words, n = mv->vectors * w;
    LLVMBasicBlockRef alike = simt_new_block(s, "alike"), other = simt_new_block(s, "misaligned"),
                      done = simt_new_block(s, "whole");
    LLVMBuildCondBr(s->m->at, mv->aligned, alike, other);
    LLVMPositionBuilderAtEnd(s->m->at, other);
    V *misaligned = NEW_ARRAY(s->m->o->arena, V, n);
    for (uint32_t v = 0; v < mv->vectors; v++) others_pack(s, mv, v, misaligned + v * w);
    load_otherwise(s, mv, misaligned);
    LLVMBasicBlockRef other_end = LLVMGetInsertBlock(s->m->at);
    LLVMBuildBr(s->m->at, done);
    LLVMPositionBuilderAtEnd(s->m->at, alike);
    load_whole_vectors(s, mv, words);
    load_partial(s, mv, words);
    LLVMBasicBlockRef alike_end = LLVMGetInsertBlock(s->m->at);
    LLVMBuildBr(s->m->at, done);
    LLVMPositionBuilderAtEnd(s->m->at, done);
    join_words(s, words, alike_end, misaligned, other_end, n);
}

/* The tile of what was loaded. */
static void load_close(Simt *s, const Move *mv, V *words) {
    const Op *op = mv->op;
    uint32_t w = mv->whole.words;
    bool is_packed = mv->whole.bits == 32;
    Value *v = op->results[0];
    Tile r = tile_create(s, tile_registers(v));
    if (is_packed && op->attr.when) {
        s->values[v->id] = tile_packed(s, op, r.n, words, mv->n / w, NULL);
        return;
    }
    for (uint32_t i = 0; i < mv->vectors; i++) {
        V elements[16];
        simt_at(s, i * mv->n, mv->n);
        elements_unpack(s, mv->d, words + i * w, mv->whole, elements, mv->n);
        for (uint32_t e = 0; e < mv->n; e++) r.at[i * mv->n + e].base = elements[e];
    }
    r.words = is_packed ? words : NULL;
    s->values[v->id] = r;
}

/* ---- Loads that end at their first user -------------------------------------------------------------------------- */

/* A load whose whole vectors are under way. */
typedef struct Late {
    Move mv;
    V *words;
    const Op *until;
    struct Late *next;
} Late;

void simt_load_late(Simt *s, const Op *op) {
    for (Late **at = &s->late; *at;) {
        Late *l = *at;
        if (l->until != op) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        simt_at_op(s, l->mv.op);
        load_parts(s, &l->mv, l->words);
        load_close(s, &l->mv, l->words);
    }
}

static void load_later(Simt *s, const Move *mv, V *words, const Op *until) {
    Late *l = NEW(s->m->o->arena, Late);
    *l = (Late){*mv, words, until, s->late};
    s->late = l;
}

void simt_load(Simt *s, const Op *op) {
    Move mv = move_open(s, op, op->results[0], false);
    V *words = NEW_ARRAY(s->m->o->arena, V, mv.vectors * mv.whole.words);
    const Op *until = op->attr.mem.is_late && !mv.has_arms && !s->records ? load_until(op) : NULL;
    if (mv.has_arms) load_arms(s, &mv, words);
    else load_whole_vectors(s, &mv, words);
    if (until) {
        load_later(s, &mv, words, until);
        return;
    }
    if (!mv.has_arms) load_parts(s, &mv, words);
    load_close(s, &mv, words);
}
