/* against.c - an earlier run of fsc bench: the lines of its --csv. */
#include "tool/bench/against.h"

#include "runtime/base/number.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(const char *) Fields;

/* The fields of a line, which moves behind its end. Quotes hold a field together. */
static Fields read_line(Arena *a, const char **at) {
    Fields fields = {0};
    size_t n = strcspn(*at, "\r\n");
    const char *end = *at + n, *p = *at;
    while (p <= end) {
        bool is_quoted = p < end && *p == '"';
        const char *stop = is_quoted ? memchr(p + 1, '"', (size_t)(end - p - 1)) : memchr(p, ',', (size_t)(end - p));
        if (!stop) stop = end;
        vec_push(a, &fields, arena_strndup(a, p + is_quoted, (size_t)(stop - p) - is_quoted));
        p = stop + 1 + (is_quoted && stop < end);
    }
    *at = end + strspn(end, "\r\n");
    return fields;
}

static bool find_column(const char *path, const Fields *head, const char *name, uint32_t *out) {
    for (*out = 0; *out < head->len; ++*out)
        if (strcmp(head->at[*out], name) == 0) return true;
    fprintf(stderr, "fsc bench: --against %s: it has no column '%s'; give what fsc bench --csv wrote for these axes\n",
            path, name);
    return false;
}

static bool read_points(Arena *a, const char *path, const char *at, const char *const *keys, Against *out) {
    static const char *const numbers[] = {"milliseconds", "low_milliseconds", "high_milliseconds"};
    Fields head = read_line(a, &at);
    uint32_t *columns = NEW_ARRAY(a, uint32_t, out->num_keys), times[COUNT(numbers)], device = 0;
    for (uint32_t i = 0; i < out->num_keys; i++)
        if (!find_column(path, &head, keys[i], &columns[i])) return false;
    for (uint32_t i = 0; i < COUNT(numbers); i++)
        if (!find_column(path, &head, numbers[i], &times[i])) return false;
    if (!find_column(path, &head, "device", &device)) return false;
    for (uint32_t line = 2; *at; line++) {
        Fields fields = read_line(a, &at);
        double x[COUNT(numbers)] = {0};
        bool ok = fields.len == head.len;
        for (uint32_t i = 0; i < COUNT(numbers) && ok; i++)
            ok = number_read(fields.at[times[i]], strlen(fields.at[times[i]]), &x[i]);
        if (!ok) {
            fprintf(stderr, "fsc bench: --against %s: line %u is none that fsc bench --csv wrote\n", path, line);
            return false;
        }
        Earlier e = {NEW_ARRAY(a, const char *, out->num_keys), x[0], x[1], x[2]};
        for (uint32_t i = 0; i < out->num_keys; i++) e.keys[i] = fields.at[columns[i]];
        vec_push(a, &out->points, e);
        out->device = fields.at[device];
    }
    return true;
}

bool against_read(Arena *a, const char *path, const char *const *keys, uint32_t num_keys, Against *out) {
    size_t length = 0;
    char *text = file_read(path, &length);
    *out = (Against){.num_keys = num_keys};
    bool ok = text && read_points(a, path, text, keys, out);
    free(text);
    return ok;
}

const Earlier *against_find(const Against *g, const char *const *keys) {
    for (uint32_t i = 0; i < g->points.len; i++) {
        bool same = true;
        for (uint32_t k = 0; k < g->num_keys && same; k++) same = strcmp(g->points.at[i].keys[k], keys[k]) == 0;
        if (same) return &g->points.at[i];
    }
    return NULL;
}
