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
    SlotMaker *make; /* of its slots */
    uint32_t room, used;
    uint32_t *place; /* by group: 1 + which vector; 0: in registers */
    V site;
} Spill;

/* ---- Elementwise ops ------------------------------------------------------------------------------------------------- */

static bool same_operands(Simt *s, const Op *op, uint32_t x, uint32_t y) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Tile *t = tile_on_demand(s, op->args[i]);
        if (slot_key(t, x) != slot_key(t, y)) return false;
    }
    return true;
}

static V op_slot(Simt *s, const Tile *t, uint32_t reg) {
    const Demand *l = t->demand;
    const Op *op = l->op;
    V a[3] = {NULL, NULL, NULL};
    bool truth;
    if (op->kind == OP_SELECT && known_truth(tile_slot(s, tile_on_demand(s, op->args[0]), reg), &truth))
        return tile_slot(s, tile_on_demand(s, op->args[truth ? 1 : 2]), reg);
    for (uint32_t k = 0; k < op->nargs; k++) a[k] = tile_slot(s, tile_on_demand(s, op->args[k]), reg);
    return l->divisors ? math_divide(&s->math, a[0], l->divisors[reg]) : math_op(&s->math, op, a);
}

/* Of a pair both are made at once. */
static V pair_slot(Simt *s, const Tile *t, uint32_t reg) {
    const Op *op = t->demand->op;
    V word = simt_pair(s, op, reg & ~1u), both[2];
    for (uint32_t i = 0; i < 2; i++) both[i] = element_of_word(s, op->results[0]->type.dtype, word, i);
    if (!s->is_aside) t->at[reg ^ 1].base = both[~reg & 1];
    return both[reg & 1];
}

void simt_elementwise_on_demand(Simt *s, const Op *op) {
    enum { WINDOW = 64 };
    Value *v = op->results[0];
    Tile r = tile_create(s, tile_registers(v));
    if (simt_is_pairs(s, op)) {
        r.demand = demand_create(s, op, r.n, pair_slot);
        for (uint32_t i = 0; i < r.n; i++) r.demand->same[i] = i;
        s->values[v->id] = r;
        return;
    }
    r.demand = demand_create(s, op, r.n, op_slot);
    if (op->kind == OP_FDIV) r.demand->divisors = divisors_of(s, op, tile_of(s, op->args[1]), r.n);
    for (uint32_t i = 0; i < r.n; i++) {
        uint32_t k = i > WINDOW ? i - WINDOW : 0;
        while (k < i && !same_operands(s, op, k, i)) k++;
        r.demand->same[i] = k < i ? r.demand->same[k] : i;
    }
    s->values[v->id] = r;
}

/* ---- Opaque copies --------------------------------------------------------------------------------------------------- */

/* The words of the tile pass through a primitive that no optimiser looks into. So what is computed from the copy is
 * computed behind it, and only the words are live until then. Constants stay as they are. */
void simt_opaque_copy(Simt *s, const Op *op) {
    Value *v = op->results[0];
    uint32_t bytes = type_bytes(type_scalar(v->type.dtype)), n = tile_registers(v),
             per_word = bytes < 4 ? 4 / bytes : 1;
    if (value_is_deferred(op->args[0])) s->values[v->id] = *tile_on_demand(s, op->args[0]); /* no words live */
    /* no whole number of words: it lives as it is */
    else if (bytes > 4 || n % per_word) s->values[v->id] = *tile_of(s, op->args[0]);
    else s->values[v->id] = tile_packed(s, op, n, words_of_tile(s, op->args[0], per_word), per_word,
                                           prim_call(s, PRIM_ZERO, NULL, 0));
    if (!op->attr.when) tile_of(s, v);
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

static V spilling_slot(Simt *s, const Tile *t, uint32_t reg) {
    V x = t->demand->spill->make(s, t, reg);
    if (!s->is_aside) t->at[reg].base = x;
    spill_group(s, t->demand->spill, reg);
    return x;
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
                 .make = x->demand->make,
                 .place = NEW_ARRAY(s->m->o->arena, uint32_t, x->n / GROUP),
                 .site = simt_site(s),
                 .where = buffer_view(s, op, v->type, NULL)};
    p->room = p->where.buffer->bytes / (4 * GROUP * s->f->threads_per_program);
    Tile r = tile_create(s, x->n);
    r.demand = demand_create(s, op, x->n, spilled_slot);
    r.demand->spill = x->demand->spill = p;
    r.demand->same = x->demand->same;
    x->demand->make = spilling_slot;
    s->values[v->id] = r;
}
