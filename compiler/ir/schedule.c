/* schedule.c - when an op's result is made: what the verifier and the passes ask of it.
 *
 * In: an op at stage SIMT and its users. Out: may each register be made where it is needed, and why not.
 * Method: docs/design/schedule.md has the rules.
 */
#include "ir/private.h"

bool op_has_slots(const Op *op) {
    return op_class(op->kind) == CLASS_COPY || (op_class(op->kind) == CLASS_ELEMENT && op->kind != OP_BITCAST);
}

static bool takes_slots(const Use *u) {
    return op_class(u->op->kind) == CLASS_REDUCE || op_has_slots(u->op) || (u->op->kind == OP_STORE && u->index == 1);
}

static bool is_for_store(const Use *u) {
    return u->op->attr.when == WHEN_STORED || (u->op->kind == OP_STORE && u->index == 1);
}

const char *when_wrong(const Func *f, const Op *op, When when) {
    const Value *v = op->nresults == 1 ? op->results[0] : NULL;
    if (when == WHEN_HERE) return NULL;
    if (f->stage != STAGE_SIMT || (op->kind != OP_LOAD && !op_has_slots(op)))
        return "its registers are not made one by one";
    if (!value_is_tile(v) || dtype_kind(v->type.dtype) != KIND_FLOAT) return "it makes no tile of floats";
    for (const Use *u = v->uses; u; u = u->next) {
        if (u->op->parent != op->parent || !takes_slots(u)) return "a user wants the whole tile";
        if (when == WHEN_STORED && !is_for_store(u)) return "not only stores need it";
    }
    bool may_change = op->kind == OP_LOAD && (op->attr.mem.is_volatile || !op_loads_constant(f, op));
    return when == WHEN_STORED && may_change ? "what it loads may change before it is stored" : NULL;
}
