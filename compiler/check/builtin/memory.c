/* memory.c - load and store.
 *
 * In: a bound Call. Out: the loaded Sem; None of a store.
 * Method: mask, other and value are converted and broadcast to the pointer's shape; i1 lies in memory as i8. Every
 * access gets a site, so that reports can name its line.
 */
#include "check/builtin/builtin.h"

#include <string.h>

uint32_t add_site(Checker *c, Span at) {
    vec_push(c->f->arena, &c->f->sites, c->f->inlined.end ? c->f->inlined : at);
    return c->f->sites.len - 1;
}

static const Word load_caches[] = {{"", CACHE_DEFAULT}, {".ca", CACHE_CA}, {".cg", CACHE_CG},
                                   {".cs", CACHE_CS},   {".cv", CACHE_CV}, {NULL, 0}};
static const Word store_caches[] = {{"", CACHE_DEFAULT}, {".wb", CACHE_WB}, {".cg", CACHE_CG},
                                    {".cs", CACHE_CS},   {".wt", CACHE_WT}, {NULL, 0}};
static const Word evictions[] = {{"", EVICT_DEFAULT},
                                 {"evict_normal", EVICT_DEFAULT},
                                 {"evict_first", EVICT_FIRST},
                                 {"evict_last", EVICT_LAST},
                                 {NULL, 0}};

/* A string argument out of a list; an error names the list. */
bool word_argument(Checker *c, Call *call, uint32_t arg, const char *row, const char *what, const Word *words,
                   uint8_t *out) {
    const Sem *s = call->arg[arg];
    *out = words[0].value;
    if (!s || s->kind == SEM_NONE) return true;
    if (sem_is_error(s)) return false;
    Text list = {0};
    for (const Word *w = words; w->text; w++) {
        if (s->kind == SEM_STRING && strcmp(s->s, w->text) == 0) {
            *out = w->value;
            text_free(&list);
            return true;
        }
        text_printf(&list, "%s\"%s\"", list.len ? ", " : "", w->text);
    }
    diag(c->d, call->at[arg], row, what, sem_type_text(c, s));
    diag_note(c->d, call->at[arg], "it is one of %s", list.at);
    text_free(&list);
    return false;
}

bool check_pointer(Checker *c, Call *call) {
    const Sem *p = call->arg[0];
    if (p->kind == SEM_RUN && p->is_pointer) return true;
    diag(c->d, call->at[0], E_NEEDS_POINTER, call->builtin->name, sem_type_text(c, p));
    diag_note(c->d, call->at[0], "an address is a pointer parameter plus offsets, as in x + arange(0, BLOCK)");
    return false;
}

/* To the pointer's shape, or an error that shows both. */
const Sem *fit_pointer(Checker *c, Call *call, uint32_t arg, const Sem *s) {
    Shape to = sem_shape(call->arg[0]), joined;
    if (shape_join(sem_shape(s), to, &joined) && shape_equal(joined, to)) return broadcast_to(c, s, to);
    diag(c->d, call->at[arg], E_MEMORY_SHAPE, argument_of(c, call, arg), sem_type_text(c, call->arg[arg]),
         sem_type_text(c, call->arg[0]));
    if (to.rank) diag_note(c->d, call->at[0], "it must broadcast to the pointer's shape");
    else diag_note(c->d, call->at[0], "this is one address; offsets make a tile of them, as in x + arange(0, BLOCK)");
    return &sem_error;
}

/* NULL in *out: no mask. */
bool read_mask(Checker *c, Call *call, uint32_t arg, Value **out) {
    const Sem *m = call->arg[arg];
    *out = NULL;
    if (!m || m->kind == SEM_NONE) return true;
    if (sem_is_number(m) && const_truth(m)) return true;
    m = convert_to(c, to_run(c, m, call->at[arg]), ST_I1, call->at[arg]);
    m = fit_pointer(c, call, arg, m);
    *out = m->v;
    return !sem_is_error(m);
}

/* A value as it lies in memory; a float number truncates to an integer type. */
const Sem *to_memory(Checker *c, const Sem *s, SType element, Span at) {
    Int whole;
    if (s->kind == SEM_FLOAT && !stype_is_float(element) && int_from_double(s->f, &whole)) s = sem_int(c, whole);
    if (sem_is_number(s) && element == ST_I1) s = sem_bool(c, const_truth(s));
    s = convert_to(c, s, element, at);
    return sem_is_error(s) || element != ST_I1 ? s : convert_to(c, s, ST_I8, at);
}

/* In a Triton file a tile of pointers becomes as large as the mask and `other`. */
static void widen_pointer(Checker *c, Call *call) {
    Shape shape = sem_shape(call->arg[0]);
    if (!triton_rules(c) || !shape.rank || !call->arg[1] || call->arg[1]->kind == SEM_NONE) return;
    for (uint32_t i = 1; i <= 2; i++) {
        const Sem *s = call->arg[i];
        if (s && sem_is_tile(s) && !shape_join(shape, sem_shape(s), &shape)) return; /* fit_pointer says so */
    }
    if (check_elements(c, shape, call->at[1])) call->arg[0] = broadcast_to(c, call->arg[0], shape);
}

const Sem *builtin_load(Checker *c, Call *call) {
    MemAttr mem = {0};
    Value *mask;
    static const BlockArgs blocks = {.mask = 1, .other = 2, .checked = 3, .padding = 4};
    if (!block_as_pointer(c, call, &blocks) || !check_pointer(c, call)) return &sem_error;
    widen_pointer(c, call);
    const Sem *p = call->arg[0], *other = call->arg[2];
    bool ok = read_mask(c, call, 1, &mask);
    ok &= word_argument(c, call, 5, E_MEMORY_OPTION, "cache_modifier", load_caches, &mem.cache);
    ok &= word_argument(c, call, 6, E_MEMORY_OPTION, "eviction_policy", evictions, &mem.evict);
    mem.is_volatile = call_flag(call, 7, false);
    if (!ok) return &sem_error;
    Value *fill = NULL;
    if (mask && other && other->kind != SEM_NONE) {
        other = to_memory(c, other, p->type, call->at[2]);
        if (!sem_is_error(other)) other = fit_pointer(c, call, 2, other);
        if (sem_is_error(other)) return other;
        fill = other->v;
    }
    c->b.span = call->span;
    mem.site = add_site(c, call->span);
    Value *v = build_load(&c->b, p->v, mask, fill, mem);
    if (p->type != ST_I1) return sem_run(c, p->type, v, NULL);
    return sem_run(c, ST_I1, build_compare(&c->b, OP_ICMP, PRED_NE, v, build_int(&c->b, v->type, 0)), NULL);
}

const Sem *builtin_store(Checker *c, Call *call) {
    MemAttr mem = {0};
    Value *mask;
    static const BlockArgs blocks = {.mask = 2, .checked = 3};
    if (!block_as_pointer(c, call, &blocks) || !check_pointer(c, call)) return &sem_error;
    const Sem *p = call->arg[0], *s = call->arg[1];
    if (p->is_const) {
        diag(c->d, call->at[0], E_CONST_STORE);
        return &sem_error;
    }
    bool ok = read_mask(c, call, 2, &mask);
    ok &= word_argument(c, call, 4, E_MEMORY_OPTION, "cache_modifier", store_caches, &mem.cache);
    ok &= word_argument(c, call, 5, E_MEMORY_OPTION, "eviction_policy", evictions, &mem.evict);
    if (!ok) return &sem_error;
    s = to_memory(c, s, p->type, call->at[1]);
    if (!sem_is_error(s)) s = fit_pointer(c, call, 1, s);
    if (sem_is_error(s)) return s;
    c->b.span = call->span;
    mem.site = add_site(c, call->span);
    build_store(&c->b, p->v, s->v, mask, mem);
    return &sem_none;
}
