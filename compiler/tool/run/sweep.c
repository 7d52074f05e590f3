/* sweep.c - the points of a benchmark.
 *
 * In: --axis, --dtype, NAME=VALUE words in which axes may stand for numbers. Out: the options of each point.
 */
#include "tool/run/sweep.h"

#include <inttypes.h>
#include <string.h>

void split_list(Arena *a, const char *text, Names *out) {
    for (const char *at = text; at && *at;) {
        size_t n = strcspn(at, ",");
        vec_push(a, out, arena_strndup(a, at, n));
        at += n + (at[n] == ',');
    }
    if (!out->len) vec_push(a, out, "");
}

bool sweep_read(Sweep *s, ToolOptions *o) {
    s->o = o;
    if (o->axes.len > MOST_AXES) {
        fprintf(stderr, "%s: %u axes; at most %d\n", tool_name, o->axes.len, MOST_AXES);
        return false;
    }
    for (uint32_t i = 0; i < o->axes.len; i++) {
        Axis *axis = &s->axes[s->num_axes++];
        if (!axis_parse(o->arena, o->axes.at[i], axis)) return false;
        if (!axis_is_used(axis, o->words.at + 1, o->words.len - 1)) vec_push(o->arena, &s->free_axes, axis->name);
    }
    split_list(o->arena, o->dtype_list, &s->dtypes);
    return true;
}

ExitCode sweep_types(Sweep *s, fsc_device *device, const char *text, size_t length) {
    fsc_jit *front = NULL;
    fsc_status status = fsc_jit_create(device, text, length, &s->o->compile, &front);
    if (status != FSC_OK) {
        fputs(fsc_jit_message(front), stderr);
        fsc_jit_destroy(front);
        return (ExitCode)fsc_status_exit_code(status);
    }
    const Record *r = fsc_jit_interface(front);
    for (uint32_t i = 0; i < r->num_params; i++)
        if (r->params[i].kind == RECORD_CONSTEXPR && r->params[i].value_kind == RECORD_DTYPE)
            vec_push(s->o->arena, &s->dtype_params,
                     arena_strndup(s->o->arena, r->params[i].name, strlen(r->params[i].name)));
    bool none = s->o->dtype_list && s->dtype_params.len == 0;
    if (none)
        fprintf(stderr, "%s: kernel %s has no dtype parameter for --dtype; give buffers of the type instead\n",
                tool_name, r->kernel);
    fsc_jit_destroy(front);
    return none ? EXIT_CALL : EXIT_DONE;
}

static void take_values(const Sweep *s, Point *p) {
    for (uint32_t i = 0; i < s->num_axes; i++) p->values[i] = s->axes[i].at.at[p->at[i]];
}

Point sweep_first(const Sweep *s) {
    Point p = {0};
    take_values(s, &p);
    return p;
}

bool sweep_next(const Sweep *s, Point *p) {
    uint32_t i = 0;
    while (i < s->num_axes && ++p->at[i] == s->axes[i].at.len) p->at[i++] = 0;
    if (i == s->num_axes && ++p->dtype == s->dtypes.len) return false;
    take_values(s, p);
    return true;
}

ToolOptions sweep_options(const Sweep *s, const Point *p) {
    ToolOptions o = *s->o;
    Arena *a = o.arena;
    const char *dtype = s->dtypes.at[p->dtype];
    memset(&o.words, 0, sizeof o.words);
    memset(&o.defines, 0, sizeof o.defines);
    memset(&o.types, 0, sizeof o.types);
    for (uint32_t i = 0; i < s->o->words.len; i++) {
        const char *word = s->o->words.at[i];
        vec_push(a, &o.words, i ? axis_apply(a, s->axes, s->num_axes, p->values, word) : word);
    }
    for (uint32_t i = 0; i < s->num_axes; i++)
        for (uint32_t k = 0; k < s->free_axes.len; k++)
            if (strcmp(s->free_axes.at[k], s->axes[i].name) == 0)
                vec_push(a, &o.words, arena_printf(a, "%s=%" PRId64, s->axes[i].name, p->values[i]));
    for (uint32_t i = 0; i < s->o->defines.len; i++) vec_push(a, &o.defines, s->o->defines.at[i]);
    for (uint32_t i = 0; i < s->o->types.len; i++) vec_push(a, &o.types, s->o->types.at[i]);
    for (uint32_t i = 0; *dtype && i < s->dtype_params.len; i++) {
        fsc_name_value type = {s->dtype_params.at[i], dtype};
        vec_push(a, &o.types, type);
    }
    o.compile.types = o.types.at;
    o.compile.num_types = o.types.len;
    o.compile.defines = o.defines.at;
    o.compile.num_defines = o.defines.len;
    return o;
}
