/* memory.c - loads and stores of global memory.
 *
 * In: pointer tiles whose vectors of 2^vec_log2 registers are consecutive elements, and masks of a known kind. Out:
 * predicated accesses of up to 16 bytes.
 * Method: every vector that is wholly inside its mask moves as one access, all issued back to back. Where a mask may cut
 * a vector, one block for the whole op, entered only if some vector is cut, moves the cut vectors element by element.
 * Vectors that are known to lie outside do not move, those known to lie inside have no predicate (known.c).
 */
#include "codegen/simt/simt.h"

/* One load or store taken apart. */
typedef struct Move {
    const Op *op;
    DType d;    /* of the elements */
    uint32_t n; /* elements per vector */
    uint32_t vectors;
    uint32_t free_registers;                /* of a store: registers that replicate others */
    Access whole, single;                   /* of a vector, of one element */
    const Tile *ptr, *mask, *other, *value; /* NULL where there is none */
    V owner;                                /* of a store */
    V *all, *cut;                           /* per vector: move it whole; move it element by element */
    bool may_cut;
    V policy, site;
} Move;

/* Predicates of vector v from its mask lanes. */
static void move_masks(Simt *s, Move *mv, uint32_t v) {
    uint32_t first = (plant(PLANT_SWAP_MASK) && v ? v - 1 : v) * mv->n, last = first + mv->n - 1;
    MaskKind kind = mv->mask ? (MaskKind)mv->op->attr.mem.mask_kind : MASK_NONE;
    V all = llvm_int(s->m->i1, 1), some = all;
    if (kind != MASK_NONE) all = some = tile_lane(s, mv->mask, first);
    if (kind == MASK_PREFIX) all = tile_lane(s, mv->mask, last);
    for (uint32_t r = first + 1; r <= last && kind == MASK_ANY; r++) {
        V x = tile_lane(s, mv->mask, r);
        all = known_and(s, all, x);
        some = known_or(s, some, x);
    }
    V cut = known_and(s, some, known_not(s, all));
    mv->all[v] = mv->owner ? known_and(s, mv->owner, all) : all;
    mv->cut[v] = mv->owner ? known_and(s, mv->owner, cut) : cut;
}

static bool is_false(V x) {
    bool truth;
    return known_truth(x, &truth) && !truth;
}

/* Of a store: another register has these elements. */
static bool move_skips(const Move *mv, uint32_t v) {
    return mv->free_registers & (v * mv->n);
}

/* May vector v move element by element? Bounds mostly say that only few can. */
static bool move_cuts(const Move *mv, uint32_t v) {
    return !move_skips(mv, v) && !is_false(mv->cut[v]);
}

static Move move_open(Simt *s, const Op *op, const Value *element, bool is_store) {
    const Value *p = op->args[0];
    const Layout *l = value_is_tile(p) ? p->type.layout : NULL;
    uint32_t extra = is_store ? 1 : 0;
    Move mv = {.op = op, .d = element->type.dtype};
    mv.n = UINT32_C(1) << op->attr.mem.vec_log2;
    mv.ptr = tile_of(s, p);
    if (mv.n > mv.ptr->n) bug("%s: a vector of %u in %u registers", op_info[op->kind].name, mv.n, mv.ptr->n);
    mv.vectors = mv.ptr->n / mv.n;
    uint32_t bytes = type_bytes(type_scalar(mv.d));
    mv.whole = access_of(bytes, mv.n);
    mv.single = access_of(bytes, 1);
    mv.value = is_store ? tile_of(s, op->args[1]) : NULL;
    mv.mask = op->nargs > 1 + extra ? tile_of(s, op->args[1 + extra]) : NULL;
    mv.other = !is_store && op->nargs > 2 ? tile_of(s, op->args[2]) : NULL;
    mv.owner = is_store ? simt_owner(s, l) : NULL;
    if (is_store && l) mv.free_registers = layout_free(l, IN_REGISTER);
    MaskKind kind = mv.mask ? (MaskKind)op->attr.mem.mask_kind : MASK_NONE;
    if (mv.mask && kind == MASK_NONE) bug("%s: a mask of no kind", op_info[op->kind].name);
    mv.may_cut = mv.n > 1 && (kind == MASK_ANY || kind == MASK_PREFIX) && !plant(PLANT_CUT_VECTOR);
    mv.policy = simt_i32(s, policy_pack(&op->attr.mem));
    mv.site = simt_site(s);
    mv.all = NEW_ARRAY(s->m->o->arena, V, mv.vectors);
    mv.cut = NEW_ARRAY(s->m->o->arena, V, mv.vectors);
    bool any = false;
    for (uint32_t v = 0; v < mv.vectors; v++) {
        move_masks(s, &mv, v);
        any |= move_cuts(&mv, v);
    }
    mv.may_cut &= any;
    return mv;
}

/* A branch to a new block if any vector is cut; the builder then stands in it. Gives the block to go on in. */
static LLVMBasicBlockRef open_slow(Simt *s, const Move *mv) {
    V any = NULL;
    for (uint32_t v = 0; v < mv->vectors; v++)
        if (move_cuts(mv, v)) any = any ? known_or(s, any, mv->cut[v]) : mv->cut[v];
    LLVMBasicBlockRef slow = simt_new_block(s, "cut"), done = simt_new_block(s, "whole");
    LLVMBuildCondBr(s->m->at, any, slow, done);
    LLVMPositionBuilderAtEnd(s->m->at, slow);
    return done;
}

/* Does element e of a cut vector move? A cut prefix always has its first element and never its last. NULL: never. */
static V cut_mask(Simt *s, const Move *mv, uint32_t v, uint32_t e) {
    bool is_prefix = mv->op->attr.mem.mask_kind == MASK_PREFIX;
    if (is_prefix && e == mv->n - 1) return NULL;
    return is_prefix && e == 0 ? mv->cut[v] : known_and(s, mv->cut[v], tile_lane(s, mv->mask, v * mv->n + e));
}

static V element_address(Simt *s, const Move *mv, uint32_t v, uint32_t e) {
    V address = tile_lane(s, mv->ptr, v * mv->n);
    int64_t bytes = (int64_t)type_bytes(type_scalar(mv->d)) * e;
    return bytes ? LLVMBuildAdd(s->m->at, address, llvm_int(s->m->i64, bytes), "") : address;
}

/* ---- Loads --------------------------------------------------------------------------------------------------------------- */

static V other_lane(Simt *s, const Move *mv, uint32_t reg) {
    return mv->other && !plant(PLANT_LOST_OTHER) ? tile_lane(s, mv->other, reg) : LLVMConstNull(lane_type(s, mv->d));
}

static void load_whole(Simt *s, const Move *mv, uint32_t v, V *words) {
    V args[8] = {element_address(s, mv, v, 0), mv->all[v]}, others[16];
    Access a = mv->whole;
    for (uint32_t i = 0; i < mv->n; i++) others[i] = other_lane(s, mv, v * mv->n + i);
    elements_pack(s, mv->d, others, mv->n, a, args + 2);
    for (uint32_t i = 0; i < a.words; i++) words[i] = args[2 + i];
    if (is_false(mv->all[v])) return;
    args[2 + a.words] = mv->policy;
    args[3 + a.words] = mv->site;
    V r = prim_access(s, PRIM_LOAD_GLOBAL, a, args, 4 + a.words);
    for (uint32_t i = 0; i < a.words; i++) words[i] = access_result(s, a, r, i);
}

/* The elements of a cut vector: one predicated load each, over what the whole load left. */
static void load_cut(Simt *s, const Move *mv, uint32_t v, const V *words, V *elements) {
    V old[16];
    elements_unpack(s, mv->d, words, mv->whole, old, mv->n);
    for (uint32_t e = 0; e < mv->n; e++) {
        V mask = cut_mask(s, mv, v, e);
        elements[e] = old[e];
        if (!mask || is_false(mask)) continue;
        V args[] = {element_address(s, mv, v, e), mask, element_bits(s, mv->d, old[e]), mv->policy, mv->site};
        elements[e] = element_from_bits(s, mv->d, prim_access(s, PRIM_LOAD_GLOBAL, mv->single, args, 5));
    }
}

static void load_slow(Simt *s, const Move *mv, V *words) {
    Arena *arena = s->m->o->arena;
    uint32_t w = mv->whole.words;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(s->m->at), done = open_slow(s, mv), slow = LLVMGetInsertBlock(s->m->at);
    V *elements = NEW_ARRAY(arena, V, mv->vectors * mv->n), *packed = NEW_ARRAY(arena, V, mv->vectors * w);
    for (uint32_t v = 0; v < mv->vectors; v++)
        if (move_cuts(mv, v)) load_cut(s, mv, v, words + v * w, elements + v * mv->n);
    for (uint32_t v = 0; v < mv->vectors; v++)
        if (move_cuts(mv, v)) elements_pack(s, mv->d, elements + v * mv->n, mv->n, mv->whole, packed + v * w);
    LLVMBuildBr(s->m->at, done);
    LLVMPositionBuilderAtEnd(s->m->at, done);
    for (uint32_t i = 0; i < mv->vectors * w; i++) {
        if (!move_cuts(mv, i / w)) continue;
        V phi = LLVMBuildPhi(s->m->at, LLVMTypeOf(words[i]), "");
        LLVMAddIncoming(phi, (V[]){words[i], packed[i]}, (LLVMBasicBlockRef[]){from, slow}, 2);
        words[i] = phi;
    }
}

void simt_load(Simt *s, const Op *op) {
    Value *v = op->results[0];
    Move mv = move_open(s, op, v, false);
    Tile r = tile_create(s, tile_registers(v));
    uint32_t w = mv.whole.words;
    V *words = NEW_ARRAY(s->m->o->arena, V, mv.vectors * w);
    for (uint32_t i = 0; i < mv.vectors; i++) load_whole(s, &mv, i, words + i * w);
    if (mv.may_cut) load_slow(s, &mv, words);
    for (uint32_t i = 0; i < mv.vectors; i++) {
        V elements[16];
        elements_unpack(s, mv.d, words + i * w, mv.whole, elements, mv.n);
        for (uint32_t e = 0; e < mv.n; e++) r.at[i * mv.n + e].base = elements[e];
    }
    s->values[v->id] = r;
}

/* ---- Stores --------------------------------------------------------------------------------------------------------------- */

static void store_whole(Simt *s, const Move *mv, uint32_t v) {
    V args[8] = {element_address(s, mv, v, 0), mv->all[v]}, elements[16];
    Access a = mv->whole;
    for (uint32_t e = 0; e < mv->n; e++) elements[e] = tile_lane(s, mv->value, v * mv->n + e);
    elements_pack(s, mv->d, elements, mv->n, a, args + 2);
    args[2 + a.words] = mv->policy;
    args[3 + a.words] = mv->site;
    prim_access(s, PRIM_STORE_GLOBAL, a, args, 4 + a.words);
}

static void store_cut(Simt *s, const Move *mv, uint32_t v) {
    for (uint32_t e = 0; e < mv->n; e++) {
        uint32_t reg = v * mv->n + e;
        V mask = cut_mask(s, mv, v, e);
        if (!mask || is_false(mask)) continue;
        V bits = element_bits(s, mv->d, tile_lane(s, mv->value, reg));
        V args[] = {element_address(s, mv, v, e), mask, bits, mv->policy, mv->site};
        prim_access(s, PRIM_STORE_GLOBAL, mv->single, args, 5);
    }
}

void simt_store(Simt *s, const Op *op) {
    Move mv = move_open(s, op, op->args[1], true);
    for (uint32_t v = 0; v < mv.vectors; v++)
        if (!move_skips(&mv, v) && !is_false(mv.all[v])) store_whole(s, &mv, v);
    if (!mv.may_cut) return;
    LLVMBasicBlockRef done = open_slow(s, &mv);
    for (uint32_t v = 0; v < mv.vectors; v++)
        if (move_cuts(&mv, v)) store_cut(s, &mv, v);
    LLVMBuildBr(s->m->at, done);
    LLVMPositionBuilderAtEnd(s->m->at, done);
}
