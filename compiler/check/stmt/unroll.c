/* unroll.c - loops that run at compile time: static_range and tuples.
 *
 * In: a FOR node and the values to walk over. Out: the body, once for each value.
 * Method: the loop variable is a constant. A break that is known ends the loop; one that depends on run-time values
 * leaves `$live` open, and the following iterations run under it.
 */
#include "check/sema.h"

/* False: the loop is over. */
static bool iteration(Checker *c, const Node *n, const Sem *value) {
    Span nowhere = {0, 0};
    if (!check_spend(c, n->span) || flow_state(c) == FLOW_DEAD) return false;
    if (n->a->kind == NODE_NAME) {
        frame_assign(c, n->a->name, sem_weak(c, value), n->a->span);
    } else {
        assign_to(c, n->a, value, n->a->span);
    }
    if (flow_state(c) == FLOW_MAYBE) {
        Rest body = {n->body.at, n->body.len, NULL};
        rest_if_live(c, &body);
    } else {
        block_run(c, &n->body);
    }
    c->b.span = n->span;
    frame_assign(c, c->live, loop_goes_on(c), nowhere);
    return true;
}

static const Sem *begin(Checker *c) {
    const Sem *outer = loop_enter(c);
    frame_assign(c, c->brk, sem_bool(c, false), (Span){0, 0});
    return outer;
}

void loop_static(Checker *c, const Node *n, Call *call) {
    const Sem *sem[3];
    Span at[3];
    int64_t x[3];
    static const char *const what[3] = {"the start of static_range", "the end of static_range",
                                        "the step of static_range"};
    range_arguments(c, call, sem, at);
    for (int i = 0; i < 3; i++) {
        if (sem_want_int(c, sem[i], at[i], what[i], &x[i])) continue;
        loop_poisoned(c, n);
        return;
    }
    if (x[2] == 0) {
        diag(c->d, at[2], E_STATIC_STEP);
        return;
    }
    const Sem *outer = begin(c);
    Int i = int_from(x[0]), end = int_from(x[1]), step = int_from(x[2]);
    while (int_compare(i, end) == (x[2] > 0 ? -1 : 1) && iteration(c, n, sem_int(c, i))) {
        if (!int_add(i, step, &i)) break;
    }
    loop_leave(c, outer);
}

void loop_items(Checker *c, const Node *n, const Sem *tuple) {
    const Sem *outer = begin(c);
    for (uint32_t i = 0; i < tuple->count && iteration(c, n, tuple->items[i]); i++) continue;
    loop_leave(c, outer);
}
