/* later.c - lanes that are built where they are needed first: of kernels in which registers bind.
 *
 * In: a load, `again` or an elementwise op of floats whose users take lane by lane. Out: a tile without lanes that knows how to make one.
 * Method: a kernel with an `again` is one whose tiles do not fit in registers (passes/remat.c). Op by op each tile would be there as a whole before the next
 * op begins; so the lanes of such ops are built on demand, from the word that they were loaded in to what combines or stores them. A user that
 * wants a tile as a whole gets it so (tile_of), at its own place.
 */
#include "codegen/simt/simt.h"

typedef struct Later {
    const Op *op;
    uint32_t *same;     /* by register: the first one that has the same lane */
    uint32_t per_word;  /* of packed tiles: elements in a word of 32 bits */
    V *words, zero;     /* of `again`: what it is made of, a zero of its own; NULL: what the tile was loaded in */
    Divisor *divisors;  /* of a division by few divisors, by register; else NULL */
} Later;

static void find_again(void *context, Op *op) {
    if (op->kind == OP_AGAIN) *(bool *)context = true;
}

bool simt_is_tight(const Func *f) {
    bool is_tight = false;
    func_walk((Func *)(uintptr_t)f, find_again, &is_tight);
    return is_tight;
}

/* ---- Which ops ------------------------------------------------------------------------------------------------------------ */

static bool takes_lanes(const Op *user, uint32_t index) {
    switch (user->kind) {
    case OP_REDUCE: case OP_REDUCEWARP: case OP_AGAIN: case OP_SELECT: return true;
    case OP_STORE: return index == 1;
    default: return user->kind >= OP_FADD && user->kind <= OP_FPTRUNC;
    }
}

/* Users behind regions could come first where they are skipped. */
static bool users_take_lanes(const Op *op) {
    for (const Use *u = op->results[0]->uses; u; u = u->next)
        if (u->op->parent != op->parent || !takes_lanes(u->op, u->index)) return false;
    return true;
}

static bool is_float_tile(const Value *v) {
    return value_is_tile(v) && dtype_kind(v->type.dtype) == KIND_FLOAT;
}

bool simt_waits(const Simt *s, const Op *op) {
    bool has_lanes = op->kind == OP_SELECT || op->kind == OP_LOAD || op->kind == OP_AGAIN || (op->kind >= OP_FADD && op->kind <= OP_FPTRUNC);
    return s->is_tight && has_lanes && is_float_tile(op->results[0]) && users_take_lanes(op);
}

/* ---- Which lanes are the same ---------------------------------------------------------------------------------------------- */

const void *lane_key(const Tile *t, uint32_t reg) {
    const Lane *x = &t->at[t->n == 1 ? 0 : reg];
    if (x->offset) return x;
    if (!t->later || (x->base && LLVMIsConstant(x->base))) return x->base;
    return &t->at[t->later->same[t->n == 1 ? 0 : reg]];
}

static Later *later_create(Simt *s, const Op *op, uint32_t n) {
    Later *l = NEW(s->m->o->arena, Later);
    *l = (Later){.op = op, .same = NEW_ARRAY(s->m->o->arena, uint32_t, n)};
    return l;
}

static bool same_operands(Simt *s, const Op *op, uint32_t x, uint32_t y) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Tile *t = tile_waiting(s, op->args[i]);
        if (lane_key(t, x) != lane_key(t, y)) return false;
    }
    return true;
}

/* ---- Tiles that wait --------------------------------------------------------------------------------------------------------- */

Tile tile_packed(Simt *s, const Op *op, uint32_t n, V *words, uint32_t per_word, bool is_again) {
    Tile r = tile_create(s, n);
    DType d = op->results[0]->type.dtype;
    Later *l = later_create(s, op, n);
    l->per_word = per_word;
    l->words = is_again ? words : NULL;
    l->zero = is_again ? prim_call(s, PRIM_ZERO, NULL, 0) : NULL;
    r.words = is_again ? NEW_ARRAY(s->m->o->arena, V, n / per_word) : words;
    r.later = l;
    for (uint32_t i = 0; i < n / per_word; i++) {
        uint32_t k = 0;
        while (words[k] != words[i]) k++;
        for (uint32_t e = 0; e < per_word; e++) {
            l->same[i * per_word + e] = k * per_word + e;
            if (LLVMIsConstant(words[i])) r.at[i * per_word + e].base = element_of_word(s, d, words[i], e);
        }
        if (LLVMIsConstant(words[i])) r.words[i] = words[i];
    }
    return r;
}

bool tile_elementwise_later(Simt *s, const Op *op, Tile *r) {
    enum { WINDOW = 64 };
    if (!simt_waits(s, op)) return false;
    Later *l = later_create(s, op, r->n);
    if (op->kind == OP_FDIV) l->divisors = divisors_of(s, op, tile_of(s, op->args[1]), r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t k = i > WINDOW ? i - WINDOW : 0;
        while (k < i && !same_operands(s, op, k, i)) k++;
        l->same[i] = k < i ? l->same[k] : i;
    }
    r->later = l;
    return true;
}

/* ---- A lane ------------------------------------------------------------------------------------------------------------------- */

/* Equal words stay equal. */
static V packed_lane(Simt *s, const Tile *t, uint32_t reg) {
    const Later *l = t->later;
    uint32_t i = reg / l->per_word;
    V word = t->words[i];
    if (!word) word = LLVMBuildXor(s->m->at, l->words[i], l->zero, "");
    if (!s->is_aside) t->words[i] = word;
    return element_of_word(s, l->op->results[0]->type.dtype, word, reg % l->per_word);
}

static V op_lane(Simt *s, const Later *l, uint32_t reg) {
    const Op *op = l->op;
    V a[3] = {NULL, NULL, NULL};
    bool truth;
    if (op->kind == OP_SELECT && known_truth(tile_lane(s, tile_waiting(s, op->args[0]), reg), &truth))
        return tile_lane(s, tile_waiting(s, op->args[truth ? 1 : 2]), reg);
    for (uint32_t k = 0; k < op->nargs; k++) a[k] = tile_lane(s, tile_waiting(s, op->args[k]), reg);
    return l->divisors ? math_divide(&s->math, a[0], l->divisors[reg]) : math_op(&s->math, op, a);
}

V lane_later(Simt *s, const Tile *t, uint32_t reg) {
    const Op *now = s->op;
    uint32_t site = s->op_site, first = t->later->same[reg];
    V x = t->at[first].base;
    if (!x) {
        s->op = t->later->op;
        llvm_debug_at(s->m, s->op->span);
        x = t->later->per_word ? packed_lane(s, t, first) : op_lane(s, t->later, first);
        s->op = now;
        s->op_site = site;
        llvm_debug_at(s->m, now->span);
    }
    if (!s->is_aside) t->at[first].base = t->at[reg].base = x;
    return x;
}

Tile *tile_of(Simt *s, const Value *v) {
    Tile *t = tile_waiting(s, v);
    for (uint32_t i = 0; i < t->n && t->later; i++)
        if (!t->at[i].base) lane_later(s, t, i);
    return t;
}
