/* target.c - the table of targets, the rows of all back ends; and code for one of them.
 *
 * In: a name; a function. Out: the name's row, or NULL: then target_names() is what to tell the user; code,
 * or an error.
 */
#include <string.h>

#include "codegen/hostcode.h"

static const Backend *const backends[] = {
#define BACKEND(name) &backend_##name,
#include "codegen/backends.def"
#undef BACKEND
};

const Target *target_at(uint32_t i) {
    for (size_t b = 0; b < COUNT(backends); b++) {
        uint32_t n = 0;
        while (backends[b]->target(n)) n++;
        if (i < n) return backends[b]->target(i);
        i -= n;
    }
    return NULL;
}

const Target *target_find(const char *name) {
    uint32_t i = 0;
    while (target_at(i) && strcmp(target_at(i)->name, name)) i++;
    return target_at(i);
}

const char *target_names(Arena *a) {
    const char *names = "";
    const Target *t;
    for (uint32_t i = 0; (t = target_at(i)); i++)
        if (!target_runs_here(t)) names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", t->name);
    return names;
}

const char *target_own(const char *arch) {
    const Target *t;
    for (uint32_t i = 0; (t = target_at(i)); i++)
        if (t->portable && strcmp(t->portable, arch) == 0) return t->name;
    return arch;
}

const Target *target_least(const Target *t, uint64_t features) {
    const Target *least = t->portable ? target_find(t->portable) : t;
    return features & t->features & ~least->features ? t : least;
}

const Target *target_choose(const char *arch, const char *card, Target *emulated) {
    const Target *own = target_find(arch), *has = NULL;
    if (!own || !own->backend->stands_for) return own;
    if (card) has = target_find(card);
    if (!has || target_runs_here(has)) has = target_find(own->backend->stands_for);
    *emulated = *has;
    emulated->name = own->name;
    emulated->backend = own->backend;
    emulated->features &= own->features;
    emulated->portable = NULL;
    return emulated;
}

typedef struct Guarded {
    CodegenJob job;
    bool done;
} Guarded;

static void work(void *context) {
    Guarded *g = context;
    g->done = g->job.t->backend->generate(&g->job);
}

bool codegen(const Func *f, const Target *t, Emit what, const CodegenOptions *o, Generated *out) {
    Guarded g = {.job = {f, t, what, o, out}};
    *out = (Generated){.code = what == EMIT_CODE ? hostcode_create() : NULL};
    if (llvm_guard(o, f->span, work, &g) && g.done) return true;
    hostcode_destroy(out->code);
    out->code = NULL;
    return false;
}
