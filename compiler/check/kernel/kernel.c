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

/* Functions of a module by name, and which of them others name. Names are interned: equal means the same pointer. */
typedef struct Names {
    Arena *a;
    const char **name; /* open addressing; NULL: free */
    bool *called;
    const Node **last; /* the definition that counts */
    uint32_t num_slots; /* a power of two */
    const char *inside; /* the function that is looked at */
} Names;

static uint32_t name_slot(const Names *t, const char *name) {
    uint32_t i = (uint32_t)((uintptr_t)name >> 4) * 2654435761u & (t->num_slots - 1);
    while (t->name[i] && t->name[i] != name) i = (i + 1) & (t->num_slots - 1);
    return i;
}

static void note_names(Names *t, const Node *n);

static void note_list(Names *t, const NodeList *list) {
    for (uint32_t i = 0; i < list->len; i++) note_names(t, list->at[i]);
}

static void note_names(Names *t, const Node *n) {
    if (!n) return;
    if (n->kind == NODE_NAME) {
        uint32_t slot = name_slot(t, n->name);
        if (t->name[slot] && n->name != t->inside) t->called[slot] = true;
        return;
    }
    note_names(t, n->a);
    note_names(t, n->b);
    note_names(t, n->c);
    note_list(t, &n->list);
    note_list(t, &n->body);
    if (n->kind != NODE_FUNCTION) note_list(t, &n->rest);
}

static Names names_of(const Module *m) {
    Names t = {.a = arena_create(), .num_slots = 16};
    while (t.num_slots < m->items.len * 2) t.num_slots *= 2;
    t.name = NEW_ARRAY(t.a, const char *, t.num_slots);
    t.called = NEW_ARRAY(t.a, bool, t.num_slots);
    t.last = NEW_ARRAY(t.a, const Node *, t.num_slots);
    for (uint32_t i = 0; i < m->items.len; i++) {
        const Node *n = m->items.at[i];
        if (n->kind != NODE_FUNCTION) continue;
        uint32_t slot = name_slot(&t, n->name);
        t.name[slot] = n->name;
        if (!t.last[slot] || n->op != FUNCTION_INSIDE) t.last[slot] = n;
    }
    for (uint32_t i = 0; i < m->items.len; i++) {
        t.inside = m->items.at[i]->name;
        if (m->items.at[i]->kind == NODE_FUNCTION) note_names(&t, m->items.at[i]);
    }
    return t;
}

/* @kernel functions; where there is none, the @jit functions that no other calls. Those inside of host functions, which
 * may see its variables, are asked for by name only. */
uint32_t check_entry_points(const Module *m, const Node **functions, uint32_t max) {
    Names names = names_of(m);
    uint32_t count = 0;
    for (int pass = 0; pass < 2 && count == 0; pass++) {
        for (uint32_t i = 0; i < m->items.len; i++) {
            const Node *n = m->items.at[i];
            if (n->kind != NODE_FUNCTION || !has_decorator(n, pass ? "jit" : "kernel")) continue;
            uint32_t slot = name_slot(&names, n->name);
            if (n->op == FUNCTION_INSIDE || names.last[slot] != n || (pass && names.called[slot])) continue;
            if (count < max) functions[count] = n;
            count++;
        }
    }
    arena_destroy(names.a);
    return count;
}

static const Node *named_entry(Checker *c, const char *name) {
    VEC(const char *) names = {0};
    const Node *found = NULL;
    for (uint32_t i = 0; i < c->m->items.len; i++) {
        const Node *n = c->m->items.at[i];
        if (n->kind != NODE_FUNCTION) continue;
        vec_push(c->a, &names, n->name);
        if (strcmp(n->name, name) == 0 && (!found || n->op != FUNCTION_INSIDE)) found = n;
    }
    if (found || c->m->has_gaps) return found; /* an error may hide it */
    if (names.len == 0 && !syntax_report(c->m, c->d)) return NULL;
    if (refuse_foreign(c, str_intern0(c->s, name), (Span){0, 0})) return NULL;
    const char *near = nearest_name(name, names.at, names.len);
    if (near) {
        diag(c->d, (Span){0, 0}, E_NO_SUCH_KERNEL_NEAR, name, near);
    } else {
        diag(c->d, (Span){0, 0}, E_NO_SUCH_KERNEL, name);
    }
    return NULL;
}

static const Node *choose_entry(Checker *c) {
    enum { SHOWN = 8 };
    const Node *found[SHOWN];
    uint32_t num_whole = 0;
    if (c->o->kernel) return named_entry(c, c->o->kernel);
    uint32_t count = check_entry_points(c->m, found, SHOWN);
    if (count == 1) return found[0];
    for (uint32_t i = 0; i < count && i < SHOWN; i++) num_whole += !found[i]->flag;
    if (num_whole < 2) (void)syntax_report(c->m, c->d);
    if (diag_errors(c->d)) return NULL; /* of syntax: what the file has is not known */
    if (count == 0) {
        diag(c->d, (Span){c->m->source->base, c->m->source->base}, E_NO_KERNEL, c->m->source->name);
        diag_note(c->d, (Span){0, 0}, "an entry point is a function with @kernel(...) or @triton.jit before it");
        return NULL;
    }
    diag(c->d, found[1]->span, E_MANY_KERNELS, count);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) diag_note(c->d, found[i]->span, "--kernel %s", found[i]->name);
    return NULL;
}

/* ---- Constants and functions of the file ------------------------------------------------------------------------- */

static bool are_twice(const Node *n, const Node *before) {
    return n->kind == NODE_FUNCTION && before->kind == NODE_FUNCTION && n->op == FUNCTION_TOP &&
           before->op == FUNCTION_TOP;
}

static void say_earlier(Checker *c, const FileScope *file, uint32_t v) {
    const Node *n = file->nodes.at[v], *earlier = file->earlier.at[v];
    if (!earlier || earlier->kind == NODE_IMPORT) return;
    if (are_twice(n, earlier)) {
        diag(c->d, n->span, E_FUNCTION_TWICE, n->name);
        diag_note(c->d, earlier->span, "it is here first");
        return;
    }
    diag(c->d, n->span, W_CONDITIONAL, n->name);
    diag_note(c->d, earlier->span, "it is here, too, under a condition of the host; delete the one that is not meant");
}

/* A name that the file defines once more: in Python the last definition counts, one inside of a function not at all. */
static void redefine(Checker *c, FileScope *file, uint32_t v, const Node *n) {
    const Node *before = file->nodes.at[v];
    if (n->kind == NODE_FUNCTION && n->op == FUNCTION_INSIDE) return;
    /* what if it fails */
    if (n->kind == NODE_CONSTANT && n->a->kind == NODE_NONE && before->kind == NODE_IMPORT) return;
    bool may_be_either = n->op == FUNCTION_UNDER_CONDITION && (n->kind == NODE_FUNCTION || before->kind == NODE_IMPORT);
    file->earlier.at[v] = may_be_either || are_twice(n, before) ? before : NULL;
    file->nodes.at[v] = n;
    if (file->mode == SYNTAX_DSL) say_earlier(c, file, v);
}

FileScope *scope_of_file(Checker *c, const Module *m) {
    FileScope *file = NEW(c->a, FileScope);
    file->names = frame_push(c, NULL, (Span){0, 0});
    file->mode = m->mode;
    file->foreign = &m->foreign;
    for (uint32_t i = 0; i < m->imports.len + m->items.len; i++) {
        bool is_import = i < m->imports.len; /* what the file defines itself goes before */
        const Node *n = is_import ? m->imports.at[i] : m->items.at[i - m->imports.len];
        bool is_inner = is_import && n->op == FUNCTION_INSIDE;
        if (is_inner) vec_push(c->a, &file->inner, n);
        else if (is_import && !*n->name) vec_push(c->a, &file->stars, n);
        if (is_inner || !*n->name) continue;
        uint32_t before = file->names->variables.len, v = frame_variable(c, n->name);
        if (v != before) {
            redefine(c, file, v, n);
            continue;
        }
        vec_push(c->a, &file->nodes, n);
        vec_push(c->a, &file->earlier, NULL);
    }
    frame_pop(c);
    return file;
}

/* NULL after errors, those of its syntax among them. */
static const Node *find_entry(Checker *c) {
    const Node *fn = choose_entry(c);
    if (!fn) return NULL;
    diag_give(c->d, fn->said);
    int64_t v = frame_index(c->file->names, fn->name);
    if (c->file->mode == SYNTAX_PYTHON && v >= 0 && c->file->nodes.at[v] == fn) say_earlier(c, c->file, (uint32_t)v);
    return fn->flag ? NULL : fn;
}

static const Sem *evaluate_global(Checker *c, const Node *n) {
    diag_give(c->d, n->said);
    if (n->flag) return &sem_error;
    if (n->kind == NODE_FUNCTION) {
        Sem *s = NEW(c->a, Sem);
        s->kind = SEM_FUNCTION;
        s->fn = n;
        s->home = c->file;
        return s;
    }
    frame_push(c, NULL, (Span){0, 0});
    frame_start(c);
    const Sem *s = check_expr(c, n->a);
    frame_pop(c);
    if (s->kind != SEM_RUN) return sem_weak(c, s);
    diag(c->d, n->a->span, E_CONST_GLOBAL, n->name);
    return &sem_error;
}

const Node *global_node(const Checker *c, const char *name) {
    int64_t v = frame_index(c->file->names, name);
    return v >= 0 ? c->file->nodes.at[v] : NULL;
}

void global_set(Checker *c, const Node *constant, const Sem *s) {
    c->file->names->variables.at[frame_index(c->file->names, constant->name)].now.sem = s;
}

static const Sem busy; /* SEM_ERROR: what is found needs itself */

/* What the name of the file stands for; NULL: an import that binds nothing. */
static const Sem *find_global(Checker *c, uint32_t v, Span at) {
    const Node *n = c->file->nodes.at[v], *earlier = c->file->earlier.at[v];
    if (earlier && earlier->kind == NODE_IMPORT) { /* try: import; except: what is done without it */
        DiagMark mark = diag_mark(c->d);
        const Sem *s = import_find(c, earlier, at);
        if (!take_back(c, mark) && s) return s;
    }
    if (n->kind == NODE_IMPORT) return import_find(c, n, at);
    if (c->file->mode == SYNTAX_PYTHON) say_earlier(c, c->file, v);
    return evaluate_global(c, n);
}

const Sem *scope_global(Checker *c, const char *name, Span at) {
    FileScope *file = c->file;
    int64_t v = frame_index(file->names, name);
    if (v < 0) return import_by_star(c, name, at);
    Binding *b = &file->names->variables.at[v].now;
    const Node *n = file->nodes.at[v];
    if (b->sem == &busy && n->kind == NODE_IMPORT) return NULL;
    if (b->sem == &busy) diag(c->d, at, E_CONST_SELF, name);
    if (b->sem) return b->sem;
    b->sem = &busy;
    uint32_t errors = diag_errors(c->d);
    const Sem *s = find_global(c, (uint32_t)v, at);
    if (!s && diag_errors(c->d) == errors) import_missing(c, n, name, at);
    file->names->variables.at[v].now.sem = s ? s : &sem_error;
    return file->names->variables.at[v].now.sem;
}

static void forget_errors(FileScope *file) {
    for (uint32_t i = 0; i < file->names->variables.len; i++) {
        Binding *b = &file->names->variables.at[i].now;
        if (b->sem && b->sem != &busy && sem_is_error(b->sem)) b->sem = NULL;
    }
}

bool take_back(Checker *c, DiagMark mark) {
    if (!diag_rewind(c->d, mark)) return false;
    forget_errors(c->main);
    for (uint32_t i = 0; i < c->files.len; i++) forget_errors(c->files.at[i]);
    return true;
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
    c->file = c->main = scope_of_file(c, m);
    c->main->path = m->source->name;
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
    prune_unused(f, f->body);
    c->b = builder_at_end(f, f->body);
    c->b.span = p->fn->span;
    op_build(&c->b, OP_RETURN, NULL, 0, none, type_scalar(DT_I32));
    f->num_warps = launch_option(c, p, 0, 32);
    f->num_stages = launch_option(c, p, 1, 16);
    f->num_ctas = launch_option(c, p, 2, c->o->reaches_grid ? MOST_GRID : 16);
    if (c->o->reaches_grid) f->grid_blocks = f->num_ctas;
}

Kernel *check_kernel(Arena *a, Strings *s, Diag *d, const Module *m, const CheckOptions *o) {
    Checker *c = checker_create(a, s, d, m, o);
    const Node *fn = find_entry(c);
    Params params;
    if (!fn) return NULL;
    start_function(c, fn);
    params_declare(c, fn, &params);
    params_options(c, &params);
    tune_read(c, &params);
    launch_check(c, &params);
    tuned_read(c, &params);
    params_settle(c, &params);
    params_enter(c, &params);
    block_run(c, &fn->body);
    if (!diag_errors(d)) finish_function(c, &params);

    c->record = record_create(fn->name);
    if (!c->record) bug("check_kernel: out of memory");
    params_record(c, &params, false);
    launch_record(c, &params, false);
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
    tune_read(c, &params);
    launch_check(c, &params);
    tuned_read(c, &params);
    params_types(c, &params);
    c->record = record_create(fn->name);
    if (!c->record) bug("check_interface: out of memory");
    params_record(c, &params, true);
    launch_record(c, &params, true);
    if (!diag_errors(d)) return c->record;
    record_free(c->record);
    return NULL;
}
