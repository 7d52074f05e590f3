/* axis.c - the axes of a benchmark.
 *
 * In: the text of --axis, the words of the command line. Out: lists of numbers, words with numbers in place of names.
 */
#include "tool/run/axis.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 100000 };

static bool complain(const char *text, const char *why) {
    fprintf(stderr, "%s: --axis %s: %s; it takes NAME=256..12672:128, NAME=32..65536:*2 or NAME=64,781,4096\n",
            tool_name, text, why);
    return false;
}

/* Reads a number at *text and moves behind it. */
static bool read_number(const char **text, int64_t *out) {
    char *end = NULL;
    errno = 0;
    if (!isdigit((unsigned char)**text) && **text != '-') return false;
    *out = strtoll(*text, &end, 10);
    if (errno || end == *text) return false;
    *text = end;
    return true;
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool read_range(Arena *a, const char *text, const char *at, int64_t low, Axis *axis) {
    int64_t high = 0, step = 1;
    bool is_factor = false;
    if (!read_number(&at, &high)) return complain(text, "no number behind '..'");
    if (*at == ':') {
        at++;
        is_factor = *at == '*';
        at += is_factor;
        if (!read_number(&at, &step) || step < 1 + is_factor)
            return complain(text, "the step is no number, or too small");
    }
    if (*at) return complain(text, "there is something behind it");
    if (is_factor && low < 1) return complain(text, "a factor needs a first number above 0");
    for (int64_t v = low; v <= high; v = is_factor ? v * step : v + step) {
        if (axis->at.len == MOST_POINTS) return complain(text, "it has more than 100000 points");
        vec_push(a, &axis->at, v);
        if (v > INT64_MAX / 2 / step) break;
    }
    return axis->at.len || complain(text, "it has no point");
}

bool axis_parse(Arena *a, const char *text, Axis *axis) {
    const char *eq = strchr(text, '=');
    *axis = (Axis){0};
    if (!eq || eq == text || isdigit((unsigned char)*text)) return complain(text, "it has no name");
    for (const char *c = text; c < eq; c++)
        if (!is_name(*c)) return complain(text, "it has no name");
    axis->name = arena_strndup(a, text, (size_t)(eq - text));
    const char *at = eq + 1;
    int64_t v = 0;
    if (!read_number(&at, &v)) return complain(text, "no number behind '='");
    if (strncmp(at, "..", 2) == 0) return read_range(a, text, at + 2, v, axis);
    vec_push(a, &axis->at, v);
    while (*at == ',') {
        at++;
        if (!read_number(&at, &v)) return complain(text, "no number behind ','");
        vec_push(a, &axis->at, v);
    }
    return !*at || complain(text, "there is something behind it");
}

/* The axis whose name begins here, as a whole name; NULL: none. */
static const Axis *axis_here(const Axis *axes, uint32_t n, const char *at) {
    for (uint32_t i = 0; i < n; i++) {
        size_t len = strlen(axes[i].name);
        if (strncmp(at, axes[i].name, len) == 0 && !is_name(at[len])) return &axes[i];
    }
    return NULL;
}

const char *axis_apply(Arena *a, const Axis *axes, uint32_t n, const int64_t *values, const char *word) {
    const char *eq = strchr(word, '=');
    if (!eq) return word;
    Text out = {0};
    text_printf(&out, "%.*s", (int)(eq + 1 - word), word);
    for (const char *at = eq + 1; *at;) {
        const Axis *here = is_name(at[-1]) ? NULL : axis_here(axes, n, at);
        if (here)
            text_printf(&out, "%" PRId64, values[here - axes]);
        else
            text_printf(&out, "%c", *at);
        at += here ? strlen(here->name) : 1;
    }
    const char *made = arena_strndup(a, out.at, strlen(out.at));
    text_free(&out);
    return made;
}

bool axis_is_used(const Axis *axis, const char *const *words, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const char *eq = strchr(words[i], '=');
        for (const char *at = eq ? eq + 1 : ""; *at; at++)
            if (!is_name(at[-1]) && axis_here(axis, 1, at)) return true;
    }
    return false;
}
