/* kernel.c - from a module to one kernel: the entry point, its parameters, its body, its record.
 *
 * In: a parsed module and the options. Out: a Func at STAGE_TILE and the first half of its record; NULL after errors.
 * Method: one straight function. What an error leaves open is poison, so that the rest is still checked.
 */
#include "check/sema.h"

#include <string.h>

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

static bool has_decorator(const Node *fn, const char *name) {
    for (uint32_t i = 0; i < fn->rest.len; i++) {
        if (decorator_is(fn->rest.at[i], name)) return true;
    }
    return false;
}

static bool names_function(const Node *n, const Node *fn);

static bool list_names(const NodeList *list, const Node *fn) {
    for (uint32_t i = 0; i < list->len; i++) {
        if (names_function(list->at[i], fn)) return true;
    }
    return false;
}

static bool names_function(const Node *n, const Node *fn) {
    if (!n) return false;
    if (n->kind == NODE_NAME) return n->name == fn->name;
    return names_function(n->a, fn) || names_function(n->b, fn) || names_function(n->c, fn) ||
           list_names(&n->list, fn) || list_names(&n->body, fn) ||
           (n->kind != NODE_FUNCTION && list_names(&n->rest, fn));
}

static bool is_called(const Module *m, const Node *fn) {
    for (uint32_t i = 0; i < m->items.len; i++) {
        const Node *n = m->items.at[i];
        if (n->kind == NODE_FUNCTION && n != fn && names_function(n, fn)) return true;
    }
    return false;
}

/* @kernel functions; where there is none, the @jit functions that no other calls. */
uint32_t check_entry_points(const Module *m, const Node **functions, uint32_t max) {
    uint32_t count = 0;
    for (int pass = 0; pass < 2 && count == 0; pass++) {
        for (uint32_t i = 0; i < m->items.len; i++) {
            const Node *n = m->items.at[i];
            if (n->kind != NODE_FUNCTION || !has_decorator(n, pass ? "jit" : "kernel")) continue;
            if (pass && is_called(m, n)) continue;
            if (count < max) functions[count] = n;
            count++;
        }
    }
    return count;
}

static const Node *named_entry(Checker *c, const char *name) {
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < c->m->items.len; i++) {
        const Node *n = c->m->items.at[i];
        if (n->kind != NODE_FUNCTION) continue;
        if (strcmp(n->name, name) == 0) return n;
        vec_push(c->a, &names, n->name);
    }
    const char *near = nearest_name(name, names.at, names.len);
    if (near) {
        diag_error(c->d, (Span){0, 0}, "--kernel %s: the file has no such function; did you mean '%s'?", name, near);
    } else {
        diag_error(c->d, (Span){0, 0}, "--kernel %s: the file has no such function", name);
    }
    return NULL;
}

static const Node *find_entry(Checker *c) {
    enum { SHOWN = 8 };
    const Node *found[SHOWN];
    if (c->o->kernel) return named_entry(c, c->o->kernel);
    uint32_t count = check_entry_points(c->m, found, SHOWN);
    if (count == 1) return found[0];
    if (count == 0) {
        diag_error(c->d, (Span){c->m->source->base, c->m->source->base}, "%s has no kernel", c->m->source->name);
        diag_note(c->d, (Span){0, 0}, "an entry point is a function with @kernel(...) or @triton.jit before it");
        return NULL;
    }
    diag_error(c->d, found[1]->span, "the file has %u kernels; choose one with --kernel NAME", count);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) diag_note(c->d, found[i]->span, "--kernel %s", found[i]->name);
    return NULL;
}

/* ---- Constants and functions of the file ------------------------------------------------------------------------- */

FileScope *scope_of_file(Checker *c, const Module *m) {
    FileScope *file = NEW(c->a, FileScope);
    file->names = frame_push(c, NULL, (Span){0, 0});
    for (uint32_t i = 0; i < m->items.len; i++) {
        const Node *n = m->items.at[i];
        uint32_t before = file->names->variables.len, v = frame_variable(c, n->name);
        if (v == before) {
            vec_push(c->a, &file->nodes, n);
            continue;
        }
        if (n->kind == NODE_FUNCTION && file->nodes.at[v]->kind == NODE_FUNCTION) {
            diag_error(c->d, n->span, "the function '%s' is defined twice", n->name);
            diag_note(c->d, file->nodes.at[v]->span, "it is here first");
        }
        file->nodes.at[v] = n;
    }
    frame_pop(c);
    return file;
}

static const Sem *evaluate_global(Checker *c, const Node *n) {
    if (n->kind == NODE_FUNCTION) {
        Sem *s = NEW(c->a, Sem);
        s->kind = SEM_FUNCTION;
        s->fn = n;
        s->home = c->file;
        return s;
    }
    frame_push(c, NULL, (Span){0, 0});
    frame_start(c);
    const Sem *s = expr(c, n->a);
    frame_pop(c);
    if (s->kind != SEM_RUN) return sem_weak(c, s);
    diag_error(c->d, n->a->span, "the constant '%s' is not known at compile time", n->name);
    return &sem_error;
}

const Sem *scope_global(Checker *c, const char *name) {
    FileScope *file = c->file;
    const Binding *b = frame_find(file->names, name);
    if (!b) return NULL;
    if (b->sem) return b->sem;
    Frame *frame = c->frame;
    c->frame = file->names;
    uint32_t v = frame_variable(c, name);
    file->names->variables.at[v].now.sem = &sem_error; /* a constant that needs itself */
    c->frame = frame;
    const Sem *s = evaluate_global(c, file->nodes.at[v]);
    file->names->variables.at[v].now.sem = s;
    return s;
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

void frame_start(Checker *c) {
    Span nowhere = {0, 0};
    frame_assign(c, c->live, sem_bool(c, true), nowhere);
    frame_assign(c, c->brk, sem_bool(c, false), nowhere);
    frame_assign(c, c->ret, sem_bool(c, false), nowhere);
}

static Checker *checker_create(Arena *a, Strings *s, Diag *d, const Module *m, const CheckOptions *o) {
    Checker *c = NEW(a, Checker);
    *c = (Checker){.a = a, .s = s, .d = d, .m = m, .o = o};
    c->live = str_intern0(s, "$live");
    c->brk = str_intern0(s, "$brk");
    c->ret = str_intern0(s, "$ret");
    c->retval = str_intern0(s, "$retval");
    c->file = scope_of_file(c, m);
    return c;
}

static void start_function(Checker *c, const Node *fn) {
    c->f = func_create(c->a, c->s, fn->name, fn->span);
    c->b = builder_at_end(c->f, c->f->body);
    c->b.span = fn->span;
    frame_push(c, fn, (Span){0, 0});
    frame_start(c);
}

static void finish_function(Checker *c, const Params *p) {
    Func *f = c->f;
    Attr none = {0};
    prune_unused(f);
    c->b = builder_at_end(f, f->body);
    c->b.span = p->fn->span;
    op_build(&c->b, OP_RETURN, NULL, 0, none, type_scalar(DT_I32));
    f->num_warps = launch_option(c, p, "num_warps", c->o->num_warps, 32);
    f->num_stages = launch_option(c, p, "num_stages", c->o->num_stages, 16);
    if (launch_option(c, p, "num_ctas", c->o->num_ctas, 16) > 1) {
        diag_error(c->d, p->fn->span, "num_ctas above 1 is not compiled yet");
    }
}

Kernel *check_kernel(Arena *a, Strings *s, Diag *d, const Module *m, const CheckOptions *o) {
    Checker *c = checker_create(a, s, d, m, o);
    const Node *fn = find_entry(c);
    Params params;
    if (!fn) return NULL;
    start_function(c, fn);
    params_declare(c, fn, &params);
    params_options(c, &params);
    launch_check(c, &params);
    params_settle(c, &params);
    params_enter(c, &params);
    block_run(c, &fn->body);
    if (!diag_errors(d)) finish_function(c, &params);

    c->record = record_create(fn->name);
    if (!c->record) bug("check_kernel: out of memory");
    params_record(c, &params, false);
    launch_record(c, &params);
    if (diag_errors(d)) {
        record_free(c->record);
        return NULL;
    }
    Kernel *k = NEW(a, Kernel);
    *k = (Kernel){c->f, c->record};
    return k;
}

Record *check_interface(Arena *a, Strings *s, Diag *d, const Module *m, const CheckOptions *o) {
    Checker *c = checker_create(a, s, d, m, o);
    const Node *fn = find_entry(c);
    Params params;
    if (!fn) return NULL;
    start_function(c, fn); /* defaults are evaluated as expressions of a function */
    params_declare(c, fn, &params);
    params_options(c, &params);
    launch_check(c, &params);
    params_types(c, &params);
    c->record = record_create(fn->name);
    if (!c->record) bug("check_interface: out of memory");
    params_record(c, &params, true);
    launch_record(c, &params);
    if (!diag_errors(d)) return c->record;
    record_free(c->record);
    return NULL;
}
