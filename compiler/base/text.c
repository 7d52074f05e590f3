/* text.c - text that grows: printers and diagnostics write into it. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static void reserve(Text *t, size_t more) {
    if (t->cap - t->len > more) return;
    size_t cap = t->cap ? t->cap : 256;
    while (cap - t->len <= more) cap *= 2;
    char *at = realloc(t->at, cap);
    if (!at) bug("out of memory: %zu bytes of text", cap);
    t->at = at;
    t->cap = cap;
}

void text_write(Text *t, const char *s, size_t n) {
    reserve(t, n);
    if (n) memcpy(t->at + t->len, s, n);
    t->len += n;
    t->at[t->len] = '\0';
}

void text_printf(Text *t, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n > 0) {
        reserve(t, (size_t)n + 1);
        vsnprintf(t->at + t->len, (size_t)n + 1, fmt, again);
        t->len += (size_t)n;
    }
    va_end(again);
}

void text_free(Text *t) {
    free(t->at);
    *t = (Text){0};
}
