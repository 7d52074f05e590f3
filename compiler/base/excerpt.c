/* excerpt.c - diagnostics for people: one block a message, with the source lines that it and its notes are about.
 *
 * In: what diag.c collected. Out: `file:line:col: error: … [E0123]`; the lines by number behind a gutter, a caret
 * range below the error's place, each other place underlined with its note; notes without a place of their own.
 * Method: the places of a block are sorted by line; those of one line share its excerpt. The last of a line has its
 * note beside it, the others hang below their marks. Lines wider than the window are clipped around the caret; bytes
 * that are no printable text are shown as <XX>.
 */
#include "base/private.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 110 /* bytes of a source line shown at most */ };

/* Of a terminal. */
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

typedef struct Label {
    Place place;
    Span span;
    const char *text; /* NULL: the message's own place */
    uint32_t order;
    uint32_t from, to; /* columns of the excerpt */
} Label;

/* A source line as it is shown. */
typedef struct Excerpt {
    Text shown, blank;            /* blank: as wide, tabs stay tabs */
    uint32_t columns[WINDOW + 2]; /* of the bytes from `first` on */
    uint32_t first, last;         /* offsets in the source */
} Excerpt;

static void show_line(Excerpt *x, const Source *s, uint32_t begin, uint32_t end, uint32_t at) {
    x->first = begin, x->last = end;
    if (end - begin > WINDOW) { /* a window around the caret */
        x->first = at - begin > WINDOW / 2 ? at - WINDOW / 2 : begin;
        x->last = end - x->first > WINDOW ? x->first + WINDOW : end;
    }
    if (x->first > begin) text_printf(&x->shown, "..."), text_printf(&x->blank, "   ");
    for (uint32_t i = x->first; i < x->last;) {
        const char *p = s->text + i;
        uint32_t n = visible_length(p, x->last - i), length = n ? n : 1;
        for (uint32_t k = 0; k < length; k++) x->columns[i + k - x->first] = (uint32_t)x->blank.len;
        if (*p == '\t') text_printf(&x->shown, "\t");
        else text_visible(&x->shown, p, length);
        text_printf(&x->blank, *p == '\t' ? "\t" : n ? " " : "    ");
        i += length;
    }
    x->columns[x->last - x->first] = (uint32_t)x->blank.len;
    if (x->last < end) text_printf(&x->shown, "...");
}

static uint32_t column_of(const Excerpt *x, uint32_t offset) {
    uint32_t at = offset < x->first ? x->first : offset > x->last ? x->last : offset;
    return x->columns[at - x->first];
}

/* A row below the line: blank up to `width`. */
static char *new_row(const Excerpt *x, uint32_t width) {
    char *row = calloc(width + 1u, 1);
    if (!row) bug("out of memory for a diagnostic");
    memset(row, ' ', width);
    memcpy(row, x->blank.at ? x->blank.at : "", x->blank.len < width ? x->blank.len : width);
    return row;
}

static void print_row(Text *out, char *row, const char *between, const char *text, bool color) {
    text_printf(out, "      | %s%s%s%s", color ? GREEN : "", row, color ? PLAIN : "", between);
    text_visible(out, text, strlen(text));
    text_printf(out, "\n");
    free(row);
}

static int compare_columns(const void *a, const void *b) {
    const Label *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->order < y->order ? 1 : -1; /* what hangs is printed from the last to the first */
}

/* The notes that do not stand beside their mark, from right to left, with bars for those still to come. */
static void print_hanging(Text *out, const Excerpt *x, const Label *labels, uint32_t count, bool color) {
    for (uint32_t i = count; i-- > 0;) {
        if (!labels[i].text) continue;
        char *row = new_row(x, labels[i].from);
        for (uint32_t k = 0; k < i; k++) {
            if (labels[k].text && labels[k].from < labels[i].from) row[labels[k].from] = '|';
        }
        print_row(out, row, "", labels[i].text, color);
    }
}

/* One source line, and what is said of it. */
static void print_line(Text *out, Label *labels, uint32_t count, bool color) {
    const Place *p = &labels[0].place;
    const Source *s = p->source;
    uint32_t begin = s->lines.at[p->line - 1], width = 1;
    uint32_t end = p->line < s->lines.len ? s->lines.at[p->line] - 1 : s->len;
    if (end > begin && s->text[end - 1] == '\r') end--;
    Excerpt x = {0};
    show_line(&x, s, begin, end, labels[0].span.begin - s->base); /* sorted: the message's own place is the first */
    for (uint32_t i = 0; i < count; i++) {
        labels[i].from = column_of(&x, labels[i].span.begin - s->base);
        labels[i].to = column_of(&x, labels[i].span.end - s->base);
        if (labels[i].to <= labels[i].from) labels[i].to = labels[i].from + 1;
        if (labels[i].to > width) width = labels[i].to;
    }
    qsort(labels, count, sizeof *labels, compare_columns);
    char *row = new_row(&x, width);
    for (int is_note = 0; is_note < 2; is_note++) { /* marks of notes over the range of the message's own */
        for (uint32_t i = 0; i < count; i++) {
            const Label *l = &labels[i];
            if ((l->text != NULL) != (is_note != 0)) continue;
            for (uint32_t k = l->from; k < l->to; k++) {
                if (row[k] != '^') row[k] = is_note ? '-' : k == l->from ? '^' : '~';
            }
        }
    }
    const Label *last = &labels[count - 1];
    bool is_beside = last->text && last->to == width;
    text_printf(out, "%5u | %s\n", p->line, x.shown.at ? x.shown.at : "");
    print_row(out, row, is_beside ? " " : "", is_beside ? last->text : "", color);
    print_hanging(out, &x, labels, count - is_beside, color);
    text_free(&x.shown);
    text_free(&x.blank);
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

static void print_place(Text *out, const Place *p) {
    text_visible(out, p->source->name, strlen(p->source->name));
    text_printf(out, ":%u:%u", p->line, p->col);
}

/* `place`: of the message, or none. */
static void print_head(const Message *m, const Place *place, Text *out, bool color) {
    static const char *const colors[] = {"\033[36m", "\033[34m", "\033[35m", "\033[31m"};
    if (place->source) {
        text_printf(out, "%s", color ? "\033[1m" : "");
        print_place(out, place);
        text_printf(out, ": ");
    } else if (m->severity != SEV_NOTE) text_printf(out, "fsc: ");
    text_printf(out, "%s%s: %s", color ? colors[m->severity] : "", severity_name(m->severity),
                color ? "\033[0m\033[1m" : "");
    print_words(out, m->text);
    text_printf(out, "%s", color ? PLAIN : "");
    text_printf(out, m->code[0] ? " [%s]\n" : "\n", m->code);
}

/* By file and line; of one line the message's own place first. */
static int compare_labels(const void *a, const void *b) {
    const Label *x = a, *y = b;
    if (x->place.source != y->place.source) return x->place.source->base < y->place.source->base ? -1 : 1;
    if (x->place.line != y->place.line) return x->place.line < y->place.line ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Of a note: a place that its message does not have. */
static bool has_own_place(const Diag *d, const Message *m, const Message *head) {
    bool is_same = m->span.begin == head->span.begin && m->span.end == head->span.end;
    return !is_same && diag_place(d, m->span).source;
}

static void print_block(const Diag *d, const Message *head, const Message *end, Text *out, bool color) {
    const Message *last = head + 1;
    while (last < end && last->severity == SEV_NOTE) last++;
    Label *labels = NEW_ARRAY(d->arena, Label, last - head);
    Place at = diag_place(d, head->span);
    uint32_t count = 0;
    for (const Message *m = head; m < last; m++) {
        Label l = {.place = diag_place(d, m->span), .span = m->span, .order = count};
        if (m != head) l.text = m->text;
        if (m == head ? at.source != NULL : has_own_place(d, m, head)) labels[count++] = l;
    }
    print_head(head, &at, out, color);
    qsort(labels, count, sizeof *labels, compare_labels);
    for (uint32_t i = 0, n; i < count; i += n) {
        const Place *p = &labels[i].place;
        n = 1;
        while (i + n < count && labels[i + n].place.source == p->source && labels[i + n].place.line == p->line) n++;
        if (p->source != at.source) text_printf(out, "  --> "), print_place(out, p), text_printf(out, "\n");
        at = *p;
        print_line(out, labels + i, n, color);
    }
    for (const Message *m = head + 1; m < last; m++) {
        if (!has_own_place(d, m, head)) print_head(m, &(Place){0}, out, color);
    }
}

/* What the codes mean: pages, by code. */
static void print_pointer(const Message *const *heads, size_t count, Text *out) {
    const char *seen[4];
    size_t n = 0;
    for (size_t i = 0; i < count && n < COUNT(seen); i++) {
        bool is_new = heads[i]->code[0] != '\0';
        for (size_t k = 0; k < n; k++) is_new &= strcmp(seen[k], heads[i]->code) != 0;
        if (is_new) seen[n++] = heads[i]->code;
    }
    for (size_t i = 0; i < n; i++)
        text_printf(out, i == 0 ? "fsc --explain %s says more%s" : "%s%s", seen[i],
                    i == 0 ? (n > 1 ? "; also of " : "\n") : i + 1 < n ? ", " : "\n");
}

void diag_print(const Diag *d, Text *out, bool color) {
    size_t count;
    const Message **heads = diag_heads(d, &count), *end = count ? d->messages.at + d->messages.len : NULL;
    for (size_t i = 0; i < count; i++) print_block(d, heads[i], end, out, color);
    if (d->hidden)
        text_printf(out, "%u more error%s not shown; --error-limit=0 shows all\n", d->hidden,
                    d->hidden == 1 ? "" : "s");
    print_pointer(heads, count, out);
}
