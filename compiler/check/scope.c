/* scope.c - names: the variables of each function under way, their journal, and the look-up through all scopes.
 *
 * In: assignments and uses. Out: Sems; for an unknown name an error that suggests the nearest known one.
 * Method: a frame holds its variables behind a small hash of interned names; every assignment is journalled, so that a
 * branch can be run, its outcome collected, and undone before the other branch.
 */
#include "check/sema.h"

#include <math.h>
#include <string.h>

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

Frame *frame_push(Checker *c, const Node *fn, Span at) {
    Frame *f = NEW(c->a, Frame);
    f->caller = c->frame;
    f->fn = fn;
    f->call = at;
    f->num_slots = 16;
    f->slots = NEW_ARRAY(c->a, uint32_t, f->num_slots);
    c->frame = f;
    return f;
}

void frame_pop(Checker *c) {
    c->frame = c->frame->caller;
}

static uint32_t slot_of(const Frame *f, const char *name) {
    uint32_t h = (uint32_t)((uintptr_t)name >> 4) * 2654435761u;
    uint32_t i = h & (f->num_slots - 1);
    while (f->slots[i] && f->variables.at[f->slots[i] - 1].name != name) i = (i + 1) & (f->num_slots - 1);
    return i;
}

static void grow_slots(Checker *c, Frame *f) {
    f->num_slots *= 2;
    f->slots = NEW_ARRAY(c->a, uint32_t, f->num_slots);
    for (uint32_t i = 0; i < f->variables.len; i++) f->slots[slot_of(f, f->variables.at[i].name)] = i + 1;
}

uint32_t frame_variable(Checker *c, const char *name) {
    Frame *f = c->frame;
    uint32_t slot = slot_of(f, name);
    if (f->slots[slot]) return f->slots[slot] - 1;
    Variable v = {.name = name};
    vec_push(c->a, &f->variables, v);
    f->slots[slot] = f->variables.len;
    if (f->variables.len * 2 > f->num_slots) grow_slots(c, f);
    return f->variables.len - 1;
}

int64_t frame_index(const Frame *f, const char *name) {
    return (int64_t)f->slots[slot_of(f, name)] - 1;
}

const Binding *frame_find(const Frame *f, const char *name) {
    int64_t i = frame_index(f, name);
    return i >= 0 ? &f->variables.at[i].now : NULL;
}

void frame_set(Checker *c, uint32_t variable, Binding b) {
    Frame *f = c->frame;
    Change change = {variable, f->variables.at[variable].now};
    vec_push(c->a, &f->journal, change);
    f->variables.at[variable].now = b;
}

void frame_assign(Checker *c, const char *name, const Sem *s, Span at) {
    uint32_t v = frame_variable(c, name);
    Binding b = {.sem = s, .span = at};
    frame_set(c, v, b);
}

const Sem *frame_get(Checker *c, const char *name) {
    const Binding *b = frame_find(c->frame, name);
    return b && b->sem ? b->sem : &sem_error;
}

uint32_t journal_mark(const Checker *c) {
    return c->frame->journal.len;
}

Outcomes journal_collect(Checker *c, uint32_t mark) {
    Frame *f = c->frame;
    Outcomes out = {NEW_ARRAY(c->a, Outcome, f->journal.len - mark + 1), 0};
    uint32_t epoch = ++f->epoch; /* marks what was collected already */
    for (uint32_t i = mark; i < f->journal.len; i++) {
        uint32_t v = f->journal.at[i].variable;
        if (f->variables.at[v].seen == epoch) continue;
        f->variables.at[v].seen = epoch;
        out.at[out.count++] = (Outcome){v, f->variables.at[v].now};
    }
    return out;
}

void journal_undo(Checker *c, uint32_t mark) {
    Frame *f = c->frame;
    while (f->journal.len > mark) {
        Change *last = &f->journal.at[--f->journal.len];
        f->variables.at[last->variable].now = last->was;
    }
}

/* ---- Look-up ----------------------------------------------------------------------------------------------------- */

static const char *const constants[] = {"inf", "nan", "True", "False", "None"};
static const char *const modules[] = {"tl",    "triton", "tldevice", "libdevice", "math",
                                      "torch", "np",     "numpy",    "jnp",       "F"};

static const Sem *known_word(Checker *c, const char *name) {
    if (strcmp(name, "inf") == 0) return sem_float(c, INFINITY);
    if (strcmp(name, "nan") == 0) return sem_float(c, NAN);
    for (size_t i = 0; i < COUNT(modules); i++) {
        if (strcmp(name, modules[i]) == 0) return sem_module(c, modules[i]);
    }
    return NULL;
}

/* ---- Unknown names ----------------------------------------------------------------------------------------------- */

static void suggest(Checker *c, const char *name, Span at) {
    if (c->m->has_gaps) return; /* an error of syntax may hide its definition */
    if (frame_index(c->frame, name) >= 0) {
        diag(c->d, at, E_UNDEFINED, name);
        diag_note(c->d, at, "it is assigned elsewhere in the function; give it a value before");
        return;
    }
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < c->frame->variables.len; i++) {
        if (c->frame->variables.at[i].name[0] != '$') vec_push(c->a, &names, c->frame->variables.at[i].name);
    }
    for (uint32_t i = 0; i < c->file->names->variables.len; i++)
        vec_push(c->a, &names, c->file->names->variables.at[i].name);
    for (size_t i = 0; i < COUNT(constants); i++) vec_push(c->a, &names, constants[i]);
    uint32_t count;
    const char *const *builtins = builtin_names(&count);
    for (uint32_t i = 0; i < count; i++) vec_push(c->a, &names, builtins[i]);
    for (uint32_t i = 0; dtype_spelling(i); i++) vec_push(c->a, &names, dtype_spelling(i));
    const char *near = nearest_name(name, names.at, names.len);
    if (is_foreign_word(name)) {
        diag(c->d, at, E_UNKNOWN_NAME, name);
        note_word(c, name, at);
    } else if (near) {
        diag(c->d, at, E_UNKNOWN_NAME_NEAR, name, near);
        fix_head(c, at, name, near);
    } else if (!refused_name(c, name, at)) {
        diag(c->d, at, E_UNKNOWN_NAME, name);
    }
}

bool refuse_foreign(Checker *c, const char *name, Span at) {
    for (uint32_t i = c->file->foreign->len; i-- > 0;) {
        const Node *f = c->file->foreign->at[i];
        if (f->name != name) continue;
        diag(c->d, at, E_HOST_FUNCTION, name);
        diag_note(c->d, f->span, "it is here; @triton.jit above it makes it one that kernels call");
        return true;
    }
    return false;
}

/* A function of the host that a function of constants calls, as Python would run both; NULL: none of that name, or who
 * asks is no such function. */
static const Sem *host_of_constants(Checker *c, const char *name) {
    const Node *fn = c->frame->fn;
    bool may = false;
    for (uint32_t i = 0; fn && c->file == c->main && i < fn->rest.len; i++)
        may |= decorator_is(fn->rest.at[i], "constexpr") || decorator_is(fn->rest.at[i], "constexpr_function");
    for (uint32_t i = 0; may && i < c->m->hosts.len; i++) {
        const Node *host = c->m->hosts.at[i];
        if (host->name != name || host->flag) continue;
        Sem *s = NEW(c->a, Sem);
        *s = (Sem){.kind = SEM_FUNCTION, .fn = host, .home = c->file};
        return s;
    }
    return NULL;
}

bool triton_rules(const Checker *c) {
    return c->file->mode == SYNTAX_PYTHON;
}

static const Sem *not_defined(Checker *c, const char *name, const Binding *b, Span at) {
    diag(c->d, at, E_UNDEFINED_PATH, name);
    if (b->span.end) diag_note(c->d, b->span, "it is assigned here");
    if (b->gap.end) diag_note(c->d, b->gap, "and a path through here leaves it undefined; give it a value before");
    return &sem_error;
}

static const Sem *bind_import(Checker *c, const Node *import, const char *name, Span at) {
    const Sem *s = import_find(c, import, at);
    if (!s) import_missing(c, import, name, at);
    frame_assign(c, name, s ? s : &sem_error, at);
    return s ? s : &sem_error;
}

const Sem *scope_lookup(Checker *c, const char *name, Span at) {
    const Binding *b = frame_find(c->frame, name);
    if (b && b->sem) return b->sem;
    if (b && b->gap.end) {
        not_defined(c, name, b, at);
        frame_assign(c, name, &sem_error, at); /* once is enough */
        return &sem_error;
    }
    const Sem *s = scope_global(c, name, at);
    if (s) return s;
    const Node *import = import_around(c, name);
    if (import) return bind_import(c, import, name, at);
    s = host_of_constants(c, name);
    if (s) return s;
    if (refuse_foreign(c, name, at)) {
        frame_assign(c, name, &sem_error, at);
        return &sem_error;
    }
    const Builtin *builtin = builtin_find(name);
    if (builtin) {
        Sem *r = NEW(c->a, Sem);
        r->kind = SEM_BUILTIN;
        r->builtin = builtin;
        r->weak = true; /* written bare */
        return r;
    }
    SType t;
    const char *canonical = dtype_canonical(name);
    if (canonical && stype_find(canonical, &t)) return sem_type(c, t, false);
    s = known_word(c, name);
    if (s) return s;
    suggest(c, name, at);
    frame_assign(c, name, &sem_error, at);
    return &sem_error;
}
