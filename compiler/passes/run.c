/* run.c - the pass runner: walks the rows of passes.def, or the passes that the caller lists.
 *
 * In: a function, and what the caller wants to see of it. Out: the function behind the pipeline; dumps; times.
 * A list whose first name has a minus before it, "-join,-pack", is the pipeline without these.
 * Method: after each pass, in this order: time, dump, and (verify_each) the verifier and a round trip through the text
 * form, which must print the same again. A failure there is a bug of the pass, and is reported as one.
 */
#define _POSIX_C_SOURCE 200809L
#include "passes/private.h"

#include <string.h>
#include <time.h>

enum { ON_ANY, ON_GPU, MOST_LISTED = 64 };

typedef struct PassRow {
    const char *name;
    bool (*run)(Func *f, PassContext *c);
    bool only_gpu;
    int level;
} PassRow;

static const PassRow rows[] = {
#define PASS(name, stage, level, why) {#name, pass_##name, ON_##stage == ON_GPU, level},
#include "passes/passes.def"
#undef PASS
};

static const char *const names[] = {
#define PASS(name, ...) #name,
#include "passes/passes.def"
#undef PASS
};

/* Does the list take passes out of the pipeline, and not stand for it? */
static bool list_leaves_out(const char *list) {
    return *list == '-';
}

static const PassRow *row_find(const char *name, size_t n) {
    for (uint32_t i = 0; i < COUNT(rows); i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0) return &rows[i];
    return NULL;
}

bool pass_exists(const char *name) {
    return row_find(name, strlen(name)) != NULL;
}

const char *const *pass_names(uint32_t *count) {
    *count = COUNT(names);
    return names;
}

/* ---- After a pass ------------------------------------------------------------------------------------------------ */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check_sound(const Func *f, const char *pass) {
    Text complaint = {0};
    if (!func_verify(f, &complaint)) bug("pass %s left %s unsound: %s", pass, f->name, complaint.at);
    text_free(&complaint);
}

static void check_round_trip(const Func *f, const char *pass) {
    Arena *a = arena_create();
    Text first = {0}, second = {0}, errors = {0};
    func_print(f, &first);
    Diag *d = diag_create(a, 1);
    const Source *source = diag_add_source(d, pass, first.at, first.len);
    const Func *g = func_read(a, strings_create(a), d, source);
    if (!g) {
        diag_print(d, &errors, false);
        bug("after pass %s the text of %s does not read back: %s", pass, f->name, errors.at);
    }
    func_print(g, &second);
    if (first.len != second.len || memcmp(first.at, second.at, first.len) != 0)
        bug("after pass %s the text of %s reads back as another function:\n%s---\n%s", pass, f->name, first.at,
            second.at);
    text_free(&first);
    text_free(&second);
    arena_destroy(a);
}

static void pass_run(const PassRow *row, Func *f, PassContext *c) {
    double start = now();
    row->run(f, c);
    if (c->timer) c->timer(c->timer_context, row->name, now() - start);
    bool shown = c->print_after && (strcmp(c->print_after, "all") == 0 || strcmp(c->print_after, row->name) == 0);
    if (shown && c->dumps) {
        text_printf(c->dumps, "*** IR Dump After %s on %s ***\n", row->name, f->name);
        func_print(f, c->dumps);
    }
    if (!c->verify_each) return;
    check_sound(f, row->name);
    check_round_trip(f, row->name);
}

/* ---- The pipeline ------------------------------------------------------------------------------------------------ */

static void complain_unknown(PassContext *c, const char *name, size_t n) {
    bool leaves_out = list_leaves_out(c->only);
    Text list = {0};
    for (uint32_t i = 0; i < COUNT(rows); i++)
        if (!leaves_out || rows[i].level) text_printf(&list, "%s%s", list.len ? ", " : "", rows[i].name);
    diag(c->diag, (Span){0, 0}, E_UNKNOWN_PASS_WORD, (int)n, name);
    diag_note(c->diag, (Span){0, 0}, leaves_out ? "the passes that may be left out are %s" : "the passes are %s", list.at);
    text_free(&list);
}

/* The rows that the list names, in its order, up to `most`; a name that is unknown is an error. */
static uint32_t rows_listed(PassContext *c, const PassRow **listed, uint32_t most) {
    bool leaves_out = list_leaves_out(c->only);
    uint32_t count = 0;
    for (const char *at = c->only; *at;) {
        size_t n = strcspn(at, ",");
        uint32_t minus = leaves_out && *at == '-';
        const PassRow *row = row_find(at + minus, n - minus);
        if (row && leaves_out && !row->level) row = NULL; /* the targets need it */
        if (!row) complain_unknown(c, at + minus, n - minus);
        if (row && count < most) listed[count++] = row;
        at += n + (at[n] == ',');
    }
    return count;
}

static bool is_among(const PassRow *row, const PassRow *const *listed, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (listed[i] == row) return true;
    return false;
}

bool passes_run(Func *f, PassContext *c) {
    uint32_t errors = diag_errors(c->diag), n = 0;
    const PassRow *listed[MOST_LISTED];
    if (c->only) n = rows_listed(c, listed, MOST_LISTED);
    bool is_pipeline = !c->only || list_leaves_out(c->only);
    for (uint32_t i = 0; i < n && !is_pipeline && diag_errors(c->diag) == errors; i++) pass_run(listed[i], f, c);
    for (uint32_t i = 0; i < COUNT(rows) && is_pipeline && diag_errors(c->diag) == errors; i++) {
        if (rows[i].level > c->opt_level || (rows[i].only_gpu && !c->for_gpu)) continue;
        if (!is_among(&rows[i], listed, n)) pass_run(&rows[i], f, c);
    }
    return diag_errors(c->diag) == errors;
}
