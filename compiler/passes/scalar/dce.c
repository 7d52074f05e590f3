/* dce.c - the passes dce and dce2: drop what nothing needs.
 *
 * In: any stage. Out: pure ops and plain loads that lead to no store, unused carried values and results of control
 * flow, and `for` and `if` without an effect are gone. A `while` stays: it may never end.
 * Method: mark from the roots (stores, barriers, volatile loads) through operands, yields and owners; then sweep every
 * block backward, so that users go before what they use.
 */
#include "passes/private.h"

typedef struct Marks {
    Func *f;
    Arena *scratch;
    bool *op_live;    /* by op id */
    bool *value_live; /* by value id */
    VEC(Op *) ops;    /* live, operands not yet looked at */
    VEC(Value *) values;
} Marks;

/* ---- Mark -------------------------------------------------------------------------------------------------------- */

static void mark_op(Marks *m, Op *op) {
    if (m->op_live[op->id]) return;
    m->op_live[op->id] = true;
    vec_push(m->scratch, &m->ops, op);
}

static void mark_value(Marks *m, Value *v) {
    if (m->value_live[v->id]) return;
    m->value_live[v->id] = true;
    vec_push(m->scratch, &m->values, v);
}

static bool is_root(const Op *op) {
    switch (op_info[op->kind].effect) {
    case EFFECT_WRITE:
    case EFFECT_DEBUG:
    case EFFECT_BARRIER: return true;
    case EFFECT_SHARED: return !op->nresults;
    case EFFECT_READ: return op->attr.mem.is_volatile;
    case EFFECT_CONTROL: return op->kind == OP_WHILE || op->kind == OP_RETURN;
    case EFFECT_PURE: return false;
    }
    return true;
}

static void mark_roots(void *context, Op *op) {
    if (is_root(op)) mark_op(context, op);
}

/* What a live op needs by itself: of control flow only what steers it. */
static void follow_op(Marks *m, Op *op) {
    uint32_t n = op->kind == OP_FOR ? 3 : op->kind == OP_WHILE ? 0 : op->nargs;
    for (uint32_t i = 0; i < n; i++) mark_value(m, op->args[i]);
    if (op->kind == OP_WHILE) mark_value(m, op->regions[0]->last->args[0]);
    if (op->parent->owner) mark_op(m, op->parent->owner);
}

/* Slot i of a control op: all that flows through result i. */
static void mark_slot(Marks *m, Op *op, uint32_t i) {
    mark_op(m, op);
    mark_value(m, op->results[i]);
    if (op_is_combine(op->kind)) {
        for (uint32_t k = 0; k < op->regions[0]->last->nargs; k++) mark_value(m, op->regions[0]->last->args[k]);
    } else if (op->kind == OP_IF) {
        mark_value(m, op->regions[0]->last->args[i]);
        mark_value(m, op->regions[1]->last->args[i]);
    } else if (op->kind == OP_FOR) {
        mark_value(m, op->args[i + 3]);
        mark_value(m, op->regions[0]->args.at[i + 1]);
        mark_value(m, op->regions[0]->last->args[i]);
    } else {
        mark_value(m, op->args[i]);
        mark_value(m, op->regions[0]->args.at[i]);
        mark_value(m, op->regions[0]->last->args[i + 1]);
        mark_value(m, op->regions[1]->args.at[i]);
        mark_value(m, op->regions[1]->last->args[i]);
    }
}

static void follow_value(Marks *m, const Value *v) {
    Op *owner = v->def ? v->def : v->block->owner;
    if (!owner) return; /* a parameter */
    if (!owner->nregions) {
        mark_op(m, owner);
        return;
    }
    bool is_iv = !v->def && owner->kind == OP_FOR && v->index == 0;
    if (is_iv || (!v->def && op_is_combine(owner->kind)))
        mark_op(m, owner);
    else
        mark_slot(m, owner, v->def || owner->kind == OP_WHILE ? v->index : v->index - 1);
}

static void mark_all(Marks *m) {
    func_walk(m->f, mark_roots, m);
    while (m->ops.len || m->values.len) {
        if (m->ops.len)
            follow_op(m, m->ops.at[--m->ops.len]);
        else
            follow_value(m, m->values.at[--m->values.len]);
    }
}

/* ---- Sweep ------------------------------------------------------------------------------------------------------- */

static bool slot_live(const Marks *m, const Op *op, uint32_t i) {
    return m->value_live[op->results[i]->id];
}

/* The last uses of dead slots inside the regions: what their terminators hand on. */
static void drop_passed(Marks *m, Op *op) {
    for (uint32_t i = op->nresults; i-- > 0;) {
        if (slot_live(m, op, i)) continue;
        for (uint32_t r = 0; r < op->nregions; r++) {
            Op *end = op->regions[r]->last;
            op_remove_arg(m->f, end, end->kind == OP_CONDITION ? i + 1 : i);
        }
    }
}

/* Behind the sweep of the regions: arguments, inits and results of dead slots. */
static void drop_slots(Marks *m, Op *op) {
    for (uint32_t i = op->nresults; i-- > 0;) {
        if (slot_live(m, op, i)) continue;
        uint32_t first_arg = op->kind == OP_FOR ? 1 : 0, first_init = op->kind == OP_FOR ? 3 : 0;
        for (uint32_t r = 0; r < op->nregions && op->kind != OP_IF; r++)
            block_remove_arg(m->f, op->regions[r], i + first_arg);
        if (op->kind != OP_IF) op_remove_arg(m->f, op, i + first_init);
        op_remove_result(m->f, op, i);
    }
}

static void sweep(Marks *m, Block *b) {
    for (Op *op = b->last, *prev; op; op = prev) {
        prev = op->prev;
        if (op->kind == OP_YIELD || op->kind == OP_CONDITION) continue;
        if (!m->op_live[op->id]) {
            op_erase(m->f, op);
        } else if (op_is_combine(op->kind)) { /* all results, or none */
            sweep(m, op->regions[0]);
        } else if (op->nregions) {
            drop_passed(m, op);
            for (uint32_t r = op->nregions; r-- > 0;) sweep(m, op->regions[r]);
            drop_slots(m, op);
        }
    }
}

void pass_dce(Func *f, PassContext *c) {
    Marks m = {.f = f, .scratch = c->scratch};
    m.op_live = NEW_ARRAY(m.scratch, bool, f->next_op + 1);
    m.value_live = NEW_ARRAY(m.scratch, bool, f->next_value + 1);
    mark_all(&m);
    sweep(&m, f->body);
}
