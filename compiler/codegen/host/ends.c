/* ends.c - which loops end where their row ends, before they have walked all of its tile.
 *
 * In: the groups and buffers of plan.c, the facts. Out: Group.ends, the mask that ends the loop of a row, or NULL.
 * Method: a mask that is true at first and false from some place of its row on. Past that place all chunks are alike
 * where they come of constants, of what the whole row shares and of loads that the mask leaves out. A loop computes the
 * first of them and stops: maxima have seen what would come again, sums add zeros (or NaN, which they had), stores do
 * nothing. A tile that such a loop keeps has no more chunks, so whoever reads it ends at the same mask.
 */
#include "codegen/host/host.h"

#include <math.h>

/* What a value is past the mask's end: of ANY nothing is known, all others are alike there. ZERO, LOW and HIGH are that
 * number (either zero, an infinity) or NaN. */
typedef enum Past { PAST_UNKNOWN, PAST_ANY, PAST_ALIKE, PAST_ZERO, PAST_LOW, PAST_HIGH } Past;

typedef struct Ends {
    Host *h;
    VEC(Group *) groups; /* in program order */
    uint32_t *place;     /* by op id: in program order, from 1 */
    uint32_t places;
    const Value *mask;
    Past *past;         /* by value id: what was found for the mask */
    uint32_t *seen[2];  /* by value id, in place or not: the last question that came by */
    uint32_t question;
    bool has_changed;
} Ends;

/* ---- Past the end ------------------------------------------------------------------------------------------------ */

static bool is_false(const Ends *e, const Value *v) {
    if (v == e->mask) return true;
    return v->def && v->def->kind == OP_AND && v->type.dtype == DT_I1 &&
           (is_false(e, v->def->args[0]) || is_false(e, v->def->args[1]));
}

static Past past_number(const Value *v) {
    int64_t bits = 0;
    double x = 0;
    if (value_const_float(v, &x)) return x == 0 ? PAST_ZERO : isinf(x) ? (x < 0 ? PAST_LOW : PAST_HIGH) : PAST_ALIKE;
    return value_const(v, &bits) && bits == 0 ? PAST_ZERO : PAST_ALIKE;
}

static Past opposite(Past p) {
    return p == PAST_LOW ? PAST_HIGH : p == PAST_HIGH ? PAST_LOW : p;
}

static Past past_sum(Past a, Past b) {
    if (a == PAST_ZERO && b == PAST_ZERO) return PAST_ZERO;
    if (a == PAST_LOW || a == PAST_HIGH) return a; /* or NaN */
    return b == PAST_LOW || b == PAST_HIGH ? b : PAST_ALIKE;
}

static Past past_product(Past a, Past b) {
    return a == PAST_ZERO || b == PAST_ZERO ? PAST_ZERO : PAST_ALIKE;
}

static Past past_element(const Op *op, Past a, Past b, Past c) {
    switch (op->kind) {
    case OP_ADD: return a == PAST_ZERO && b == PAST_ZERO ? PAST_ZERO : PAST_ALIKE;
    case OP_FADD: return past_sum(a, b);
    case OP_FSUB: return past_sum(a, opposite(b));
    case OP_MUL: case OP_AND: case OP_FMUL: return past_product(a, b);
    case OP_FDIV: case OP_FDIVRN: return a == PAST_ZERO || b == PAST_LOW || b == PAST_HIGH ? PAST_ZERO : PAST_ALIKE;
    case OP_FMA: return past_sum(past_product(a, b), c);
    case OP_FNEG: return opposite(a);
    case OP_FABS: return a == PAST_LOW ? PAST_HIGH : a;
    case OP_EXP: case OP_EXP2: return a == PAST_LOW ? PAST_ZERO : PAST_ALIKE;
    case OP_FPEXT: return a;
    case OP_FPTRUNC: case OP_SITOFP: case OP_UITOFP: return a == PAST_ZERO ? PAST_ZERO : PAST_ALIKE;
    case OP_SELECT: return b == c ? b : PAST_ALIKE;
    default: return PAST_ALIKE; /* of operands that are alike */
    }
}

static Past past_of(Ends *e, const Value *v);

static Past past_result(Ends *e, const Op *op) {
    Past p[3] = {PAST_ALIKE, PAST_ALIKE, PAST_ALIKE};
    if (op->kind == OP_CONST || op->kind == OP_SPLAT) return past_number(op->results[0]);
    if (op->kind == OP_BROADCAST) /* one number for the row */
        return host_runs_along(op->args[0]->type.shape, op->results[0]->type.shape) ? PAST_ANY : PAST_ALIKE;
    if (op->kind == OP_LOAD && op->nargs > 1 && is_false(e, op->args[1]))
        return op->nargs > 2 ? past_of(e, op->args[2]) : PAST_ZERO;
    if (op_class(op->kind) != CLASS_ELEMENT) return PAST_ANY;
    if (op->kind == OP_SELECT && is_false(e, op->args[0])) return past_of(e, op->args[2]);
    for (uint32_t i = 0; i < op->nargs; i++)
        if ((p[i] = past_of(e, op->args[i])) == PAST_ANY) return PAST_ANY;
    return past_element(op, p[0], p[1], p[2]);
}

static Past past_of(Ends *e, const Value *v) {
    if (!value_is_tile(v)) return past_number(v);
    if (!v->def) return PAST_ANY;
    if (e->past[v->id] == PAST_UNKNOWN) e->past[v->id] = past_result(e, v->def);
    return e->past[v->id];
}

/* ---- Loops that may end ------------------------------------------------------------------------------------------ */

static void number_ops(Ends *e, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        e->place[op->id] = ++e->places;
        Group *g = e->h->groups[op->id];
        if (g && g->last == op) vec_push(e->h->arena, &e->groups, g);
        for (uint32_t i = 0; i < op->nregions; i++) number_ops(e, op->regions[i]);
    }
}

/* The mask can be computed in the group's loop. */
static bool is_at_hand(const Ends *e, const Group *g) {
    const Block *b = g->last->parent;
    while (b && b != e->mask->def->parent) b = b->owner ? b->owner->parent : NULL;
    return b && e->place[e->mask->def->id] < e->place[g->last->id];
}

static bool op_may_end(Ends *e, const Op *op) {
    if (op->kind == OP_LOAD) return op->nargs > 1 && is_false(e, op->args[1]) && !op->attr.mem.is_volatile;
    if (op->kind == OP_STORE) return op->nargs > 2 && is_false(e, op->args[2]);
    Past p = past_of(e, op->args[0]);
    OpKind by = op->attr.combine;
    return op_is_idempotent(by) ? p != PAST_ANY : p == PAST_ZERO && (by == OP_FADD || by == OP_ADD);
}

static bool may_end(Ends *e, const Group *g) {
    if (!shape_equal(g->shape, e->mask->type.shape) || !is_at_hand(e, g)) return false;
    for (uint32_t i = 0; i < g->ops.len; i++)
        if (!op_may_end(e, g->ops.at[i])) return false;
    return true;
}

/* True, then false along a row of more than one chunk. */
static bool is_end(const Host *h, const Value *mask) {
    Shape s = mask->type.shape;
    uint32_t row = host_inner(s);
    return row > host_width(h, s) && host_is_prefix(h, mask, s, row);
}

static void try_mask(Ends *e, const Value *mask) {
    if (!mask || !value_is_tile(mask) || !mask->def || mask == e->mask || !is_end(e->h, mask)) return;
    e->mask = mask;
    for (uint32_t i = 0; i < e->h->f->next_value; i++) e->past[i] = PAST_UNKNOWN;
    for (uint32_t i = 0; i < e->groups.len; i++) {
        Group *g = e->groups.at[i];
        if (!g->ends && may_end(e, g)) g->ends = mask;
    }
}

/* ---- Who reads what a loop keeps --------------------------------------------------------------------------------- */

static Group *keeper_of(const Host *h, const Value *v) {
    return h->keepers[v->id] ? h->groups[h->keepers[v->id]->last->id] : v->def ? h->groups[v->def->id] : NULL;
}

/* `reader` (NULL: no loop that ends) reads v: where another loop made it, that one ends where this one does. */
static void read_value(Ends *e, const Value *v, const Group *reader, bool in_place) {
    const Host *h = e->h;
    if (!value_is_tile(v) || e->seen[in_place][v->id] == e->question) return;
    e->seen[in_place][v->id] = e->question;
    if (v->def && v->def->kind == OP_REDUCE) return; /* whole */
    Group *maker = keeper_of(h, v);
    if (maker && maker->ends && maker != reader && !(reader && in_place && reader->ends == maker->ends)) {
        maker->ends = NULL;
        e->has_changed = true;
    }
    if (!v->def || (h->buffers[v->id] >= 0 && maker != reader)) return;
    bool same = in_place && op_class(v->def->kind) == CLASS_ELEMENT;
    for (uint32_t i = 0; i < v->def->nargs; i++) read_value(e, v->def->args[i], reader, same);
}

static void read_operands(Ends *e, const Op *op, const Group *reader) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        e->question++;
        read_value(e, op->args[i], reader, reader != NULL);
    }
}

static void read_block(Ends *e, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        const Group *g = e->h->groups[op->id];
        if (!host_is_lazy(op)) read_operands(e, op, g && g->ends ? g : NULL);
        for (uint32_t i = 0; i < op->nregions; i++) read_block(e, op->regions[i]);
    }
    for (uint32_t i = 0; i < e->groups.len; i++) {
        const Group *g = e->groups.at[i];
        for (uint32_t k = 0; k < g->kept.len; k++) read_operands(e, g->kept.at[k]->def, g->ends ? g : NULL);
    }
}

void host_ends(Host *h) {
    uint32_t values = h->f->next_value;
    Ends e = {.h = h,
              .place = NEW_ARRAY(h->arena, uint32_t, h->f->next_op),
              .past = NEW_ARRAY(h->arena, Past, values),
              .seen = {NEW_ARRAY(h->arena, uint32_t, values), NEW_ARRAY(h->arena, uint32_t, values)}};
    if (h->m->o->count) return; /* lanes that a mask leaves out are counted, too */
    number_ops(&e, h->f->body);
    for (uint32_t i = 0; i < e.groups.len; i++) {
        const Group *g = e.groups.at[i];
        for (uint32_t k = 0; k < g->ops.len; k++) {
            const Op *op = g->ops.at[k];
            uint32_t at = op->kind == OP_LOAD ? 1 : 2;
            if (op->kind != OP_REDUCE && op->nargs > at) try_mask(&e, op->args[at]);
        }
    }
    do {
        e.has_changed = false;
        read_block(&e, h->f->body);
    } while (e.has_changed);
}
