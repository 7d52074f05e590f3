/* diag.c - diagnostics: collected during the compile (excerpt.c prints them for people, report.c for programs).
 *
 * In: spans and rows of diag.def, notes, fixes. Out: messages in the order in which they came; by place for printers.
 * Method: what a later pass over the same code says again (unrolled loops, functions called twice) is kept once.
 */
#include "base/private.h"

#include "runtime/base/ascii.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 1000 /* of errors: callers may stop then */ };

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

/* Of unrolled loops and of functions called twice: once is enough. A note is compared with those of its message. */
static bool is_repeated(const Diag *d, Severity severity, Span span, const char *text) {
    for (uint32_t i = d->messages.len; i-- > 0;) {
        const Message *m = &d->messages.at[i];
        if (severity == SEV_NOTE && m->severity != SEV_NOTE) return false;
        bool same_place = m->span.begin == span.begin && m->span.end == span.end;
        if (m->severity == severity && same_place && strcmp(m->text, text) == 0) return true;
    }
    return false;
}

static uint32_t shown_errors(const Diag *d) {
    return d->errors - d->repeated;
}

static void add(Diag *d, Severity severity, Span span, const char *fmt, va_list args) {
    bool is_note = severity == SEV_NOTE, is_error = severity == SEV_ERROR;
    if (is_note && d->hiding) return;
    if (!is_note && (d->hiding = d->inside_failed)) return; /* of library code, what follows from the user's mistake */
    char line[512], code[DIAG_CODE + 1] = "";
    vsnprintf(line, sizeof line, fmt, args);
    size_t skip = is_note ? 0 : DIAG_CODE;
    memcpy(code, line, skip);
    const char *text = arena_strndup(d->arena, line + skip, strlen(line + skip));
    bool moved = !is_note && is_foreign(d, span), repeated = is_repeated(d, severity, moved ? d->inside : span, text);
    if (is_note && repeated) return;
    if (is_error) {
        d->inside_failed = d->inside.end != 0;
        d->errors++;
        d->repeated += repeated;
    }
    bool beyond = d->limit && shown_errors(d) > d->limit;
    d->hidden += is_error && beyond && !repeated;
    d->hiding = repeated || beyond;
    if (d->hiding) return;
    keep(d, severity, moved ? d->inside : span, code, text);
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

void diag_fix(Diag *d, Span s, const char *fmt, ...) {
    if (d->hiding || !d->messages.len || !s.end) return;
    char text[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) return;
    Message *last = &d->messages.at[d->messages.len - 1];
    last->fix_at = s;
    last->fix = arena_strndup(d->arena, text, strlen(text));
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
    return (DiagMark){d->messages.len, d->errors, d->hidden, d->repeated, d->inside_failed};
}

static void go_back(Diag *d, DiagMark mark) {
    d->messages.len = mark.messages;
    d->errors = mark.errors;
    d->hidden = mark.hidden;
    d->repeated = mark.repeated;
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
    t->repeated = d->repeated - mark.repeated;
    go_back(d, mark);
    return t;
}

bool diag_taken_fails(const DiagTaken *t) {
    return t && t->errors;
}

void diag_give(Diag *d, const DiagTaken *t) {
    for (uint32_t i = 0; t && i < t->count; i++) {
        const Message *m = &t->at[i];
        bool is_error = m->severity == SEV_ERROR;
        d->errors += is_error;
        if (is_error) d->inside_failed = d->inside.end != 0;
        bool beyond = d->limit && shown_errors(d) > d->limit;
        d->hidden += is_error && beyond;
        if (m->severity != SEV_NOTE) d->hiding = beyond;
        if (!d->hiding) vec_push(d->arena, &d->messages, *m);
    }
    if (!t) return;
    d->errors += t->hidden + t->repeated;
    d->hidden += t->hidden;
    d->repeated += t->repeated;
}

bool diag_full(const Diag *d) {
    return d->limit && (shown_errors(d) >= d->limit || d->repeated > MOST_REPEATS);
}

const char *diag_source_text(const Diag *d, Span s) {
    const Source *of = diag_place(d, s).source;
    bool is_inside = of && s.end >= s.begin && s.end <= of->base + of->len;
    return is_inside ? arena_strndup(d->arena, of->text + (s.begin - of->base), s.end - s.begin) : "";
}

static int compare_fixes(const void *a, const void *b) {
    const Message *x = *(const Message *const *)a, *y = *(const Message *const *)b;
    return (x->fix_at.begin > y->fix_at.begin) - (x->fix_at.begin < y->fix_at.begin);
}

uint32_t diag_fixed(const Diag *d, const Source *s, Text *out) {
    const Message **fixes = NEW_ARRAY(d->arena, const Message *, d->messages.len + 1);
    uint32_t count = 0, made = 0, done = s->base;
    for (uint32_t i = 0; i < d->messages.len; i++) {
        const Message *m = &d->messages.at[i];
        if (m->fix && diag_place(d, m->fix_at).source == s) fixes[count++] = m;
    }
    qsort(fixes, count, sizeof *fixes, compare_fixes);
    for (uint32_t i = 0; i < count; i++) {
        Span at = fixes[i]->fix_at;
        if (at.begin < done || (i && at.begin == fixes[i - 1]->fix_at.begin)) continue;
        text_write(out, s->text + (done - s->base), at.begin - done);
        text_printf(out, "%s", fixes[i]->fix);
        done = at.end;
        made++;
    }
    text_write(out, s->text + (done - s->base), s->base + s->len - done);
    return made;
}

/* ---- For the printers ------------------------------------------------------------------------------------------ */

const char *severity_name(Severity s) {
    static const char *const names[] = {"note", "remark", "warning", "error"};
    return names[s];
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
