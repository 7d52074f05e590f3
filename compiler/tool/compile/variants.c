/* variants.c - --variants: the values of constexpr parameters that an object has code for.
 *
 * In: NAME=LO..HI or NAME=A,B,C. Out: lists of values as text, or a sentence on stderr.
 */
#include "tool/compile/package.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64 };

static bool complain(const char *text, const char *why) {
    fprintf(stderr,
            "%s: --variants %s: %s; it takes NAME=256..65536, each power of two in the range, or NAME=96,192\n",
            tool_name, text, why);
    return false;
}

/* Reads a number at *text and moves behind it. */
static bool read_number(const char **text, int64_t *out) {
    char *end = NULL;
    errno = 0;
    if (!isdigit((unsigned char)**text)) return false;
    *out = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static bool add_value(Arena *a, VariantAxis *axis, int64_t value) {
    const char *text = arena_printf(a, "%" PRId64, value);
    for (uint32_t i = 0; i < axis->values.len; i++) {
        if (strcmp(axis->values.at[i], text) == 0) return true;
    }
    vec_push(a, &axis->values, text);
    return axis->values.len <= MOST_VALUES;
}

static bool is_power_of_two(int64_t x) {
    return x > 0 && (x & (x - 1)) == 0;
}

static bool read_range(Arena *a, const char *text, const char *at, int64_t low, VariantAxis *axis) {
    int64_t high = 0;
    if (!read_number(&at, &high)) return complain(text, "no number behind '..'");
    if (*at) return complain(text, "there is something behind the range");
    if (!is_power_of_two(low) || !is_power_of_two(high)) return complain(text, "the ends of a range are powers of two");
    if (low > high) return complain(text, "the range ends before it begins");
    for (int64_t v = low; v <= high && v > 0; v = v > INT64_MAX / 2 ? 0 : v * 2) (void)add_value(a, axis, v);
    return true;
}

bool variant_axis_parse(Arena *a, const char *text, VariantAxis *out) {
    const char *eq = strchr(text, '=');
    *out = (VariantAxis){0};
    if (!eq || eq == text || isdigit((unsigned char)*text)) return complain(text, "it has no name");
    for (const char *c = text; c < eq; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return complain(text, "it has no name");
    out->name = arena_strndup(a, text, (size_t)(eq - text));
    const char *at = eq + 1;
    int64_t v = 0;
    if (!read_number(&at, &v)) return complain(text, "no number behind '='");
    if (strncmp(at, "..", 2) == 0) return read_range(a, text, at + 2, v, out);
    bool fits = add_value(a, out, v);
    while (*at == ',') {
        at++;
        if (!read_number(&at, &v)) return complain(text, "no number behind ','");
        fits &= add_value(a, out, v);
    }
    if (*at) return complain(text, "there is something behind the values");
    return fits || complain(text, "more than 64 values");
}

const RecordParam *variant_axis_param(const VariantAxis *axis, const Record *interface) {
    for (uint32_t i = 0; i < interface->num_params; i++) {
        if (strcmp(interface->params[i].name, axis->name) == 0) return &interface->params[i];
    }
    return NULL;
}

bool variant_axis_check(const VariantAxis *axis, const RecordParam *p, const char *kernel) {
    if (p->kind == RECORD_CONSTEXPR && p->rule) return true;
    fprintf(stderr,
            "fsc: --variants %s: no launch rule of kernel %s chooses a value of it when it is launched; fix one with "
            "-D %s=%s\n",
            axis->name, kernel, axis->name, axis->values.at[0]);
    return false;
}
