/* slot.c - tiles and their slots, the ground that all of simt stands on.
 *
 * In: values of the IR. Out: their tiles, whole or as far as they are built; a slot as one LLVM value.
 * Method: a tile that is built on demand knows who makes its slots; equal slots are made once. Where the builder stands
 * aside of the way that later code takes, what is made is not kept.
 */
#include "codegen/simt/simt.h"

V simt_i32(Simt *s, int64_t value) {
    return llvm_int(s->m->i32, value);
}

/* ---- Whose instructions -------------------------------------------------------------------------------------------- */

void simt_at(Simt *s, uint32_t reg, uint32_t n) {
    if (!s->m->o->op_lines) return;
    s->reg = reg;
    s->registers = n;
    llvm_debug_line(s->m, (s->op->id + 1) << 4 | (n > 1 ? 31u - (uint32_t)__builtin_clz(n) : 0), n ? reg + 1 : 0);
}

void simt_at_op(Simt *s, const Op *op) {
    s->op = op;
    if (s->m->o->op_lines) simt_at(s, 0, 0);
    else llvm_debug_at(s->m, op->span);
}

LLVMBasicBlockRef simt_new_block(Simt *s, const char *name) {
    return LLVMAppendBasicBlockInContext(s->m->context, s->function, name);
}

uint32_t deposit(uint32_t value, uint32_t mask) {
    uint32_t r = 0;
    for (; mask; mask &= mask - 1, value >>= 1)
        if (value & 1) r |= mask & (~mask + 1);
    return r;
}

bool fits_bits(int64_t x, uint32_t bits) {
    return bits >= 64 || (x >= -(INT64_C(1) << (bits - 1)) && x < INT64_C(1) << (bits - 1));
}

Tile tile_create(Simt *s, uint32_t n) {
    Tile t = {n, NEW_ARRAY(s->m->o->arena, Slot, n), NULL, NULL, INT64_MIN, INT64_MAX};
    return t;
}

Tile *tile_on_demand(Simt *s, const Value *v) {
    return &s->values[v->id];
}

uint32_t tile_registers(const Value *v) {
    if (!value_is_tile(v)) return 1;
    if (!v->type.layout) bug("a tile without a layout reached the code generator");
    return layout_registers(v->type.layout);
}

LLVMTypeRef slot_type(const Simt *s, DType d) {
    return d == DT_PTR ? s->m->i64 : llvm_type(s->m, d);
}

V slot_value(Simt *s, Slot x) {
    if (!x.offset) return x.base;
    return LLVMBuildAdd(s->m->at, x.base, llvm_int(LLVMTypeOf(x.base), x.offset), "");
}

Slot slot_at(const Tile *t, uint32_t reg) {
    return t->at[t->n == 1 ? 0 : reg];
}

/* ---- On demand ------------------------------------------------------------------------------------------------------ */

const void *slot_key(const Tile *t, uint32_t reg) {
    const Slot *x = &t->at[t->n == 1 ? 0 : reg];
    if (x->offset) return x;
    if (!t->demand || (x->base && LLVMIsConstant(x->base))) return x->base;
    return &t->at[t->demand->same[t->n == 1 ? 0 : reg]];
}

Demand *demand_create(Simt *s, const Op *op, uint32_t n, SlotMaker *make) {
    Demand *l = NEW(s->m->o->arena, Demand);
    *l = (Demand){.op = op, .make = make, .same = NEW_ARRAY(s->m->o->arena, uint32_t, n)};
    return l;
}

static V slot_on_demand(Simt *s, const Tile *t, uint32_t reg) {
    const Op *now = s->op;
    uint32_t site = s->op_site, from = s->reg, n = s->registers, first = t->demand->same[reg];
    V x = t->at[first].base;
    if (!x) {
        simt_at_op(s, t->demand->op);
        simt_at(s, first, 1);
        x = t->demand->make(s, t, first);
        simt_at_op(s, now);
        simt_at(s, from, n);
        s->op_site = site;
    }
    if (!s->is_aside) t->at[first].base = t->at[reg].base = x;
    return x;
}

V tile_slot(Simt *s, const Tile *t, uint32_t reg) {
    uint32_t at = t->n == 1 ? 0 : reg;
    return t->demand && !t->at[at].base ? slot_on_demand(s, t, at) : slot_value(s, t->at[at]);
}

Tile *tile_of(Simt *s, const Value *v) {
    Tile *t = tile_on_demand(s, v);
    for (uint32_t i = 0; i < t->n && t->demand; i++)
        if (!t->at[i].base) slot_on_demand(s, t, i);
    return t;
}
