/* carry.c - the variables that a loop carries from one iteration to the next.
 *
 * In: a FOR or WHILE node and the bindings before it. Out: initial values, bindings inside and after the loop.
 * Method: carried is what the body assigns and what had a run-time or constant value before. An integer that the body
 * may update by arithmetic is carried in its own type and in its wide form, so that a running offset never wraps.
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

/* Builtins whose integer results are leaves of the wide rule; a conversion to a wider type is none. */
static bool call_is_leaf(const Checker *c, const Node *callee) {
    static const char *const leaves[] = {"load", "sum", "program_id", "num_programs", "arange", "cdiv", "zeros"};
    if (callee->kind != NODE_NAME && callee->kind != NODE_ATTRIBUTE) return false;
    if (frame_find(c->file->names, callee->name)) return false; /* the file's own */
    for (size_t i = 0; i < COUNT(leaves); i++) {
        if (strcmp(callee->name, leaves[i]) == 0) return true;
    }
    return false;
}

static bool may_widen(const Checker *c, const Node *n) {
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
    case NODE_CHOICE: return may_widen(c, n->a) || may_widen(c, n->c);
    case NODE_CALL: return !call_is_leaf(c, n->a);
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
            for (uint32_t k = 0; k < n->list.len; k++) find_targets(f, n->list.at[k], may_widen(f->c, n->a));
            break;
        case NODE_AUGMENT:
            find_targets(f, n->a, n->op == BIN_ADD || n->op == BIN_SUB || n->op == BIN_MUL || n->op == BIN_POW);
            break;
        case NODE_ANNOTATE:
            if (n->c) find_targets(f, n->a, may_widen(f->c, n->c));
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
    Carries k = {.at = NEW_ARRAY(c->a, Carried, f.list.len + 1)};
    for (uint32_t i = 0; i < f.list.len; i++) {
        const Binding *b = &c->frame->variables.at[f.list.at[i].variable].now;
        if (b->sem && b->sem->kind == SEM_BLOCK) {
            k.at[k.count++] = (Carried){f.list.at[i].variable, b->sem, b->span, k.slots, false};
            k.slots += b->sem->count;
            continue;
        }
        if (!b->sem || (b->sem->kind != SEM_RUN && !sem_is_number(b->sem))) continue;
        const Sem *init = to_run(c, b->sem, b->span);
        if (c->by_element) init = broadcast_to(c, init, *c->by_element);
        bool is_int = !init->is_pointer && !stype_is_float(init->type) && init->type != ST_I1;
        bool wide = is_int && (init->wide || f.list.at[i].widens);
        k.at[k.count++] = (Carried){f.list.at[i].variable, init, b->span, k.slots, wide};
        k.slots += wide ? 2 : 1;
    }
    return k;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* As the loop carries it. */
static void push_forms(Checker *c, const Carried *v, const Sem *s, Values *slots) {
    if (s->kind == SEM_BLOCK) {
        for (uint32_t i = 0; i < s->count; i++) vec_push(c->a, slots, s->items[i]->v);
        return;
    }
    vec_push(c->a, slots, s->v);
    if (v->wide) vec_push(c->a, slots, wide_value(c, s));
}

/* Where an error left none. */
static void push_fillers(Checker *c, const Carried *v, Values *slots) {
    if (v->init->kind == SEM_BLOCK) {
        for (uint32_t i = 0; i < v->init->count; i++) vec_push(c->a, slots, filler_value(c, v->init->items[i], false));
        return;
    }
    vec_push(c->a, slots, filler_value(c, v->init, false));
    if (v->wide) vec_push(c->a, slots, filler_value(c, v->init, true));
}

void carried_init(Checker *c, const Carried *v, Values *slots) {
    push_forms(c, v, v->init, slots);
}

static const Sem *carried_block(Checker *c, const Carried *v, Value **slots) {
    const Sem **items = NEW_ARRAY(c->a, const Sem *, v->init->count);
    for (uint32_t i = 0; i < v->init->count; i++) items[i] = sem_with(c, v->init->items[i], slots[v->slot + i], NULL);
    return sem_with_items(c, v->init, items);
}

const Sem *carried_sem(Checker *c, const Carried *v, Value **slots) {
    if (v->init->kind == SEM_BLOCK) return carried_block(c, v, slots);
    Value *now = slots[v->slot], *wide = v->wide ? slots[v->slot + 1] : NULL;
    now->name = c->frame->variables.at[v->variable].name;
    if (wide) wide->name = now->name;
    return sem_with(c, v->init, now, wide);
}

static void changes_type(Checker *c, const Carried *v, const Binding *b) {
    const char *name = c->frame->variables.at[v->variable].name;
    if (!b->sem) { /* the variable of a loop within */
        diag(c->d, b->gap, E_LOOP_VALUE, name, sem_type_text(c, v->init), "undefined");
        diag_note(c->d, v->span,
                  "it comes from here; the variable of a loop is of another type, and needs another name");
        return;
    }
    diag(c->d, b->span, E_LOOP_TYPE, name, sem_type_text(c, v->init), sem_type_text(c, b->sem));
    diag_note(c->d, v->span, "it is %s before the loop", sem_type_text(c, v->init));
    if (sem_is_tile(b->sem) && !sem_is_tile(v->init)) {
        diag_note(c->d, v->span, "start it with zeros(...) or full(...) of that shape and type");
    }
}

void carried_next(Checker *c, const Carried *v, Values *slots) {
    Binding b = c->frame->variables.at[v->variable].now;
    const Sem *s = b.sem;
    bool is_element = !sem_is_tile(v->init) || c->by_element;
    if (s && sem_is_number(s) && v->init->kind == SEM_RUN && is_element && !v->init->is_pointer &&
        number_fits(s, v->init->type) && (s->kind == SEM_BOOL) == (v->init->type == ST_I1)) {
        s = sem_run(c, v->init->type, const_value(c, s, v->init->type, shape_scalar()), NULL);
    }
    if (s && s->kind == SEM_RUN && c->by_element) s = broadcast_to(c, s, *c->by_element);
    bool is_block = s && s->kind == SEM_BLOCK && v->init->kind == SEM_BLOCK && sem_same_block(s, v->init);
    if (is_block || (s && s->kind == SEM_RUN && v->init->kind == SEM_RUN && sem_same_type(s, v->init))) {
        push_forms(c, v, s, slots);
        return;
    }
    if (!s || !sem_is_error(s)) changes_type(c, v, &b);
    frame_set(c, v->variable, (Binding){.sem = &sem_error, .span = b.span});
    push_fillers(c, v, slots);
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
        const char *before = sem_type_text(c, v->now.sem), *after = sem_type_text(c, o->then.sem);
        diag(c->d, o->then.span, E_LOOP_VALUE, v->name, before, strcmp(before, after) ? after : "another");
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
        const Sem *s = poisoned ? &sem_error : carried_sem(c, &k->at[v->index], results);
        frame_set(c, out.at[i].variable, (Binding){.sem = s, .span = out.at[i].then.span});
    }
}
