/* issue.c - the pass issue: what a cluster waits for is loaded right behind the row.
 *
 * In: a function whose barriers are placed. Out: scalars that an exchange of a cluster waits for are loaded behind the
 * row, before anything is made of it, with the pure ops of their addresses; the row's load is `late`.
 * Method: such a scalar has a chain of loads, a target and what it points at. The vectors that a row's ends cut are
 * waited for in a block of their own (codegen/simt). Late ones are loaded when the scalars are under way. Only pure ops
 * and loads are passed, so memory keeps its order.
 */
#include "passes/private.h"

typedef struct Issue {
    uint32_t *stamp; /* by op id: the last load that needs it */
    uint32_t attempt;
} Issue;

static bool passes(const Op *op) {
    bool is_load = op->kind == OP_LOAD && !op->attr.mem.is_volatile;
    return !op->nregions && (is_load || (op_is_pure(op->kind) && op_class(op->kind) != CLASS_REDUCE));
}

static void need(Issue *s, const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i]->def) s->stamp[op->args[i]->def->id] = s->attempt;
}

/* What the load needs of the ops behind `row` is stamped. False: the row itself. */
static bool find_needed(Issue *s, const Op *row, const Op *load) {
    s->attempt++;
    need(s, load);
    for (const Op *op = load->prev; op != row; op = op->prev)
        if (s->stamp[op->id] == s->attempt) need(s, op);
    return s->stamp[row->id] != s->attempt;
}

/* Right behind the row, with what it needs. */
static void move_behind(const Issue *s, const Op *row, Op *load) {
    Op *where = row->next;
    for (Op *op = where, *next; op != load; op = next) {
        next = op->next;
        if (s->stamp[op->id] != s->attempt) continue;
        if (op == where) where = next;
        else op_move_before(op, where);
    }
    if (load != where) op_move_before(load, where);
}

/* Loaded before it, with nothing in between that the load may not pass: a rotated row whose vectors are aligned. */
static Op *find_row(const Op *load) {
    Op *op = load->prev;
    while (op && passes(op) && (op->kind != OP_LOAD || !value_is_tile(op->results[0]))) op = op->prev;
    if (!op || !passes(op) || op->nargs < 2 || !op->attr.mem.is_rotated) return NULL;
    uint32_t bytes = type_bytes(type_scalar(op->results[0]->type.dtype)) << op->attr.mem.vec_log2;
    return UINT32_C(1) << op->attr.mem.align_log2 >= bytes ? op : NULL;
}

static void issue(void *context, Op *store) {
    Issue *s = context;
    for (uint32_t i = 1; store->kind == OP_SHSTORE && store->attr.scope == SCOPE_CLUSTER && i < store->nargs; i++) {
        Op *load = store->args[i]->def;
        bool is_scalar = load && load->kind == OP_LOAD && passes(load) && !value_is_tile(load->results[0]);
        Op *row = is_scalar ? find_row(load) : NULL;
        if (!row || !find_needed(s, row, load)) continue;
        move_behind(s, row, load);
        row->attr.mem.is_late = load_until(row) != NULL;
    }
}

static void forget(void *context, Op *op) {
    (void)context;
    op->attr.mem.is_late = false;
}

void pass_issue(Func *f, PassContext *c) {
    Issue s = {.stamp = NEW_ARRAY(c->scratch, uint32_t, f->next_op)};
    func_walk(f, forget, NULL);
    func_walk(f, issue, &s);
}
