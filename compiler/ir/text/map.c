/* map.c - tensor maps as lines at a function's head, and their names in ops.
 *
 * In: a map, or a line's text. Out: text, or a map of the function:
 *   #m0 = #map<p1 span 128: 64 of p9, 128 of p7 by 2 x p4, 1 of 100 by 4096>
 * Parameter 1's memory; boxes of 64 elements along the first dimension, which has as many as parameter 9 says; those of
 * the second are 2 times parameter 4 apart.
 */
#include "ir/text/reader.h"

void maps_print(const Func *f, Text *out) {
    for (uint32_t i = 0; i < f->maps.len; i++) {
        const BoxMap *m = &f->maps.at[i];
        text_printf(out, "#m%u = #map<p%u span %u: ", i, m->param, m->span);
        for (uint32_t d = 0; d < m->rank; d++) {
            const MapDim *dim = &m->dims[d];
            text_printf(out, "%s%u of ", d ? ", " : "", dim->box);
            if (dim->extent == MAP_NO_PARAM) text_printf(out, "%lld", (long long)dim->most);
            else text_printf(out, "p%u", dim->extent);
            if (d) text_printf(out, " by %lld", (long long)dim->scale);
            for (uint32_t k = 0; k < COUNT(dim->stride) && dim->stride[k] != MAP_NO_PARAM; k++)
                text_printf(out, " x p%u", dim->stride[k]);
        }
        text_printf(out, ">\n");
    }
}

/* p7, as its number. */
static bool read_param_name(Reader *r, uint32_t *out) {
    skip_blanks(r);
    const char *begin = r->at, *word = read_word(r, "a parameter, as in p0");
    uint64_t n = 0;
    if (!word) return false;
    bool good = word[0] == 'p' && word[1];
    for (const char *at = word + 1; good && *at; at++) {
        good = *at >= '0' && *at <= '9' && n < MAP_NO_PARAM / 16;
        n = n * 10 + (uint64_t)(*at - '0');
    }
    *out = (uint32_t)n;
    return good || read_fail(r, begin, "expected a parameter here, as in p0");
}

static bool read_extent(Reader *r, uint32_t *param, int64_t *number) {
    if (at_char(r, 'p')) return read_param_name(r, param);
    *param = MAP_NO_PARAM;
    return read_int(r, 1, INT64_MAX, number);
}

static bool read_dim(Reader *r, bool is_first, MapDim *d) {
    *d = (MapDim){.stride = {MAP_NO_PARAM, MAP_NO_PARAM}, .scale = 1};
    if (!read_u32(r, 1, UINT32_MAX, &d->box) || !expect(r, "of") || !read_extent(r, &d->extent, &d->most)) return false;
    if (is_first) return true;
    if (!expect(r, "by") || !read_int(r, 1, INT64_MAX, &d->scale)) return false;
    for (uint32_t i = 0; i < COUNT(d->stride) && accept_text(r, "x"); i++)
        if (!read_param_name(r, &d->stride[i])) return false;
    return true;
}

bool read_map_line(Reader *r, const char *begin, const char *name) {
    BoxMap m = {0};
    void *old;
    bool good = read_param_name(r, &m.param) && expect(r, "span") && read_u32(r, 1, UINT32_MAX, &m.span) &&
                expect(r, ":");
    for (bool more = good; more; more = good && accept_text(r, ",")) {
        if (m.rank == MAP_DIMS) good = read_fail(r, begin, "a map has %d dimensions at most", MAP_DIMS);
        else good = read_dim(r, m.rank == 0, &m.dims[m.rank]);
        m.rank++;
    }
    good = good && expect(r, ">");
    if (good && names_find(&r->maps, name, &old)) good = read_fail(r, begin, "the map #%s is defined twice", name);
    if (good) vec_push(r->f->arena, &r->f->maps, m);
    names_set(r, &r->maps, name, good ? (void *)(uintptr_t)r->f->maps.len : NULL);
    return good;
}

bool read_map_name(Reader *r, uint32_t *out) {
    skip_blanks(r);
    const char *begin = r->at, *name = read_word(r, "a map, as in m0");
    void *thing = NULL;
    if (!name) return false;
    if (!names_find(&r->maps, name, &thing)) return read_fail(r, begin, "the map #%s is not defined above", name);
    *out = (uint32_t)(uintptr_t)thing;
    return thing != NULL;
}
