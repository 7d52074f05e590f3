/* late.c - which loads are deferred: those of weights behind a reduction that only the next stores use.
 *
 * In: a function whose exchanges are spelled out. Out: by op id, whether the op is such a load, or an elementwise op on
 * one.
 * Method: weight and bias of a norm take no part in its reductions, and the row lives in registers until it is stored.
 * Loaded as a whole they would live beside it. So a deferred load issues nothing at its own place. Each vector is
 * loaded when the store comes to its elements (later.c, putoff.c). That is sound because nobody writes what a const
 * pointer names. A load that the pass hoist has moved before a reduction is not deferred.
 */
#include "codegen/simt/simt.h"

/* of the load in a thread: of little tiles ptxas loads and uses one vector after the other anyway */
enum { LEAST_WORDS = 16 };

typedef struct Late {
    const Func *f;
    uint32_t *met; /* by op id: reductions that end before it, in its block */
    bool *is_late;
} Late;

/* ---- Which ops --------------------------------------------------------------------------------------------------- */

static bool is_float_tile(const Value *v) {
    return value_is_tile(v) && dtype_kind(v->type.dtype) == KIND_FLOAT;
}

static bool is_slot_by_slot(const Op *op) {
    return op->kind == OP_OPAQUE || simt_takes_slots(op);
}

/* Is v, and all that is made of it, element by element until it is stored, before the next reduction? */
static bool is_for_store(const Late *l, const Value *v, uint32_t met) {
    if (!v->uses) return false;
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *user = u->op;
        if (user->parent != v->def->parent || l->met[user->id] != met) return false;
        if (user->kind == OP_STORE && u->index == 1) continue;
        if (!is_slot_by_slot(user) || !is_float_tile(user->results[0]) || !is_for_store(l, user->results[0], met))
            return false;
    }
    return true;
}

static bool can_wait(const Late *l, const Op *op) {
    const Value *v = op->kind == OP_LOAD ? op->results[0] : NULL;
    if (!v || !l->met[op->id] || !is_float_tile(v) || op->attr.mem.is_volatile || !op_loads_constant(l->f, op))
        return false;
    uint32_t vector = dtype_bits(v->type.dtype) << op->attr.mem.vec_log2;
    uint32_t words = layout_registers(v->type.layout) * dtype_bits(v->type.dtype) / 32;
    return vector == 128 && words >= LEAST_WORDS && is_for_store(l, v, l->met[op->id]);
}

static void mark(Late *l, const Op *op) {
    l->is_late[op->id] = true;
    for (const Use *u = op->results[0]->uses; u; u = u->next)
        if (u->op->kind != OP_STORE) mark(l, u->op);
}

/* Squares, say, that nothing needs but a reduction. */
static bool is_combined(const Op *op) {
    const Value *v = op->nresults == 1 ? op->results[0] : NULL;
    return v && is_slot_by_slot(op) && is_float_tile(v) && value_used_once(v) && v->uses->op->kind == OP_REDUCEWARP &&
           v->uses->op->parent == op->parent;
}

static void walk(Late *l, const Block *b) {
    uint32_t met = 0;
    for (const Op *op = b->first; op; op = op->next) {
        bool ends = op->kind == OP_REDUCEWARP || (op->kind == OP_SHLOAD && op_is_exchange(l->f, op));
        l->met[op->id] = met += ends;
        for (uint32_t r = 0; r < op->nregions; r++) walk(l, op->regions[r]);
    }
    bool found = false;
    for (const Op *op = b->first; op; op = op->next) {
        if (!can_wait(l, op)) continue;
        mark(l, op);
        found = true;
    }
    for (const Op *op = b->first; op && found; op = op->next)
        if (is_combined(op)) l->is_late[op->id] = true;
}

const bool *late_ops(const Func *f, Arena *a) {
    Late l = {.f = f, .met = NEW_ARRAY(a, uint32_t, f->next_op), .is_late = NEW_ARRAY(a, bool, f->next_op)};
    walk(&l, f->body);
    return l.is_late;
}

bool tile_is_late(const Simt *s, const Value *v) {
    return v->def && s->late[v->def->id];
}
