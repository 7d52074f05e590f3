/* move.c - a load or store of global memory taken apart into vectors.
 *
 * In: pointer tiles whose vectors of 2^vec_log2 registers are consecutive elements, and masks of a known kind. Out: for
 * each vector, whether it moves whole, by parts, or not at all; the block in which parts move.
 * Method: a vector that bounds show to be outside does not move; one that is inside has no predicate (known.c). Rotated
 * rows (passes/distribute/rotate.c): a vector that wraps is partial, and rows may have another misalignment.
 */
#include "codegen/simt/access/move.h"

/* May vector v hold what lies before the row? Then a mask cuts it there, too. */
bool move_begins(const Move *mv, uint32_t v) {
    return mv->is_rotated &&
           (!layout_adds(mv->layout) || layout_register_index(mv->layout, v * mv->n) <= MOST_ROTATION);
}

/* May a rotation have brought the row's end there? Then its addresses are no run. */
bool move_wraps(const Move *mv, uint32_t v) {
    return move_begins(mv, v) && mv->ptr->at[v * mv->n].is_apart;
}

bool move_folds(const Move *mv, uint32_t v) {
    return mv->place && mv->home < mv->vectors && move_begins(mv, v) && mv->rotated->at[v * mv->n].is_apart &&
           !plant(PLANT_ROTATED_RUN);
}

Fold move_fold(Simt *s, const Move *mv, uint32_t v) {
    uint32_t u = mv->home * mv->n;
    int64_t part = layout_register_index(mv->layout, v * mv->n),
            apart = part - (int64_t)layout_register_index(mv->layout, u);
    Slot beyond = mv->rotated->at[u], place = mv->place->at[u], address = mv->ptr->at[u];
    beyond.offset = part;
    place.offset += apart;
    address.offset += apart * type_bytes(type_scalar(mv->d));
    return (Fold){slot_value(s, beyond), slot_value(s, place), slot_value(s, address)};
}

/* Is vector v a run of elements? */
static V move_is_run(Simt *s, const Move *mv, uint32_t v) {
    if (!move_wraps(mv, v) || plant(PLANT_ROTATED_RUN)) return llvm_int(s->m->i1, 1);
    uint32_t first = v * mv->n, bytes = type_bytes(type_scalar(mv->d)) * (mv->n - 1);
    V length = LLVMBuildSub(s->m->at, tile_slot(s, mv->ptr, first + mv->n - 1), tile_slot(s, mv->ptr, first), "");
    return LLVMBuildICmp(s->m->at, LLVMIntEQ, length, llvm_int(s->m->i64, bytes), "");
}

/* Whole vectors of rotated rows are as far from a multiple of their size as any other. */
static V move_aligned(Simt *s, const Move *mv) {
    uint32_t bytes = type_bytes(type_scalar(mv->d)) * mv->n;
    bool known = !mv->is_rotated || plant(PLANT_EQUAL_ROTATIONS) || UINT32_C(1) << mv->op->attr.mem.align_log2 >= bytes;
    if (known) return llvm_int(s->m->i1, 1);
    V last = tile_slot(s, mv->ptr, (mv->vectors - 1) * mv->n);
    V beyond = LLVMBuildAnd(s->m->at, last, llvm_int(s->m->i64, bytes - 1), "");
    return LLVMBuildICmp(s->m->at, LLVMIntEQ, beyond, llvm_int(s->m->i64, 0), "");
}

/* Of a vector that may wrap: whole where it does not, partial where it does or the row's end is in it. */
static void fold_masks(Simt *s, const Move *mv, uint32_t v, V *all, V *some) {
    Fold f = move_fold(s, mv, v);
    V end = tile_slot(s, mv->end, v * mv->n), last = LLVMBuildAdd(s->m->at, f.place, simt_i32(s, mv->n - 1), "");
    V is_run = LLVMBuildICmp(s->m->at, LLVMIntSGE, f.beyond, simt_i32(s, 0), "");
    *all = known_and(s, is_run, LLVMBuildICmp(s->m->at, LLVMIntSLT, last, end, ""));
    *some = known_or(s, known_not(s, is_run), LLVMBuildICmp(s->m->at, LLVMIntSLT, f.place, end, ""));
}

/* Predicates of vector v from its mask's slots. */
void move_masks(Simt *s, Move *mv, uint32_t v) {
    uint32_t first = (plant(PLANT_SWAP_MASK) && v ? v - 1 : v) * mv->n, last = first + mv->n - 1;
    MaskKind kind = mv->mask ? (MaskKind)mv->op->attr.mem.mask_kind : MASK_NONE;
    V all = llvm_int(s->m->i1, 1), some = all;
    if (kind != MASK_NONE) all = some = tile_slot(s, mv->mask, first);
    if (kind == MASK_PREFIX) all = tile_slot(s, mv->mask, last);
    if (kind == MASK_PREFIX && move_begins(mv, v)) {
        all = known_and(s, all, some);
        some = llvm_int(s->m->i1, 1);
    }
    if (kind == MASK_ANY) {
        all = known_all(s, mv->mask_value, first, mv->n);
        some = known_some(s, mv->mask_value, first, mv->n);
    }
    if (move_folds(mv, v)) fold_masks(s, mv, v, &all, &some);
    else all = known_and(s, all, move_is_run(s, mv, v));
    V owner = mv->owner ? mv->owner : llvm_int(s->m->i1, 1), partial = llvm_int(s->m->i1, 0);
    if (some != all) partial = known_and(s, owner, known_and(s, some, known_not(s, all)));
    V yes = llvm_int(s->m->i1, 1), aligned = mv->has_arms ? yes : mv->aligned,
      other = mv->has_arms ? yes : known_not(s, mv->aligned);
    mv->misaligned[v] = known_and(s, known_and(s, owner, some), other);
    mv->partial[v] = known_and(s, partial, aligned);
    mv->all[v] = known_and(s, known_and(s, owner, all), aligned);
}

/* Of a store: another register has these elements. */
bool move_skips(const Move *mv, uint32_t v) {
    return mv->free_registers & (v * mv->n);
}

/* May vector v move element by element under `which` (mv's partial or misaligned)? Bounds mostly say that only few are
 * partial. */
bool move_single(const Move *mv, const V *which, uint32_t v) {
    return !move_skips(mv, v) && !is_false(which[v]);
}

uint32_t count_single(const Move *mv, const V *which) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < mv->vectors; v++) n += move_single(mv, which, v);
    return n;
}

static bool is_rotated(const Value *v) {
    return v->def && (v->def->kind == OP_ROTATED || v->def->kind == OP_MOVED);
}

/* The rotated places behind v, themselves or one number beyond them; else NULL. */
static const Value *index_of(const Value *v, const Value **rotated) {
    while (v->def && v->def->kind == OP_SEXT) v = v->def->args[0];
    const Op *add = v->def && v->def->kind == OP_ADD ? v->def : NULL;
    bool is_beyond = add && is_rotated(add->args[0]) && add->args[1]->def && add->args[1]->def->kind == OP_SPLAT;
    *rotated = is_beyond ? add->args[0] : v;
    return (is_rotated(v) || is_beyond) && v->type.dtype == DT_I32 ? v : NULL;
}

/* A vector whose places are base + constant, as those of one that wraps are not. */
static uint32_t find_home(const Move *mv) {
    uint32_t v = layout_adds(mv->layout) ? 0 : mv->vectors;
    while (v < mv->vectors && (mv->rotated->at[v * mv->n].is_apart || mv->ptr->at[v * mv->n].is_apart)) v++;
    return v;
}

/* Finds `place` and `end`: a row's mask compares the former with the latter. */
static void find_row(Simt *s, Move *mv, const Value *mask) {
    const Op *by = mask ? mask->def : NULL;
    bool is_below = mv->is_rotated && by && by->kind == OP_ICMP && mv->op->attr.mem.mask_kind == MASK_PREFIX &&
                    (by->attr.pred == PRED_SLT || by->attr.pred == PRED_ULT);
    const Value *rotated = NULL,
                *index = is_below && by->args[1]->type.dtype == DT_I32 ? index_of(by->args[0], &rotated) : NULL;
    if (!index) return;
    mv->is_row = index == rotated;
    mv->place = tile_of(s, index);
    mv->rotated = tile_of(s, rotated);
    mv->end = tile_of(s, by->args[1]);
    mv->home = find_home(mv);
}

Move move_open(Simt *s, const Op *op, const Value *element, bool is_store) {
    const Value *p = op->args[0];
    const Layout *l = value_is_tile(p) ? p->type.layout : NULL;
    uint32_t extra = is_store ? 1 : 0;
    Move mv = {.op = op, .d = element->type.dtype, .is_rotated = op->attr.mem.is_rotated, .layout = l};
    mv.n = UINT32_C(1) << op->attr.mem.vec_log2;
    mv.ptr = tile_of(s, p);
    if (mv.n > mv.ptr->n) bug("%s: a vector of %u in %u registers", op_info[op->kind].name, mv.n, mv.ptr->n);
    mv.vectors = mv.ptr->n / mv.n;
    uint32_t bytes = type_bytes(type_scalar(mv.d));
    mv.whole = access_of(bytes, mv.n);
    mv.single = access_of(bytes, 1);
    mv.value = is_store ? tile_on_demand(s, op->args[1]) : NULL;
    mv.mask_value = op->nargs > 1 + extra ? op->args[1 + extra] : NULL;
    mv.mask = mv.mask_value ? tile_of(s, mv.mask_value) : NULL;
    find_row(s, &mv, mv.mask_value);
    mv.other = !is_store && op->nargs > 2 ? tile_of(s, op->args[2]) : NULL;
    mv.owner = is_store ? simt_owner(s, l) : NULL;
    if (is_store && l) mv.free_registers = layout_free(l, IN_REGISTER);
    MaskKind kind = mv.mask ? (MaskKind)op->attr.mem.mask_kind : MASK_NONE;
    if (mv.mask && kind == MASK_NONE) bug("%s: a mask of no kind", op_info[op->kind].name);
    mv.may_be_partial =
        mv.n > 1 && (kind == MASK_ANY || kind == MASK_PREFIX || mv.is_rotated) && !plant(PLANT_PARTIAL_VECTOR);
    mv.aligned = move_aligned(s, &mv);
    mv.has_arms = mv.may_be_partial && op->attr.mem.is_versioned && !LLVMIsConstant(mv.aligned);
    mv.policy = simt_i32(s, policy_pack(&op->attr.mem));
    mv.site = simt_site(s);
    if (is_store) mv.words = NEW_ARRAY(s->m->o->arena, V, mv.vectors * mv.whole.words);
    mv.all = NEW_ARRAY(s->m->o->arena, V, mv.vectors);
    mv.partial = NEW_ARRAY(s->m->o->arena, V, mv.vectors);
    mv.misaligned = NEW_ARRAY(s->m->o->arena, V, mv.vectors);
    for (uint32_t v = 0; v < mv.vectors; v++) move_masks(s, &mv, v);
    mv.may_be_misaligned = mv.may_be_partial && count_single(&mv, mv.misaligned) > 0;
    mv.may_be_partial &= count_single(&mv, mv.partial) > 0;
    return mv;
}

Aside aside_open(Simt *s, const Move *mv, const V *which) {
    Aside a = {.from = LLVMGetInsertBlock(s->m->at)};
    if (which == mv->misaligned && mv->has_arms) return a;
    V any = which == mv->misaligned ? known_not(s, mv->aligned) : NULL;
    for (uint32_t v = 0; v < mv->vectors && which != mv->misaligned; v++)
        if (move_single(mv, which, v)) any = any ? known_or(s, any, which[v]) : which[v];
    LLVMBasicBlockRef slow = simt_new_block(s, which != mv->misaligned ? "partial" : "misaligned");
    a.done = simt_new_block(s, "whole");
    LLVMBuildCondBr(s->m->at, any, slow, a.done);
    LLVMPositionBuilderAtEnd(s->m->at, slow);
    return a;
}

void join_words(Simt *s, V *words, LLVMBasicBlockRef from, const V *parts, LLVMBasicBlockRef slow, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!parts[i] || parts[i] == words[i]) continue;
        V phi = LLVMBuildPhi(s->m->at, LLVMTypeOf(words[i]), "");
        LLVMAddIncoming(phi, (V[]){words[i], parts[i]}, (LLVMBasicBlockRef[]){from, slow}, 2);
        words[i] = phi;
    }
}

void aside_close(Simt *s, Aside a, V *words, const V *parts, uint32_t n) {
    for (uint32_t i = 0; i < n && !a.done; i++)
        if (parts[i]) words[i] = parts[i];
    if (!a.done) return;
    LLVMBasicBlockRef slow = LLVMGetInsertBlock(s->m->at);
    LLVMBuildBr(s->m->at, a.done);
    LLVMPositionBuilderAtEnd(s->m->at, a.done);
    join_words(s, words, a.from, parts, slow, n);
}

/* A partial prefix always has its first element and never its last. */
V single_mask(Simt *s, const Move *mv, const V *which, uint32_t v, uint32_t e) {
    if (!mv->mask) return which[v];
    bool is_prefix = mv->op->attr.mem.mask_kind == MASK_PREFIX && !mv->is_rotated;
    if (is_prefix && e == mv->n - 1) return NULL;
    return is_prefix && e == 0 ? which[v] : known_and(s, which[v], tile_slot(s, mv->mask, v * mv->n + e));
}

V element_address(Simt *s, const Move *mv, uint32_t v, uint32_t e) {
    if (move_wraps(mv, v)) return tile_slot(s, mv->ptr, v * mv->n + e);
    V address = tile_slot(s, mv->ptr, v * mv->n);
    int64_t bytes = (int64_t)type_bytes(type_scalar(mv->d)) * e;
    return bytes ? LLVMBuildAdd(s->m->at, address, llvm_int(s->m->i64, bytes), "") : address;
}

V other_slot(Simt *s, const Move *mv, uint32_t reg) {
    return mv->other && !plant(PLANT_LOST_OTHER) ? tile_slot(s, mv->other, reg) : LLVMConstNull(slot_type(s, mv->d));
}

void others_pack(Simt *s, const Move *mv, uint32_t v, V *words) {
    V others[16];
    for (uint32_t i = 0; i < mv->n; i++) others[i] = other_slot(s, mv, v * mv->n + i);
    elements_pack(s, mv->d, others, mv->n, mv->whole, words);
}

V whole_address(Simt *s, const Move *mv, uint32_t v) {
    return move_folds(mv, v) ? move_fold(s, mv, v).address : element_address(s, mv, v, 0);
}

V load_element(Simt *s, const Move *mv, V address, V mask, V old) {
    if (is_false(mask)) return old;
    V args[] = {address, mask, element_bits(s, mv->d, old), mv->policy, mv->site};
    return element_from_bits(s, mv->d, prim_access(s, PRIM_LOAD_GLOBAL, mv->single, args, 5));
}

V *store_words(Simt *s, const Move *mv, uint32_t v) {
    uint32_t w = mv->whole.words;
    if (mv->words[v * w]) return mv->words + v * w;
    V elements[16], *words = s->is_aside ? NEW_ARRAY(s->m->o->arena, V, w) : mv->words + v * w;
    for (uint32_t e = 0; e < mv->n; e++) elements[e] = tile_slot(s, mv->value, v * mv->n + e);
    elements_pack(s, mv->d, elements, mv->n, mv->whole, words);
    return words;
}
