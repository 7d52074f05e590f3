/* on_demand.c - slots that are built where they are needed first, as ops with `when` say.
 *
 * In: a load, `opaque_copy`, `spill_shared` or an elementwise op of floats whose `when` is not `here`. Out: a tile that
 * knows how to build its slots.
 * Method: slots are built on demand, from the loaded word to the op that combines or stores them; spilled ones go to
 * shared memory on the way. A user that needs a whole tile gets it at its own place (tile_of).
 */
#include "codegen/simt/simt.h"

enum { GROUP = SPILL_GROUP };

/* Groups of neighbouring registers in shared memory: a vector each, those of a warp's threads side by side. */
typedef struct Spill {
    BufferView where;
    Tile from;       /* what waits */
    uint32_t room, used;
    uint32_t *place; /* by group: 1 + which vector; 0: in registers */
    V site;
} Spill;

typedef struct Demand {
    const Op *op;
    uint32_t *same;     /* by register: the first one that has the same slot */
    uint32_t per_word;  /* of packed tiles: elements in a word of 32 bits */
    V *words, zero;     /* of `opaque_copy`: what it is made of, a zero of its own; NULL: what the tile was loaded in */
    Divisor *divisors;  /* of a division by few divisors, by register; else NULL */
    Spill *spill;       /* of `spill_shared` and of what waits there; else NULL */
    Move *move;         /* of a deferred load; else NULL */
} Demand;

/* ---- Which slots are the same ------------------------------------------------------------------------------------ */

const void *slot_key(const Tile *t, uint32_t reg) {
    const Slot *x = &t->at[t->n == 1 ? 0 : reg];
    if (x->offset) return x;
    if (!t->demand || (x->base && LLVMIsConstant(x->base))) return x->base;
    return &t->at[t->demand->same[t->n == 1 ? 0 : reg]];
}

static Demand *demand_create(Simt *s, const Op *op, uint32_t n) {
    Demand *l = NEW(s->m->o->arena, Demand);
    *l = (Demand){.op = op, .same = NEW_ARRAY(s->m->o->arena, uint32_t, n)};
    return l;
}

static bool same_operands(Simt *s, const Op *op, uint32_t x, uint32_t y) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Tile *t = tile_on_demand(s, op->args[i]);
        if (slot_key(t, x) != slot_key(t, y)) return false;
    }
    return true;
}

/* ---- Tiles on demand --------------------------------------------------------------------------------------------- */

Tile tile_packed(Simt *s, const Op *op, uint32_t n, V *words, uint32_t per_word, bool is_opaque) {
    Tile r = tile_create(s, n);
    DType d = op->results[0]->type.dtype;
    Demand *l = demand_create(s, op, n);
    l->per_word = per_word;
    l->words = is_opaque ? words : NULL;
    l->zero = is_opaque ? prim_call(s, PRIM_ZERO, NULL, 0) : NULL;
    r.words = is_opaque ? NEW_ARRAY(s->m->o->arena, V, n / per_word) : words;
    r.demand = l;
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

Tile tile_loaded(Simt *s, const Op *op, uint32_t n, Move *move) {
    Tile r = tile_create(s, n);
    Demand *l = demand_create(s, op, n);
    l->move = move;
    for (uint32_t i = 0; i < n; i++) l->same[i] = i;
    r.demand = l;
    return r;
}

bool tile_elementwise_on_demand(Simt *s, const Op *op, Tile *r) {
    enum { WINDOW = 64 };
    if (!op->attr.when) return false;
    Demand *l = demand_create(s, op, r->n);
    if (op->kind == OP_FDIV) l->divisors = divisors_of(s, op, tile_of(s, op->args[1]), r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t k = i > WINDOW ? i - WINDOW : 0;
        while (k < i && !same_operands(s, op, k, i)) k++;
        l->same[i] = k < i ? l->same[k] : i;
    }
    r->demand = l;
    return true;
}

/* ---- A slot ------------------------------------------------------------------------------------------------------ */

/* Equal words stay equal. */
static V packed_slot(Simt *s, const Tile *t, uint32_t reg) {
    const Demand *l = t->demand;
    uint32_t i = reg / l->per_word;
    V word = t->words[i];
    if (!word) word = LLVMBuildXor(s->m->at, l->words[i], l->zero, "");
    if (!s->is_aside) t->words[i] = word;
    return element_of_word(s, l->op->results[0]->type.dtype, word, reg % l->per_word);
}

Move *tile_move(const Tile *t) {
    return t->demand ? t->demand->move : NULL;
}

static V loaded_slot(Simt *s, const Tile *t, uint32_t reg) {
    V x[16];
    uint32_t n, first = load_vector(s, t->demand->move, reg, x, &n);
    for (uint32_t i = 0; i < n && !s->is_aside; i++) t->at[first + i].base = x[i];
    return x[reg - first];
}

static V op_slot(Simt *s, const Demand *l, uint32_t reg) {
    const Op *op = l->op;
    V a[3] = {NULL, NULL, NULL};
    bool truth;
    if (op->kind == OP_SELECT && known_truth(tile_slot(s, tile_on_demand(s, op->args[0]), reg), &truth))
        return tile_slot(s, tile_on_demand(s, op->args[truth ? 1 : 2]), reg);
    for (uint32_t k = 0; k < op->nargs; k++) a[k] = tile_slot(s, tile_on_demand(s, op->args[k]), reg);
    return l->divisors ? math_divide(&s->math, a[0], l->divisors[reg]) : math_op(&s->math, op, a);
}

/* ---- Waiting in shared memory ------------------------------------------------------------------------------------ */

static V spill_offset(Simt *s, const Spill *p, uint32_t group) {
    return view_offset(s, &p->where, (p->place[group] - 1) * GROUP);
}

/* Does the slot stand for no other register? */
static bool is_single(const Demand *l, uint32_t n, uint32_t reg) {
    uint32_t same = 0;
    for (uint32_t i = 0; i < n; i++) same += l->same[i] == l->same[reg];
    return same == 1;
}

/* A group whose slots are all there, and none of which stands for others, goes to shared memory while there is room. */
static void spill_group(Simt *s, Spill *p, uint32_t reg) {
    uint32_t group = reg / GROUP;
    if (s->is_aside || p->place[group] || p->used == p->room) return;
    V args[8] = {NULL, llvm_int(s->m->i1, 1)};
    for (uint32_t i = 0; i < GROUP; i++) {
        V x = p->from.at[group * GROUP + i].base;
        if (!x || LLVMIsConstant(x) || !is_single(p->from.demand, p->from.n, group * GROUP + i)) return;
        args[2 + i] = element_bits(s, p->from.demand->op->results[0]->type.dtype, x);
    }
    p->place[group] = ++p->used;
    args[0] = spill_offset(s, p, group);
    args[2 + GROUP] = p->site;
    prim_access(s, PRIM_STORE_SHARED, (Access){GROUP, 32}, args, 3 + GROUP);
}

static V spilled_slot(Simt *s, const Tile *t, uint32_t reg) {
    const Spill *p = t->demand->spill;
    uint32_t group = reg / GROUP;
    if (!p->place[group]) return tile_slot(s, &p->from, reg);
    Access a = {GROUP, 32};
    V args[] = {spill_offset(s, p, group), p->site}, r = prim_access(s, PRIM_LOAD_SHARED, a, args, 2), x[GROUP];
    for (uint32_t i = 0; i < GROUP; i++) {
        x[i] = element_from_bits(s, t->demand->op->results[0]->type.dtype, access_result(s, a, r, i));
        if (!s->is_aside) t->at[group * GROUP + i].base = x[i];
    }
    return x[reg % GROUP];
}

bool tile_is_spilling(const Tile *t) {
    return t->demand && t->demand->spill;
}

void simt_spill(Simt *s, const Op *op) {
    Value *v = op->results[0];
    Tile *x = tile_on_demand(s, op->args[0]);
    if (!x->demand || !op->attr.when || x->n % GROUP || dtype_bits(v->type.dtype) != 32) {
        s->values[v->id] = *tile_of(s, op->args[0]);
        return;
    }
    Spill *p = NEW(s->m->o->arena, Spill);
    *p = (Spill){.from = *x,
                 .place = NEW_ARRAY(s->m->o->arena, uint32_t, x->n / GROUP),
                 .site = simt_site(s),
                 .where = buffer_view(s, op, v->type, NULL)};
    p->room = p->where.buffer->bytes / (4 * GROUP * s->f->threads_per_program);
    Demand *l = demand_create(s, op, x->n);
    l->spill = p;
    for (uint32_t i = 0; i < x->n; i++) l->same[i] = x->demand->same[i];
    x->demand->spill = p;
    Tile r = tile_create(s, x->n);
    r.demand = l;
    s->values[v->id] = r;
}

/* ---- A slot, whatever makes it ----------------------------------------------------------------------------------- */

static V slot_made(Simt *s, const Tile *t, uint32_t reg) {
    if (t->demand->move) return loaded_slot(s, t, reg);
    if (t->demand->op->kind == OP_SPILL) return spilled_slot(s, t, reg);
    return t->demand->per_word ? packed_slot(s, t, reg) : op_slot(s, t->demand, reg);
}

V slot_on_demand(Simt *s, const Tile *t, uint32_t reg) {
    const Op *now = s->op;
    uint32_t site = s->op_site, first = t->demand->same[reg];
    V x = t->at[first].base;
    if (!x) {
        s->op = t->demand->op;
        llvm_debug_at(s->m, s->op->span);
        x = slot_made(s, t, first);
        s->op = now;
        s->op_site = site;
        llvm_debug_at(s->m, now->span);
    }
    if (!s->is_aside) t->at[first].base = t->at[reg].base = x;
    if (t->demand->spill && t->demand->op->kind != OP_SPILL) spill_group(s, t->demand->spill, reg);
    return x;
}

Tile *tile_of(Simt *s, const Value *v) {
    Tile *t = tile_on_demand(s, v);
    for (uint32_t i = 0; i < t->n && t->demand; i++)
        if (!t->at[i].base) slot_on_demand(s, t, i);
    return t;
}
