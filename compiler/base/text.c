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

uint32_t utf8_length(const char *s, size_t left) {
    unsigned char c = (unsigned char)s[0];
    uint32_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    for (uint32_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    return n;
}

static bool is_control(uint32_t c) {
    bool turns =
        c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || turns;
}

uint32_t visible_length(const char *s, size_t left) {
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t n = utf8_length(s, left), c = (unsigned char)s[0] & first[n];
    for (uint32_t i = 1; i < n; i++) c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return is_control(c) ? 0 : n;
}

void text_visible(Text *t, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t length = s[i] == '\t' ? 1 : visible_length(s + i, n - i);
        if (length) text_write(t, s + i, length);
        else text_printf(t, "<%02X>", (unsigned char)s[i]);
        i += length ? length : 1;
    }
}

void text_json(Text *out, const char *s) {
    size_t left = strlen(s);
    text_printf(out, "\"");
    while (left) {
        uint32_t n = utf8_length(s, left);
        unsigned char c = (unsigned char)*s;
        if (n == 0) text_printf(out, "\\ufffd");
        else if (c < 0x20) text_printf(out, "\\u%04x", c);
        else if (c == '"' || c == '\\') text_printf(out, "\\%c", c);
        else text_write(out, s, n);
        s += n ? n : 1;
        left -= n ? n : 1;
    }
    text_printf(out, "\"");
}

void text_free(Text *t) {
    free(t->at);
    *t = (Text){0};
}
