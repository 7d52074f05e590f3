/* assume.c - what `fsc info FILE NAME=NUMBER…` takes for granted, so that it reports the variant that such a launch uses.
 *
 * In: the scalars given. Out: the same options with strides that nobody gave (contiguous, by the shape contract), pointers
 * aligned to 16 bytes as every allocation is, and scalars that are whole vectors, or 1, marked as a launch would; so are the ranges of
 * lengths.
 */
#include "driver.h"
#include "runtime/bucket.h"
#include "runtime/fill.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Assume {
    ToolOptions *o;
    const Record *interface;
    RuleBinding *values; /* by parameter */
    fsc_name_value *divisible;
    size_t num_divisible;
    uint32_t unit; /* bucket_unit() */
} Assume;

static void give(Assume *a, uint32_t index, int64_t value) {
    a->values[index].known = true;
    a->values[index].value = rule_int(value);
}

static void give_type(Assume *a, uint32_t index) {
    const RecordParam *p = &a->interface->params[index];
    const char *given = option_dtype(a->o, p->name), *name = given ? given : p->value;
    a->values[index].known = rule_dtype(name, strlen(name), &a->values[index].value);
}

static void mark(Assume *a, const char *name, const char *what) {
    a->divisible[a->num_divisible++] = (fsc_name_value){arena_printf(a->o->arena, "%s", name), what};
}

static void bound(Assume *a, uint32_t index, Bucket range) {
    const char *name = a->interface->params[index].name;
    for (int i = 0; i < 2; i++) {
        fsc_name_value pair = {arena_printf(a->o->arena, "%s%c", name, i ? '<' : '>'),
                               arena_printf(a->o->arena, "%u", i ? range.most : range.least)};
        vec_push(a->o->arena, &a->o->defines, pair);
    }
}

static uint32_t element_bytes(const Assume *a, const char *dtype) {
    uint32_t bytes = fsc_dtype_size(fsc_dtype_find(dtype));
    for (uint32_t i = 0; i < a->interface->num_params && bytes == 0; i++) {
        const RecordParam *p = &a->interface->params[i];
        bool is_it = p->kind == RECORD_CONSTEXPR && p->value_kind == RECORD_DTYPE && strcmp(p->name, dtype) == 0;
        if (is_it && a->values[i].known) bytes = fsc_dtype_size((FscDType)a->values[i].value.i);
    }
    return bytes;
}

static uint32_t unit_of(const Assume *a) {
    uint32_t unit = BUCKET_NO_UNIT;
    for (uint32_t i = 0; i < a->interface->num_params; i++) {
        const RecordParam *p = &a->interface->params[i];
        if (p->kind == RECORD_POINTER) unit = bucket_unit(unit, element_bytes(a, p->dtype));
    }
    return unit;
}

/* As the JIT does: the ranges that the variant is compiled for. */
static void bound_all(Assume *a) {
    RuleEnv env = {.values = a->values, .num_values = a->interface->num_params};
    const fsc_compile_options *c = &a->o->compile;
    uint32_t longest = 0, index;
    Bucket range;
    for (uint32_t i = 0; i < a->interface->num_params; i++) {
        if (!bucket_find(a->interface, i, &env, a->unit, &range)) continue;
        bound(a, i, range);
        if (range.most > longest) longest = range.most;
    }
    if (c->num_ctas || a->interface->num_ctas || !c->device || !bucket_few(a->interface, &env, c->device->sms, longest, &index, &range)) return;
    bound(a, index, range);
    a->o->compile.few_programs = true;
    a->o->compile.most_programs = range.most <= UINT8_MAX ? (uint8_t)range.most : 0;
}

/* Back into the options, with names that outlive the interface. */
static void apply(Assume *a) {
    const Record *r = a->interface;
    fsc_name_value *known = NEW_ARRAY(a->o->arena, fsc_name_value, r->num_params);
    size_t count = 0;
    a->divisible = NEW_ARRAY(a->o->arena, fsc_name_value, r->num_params);
    a->unit = unit_of(a);
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        if (p->kind == RECORD_POINTER) mark(a, p->name, "16");
        if (p->kind == RECORD_CONSTEXPR || !a->values[i].known || !rule_is_int(a->values[i].value)) continue;
        int64_t value = a->values[i].value.i;
        known[count++] = (fsc_name_value){arena_printf(a->o->arena, "%s", p->name), arena_printf(a->o->arena, "%" PRId64, value)};
        if (p->kind == RECORD_SCALAR && value == 1) mark(a, p->name, "1");
        else if (p->kind == RECORD_SCALAR && bucket_is_whole(value, a->unit)) mark(a, p->name, arena_printf(a->o->arena, "%u", a->unit));
    }
    a->o->compile.known = known;
    a->o->compile.num_known = count;
    bound_all(a);
    a->o->compile.defines = a->o->defines.at;
    a->o->compile.num_defines = a->o->defines.len;
    a->o->compile.divisible = a->divisible;
    a->o->compile.num_divisible = a->num_divisible;
}

void assume_launch(ToolOptions *o, const char *text, size_t length) {
    fsc_compilation *front = NULL;
    Record *interface = NULL;
    bool all_there = o->compile.num_known > 0 && driver_interface(&o->compile, text, length, &front, &interface) == FSC_OK;
    if (all_there) {
        Assume a = {.o = o, .interface = interface, .values = NEW_ARRAY(o->arena, RuleBinding, interface->num_params)};
        uint32_t found = 0;
        for (uint32_t i = 0; i < interface->num_params; i++) {
            const RecordParam *p = &interface->params[i];
            if (p->kind == RECORD_SCALAR && p->value[0]) a.values[i].known = record_value(p, &a.values[i].value);
            if (p->kind == RECORD_CONSTEXPR && p->value_kind == RECORD_DTYPE) give_type(&a, i);
            for (size_t k = 0; k < o->compile.num_known; k++) {
                if (strcmp(interface->params[i].name, o->compile.known[k].name) != 0) continue;
                if (interface->params[i].kind != RECORD_CONSTEXPR) found++;
                give(&a, i, strtoll(o->compile.known[k].value, NULL, 0));
            }
        }
        Fill fill = {interface, a.values, NEW_ARRAY(o->arena, FillOrigin, interface->num_params)};
        for (uint32_t i = 0; i < interface->num_params; i++) fill_contiguous(&fill, i);
        if (found == o->compile.num_known) apply(&a); /* else a name is wrong: the report says which */
    }
    record_free(interface);
    fsc_compilation_destroy(front);
}
