/* schedule.c - when and how an op's result is made: what the verifier and the passes ask of it.
 *
 * In: an op at stage SIMT with what it takes and its users. Out: may it be made so, and why not.
 * Method: docs/design/schedule.md has the rules.
 */
#include "ir/private.h"

bool op_has_slots(const Op *op) {
    if (op_class(op->kind) != CLASS_ELEMENT) return op_class(op->kind) == CLASS_COPY;
    return op->results[0]->type.dtype != DT_PTR && op->args[0]->type.dtype != DT_PTR;
}

static bool takes_slots(const Use *u) {
    bool is_stored = (u->op->kind == OP_STORE && u->index == 1) || (u->op->kind == OP_SHSTORE && u->index == 0),
         is_multiplied = u->op->kind == OP_DOTASYNC && u->index == MMA_A;
    return op_class(u->op->kind) == CLASS_REDUCE || op_has_slots(u->op) || is_stored || is_multiplied;
}

static bool is_for_store(const Use *u) {
    return u->op->attr.when == WHEN_STORED || (u->op->kind == OP_STORE && u->index == 1);
}

const char *when_wrong(const Func *f, const Op *op, When when) {
    const Value *v = op->nresults == 1 ? op->results[0] : NULL;
    if (when == WHEN_HERE) return NULL;
    if (f->stage != STAGE_SIMT || (op->kind != OP_LOAD && !op_has_slots(op)))
        return "its registers are not made one by one";
    if (!value_is_tile(v) || (op->kind == OP_LOAD && dtype_kind(v->type.dtype) != KIND_FLOAT))
        return "it makes no tile of floats";
    for (const Use *u = v->uses; u; u = u->next) {
        if (u->op->parent != op->parent || !takes_slots(u)) return "a user wants the whole tile";
        if (when == WHEN_STORED && !is_for_store(u)) return "not only stores need it";
    }
    bool may_change = op->kind == OP_LOAD && (op->attr.mem.is_volatile || !op_loads_constant(f, op));
    return when == WHEN_STORED && may_change ? "what it loads may change before it is stored" : NULL;
}

const Op *load_until(const Op *load) {
    for (const Op *op = load->next; op && !load->attr.mem.is_volatile; op = op->next) {
        for (uint32_t i = 0; i < op->nargs; i++)
            if (op->args[i] == load->results[0]) return op;
        bool is_load = op->kind == OP_LOAD && !op->attr.mem.is_volatile;
        if (op->nregions || (!is_load && !op_is_pure(op->kind))) return NULL;
    }
    return NULL;
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

static bool takes(const Op *op, const Value *v) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i] == v) return true;
    return false;
}

Op *reduce_partner(const Op *op) {
    const Value *x = op->args[0];
    Op *o = op->kind == OP_REDUCEWARP && value_is_tile(x) ? op->next : NULL;
    while (o && op_has_slots(o) && op_class(o->kind) != CLASS_COPY && o->attr.when && !takes(o, op->results[0]))
        o = o->next;
    if (!o || o->kind != OP_REDUCEWARP || o->attr.axis != op->attr.axis) return NULL;
    const Value *y = o->args[0];
    bool is_like = y != x && y->def && y->def->parent == op->parent && y->def->attr.when &&
                   y->type.layout == x->type.layout && !op->attr.is_packed && !o->attr.is_packed;
    return is_like ? o : NULL;
}

const Value *reduce_packed(const Op *op) {
    const Op *extends = op->args[0]->def;
    const Layout *l = op->args[0]->type.layout;
    bool is_extreme = op->attr.combine == OP_FMAX || op->attr.combine == OP_FMIN;
    if (!is_extreme || !extends || extends->kind != OP_FPEXT) return NULL;
    const Value *v = extends->args[0];
    bool is_half = dtype_bits(v->type.dtype) == 16 && op->args[0]->type.dtype == DT_FP32;
    return is_half && l && layout_reduce_plan(l, op->attr.axis).combine[IN_REGISTER] & 1 ? v : NULL;
}

const char *schedule_wrong(const Func *f, const Op *op) {
    bool is_reduction = op_class(op->kind) == CLASS_REDUCE;
    if (is_reduction && op->attr.is_packed && !reduce_packed(op)) return "its elements are not taken by twos";
    if (is_reduction && op->attr.is_paired && !reduce_partner(op)) return "no reduction that it could be made with";
    if (op->attr.mem.is_versioned && !op->attr.mem.is_rotated) return "versions of a load whose rows are not rotated";
    bool may_be_late = f->stage == STAGE_SIMT && op->nargs > 1 && op->nresults && load_until(op);
    if (op->attr.mem.is_late && !may_be_late) return "nothing of it may be loaded later";
    const Op *stored = op->attr.mem.is_guarded ? op->args[1]->def : NULL;
    if (op->attr.mem.is_guarded && (!stored || !stored->attr.when || op->nargs < 3))
        return "what it stores is made anyway, or all of it";
    return when_wrong(f, op, op->attr.when);
}
