/* run.c - the pass runner: walks passes.def, and after each pass prints, verifies and round-trips the function.
 *
 * In: a Func and a PassContext. Out: the Func, passed through every row that its target and level ask for.
 * A pass that leaves an unsound function, or one whose text does not read back to itself, is a bug with its name.
 */
#include "passes/passes.h"

#include <string.h>
#include <time.h>

typedef bool PassFunction(Func *f, PassContext *c);
typedef enum Targets { TARGETS_ANY, TARGETS_GPU } Targets;

static const struct {
    const char *name;
    PassFunction *run;
    Targets targets;
    int level;
} rows[] = {
#define PASS(name, stage, level, why) {#name, pass_##name, TARGETS_##stage, level},
#include "passes/passes.def"
#undef PASS
};

bool pass_exists(const char *name) {
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) return true;
    }
    return false;
}

const char *const *pass_names(uint32_t *count) {
    static const char *const names[] = {
#define PASS(name, ...) #name,
#include "passes/passes.def"
#undef PASS
    };
    *count = COUNT(names);
    return names;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* print(read(print(f))) must be print(f). */
static void round_trip(const Func *f, const char *pass) {
    Text once = {0}, twice = {0}, complaint = {0};
    func_print(f, &once);
    Arena *a = arena_create();
    Diag *d = diag_create(a, 1);
    const Source *source = diag_add_source(d, "<round trip>", once.at, once.len);
    const Func *again = func_read(a, strings_create(a), d, source);
    if (again) func_print(again, &twice);
    else diag_print(d, &complaint, false);
    bool same = again && twice.len == once.len && memcmp(twice.at, once.at, once.len) == 0;
    arena_destroy(a);
    if (!same) bug("after pass %s, function %s does not survive its own text: %s", pass, f->name, complaint.at ? complaint.at : "it prints differently");
    text_free(&once);
    text_free(&twice);
}

static void verify(const Func *f, const char *pass) {
    Text complaint = {0};
    if (!func_verify(f, &complaint)) bug("after pass %s: %s", pass, complaint.at);
    text_free(&complaint);
}

static bool is_listed(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *p = list; *p;) {
        size_t m = strcspn(p, ",");
        if (m == n && memcmp(p, name, n) == 0) return true;
        p += m + (p[m] == ',');
    }
    return false;
}

static bool check_list(const PassContext *c) {
    for (const char *p = c->only; p && *p;) {
        size_t m = strcspn(p, ",");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(m < 63 ? m : 63), p);
        if (*name && !pass_exists(name)) {
            diag_error(c->diag, (Span){0, 0}, "--passes: there is no pass '%s'", name);
            return false;
        }
        p += m + (p[m] == ',');
    }
    return true;
}

bool passes_run(Func *f, PassContext *c) {
    if (!check_list(c)) return false;
    if (c->verify_each) verify(f, "check");
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool wanted = c->only ? is_listed(c->only, rows[i].name)
                              : c->opt_level >= rows[i].level && (c->for_gpu || rows[i].targets == TARGETS_ANY);
        if (!wanted) continue;
        double start = now();
        rows[i].run(f, c);
        if (c->timer) c->timer(c->timer_context, rows[i].name, now() - start);
        if (diag_errors(c->diag)) return false;
        if (c->print_after && (strcmp(c->print_after, "all") == 0 || strcmp(c->print_after, rows[i].name) == 0)) {
            text_printf(c->dumps, "*** IR Dump After %s on %s ***\n", rows[i].name, f->name);
            func_print(f, c->dumps);
        }
        if (!c->verify_each) continue;
        verify(f, rows[i].name);
        round_trip(f, rows[i].name);
    }
    return true;
}
