/* stmt.c - statements: assignment, the choice between static and dynamic branches, and order.
 *
 * In: lists of statement nodes. Out: ops and bindings; errors, each at its place, and on with the next statement.
 * Method: a list runs from top to bottom while `$live` is known to hold; where a branch left early on some paths only,
 * the rest of the list becomes the live branch of an `if` (flow.c).
 */
#include "check/sema.h"

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

static void assign_items(Checker *c, const Node *target, const Sem *s, Span at) {
    if (!sem_is_error(s) && s->kind != SEM_TUPLE) {
        diag(c->d, at, E_UNPACK_VALUE, target->list.len, sem_type_text(c, s));
        s = &sem_error;
    } else if (s->kind == SEM_TUPLE && s->count != target->list.len) {
        diag(c->d, at, E_UNPACK_COUNT, target->list.len, s->count);
        s = &sem_error;
    }
    for (uint32_t i = 0; i < target->list.len; i++) {
        const Node *item = target->list.at[i];
        assign_to(c, item, sem_is_error(s) ? s : s->items[i], item->span);
    }
}

void assign_to(Checker *c, const Node *target, const Sem *s, Span at) {
    switch (target->kind) {
    case NODE_NAME:
        /* A constant keeps its value under a name, but promotes as i32, i64, fp32 or i1. */
        frame_assign(c, target->name, sem_strong(c, s), target->span);
        if (s->kind == SEM_RUN && !s->v->name) s->v->name = target->name;
        break;
    case NODE_TUPLE:
    case NODE_LIST: assign_items(c, target, s, at); break;
    case NODE_SUBSCRIPT:
        diag(c->d, target->span, E_TILE_ELEMENT);
        diag_note(c->d, target->span, "build a new tile with where(condition, a, b), or write to memory with store");
        break;
    default: diag(c->d, target->span, E_NO_TARGET); break;
    }
}

static void assign(Checker *c, const Node *n) {
    const Sem *s = check_expr(c, n->a);
    if (s->kind == SEM_BUILTIN || s->kind == SEM_MODULE) {
        diag(c->d, n->a->span, E_NOT_YET_VALUE, sem_type_text(c, s));
        s = &sem_error;
    }
    for (uint32_t i = 0; i < n->list.len; i++) assign_to(c, n->list.at[i], s, n->span);
}

static void augment(Checker *c, const Node *n) {
    if (n->a->kind != NODE_NAME) {
        assign_to(c, n->a, &sem_error, n->span);
        return;
    }
    const Sem *x = scope_lookup(c, n->a->name, n->a->span), *y = check_expr(c, n->b);
    assign_to(c, n->a, binary_node(c, n, x, y), n->span);
}

static bool names_constexpr(const Node *n) {
    static const char word[] = "constexpr";
    if (n->kind != NODE_NAME && n->kind != NODE_ATTRIBUTE) return false;
    for (size_t i = 0; i < sizeof word; i++) {
        if (n->name[i] != word[i]) return false;
    }
    return true;
}

static void annotate(Checker *c, const Node *n) {
    if (!n->c) return; /* a declaration alone says nothing */
    const Sem *s = check_expr(c, n->c);
    if (names_constexpr(n->b)) {
        if (!sem_is_const(s) && !sem_is_error(s) && !triton_rules(c)) { /* Triton holds any value in a constexpr */
            diag(c->d, n->c->span, E_CONST_NAME, sem_type_text(c, s));
            diag_note(c->d, n->b->span,
                      "leave ': constexpr' out, or make what it is computed from constexpr parameters");
            s = &sem_error;
        }
        if (n->a->kind == NODE_NAME && s->kind != SEM_RUN) {
            frame_assign(c, n->a->name, sem_weak(c, s), n->a->span);
            return;
        }
    } else {
        const Sem *t = n->b->kind == NODE_POINTER ? &sem_none : check_expr(c, n->b);
        if (t->kind == SEM_TYPE && !t->is_pointer && sem_is_number(s)) s = convert_to(c, s, t->type, n->c->span);
    }
    assign_to(c, n->a, s, n->span);
}

/* ---- Other statements -------------------------------------------------------------------------------------------- */

static void assertion(Checker *c, const Node *n) {
    const Sem *cond = check_expr(c, n->a);
    if (sem_is_error(cond)) return;
    if (!sem_is_const(cond)) {
        assert_run(c, n, cond);
        return;
    }
    if (const_truth(cond)) return;
    const Sem *message = n->b ? check_expr(c, n->b) : NULL;
    if (message && message->kind == SEM_STRING) {
        diag(c->d, n->a->span, E_ASSERT_TEXT, message->s);
    } else {
        diag(c->d, n->a->span, E_ASSERT);
    }
}

/* raise E("text"): an error where it is reached; nothing on a path that constants close. */
static void raised(Checker *c, const Node *n) {
    const Node *first = n->a->kind == NODE_CALL && n->a->list.len ? n->a->list.at[0] : NULL;
    bool is_text = first && first->kind == NODE_STRING;
    const Sem *message = is_text ? check_expr(c, first) : NULL;
    if (message && message->kind == SEM_STRING) diag(c->d, n->span, E_RAISED_TEXT, message->s);
    else diag(c->d, n->span, E_RAISED);
    frame_assign(c, c->retval, &sem_error, n->span); /* who asks for the result hears no more of it */
    flow_stop(c);
}

/* The condition is wrong: both arms are still looked at for errors of their own. */
static void branch_poisoned(Checker *c, const Node *n) {
    uint32_t mark = journal_mark(c);
    block_run(c, &n->body);
    Outcomes assigned = journal_collect(c, mark);
    journal_undo(c, mark);
    mark = journal_mark(c);
    block_run(c, &n->rest);
    Outcomes others = journal_collect(c, mark);
    journal_undo(c, mark);
    for (uint32_t i = 0; i < assigned.count + others.count; i++) {
        const Outcome *o = i < assigned.count ? &assigned.at[i] : &others.at[i - assigned.count];
        if (c->frame->variables.at[o->variable].name[0] == '$') continue;
        frame_set(c, o->variable, (Binding){.sem = &sem_error, .span = o->then.span});
    }
}

/* True: the rest was taken along. */
static bool branch(Checker *c, const Node *n, const Rest *rest) {
    const Sem *cond = condition_of(c, check_expr(c, n->a), n->a->span, "the condition of 'if'");
    if (sem_is_error(cond)) return (branch_poisoned(c, n), false);
    if (cond->kind == SEM_RUN) return if_dynamic(c, n, cond, rest);
    const NodeList *taken = const_truth(cond) ? &n->body : &n->rest;
    if (!list_leaves(taken)) return (block_run(c, taken), false);
    Rest all = {taken->at, taken->len, rest}; /* a branch in it that ends early takes what follows along */
    rest_run(c, &all);
    return true;
}

static bool statement(Checker *c, const Node *n, const Rest *rest) {
    switch (n->kind) {
    case NODE_ASSIGN: assign(c, n); return false;
    case NODE_AUGMENT: augment(c, n); return false;
    case NODE_ANNOTATE: annotate(c, n); return false;
    case NODE_EXPR: check_expr(c, n->a); return false;
    case NODE_IF: return branch(c, n, rest);
    case NODE_FOR: loop_for(c, n); return false;
    case NODE_WHILE: loop_while(c, n); return false;
    case NODE_BREAK: loop_break(c, n); return false;
    case NODE_CONTINUE: loop_continue(c, n); return false;
    case NODE_PASS: return false;
    case NODE_RETURN: return_run(c, n); return false;
    case NODE_ASSERT: assertion(c, n); return false;
    case NODE_RAISE: raised(c, n); return false;
    default: bug("statement: node %s is no statement", node_name[n->kind]);
    }
}

void rest_run(Checker *c, const Rest *r) {
    c->depth++;
    for (; r; r = r->next) {
        for (uint32_t i = 0; i < r->count; i++) {
            const Node *n = r->list[i];
            Rest after = {r->list + i + 1, r->count - i - 1, r->next};
            Rest from = {r->list + i, r->count - i, r->next};
            Liveness state = flow_state(c);
            bool stop = state == FLOW_DEAD || diag_full(c->d) || !check_spend(c, n->span);
            if (!stop && state == FLOW_MAYBE) {
                rest_if_live(c, &from);
                stop = true;
            }
            c->b.span = n->span;
            if (stop || statement(c, n, &after)) {
                c->depth--;
                return;
            }
        }
    }
    c->depth--;
}

void block_run(Checker *c, const NodeList *list) {
    Rest r = {list->at, list->len, NULL};
    rest_run(c, &r);
}
