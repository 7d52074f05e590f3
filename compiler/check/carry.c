/* carry.c - the variables that a loop carries from one iteration to the next.
 *
 * In: a FOR or WHILE node and the bindings before it. Out: initial values, bindings inside and after the loop.
 * Method: carried is what the body assigns and what had a run-time or constant value before. An integer under 64 bits
 * is carried as i64 where the body may update it by arithmetic, so that a running offset never wraps.
 */
#include "check/sema.h"

#include <string.h>

/* ---- What the body assigns --------------------------------------------------------------------------------------- */

typedef struct Found {
    uint32_t variable;
    bool widens; /* some assignment may give it a wide form */
} Found;

typedef struct Finder {
    Checker *c;
    VEC(Found) list;
    uint32_t epoch;
} Finder;

/* Builtins whose integer results are leaves of the wide rule. */
static bool call_is_leaf(const Node *callee) {
    static const char *const leaves[] = {"load", "sum", "program_id", "num_programs", "arange",
                                         "cdiv", "to",  "cast",       "full",         "zeros"};
    if (callee->kind != NODE_NAME && callee->kind != NODE_ATTRIBUTE) return false;
    for (size_t i = 0; i < COUNT(leaves); i++) {
        if (strcmp(callee->name, leaves[i]) == 0) return true;
    }
    return false;
}

static bool may_widen(const Node *n) {
    switch (n->kind) {
    case NODE_INT:
    case NODE_FLOAT:
    case NODE_TRUE:
    case NODE_FALSE:
    case NODE_COMPARE:
    case NODE_AND:
    case NODE_OR: return false;
    case NODE_UNARY: return n->op != UN_INVERT && n->op != UN_NOT && n->a->kind != NODE_INT;
    case NODE_BINARY: return n->op == BIN_ADD || n->op == BIN_SUB || n->op == BIN_MUL || n->op == BIN_POW;
    case NODE_CHOICE: return may_widen(n->a) || may_widen(n->c);
    case NODE_CALL: return !call_is_leaf(n->a);
    default: return true;
    }
}

static void found(Finder *f, const char *name, bool widens) {
    uint32_t v = frame_variable(f->c, name);
    Variable *variable = &f->c->frame->variables.at[v];
    if (variable->seen != f->epoch) {
        variable->seen = f->epoch;
        variable->index = f->list.len;
        Found item = {v, false};
        vec_push(f->c->a, &f->list, item);
    }
    f->list.at[variable->index].widens |= widens;
}

static void find_targets(Finder *f, const Node *target, bool widens) {
    if (target->kind == NODE_NAME) found(f, target->name, widens);
    if (target->kind != NODE_TUPLE && target->kind != NODE_LIST) return;
    for (uint32_t i = 0; i < target->list.len; i++) find_targets(f, target->list.at[i], true);
}

static void find_assigned(Finder *f, const NodeList *list) {
    for (uint32_t i = 0; i < list->len; i++) {
        const Node *n = list->at[i];
        switch (n->kind) {
        case NODE_ASSIGN:
            for (uint32_t k = 0; k < n->list.len; k++) find_targets(f, n->list.at[k], may_widen(n->a));
            break;
        case NODE_AUGMENT:
            find_targets(f, n->a, n->op == BIN_ADD || n->op == BIN_SUB || n->op == BIN_MUL || n->op == BIN_POW);
            break;
        case NODE_ANNOTATE:
            if (n->c) find_targets(f, n->a, may_widen(n->c));
            break;
        case NODE_FOR: find_targets(f, n->a, true); /* fall through */
        case NODE_IF:
        case NODE_WHILE:
            find_assigned(f, &n->body);
            find_assigned(f, &n->rest);
            break;
        default: break;
        }
    }
}

Carries carries_find(Checker *c, const Node *loop, bool returns) {
    Finder f = {.c = c, .epoch = ++c->frame->epoch};
    if (loop->kind == NODE_FOR) find_targets(&f, loop->a, true);
    find_assigned(&f, &loop->body);
    if (returns) found(&f, c->ret, false);
    Carries k = {NEW_ARRAY(c->a, Carried, f.list.len + 1), 0};
    for (uint32_t i = 0; i < f.list.len; i++) {
        const Binding *b = &c->frame->variables.at[f.list.at[i].variable].now;
        if (!b->sem || (b->sem->kind != SEM_RUN && !sem_is_number(b->sem))) continue;
        const Sem *init = to_run(c, b->sem, b->span);
        bool narrow_int = !init->is_pointer && !stype_is_float(init->type) && stype_bits(init->type) < 64;
        bool wide = narrow_int && init->type != ST_I1 && (init->wide || f.list.at[i].widens);
        k.at[k.count++] = (Carried){f.list.at[i].variable, init, b->span, wide};
    }
    return k;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* As the loop carries it. */
static Value *carried_value(Checker *c, const Carried *v, const Sem *s) {
    if (v->wide || (s->kind == SEM_RUN && s->wide && v->init->type == ST_I64)) return wide_value(c, s);
    return s->v;
}

Value *carried_init(Checker *c, const Carried *v) {
    return carried_value(c, v, v->init);
}

const Sem *carried_sem(Checker *c, const Carried *v, Value *now) {
    now->name = c->frame->variables.at[v->variable].name;
    if (!v->wide) return sem_with(c, v->init, now, NULL);
    return sem_with(c, v->init, narrow_value(c, now, v->init->type), now);
}

static Value *changes_type(Checker *c, const Carried *v, const Binding *b) {
    const char *name = c->frame->variables.at[v->variable].name;
    diag_error(c->d, b->span, "'%s' changes its type in the loop, from %s to %s", name, sem_type_text(c, v->init),
               sem_type_text(c, b->sem));
    diag_note(c->d, v->span, "it is %s before the loop", sem_type_text(c, v->init));
    if (sem_is_tile(b->sem) && !sem_is_tile(v->init)) {
        diag_note(c->d, v->span, "start it with zeros(...) or full(...) of that shape and type");
    }
    frame_set(c, v->variable, (Binding){.sem = &sem_error, .span = b->span});
    return filler_value(c, v->init, v->wide);
}

Value *carried_next(Checker *c, const Carried *v) {
    Binding b = c->frame->variables.at[v->variable].now;
    if (!b.sem || sem_is_error(b.sem)) {
        frame_set(c, v->variable, (Binding){.sem = &sem_error, .span = b.span});
        return filler_value(c, v->init, v->wide);
    }
    const Sem *s = b.sem;
    if (sem_is_number(s) && !sem_is_tile(v->init) && !v->init->is_pointer && number_fits(s, v->init->type) &&
        (s->kind == SEM_BOOL) == (v->init->type == ST_I1)) {
        s = sem_run(c, v->init->type, const_value(c, s, v->init->type, shape_scalar()), NULL);
    }
    if (s->kind != SEM_RUN || !sem_same_type(s, v->init)) return changes_type(c, v, &b);
    return carried_value(c, v, s);
}

/* ---- After the loop ---------------------------------------------------------------------------------------------- */

static void finish_other(Checker *c, const Outcome *o, Span at) {
    const Variable *v = &c->frame->variables.at[o->variable];
    if (v->name[0] == '$') return;
    if (!v->now.sem) {
        Binding b = {.span = o->then.span, .gap = at};
        if (o->then.sem && sem_is_error(o->then.sem)) b.sem = &sem_error;
        frame_set(c, o->variable, b);
        return;
    }
    if (sem_is_error(v->now.sem) || (o->then.sem && sem_equal(o->then.sem, v->now.sem))) return;
    if (o->then.sem && !sem_is_error(o->then.sem)) {
        diag_error(c->d, o->then.span, "'%s' is %s before the loop and changes in it", v->name,
                   sem_type_text(c, v->now.sem));
        diag_note(c->d, v->now.span, "a loop carries only numbers, tiles and pointers; it comes from here");
    }
    frame_set(c, o->variable, (Binding){.sem = &sem_error, .span = o->then.span});
}

void carries_finish(Checker *c, const Carries *k, uint32_t mark, Value **results, Span at) {
    Frame *f = c->frame;
    Outcomes out = journal_collect(c, mark);
    journal_undo(c, mark);
    uint32_t epoch = ++f->epoch;
    for (uint32_t i = 0; i < k->count; i++) {
        f->variables.at[k->at[i].variable].seen = epoch;
        f->variables.at[k->at[i].variable].index = i;
    }
    for (uint32_t i = 0; i < out.count; i++) {
        const Variable *v = &f->variables.at[out.at[i].variable];
        if (v->seen != epoch) {
            finish_other(c, &out.at[i], at);
            continue;
        }
        bool poisoned = out.at[i].then.sem && sem_is_error(out.at[i].then.sem);
        const Sem *s = poisoned ? &sem_error : carried_sem(c, &k->at[v->index], results[v->index]);
        frame_set(c, out.at[i].variable, (Binding){.sem = s, .span = out.at[i].then.span});
    }
}
