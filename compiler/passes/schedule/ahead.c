/* ahead.c - may a load of a loop be issued in an earlier round?
 *
 * In: a loop and a load in it. Out: whether address and mask are known rounds ahead; why its memory may have changed
 * meanwhile.
 * Rules: address and mask depend on the loop variable, on values from outside, and on carried values that do so
 * themselves. No op of the loop stores what the load reads, except through another parameter, which is then compared at
 * run time. No acquire, volatile load or assertion stands in the loop, unless nobody writes the memory.
 */
#include "passes/schedule/pipeline.h"

enum { MOST_OPS = 64 /* of an address: they are computed once more */ };

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

typedef struct Trace {
    Attempts *seen;
    const Block *body;
    uint64_t carried;
    uint32_t ops;
} Trace;

static bool follow(Trace *t, const Value *v) {
    const Op *op = v->def;
    if (!op && (v->block != t->body || v->index == 0)) return true;
    if (!op) {
        uint64_t bit = UINT64_C(1) << (v->index - 1);
        if (t->carried & bit) return true;
        t->carried |= bit;
        return follow(t, t->body->last->args[v->index - 1]);
    }
    if (op->parent != t->body || t->seen->stamp[op->id] == t->seen->last) return true;
    t->seen->stamp[op->id] = t->seen->last;
    if (!op_is_pure(op->kind) || op->nregions || ++t->ops > MOST_OPS) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!follow(t, op->args[i])) return false;
    return true;
}

bool ahead_follows(Attempts *seen, const Op *loop, Value *const *values, uint32_t n, uint64_t *carried) {
    Trace t = {.seen = seen, .body = loop->regions[0]};
    seen->last++;
    for (uint32_t i = 0; i < n; i++)
        if (!follow(&t, values[i])) return false;
    *carried |= t.carried;
    return true;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The parameter that a pointer comes from, through arithmetic and what loops carry; NULL: not known. */
static const Value *root_of(const Func *f, const Value *v, uint32_t depth) {
    while (v->def && v->def->nargs && v->def->args[0]->type.dtype == DT_PTR && op_is_pure(v->def->kind) &&
           v->def->kind != OP_SELECT)
        v = v->def->args[0];
    if (v->def || !depth) return NULL;
    if (v->block == f->body) return v->type.dtype == DT_PTR ? v : NULL;
    const Op *loop = v->block->owner;
    if (loop->kind != OP_FOR || v->index == 0) return NULL;
    const Value *next = v->block->last->args[v->index - 1];
    while (next != v && next->def && next->def->kind == OP_ADDPTR) next = next->def->args[0];
    return next == v ? root_of(f, loop->args[2 + v->index], depth - 1) : NULL;
}

static bool is_const(const Func *f, const Value *param) {
    return param && f->params.at[param->index].is_const;
}

static const char *add_apart(PrefetchPlan *plan, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < plan->num_apart; i++)
        if (plan->apart[i].a == a && plan->apart[i].b == b) return NULL;
    if (plan->num_apart == MOST_PREFETCHED) return "the loop stores through too many parameters";
    plan->apart[plan->num_apart++] = (Apart){a, b};
    return NULL;
}

/* Why a load from `from` must stay behind op; NULL: it need not, as far as plan->apart holds. */
static const char *order_of(const Func *f, PrefetchPlan *plan, const Op *op, const Op *load, const Value *from) {
    if (is_const(f, from)) return NULL;
    if (op->kind == OP_ASSERT) return "an assertion in the loop may end the program before";
    if (!op_is_access(op->kind)) return NULL;
    if (op->kind == OP_LOAD)
        return op->attr.mem.is_volatile ? "a volatile load in the loop may wait for what it loads" : NULL;
    if (op_is_atomic(op->kind) && order_acquires(op->attr.mem.order))
        return "an atomic in the loop may wait for what it loads";
    const Value *to = root_of(f, op->args[0], 4);
    bool differ = op->args[0]->type.pointee != load->args[0]->type.pointee;
    if (is_const(f, to) || (differ && from && to && from != to)) return NULL;
    if (!from || !to) return "the loop stores through a pointer that may lead there";
    return from == to ? "the loop stores through the same pointer" : add_apart(plan, from->index, to->index);
}

static const char *ordered(const Func *f, PrefetchPlan *plan, const Block *b, const Op *load, const Value *from) {
    const char *why = NULL;
    for (const Op *op = b->first; op && !why; op = op->next) {
        why = order_of(f, plan, op, load, from);
        for (uint32_t i = 0; i < op->nregions && !why; i++) why = ordered(f, plan, op->regions[i], load, from);
    }
    return why;
}

const char *ahead_ordered(const Func *f, PrefetchPlan *plan, const Op *load) {
    return ordered(f, plan, plan->loop->regions[0], load, root_of(f, load->args[0], 4));
}
