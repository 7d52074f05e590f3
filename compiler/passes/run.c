/* run.c - the pass runner: walks the rows of passes.def, or the passes that the caller lists.
 *
 * In: a function, and what the caller wants to see of it. Out: the function behind the pipeline; dumps; times.
 * A list whose first name has a minus before it, "-join,-pack", is the pipeline without these.
 * Method: after each pass, in this order: time, dump, and (verify_each) the verifier and a round trip through the text
 * form, which must print the same again. A failure there is a bug of the pass, and is reported as one. A text that is
 * the same as after the pass before was read back then.
 */
#define _POSIX_C_SOURCE 200809L
#include "passes/private.h"

#include <string.h>
#include <time.h>

typedef enum PassPlace { ON_ANY, ON_TILE, ON_SIMT } PassPlace;

typedef struct PassRow {
    const char *name;
    void (*run)(Func *f, PassContext *c);
    PassPlace place;
    int level;
} PassRow;

typedef VEC(const PassRow *) PassList;

static const PassRow rows[] = {
#define PASS(name, stage, level, why) {#name, pass_##name, ON_##stage, level},
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

const PassInfo *pass_table(uint32_t *count) {
#define WHERE_ANY                     "all targets"
#define WHERE_TILE                    "GPU, before layouts"
#define WHERE_SIMT                    "GPU, with layouts"
#define PASS(name, stage, level, why) {#name, WHERE_##stage, why, level},
    static const PassInfo infos[] = {
#include "passes/passes.def"
    };
#undef PASS
    *count = COUNT(infos);
    return infos;
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

static bool is_same(const Text *x, const Text *y) {
    return x->len == y->len && memcmp(x->at, y->at, x->len) == 0;
}

/* last: the text that was read back last, or nothing. */
static void check_round_trip(const Func *f, const char *pass, Text *last) {
    Text first = {0}, second = {0}, errors = {0};
    func_print(f, &first);
    if (last->len && is_same(&first, last)) {
        text_free(&first);
        return;
    }
    Arena *a = arena_create();
    Diag *d = diag_create(a, 1);
    const Source *source = diag_add_source(d, pass, first.at, first.len);
    const Func *g = func_read(a, strings_create(a), d, source);
    if (!g) {
        diag_print(d, &errors, false);
        bug("after pass %s the text of %s does not read back: %s", pass, f->name, errors.at);
    }
    func_print(g, &second);
    if (!is_same(&first, &second))
        bug("after pass %s the text of %s reads back as another function:\n%s---\n%s", pass, f->name, first.at,
            second.at);
    text_free(last);
    *last = first;
    text_free(&second);
    arena_destroy(a);
}

static void print_difference(const Func *f, const char *pass, const char *before, Text *dumps) {
    Text now = {0}, lines = {0};
    func_print(f, &now);
    if (func_diff(before, now.at, &lines))
        text_printf(dumps, "*** IR Diff After %s on %s ***\n%s", pass, f->name, lines.at);
    text_free(&now);
    text_free(&lines);
}

static void pass_run(const PassRow *row, Func *f, PassContext *c) {
    bool diffs = c->print_after && c->dumps && strcmp(c->print_after, "changed") == 0;
    Text before = {0};
    if (diffs) func_print(f, &before);
    double start = now();
    c->scratch = arena_create();
    row->run(f, c);
    arena_destroy(c->scratch);
    if (c->timer) c->timer(c->timer_context, row->name, now() - start);
    bool shown = c->print_after && (strcmp(c->print_after, "all") == 0 || strcmp(c->print_after, row->name) == 0);
    if (shown && c->dumps) {
        text_printf(c->dumps, "*** IR Dump After %s on %s ***\n", row->name, f->name);
        func_print(f, c->dumps);
    }
    if (diffs) print_difference(f, row->name, before.at, c->dumps);
    text_free(&before);
    if (!c->verify_each) return;
    check_sound(f, row->name);
    check_round_trip(f, row->name, &c->read_back);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* A name that the list may not hold: of no pass, or of one that every target's code needs. */
static void complain(Diag *d, bool leaves_out, const char *name, size_t n) {
    const PassRow *needed = row_find(name, n);
    Text list = {0};
    for (uint32_t i = 0; i < COUNT(rows); i++)
        if (!leaves_out || rows[i].level) text_printf(&list, "%s%s", list.len ? ", " : "", rows[i].name);
    if (needed) diag(d, (Span){0, 0}, E_NEEDED_PASS, needed->name);
    else diag(d, (Span){0, 0}, E_UNKNOWN_PASS_WORD, (int)n, name);
    diag_note(d, (Span){0, 0}, leaves_out ? "the passes that may be left out are %s" : "the passes are %s", list.at);
    text_free(&list);
}

/* The rows that the list names, in its order; a name that may not stand there is an error. */
static PassList rows_listed(Arena *a, Diag *d, const char *list) {
    PassList listed = {0};
    bool leaves_out = list_leaves_out(list);
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        uint32_t minus = leaves_out && *at == '-';
        const PassRow *row = row_find(at + minus, n - minus);
        bool may_stand = row && (!leaves_out || row->level);
        if (may_stand) vec_push(a, &listed, row);
        else complain(d, leaves_out, at + minus, n - minus);
        at += n + (at[n] == ',');
    }
    return listed;
}

bool passes_known(Diag *d, const char *list) {
    Arena *scratch = arena_create();
    uint32_t errors = diag_errors(d);
    (void)rows_listed(scratch, d, list);
    arena_destroy(scratch);
    return diag_errors(d) == errors;
}

bool pass_is_missing(const PassContext *c, const char *name) {
    bool leaves_out = c->only && list_leaves_out(c->only), is_listed = false;
    for (const char *at = c->only; at && *at && !is_listed;) {
        size_t n = strcspn(at, ","), minus = leaves_out && *at == '-';
        is_listed = strlen(name) == n - minus && memcmp(at + minus, name, n - minus) == 0;
        at += n + (at[n] == ',');
    }
    return c->only && c->to_code && is_listed == leaves_out;
}

static bool is_among(const PassRow *row, const PassList *listed) {
    for (uint32_t i = 0; i < listed->len; i++)
        if (listed->at[i] == row) return true;
    return false;
}

/* Is the pass for what is compiled here? */
static bool row_applies(const PassRow *row, const PassContext *c) {
    return row->place == ON_ANY || c->for_gpu;
}

/* Code comes of the pipeline without some of its optional passes, in its order: so must a list be that a back end takes
 * the result of. A function that is distributed already has been through a part of it. */
static void check_complete(const Func *f, PassContext *c, const PassList *listed) {
    uint32_t errors = diag_errors(c->diag);
    bool is_distributed = f->stage == STAGE_SIMT;
    Text needed = {0}, missing = {0};
    for (uint32_t i = 0; i < listed->len; i++) {
        const PassRow *row = listed->at[i], *before = i ? listed->at[i - 1] : NULL;
        if (!is_distributed && !row_applies(row, c))
            diag(c->diag, (Span){0, 0}, E_PASS_TARGET, row->name);
        else if (before && before >= row)
            diag(c->diag, (Span){0, 0}, E_PASS_ORDER, row->name, before->name);
    }
    for (uint32_t i = 0; i < COUNT(rows) && !is_distributed; i++) {
        if (rows[i].level || !row_applies(&rows[i], c)) continue;
        text_printf(&needed, "%s%s", needed.len ? "," : "", rows[i].name);
        if (!is_among(&rows[i], listed)) text_printf(&missing, "%s%s", missing.len ? ", " : "", rows[i].name);
    }
    if (missing.len) diag(c->diag, (Span){0, 0}, E_PASS_MISSING, missing.at);
    if (diag_errors(c->diag) != errors && needed.len)
        diag_note(c->diag, (Span){0, 0}, "code needs at least --passes=%s; --emit=tile prints what any passes make",
                  needed.at);
    text_free(&needed);
    text_free(&missing);
}

/* ---- The pipeline ------------------------------------------------------------------------------------------------ */

static void run_listed(Func *f, PassContext *c, const PassList *listed) {
    uint32_t errors = diag_errors(c->diag);
    if (c->to_code) check_complete(f, c, listed);
    for (uint32_t i = 0; i < listed->len && diag_errors(c->diag) == errors; i++) {
        const PassRow *row = listed->at[i];
        if (row->place == ON_SIMT && f->stage == STAGE_TILE)
            diag(c->diag, (Span){0, 0}, E_PASS_STAGE, row->name);
        else
            pass_run(row, f, c);
    }
}

bool passes_run(Func *f, PassContext *c) {
    Arena *scratch = arena_create();
    uint32_t errors = diag_errors(c->diag);
    PassList listed = {0};
    if (c->only) listed = rows_listed(scratch, c->diag, c->only);
    bool is_pipeline = !c->only || list_leaves_out(c->only);
    if (!is_pipeline && diag_errors(c->diag) == errors) run_listed(f, c, &listed);
    for (uint32_t i = 0; i < COUNT(rows) && is_pipeline && diag_errors(c->diag) == errors; i++) {
        if (rows[i].level > c->opt_level || !row_applies(&rows[i], c)) continue;
        if (!is_among(&rows[i], &listed)) pass_run(&rows[i], f, c);
    }
    text_free(&c->read_back);
    arena_destroy(scratch);
    return diag_errors(c->diag) == errors;
}
