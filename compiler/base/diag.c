/* diag.c - diagnostics: collected during the compile, printed at its end as text (report.c: for programs).
 *
 * In: spans and rows of diag.def. Out: `file:line:col: error: … [E0123]`, the source line, a caret range below it, by
 * place. Lines wider than the window are clipped around the caret; bytes that are no printable text are shown as <XX>.
 */
#include "base/private.h"

#include "runtime/base/ascii.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 110 /* bytes of a source line shown at most */ };

Diag *diag_create(Arena *a, uint32_t limit) {
    Diag *d = NEW(a, Diag);
    d->arena = a;
    d->limit = limit;
    return d;
}

static Source *add_source(Diag *d, const char *name, const char *text, size_t len) {
    Source *s = NEW(d->arena, Source);
    uint32_t base = 1;
    if (d->sources.len) {
        const Source *last = d->sources.at[d->sources.len - 1];
        base = last->base + last->len + 1;
    }
    if (len > UINT32_MAX / 2 - base) {
        len = UINT32_MAX / 2 - base;
        diag(d, (Span){0, 0}, E_SOURCE_SIZE);
    }
    s->name = arena_strndup(d->arena, name, strlen(name));
    s->text = arena_strndup(d->arena, text, len);
    s->len = (uint32_t)len;
    s->base = base;
    vec_push(d->arena, &s->lines, 0);
    for (uint32_t i = 0; i < s->len; i++) {
        if (s->text[i] == '\n') vec_push(d->arena, &s->lines, i + 1);
    }
    vec_push(d->arena, &d->sources, s);
    return s;
}

const Source *diag_add_source(Diag *d, const char *name, const char *text, size_t len) {
    return add_source(d, name, text, len);
}

const Source *diag_add_library(Diag *d, const char *name, const char *text, size_t len) {
    Source *s = add_source(d, name, text, len);
    s->is_library = true;
    return s;
}

const Source *diag_source(const Diag *d, uint32_t index) {
    return index < d->sources.len ? d->sources.at[index] : NULL;
}

Place diag_place(const Diag *d, Span span) {
    if (span.end == 0) return (Place){0};
    for (uint32_t i = 0; i < d->sources.len; i++) {
        const Source *s = d->sources.at[i];
        if (span.begin < s->base || span.begin > s->base + s->len) continue;
        uint32_t at = span.begin - s->base, low = 0, high = s->lines.len;
        while (high - low > 1) {
            uint32_t middle = (low + high) / 2;
            if (s->lines.at[middle] <= at) low = middle;
            else high = middle;
        }
        return (Place){s, low + 1, at - s->lines.at[low] + 1};
    }
    return (Place){0};
}

static void keep(Diag *d, Severity severity, Span span, const char *code, const char *text) {
    Message m = {.severity = severity, .span = span, .text = text};
    memcpy(m.code, code, strlen(code));
    vec_push(d->arena, &d->messages, m);
}

static bool is_foreign(const Diag *d, Span span) {
    const Source *s = d->inside.end ? diag_place(d, span).source : NULL;
    return s && s->is_library;
}

/* Of unrolled loops and of functions called twice: one warning is enough. */
static bool is_repeated(const Diag *d, Severity severity, Span span, const char *text) {
    for (uint32_t i = 0; i < d->messages.len; i++) {
        const Message *m = &d->messages.at[i];
        bool same_place = m->span.begin == span.begin && m->span.end == span.end;
        if (m->severity == severity && same_place && strcmp(m->text, text) == 0) return true;
    }
    return false;
}

static void add(Diag *d, Severity severity, Span span, const char *fmt, va_list args) {
    if (severity == SEV_ERROR) {
        if (d->inside_failed) { /* what follows from it in library code is no mistake of the user's */
            d->hiding = true;
            return;
        }
        d->inside_failed = d->inside.end != 0;
        d->errors++;
        d->hiding = d->limit && d->errors > d->limit;
        d->hidden += d->hiding;
    }
    if (d->hiding) return;
    char line[512], code[DIAG_CODE + 1] = "";
    vsnprintf(line, sizeof line, fmt, args);
    size_t skip = severity == SEV_NOTE ? 0 : DIAG_CODE;
    memcpy(code, line, skip);
    const char *text = arena_strndup(d->arena, line + skip, strlen(line + skip));
    bool moved = severity != SEV_NOTE && is_foreign(d, span);
    Span at = moved ? d->inside : span;
    bool may_repeat = severity == SEV_WARNING || severity == SEV_REMARK;
    if (may_repeat && (d->hiding = is_repeated(d, severity, at, text))) return;
    keep(d, severity, at, code, text);
    if (moved)
        keep(d, SEV_NOTE, span, "", arena_printf(d->arena, "found here, in '%s' of the standard library", d->function));
}

Span diag_inside(Diag *d, Span call, const char *function) {
    Span before = d->inside;
    if (!call.end || !before.end) d->inside_failed = false;
    if (call.end && !before.end) d->function = function;
    d->inside = call;
    return before;
}

void diag(Diag *d, Span s, const char *row, ...) {
    va_list args;
    va_start(args, row);
    add(d, row[0] == 'E' ? SEV_ERROR : row[0] == 'W' ? SEV_WARNING : SEV_REMARK, s, row, args);
    va_end(args);
}

void diag_note(Diag *d, Span s, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(d, SEV_NOTE, s, fmt, args);
    va_end(args);
}

uint32_t diag_errors(const Diag *d) {
    return d->errors;
}

bool diag_ends_with(const Diag *d, const char *row) {
    uint32_t i = d->messages.len;
    while (i && d->messages.at[i - 1].severity == SEV_NOTE) i--;
    return i && memcmp(d->messages.at[i - 1].code, row, DIAG_CODE) == 0;
}

bool diag_mentions(const Diag *d, const char *words) {
    uint32_t i = d->messages.len;
    while (i && d->messages.at[i - 1].severity == SEV_NOTE) i--;
    const char *text = i ? d->messages.at[i - 1].text : "", *at = text;
    for (size_t n = strlen(words); (at = strstr(at, words)); at++) {
        bool begins = at == text || !(is_word(at[-1]) || at[-1] == '*');
        if (begins && !is_word(at[n])) return true;
    }
    return false;
}

bool diag_next_error(const Diag *d, uint32_t *next, Span *place) {
    while (*next < d->messages.len) {
        const Message *m = &d->messages.at[(*next)++];
        if (m->severity != SEV_ERROR) continue;
        *place = m->span;
        return true;
    }
    return false;
}

DiagMark diag_mark(const Diag *d) {
    return (DiagMark){d->messages.len, d->errors, d->hidden, d->inside_failed};
}

static void go_back(Diag *d, DiagMark mark) {
    d->messages.len = mark.messages;
    d->errors = mark.errors;
    d->hidden = mark.hidden;
    d->hiding = false;
    d->inside_failed = mark.inside_failed;
}

bool diag_rewind(Diag *d, DiagMark mark) {
    if (d->errors == mark.errors) return false;
    go_back(d, mark);
    return true;
}

const DiagTaken *diag_take(Diag *d, DiagMark mark) {
    if (d->messages.len == mark.messages && d->errors == mark.errors) return NULL;
    DiagTaken *t = NEW(d->arena, DiagTaken);
    t->count = d->messages.len - mark.messages;
    t->at = NEW_ARRAY(d->arena, Message, t->count + 1);
    for (uint32_t i = 0; i < t->count; i++) t->at[i] = d->messages.at[mark.messages + i];
    t->errors = d->errors - mark.errors;
    t->hidden = d->hidden - mark.hidden;
    go_back(d, mark);
    return t;
}

bool diag_taken_fails(const DiagTaken *t) {
    return t && t->errors;
}

void diag_give(Diag *d, const DiagTaken *t) {
    for (uint32_t i = 0; t && i < t->count; i++) {
        const Message *m = &t->at[i];
        if (m->severity == SEV_ERROR) {
            d->errors++;
            d->hidden += d->limit && d->errors > d->limit;
            d->inside_failed = d->inside.end != 0;
        }
        if (m->severity != SEV_NOTE) d->hiding = m->severity == SEV_ERROR && d->limit && d->errors > d->limit;
        if (!d->hiding) vec_push(d->arena, &d->messages, *m);
    }
    if (!t) return;
    d->errors += t->hidden;
    d->hidden += t->hidden;
}

bool diag_full(const Diag *d) {
    return d->limit && d->errors >= d->limit;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

/* One character of the source line to `shown`, and as many columns of `fill` to `below` (tabs stay tabs). */
static uint32_t put_char(Text *shown, Text *below, const char *s, uint32_t left, char fill) {
    uint32_t n = visible_length(s, left);
    if (s[0] == '\t') {
        text_printf(shown, "\t");
        text_printf(below, "%c", fill == ' ' ? '\t' : fill);
        return 1;
    }
    if (n == 0) {
        text_visible(shown, s, 1);
        text_printf(below, "%c%c%c%c", fill, fill == '^' ? '~' : fill, fill == '^' ? '~' : fill,
                    fill == '^' ? '~' : fill);
        return 1;
    }
    text_write(shown, s, n);
    text_printf(below, "%c", fill);
    return n;
}

static void print_line(const Place *p, Span span, Text *out, bool color) {
    const Source *s = p->source;
    uint32_t begin = s->lines.at[p->line - 1];
    uint32_t end = p->line < s->lines.len ? s->lines.at[p->line] - 1 : s->len;
    if (end > begin && s->text[end - 1] == '\r') end--;
    uint32_t from = span.begin - s->base, to = span.end - s->base;
    if (to > end) to = end;
    uint32_t first = begin, last = end;
    if (end - begin > WINDOW) { /* a window around the caret */
        first = from - begin > WINDOW / 2 ? from - WINDOW / 2 : begin;
        last = end - first > WINDOW ? first + WINDOW : end;
    }
    Text shown = {0}, below = {0};
    if (first > begin) {
        text_printf(&shown, "...");
        text_printf(&below, "   ");
    }
    for (uint32_t i = first; i < last;) {
        char fill = i == from ? '^' : i > from && i < to ? '~' : ' ';
        i += put_char(&shown, &below, s->text + i, last - i, fill);
    }
    if (from >= last) text_printf(&below, "^"); /* at the line's end */
    if (last < end) text_printf(&shown, "...");
    while (below.len && below.at[below.len - 1] == ' ') below.at[--below.len] = '\0';
    text_printf(out, "  %s\n  %s%s%s\n", shown.at ? shown.at : "", color ? "\033[32m" : "", below.at ? below.at : "",
                color ? "\033[0m" : "");
    text_free(&shown);
    text_free(&below);
}

const char *severity_name(Severity s) {
    static const char *const names[] = {"note", "remark", "warning", "error"};
    return names[s];
}

/* A message: of several lines where ptxas or LLVM has said them. */
static void print_words(Text *out, const char *text) {
    for (;;) {
        size_t n = strcspn(text, "\n");
        text_visible(out, text, n);
        text += n;
        if (!*text) return;
        text_printf(out, "\n");
        text++;
    }
}

static void print_message(const Diag *d, const Message *m, Text *out, bool color) {
    static const char *const colors[] = {"\033[36m", "\033[34m", "\033[35m", "\033[31m"};
    Place p = diag_place(d, m->span);
    if (p.source) {
        text_printf(out, "%s", color ? "\033[1m" : "");
        text_visible(out, p.source->name, strlen(p.source->name));
        text_printf(out, ":%u:%u: ", p.line, p.col);
    } else if (m->severity != SEV_NOTE) text_printf(out, "fsc: ");
    text_printf(out, "%s%s: %s", color ? colors[m->severity] : "", severity_name(m->severity),
                color ? "\033[0m\033[1m" : "");
    print_words(out, m->text);
    text_printf(out, "%s", color ? "\033[0m" : "");
    text_printf(out, m->code[0] ? " [%s]\n" : "\n", m->code);
    if (p.source) print_line(&p, m->span, out, color);
}

/* By place; two at one place stay in the order in which they were found, which is the order of their addresses. */
static int compare_places(const void *a, const void *b) {
    const Message *x = *(const Message *const *)a, *y = *(const Message *const *)b;
    uint32_t left = x->span.end ? x->span.begin : 0, right = y->span.end ? y->span.begin : 0;
    if (left != right) return left < right ? -1 : 1;
    return (x > y) - (x < y);
}

const Message **diag_heads(const Diag *d, size_t *count) {
    *count = 0;
    if (!d->messages.len) return NULL;
    const Message *all = d->messages.at, *end = all + d->messages.len;
    const Message **heads = NEW_ARRAY(d->arena, const Message *, d->messages.len);
    for (const Message *m = all; m < end; m++) {
        if (m->severity != SEV_NOTE || m == all) heads[(*count)++] = m;
    }
    qsort(heads, *count, sizeof *heads, compare_places);
    return heads;
}

void diag_print(const Diag *d, Text *out, bool color) {
    size_t count;
    const Message **heads = diag_heads(d, &count), *end = count ? d->messages.at + d->messages.len : NULL;
    for (size_t i = 0; i < count; i++) {
        print_message(d, heads[i], out, color);
        for (const Message *m = heads[i] + 1; m < end && m->severity == SEV_NOTE; m++) print_message(d, m, out, color);
    }
    if (d->hidden)
        text_printf(out, "%u more error%s not shown; --error-limit=0 shows all\n", d->hidden,
                    d->hidden == 1 ? "" : "s");
}
