/* tuned.c - the file that `fsc tune` wrote, as launch rules: what was fastest for arguments like these.
 *
 * In: the file's text, a kernel's parameters with what options, configuration and launch rule say. Out: rules of the
 * constexpr parameters, codes of num_warps and its kin, and a code of the line that was chosen.
 * Method: the rows of this kernel and architecture become a tree of comparisons: of the first key the nearest value,
 * by ratio, then of the second, … A row holds where what the kernel requires of it holds; else the kernel's own rule
 * does. One option that says what a row would say, and the file has no part in the compile: its rows were measured
 * whole.
 *
 *   fsc-tune 1
 *   kernel softmax on sm_90 132                    its rows follow; 132 multiprocessors, of the CPU threads
 *   n_cols=1024 T=fp16: BLOCK=2048 num_warps=8     keys, then what is chosen; # begins a comment
 */
#include "check/sema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32, MOST_TUNED_ROWS = 1024 };

typedef struct Pair {
    int param;        /* index; -1 - i: word i of compiled_words */
    const char *text; /* of the value */
    int64_t number;   /* of a key that is no type */
} Pair;

typedef struct TunedRow {
    Pair keys[MOST_WORDS], choice[MOST_WORDS];
    uint32_t num_keys, num_choice;
    Span span;
    const char *guard; /* what the kernel requires of it; NULL: nothing */
} TunedRow;

typedef VEC(TunedRow *) Rows;

typedef struct Tuned {
    Checker *c;
    Params *p;
    const Source *source;
    Rows rows;
    int64_t units;              /* of the section that they are from */
    bool is_open;               /* the section is of this kernel and architecture, and nearer than those before it */
    bool is_known;              /* there is a section of this kernel */
    VEC(const char *) requires; /* codes */
} Tuned;

/* ---- Words of a line --------------------------------------------------------------------------------------------- */

static Span span_of(const Tuned *t, const char *at, size_t n) {
    uint32_t begin = t->source->base + (uint32_t)(at - t->source->text);
    return (Span){begin, begin + (uint32_t)n};
}

static bool read_whole(const char *text, int64_t *out) {
    char *end = NULL;
    *out = strtoll(text, &end, 10);
    return *text && *end == '\0';
}

static bool is_key(const ParamInfo *p) {
    return p->role == ROLE_DTYPE || p->role == ROLE_SCALAR || p->role == ROLE_BARE;
}

static bool is_choice(const ParamInfo *p) {
    return p->role == ROLE_CONSTEXPR || (p->role == ROLE_BARE && !p->typed);
}

static bool refuse(const Tuned *t, Span at, const char *name) {
    diag(t->c->d, at, W_TUNED_NAME, t->p->fn->name, name);
    return false;
}

/* NAME=VALUE of a key or of a choice; false after a warning. */
static bool read_pair(Tuned *t, const char *word, size_t n, bool of_choice, Pair *out) {
    const char *eq = memchr(word, '=', n);
    Span at = span_of(t, word, n);
    if (!eq || eq == word || eq + 1 == word + n) return (diag(t->c->d, at, W_TUNED_FORM), false);
    const char *name = arena_strndup(t->c->a, word, (size_t)(eq - word));
    int index = params_find(t->p, name);
    const ParamInfo *p = index >= 0 ? &t->p->at[index] : NULL;
    bool is_known = p && (of_choice ? is_choice(p) : is_key(p));
    *out = (Pair){.param = index, .text = arena_strndup(t->c->a, eq + 1, n - (size_t)(eq + 1 - word))};
    for (int i = 0; !p && of_choice && i < NUM_COMPILED; i++) {
        if (strcmp(name, compiled_words[i]) != 0) continue;
        out->param = -1 - i;
        is_known = true;
    }
    if (!is_known) return refuse(t, at, name);
    if (strcmp(out->text, "True") == 0) out->text = "1";
    if (strcmp(out->text, "False") == 0) out->text = "0";
    bool is_type = p && p->role == ROLE_DTYPE;
    RuleValue v;
    bool fits = is_type ? rule_dtype(out->text, strlen(out->text), &v) : read_whole(out->text, &out->number);
    if (!fits) diag(t->c->d, at, W_TUNED_FORM);
    return fits;
}

static bool read_pairs(Tuned *t, const char *at, const char *end, bool of_choice, Pair *out, uint32_t *count) {
    while (at < end) {
        size_t n = 0;
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
        while (at + n < end && at[n] != ' ' && at[n] != '\t' && at[n] != '\r') n++;
        if (n && (*count == MOST_WORDS || !read_pair(t, at, n, of_choice, &out[*count]))) return false;
        *count += n != 0;
        at += n;
    }
    return true;
}

static void read_row(Tuned *t, const char *at, const char *end) {
    const char *colon = memchr(at, ':', (size_t)(end - at));
    TunedRow *row = NEW(t->c->a, TunedRow);
    row->span = span_of(t, at, (size_t)(end - at));
    if (!colon) {
        diag(t->c->d, row->span, W_TUNED_FORM);
        return;
    }
    if (!read_pairs(t, at, colon, false, row->keys, &row->num_keys) ||
        !read_pairs(t, colon + 1, end, true, row->choice, &row->num_choice) || t->rows.len == MOST_TUNED_ROWS)
        return;
    const TunedRow *first = t->rows.len ? t->rows.at[0] : row;
    bool same = first->num_keys == row->num_keys;
    for (uint32_t i = 0; same && i < row->num_keys; i++) same = first->keys[i].param == row->keys[i].param;
    if (same)
        vec_push(t->c->a, &t->rows, row);
    else
        diag(t->c->d, row->span, W_TUNED_KEYS, t->p->fn->name);
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

static bool has_kernel(const Tuned *t, const char *name) {
    for (uint32_t i = 0; i < t->c->m->items.len; i++) {
        const Node *n = t->c->m->items.at[i];
        if (n->kind == NODE_FUNCTION && strcmp(n->name, name) == 0) return true;
    }
    return strcmp(t->p->fn->name, name) == 0;
}

/* kernel NAME on ARCH UNITS. Of several for one architecture the one with as many units as there are is taken, else
 * the nearest, the first where nothing is known. */
static void begin_section(Tuned *t, const char *at, const char *end) {
    const char *line = arena_strndup(t->c->a, at, (size_t)(end - at));
    char name[128], arch[32];
    unsigned units = 0;
    Span span = span_of(t, at, (size_t)(end - at));
    t->is_open = false;
    if (sscanf(line, "kernel %127s on %31s %u", name, arch, &units) != 3) {
        diag(t->c->d, span, W_TUNED_FORM);
    } else if (!has_kernel(t, name)) {
        diag(t->c->d, span, W_TUNED_KERNEL, t->c->main->path, name);
    } else if (strcmp(name, t->p->fn->name) == 0) {
        t->is_known = true;
        if (strcmp(arch, t->c->o->tuned.arch) != 0) return;
        int64_t here = t->c->o->num_sms;
        bool is_nearer = t->units < 0 || (here && llabs(units - here) < llabs(t->units - here));
        if (!is_nearer) return;
        t->is_open = true;
        t->units = units;
        t->rows = (Rows){0};
    }
}

static void read_file(Tuned *t) {
    const char *text = t->source->text, *end = text + t->source->len;
    static const char head[] = "fsc-tune 1\n";
    if (strncmp(text, head, sizeof head - 1) != 0) {
        const char *stop = memchr(text, '\n', t->source->len);
        diag(t->c->d, span_of(t, text, stop ? (size_t)(stop - text) : t->source->len), W_TUNED_HEAD);
        return;
    }
    for (const char *at = text + sizeof head - 1; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        const char *comment = memchr(at, '#', (size_t)(stop - at)), *last = comment ? comment : stop;
        while (at < last && (*at == ' ' || *at == '\t')) at++;
        while (last > at && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r')) last--;
        if (strncmp(at, "kernel ", 7) == 0)
            begin_section(t, at, last);
        else if (t->is_open && at < last)
            read_row(t, at, last);
        at = stop + 1;
    }
}

/* ---- What is said otherwise -------------------------------------------------------------------------------------- */

static bool is_said(const Tuned *t, const Pair *pair) {
    if (pair->param < 0) return launch_given(t->c, -1 - pair->param) != 0;
    const ParamInfo *p = &t->p->at[pair->param];
    return p->value && p->origin != RECORD_CONFIG && p->origin != RECORD_RULE;
}

static bool options_decide(const Tuned *t) {
    for (uint32_t i = 0; i < t->rows.len; i++)
        for (uint32_t k = 0; k < t->rows.at[i]->num_choice; k++)
            if (is_said(t, &t->rows.at[i]->choice[k])) return true;
    return t->c->o->config != 0;
}

static bool is_chosen(const Tuned *t, int param) {
    for (uint32_t i = 0; i < t->rows.len; i++)
        for (uint32_t k = 0; k < t->rows.at[i]->num_choice; k++)
            if (t->rows.at[i]->choice[k].param == param) return true;
    return false;
}

/* What holds where no row does, as code; NULL: there is nothing, or no rule can say it. */
static const char *own_code(const Tuned *t, int index) {
    ParamInfo *p = &t->p->at[index];
    if (p->rule) return p->rule;
    DiagMark mark = diag_mark(t->c->d);
    const Sem *s = p->value ? p->value : default_of(t->c, p);
    int64_t i = 0;
    if (take_back(t->c, mark) || !s || (s->kind != SEM_INT && s->kind != SEM_BOOL) || !int_fits(s->i, &i)) return NULL;
    return arena_printf(t->c->a, "%lld", (long long)i);
}

/* ---- Rows into code ---------------------------------------------------------------------------------------------- */

/* The code with the row's values for the parameters that it chooses. */
static const char *filled_in(const Tuned *t, const char *code, const TunedRow *row) {
    const char *out = "";
    for (const char *at = code; *at;) {
        size_t n = strcspn(at, " ");
        const char *word = arena_strndup(t->c->a, at, n);
        for (uint32_t i = 0; *word == '$' && i < row->num_choice; i++)
            if (row->choice[i].param >= 0 && atoi(word + 1) == row->choice[i].param) {
                word = row->choice[i].text;
                break;
            }
        out = arena_printf(t->c->a, "%s%s%s", out, *out ? " " : "", word);
        at += n + (at[n] == ' ');
    }
    return out;
}

static void find_guard(const Tuned *t, TunedRow *row) {
    for (uint32_t i = 0; i < t->requires.len; i++) {
        bool is_about = false;
        for (uint32_t k = 0; k < row->num_choice; k++)
            is_about |= row->choice[k].param >= 0 && rule_uses(t->requires.at[i], (uint32_t)row->choice[k].param);
        if (!is_about) continue;
        const char *code = filled_in(t, t->requires.at[i], row);
        row->guard = row->guard ? arena_printf(t->c->a, "%s %s and", row->guard, code) : code;
    }
}

/* What a tree is about: a parameter, one of compiled_words, or the line of the row. */
enum { LINE = -1 - NUM_COMPILED };

typedef struct Tree {
    const Tuned *t;
    int about;
    const char *own; /* where no row holds; NULL: the row holds all the same */
} Tree;

static const char *leaf(const Tree *x, const TunedRow *row) {
    Arena *a = x->t->c->a;
    const char *value = x->own;
    if (x->about == LINE) value = arena_printf(a, "%u", diag_place(x->t->c->d, row->span).line);
    for (uint32_t i = 0; i < row->num_choice; i++)
        if (row->choice[i].param == x->about) value = row->choice[i].text;
    if (!row->guard || !x->own || !value || strcmp(value, x->own) == 0) return value;
    return arena_printf(a, "%s %s %s sel", row->guard, value, x->own);
}

static const char *grow(const Tree *x, const Rows *rows, uint32_t key);

/* The rows whose key is that of rows->at[i], and behind them. */
static Rows same_key(const Tree *x, const Rows *rows, uint32_t key, uint32_t i, bool others) {
    Rows out = {0};
    const char *text = rows->at[i]->keys[key].text;
    for (uint32_t k = 0; k < rows->len; k++)
        if ((strcmp(rows->at[k]->keys[key].text, text) != 0) == others) vec_push(x->t->c->a, &out, rows->at[k]);
    return out;
}

static const char *choose(const Tree *x, const char *condition, const char *yes, const char *no) {
    if (!yes || !no || strcmp(yes, no) == 0) return yes ? yes : no;
    return arena_printf(x->t->c->a, "%s %s %s sel", condition, yes, no);
}

static const char *by_type(const Tree *x, const Rows *rows, uint32_t key) {
    const Pair *first = &rows->at[0]->keys[key];
    Rows same = same_key(x, rows, key, 0, false), others = same_key(x, rows, key, 0, true);
    const char *no = others.len ? by_type(x, &others, key) : x->own;
    return choose(x, arena_printf(x->t->c->a, "$%d %s ==", first->param, first->text), grow(x, &same, key + 1), no);
}

/* The largest number that is as near to a as to b, by ratio. */
static int64_t between(int64_t a, int64_t b) {
    return a > 0 ? (int64_t)sqrt((double)a * (double)b) : a + (b - a) / 2;
}

/* values: in order, each once. */
static const char *by_number(const Tree *x, const Rows *rows, uint32_t key, const int64_t *values, uint32_t count) {
    if (count == 1) {
        Rows same = {0};
        for (uint32_t i = 0; i < rows->len; i++)
            if (rows->at[i]->keys[key].number == values[0]) vec_push(x->t->c->a, &same, rows->at[i]);
        return grow(x, &same, key + 1);
    }
    uint32_t half = count / 2;
    const char *low = by_number(x, rows, key, values, half);
    const char *high = by_number(x, rows, key, values + half, count - half);
    const char *condition = arena_printf(x->t->c->a, "$%d %lld <=", rows->at[0]->keys[key].param,
                                         (long long)between(values[half - 1], values[half]));
    return choose(x, condition, low, high);
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static const char *grow(const Tree *x, const Rows *rows, uint32_t key) {
    const TunedRow *first = rows->at[0];
    if (key == first->num_keys) return leaf(x, rows->at[rows->len - 1]); /* of two that say the same the last */
    if (x->t->p->at[first->keys[key].param].role == ROLE_DTYPE) return by_type(x, rows, key);
    int64_t *values = NEW_ARRAY(x->t->c->a, int64_t, rows->len);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->len; i++) values[i] = rows->at[i]->keys[key].number;
    qsort(values, rows->len, sizeof *values, compare);
    for (uint32_t i = 0; i < rows->len; i++)
        if (!count || values[count - 1] != values[i]) values[count++] = values[i];
    return by_number(x, rows, key, values, count);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void apply(Tuned *t) {
    Params *p = t->p;
    for (int i = 0; i < (int)p->count; i++) {
        ParamInfo *param = &p->at[i];
        if (!is_chosen(t, i)) continue;
        Tree x = {t, i, own_code(t, i)};
        param->rule = grow(&x, &t->rows, 0);
        param->rule_at = t->rows.at[0]->span;
        param->is_tuned = true;
        if (param->role == ROLE_BARE) param->role = ROLE_CONSTEXPR;
        if (param->origin != RECORD_CONFIG || !param->value) continue;
        param->otherwise = param->value;
        param->value = NULL;
    }
    for (int i = 0; i < NUM_COMPILED; i++) {
        const char *own = p->compiled[i] ? arena_printf(t->c->a, "%u", p->compiled[i]) : launch_code(t->c, p, i);
        Tree x = {t, -1 - i, own ? own : "0"};
        if (is_chosen(t, -1 - i)) p->tuned[i] = grow(&x, &t->rows, 0);
    }
    Tree x = {t, LINE, "0"};
    p->tuned_line = grow(&x, &t->rows, 0);
    p->is_tuned = true;
}

void tuned_read(Checker *c, Params *p) {
    const char *text = c->o->tuned.text;
    Tuned t = {.c = c, .p = p, .units = -1};
    if (!text || !*text) return;
    t.source = diag_add_source(c->d, c->o->tuned.file, text, strlen(text));
    read_file(&t);
    p->tuned_file = t.source->name;
    if (t.rows.len && options_decide(&t))
        p->tuned_line = RECORD_TUNED_OPTIONS;
    else if (!t.rows.len && t.is_known)
        p->tuned_line = RECORD_TUNED_NO_TARGET;
    if (!t.rows.len || p->tuned_line) return;
    t.requires.at = launch_requires(c, p, &t.requires.len);
    for (uint32_t i = 0; i < t.rows.len; i++) find_guard(&t, t.rows.at[i]);
    apply(&t);
}
