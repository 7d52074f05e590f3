/* show.c - an array as text: the elements of each row in columns, of long axes the first and last few. */
#include "tool/run/expect.h"
#include "tool/run/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, EDGE = 4, NUMBER = 40 }; /* an axis of more elements than MOST is shown by EDGE at either end */

typedef struct Shown {
    const Array *a;
    Text *out;
    int width;
} Shown;

static void print_number(const Array *a, uint64_t i, char *out) {
    Real x = array_number(a, i);
    if (strchr(a->dtype, 'f'))
        snprintf(out, NUMBER, "%.6Lg", x);
    else
        snprintf(out, NUMBER, "%.0Lf", x);
}

/* The index that is shown behind i; what lies between is left out. */
static uint64_t next_of(uint64_t i, uint64_t n) {
    return n > MOST && i + 1 == EDGE ? n - EDGE : i + 1;
}

/* The widest of the elements that are shown, from `at` on. */
static void measure(Shown *s, uint32_t axis, uint64_t at) {
    char text[NUMBER];
    if (axis == s->a->rank) {
        print_number(s->a, at, text);
        int n = (int)strlen(text);
        if (n > s->width) s->width = n;
        return;
    }
    uint64_t n = s->a->shape[axis];
    for (uint64_t i = 0; i < n; i = next_of(i, n)) measure(s, axis + 1, at * n + i);
}

static void print_axis(Shown *s, uint32_t axis, uint64_t at) {
    char text[NUMBER];
    if (axis == s->a->rank) {
        print_number(s->a, at, text);
        text_printf(s->out, "%*s", s->width, text);
        return;
    }
    uint64_t n = s->a->shape[axis];
    bool is_last = axis + 1 == s->a->rank;
    text_printf(s->out, "[");
    for (uint64_t i = 0; i < n; i = next_of(i, n)) {
        if (i && is_last) text_printf(s->out, " ");
        if (i && !is_last) text_printf(s->out, "\n%*s", (int)axis + 1, "");
        if (i && i == n - EDGE && n > MOST) text_printf(s->out, is_last ? "… " : "…\n%*s", (int)axis + 1, "");
        print_axis(s, axis + 1, at * n + i);
    }
    text_printf(s->out, "]");
}

void show_array(Text *out, const char *name, const Array *a) {
    Shown s = {a, out, 0};
    text_printf(out, "%s = %s[", name, a->dtype);
    for (uint32_t i = 0; i < a->rank; i++) text_printf(out, "%s%" PRIu64, i ? "," : "", a->shape[i]);
    text_printf(out, "]\n");
    if (a->count) measure(&s, 0, 0);
    if (a->count) print_axis(&s, 0, 0);
    text_printf(out, a->count ? "\n" : "  no elements\n");
}
