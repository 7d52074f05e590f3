/* assume.c - what `fsc info FILE NAME=NUMBER…` takes for granted: it reports the variant that such a launch uses.
 *
 * In: the scalars and constexprs given. Out: the options of that launch's compile. Method: the launch is made up:
 * strides that nobody gave are contiguous, by the shape contract, pointers are aligned to 16 bytes as every allocation
 * is, and no two are equal; scalars that nobody gave are not known.
 */
#include "driver.h"
#include "runtime/record/fill.h"
#include "tool/run/bind.h"
#include "tool/tool.h"
#include "variant.h"

#include <stdlib.h>
#include <string.h>

/* The arguments of the launch that the values stand for. */
static const fsc_arg *make_arguments(Arena *a, const Record *r, const RuleBinding *values) {
    fsc_arg *args = NEW_ARRAY(a, fsc_arg, r->num_params);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->num_params; i++) {
        RuleValue v = values[i].value;
        if (r->params[i].kind == RECORD_CONSTEXPR) continue;
        if (r->params[i].kind == RECORD_POINTER)
            args[n++] = specialise_pointer(i);
        else if (values[i].known)
            args[n++] = v.is_float ? fsc_float(v.f) : fsc_int(v.i);
        else
            args[n++] = (fsc_arg){.kind = FSC_ARG_MISSING};
    }
    return args;
}

/* Into the options, with names that outlive the interface. */
static void apply(ToolOptions *o, const Record *r, const RuleBinding *values) {
    Specialisation made = {.values = NEW_ARRAY(o->arena, RuleBinding, r->num_params),
                           .facts = NEW_ARRAY(o->arena, SpecFact, r->num_params)};
    Specialiser s;
    char why[384];
    const SpecGiven given = variant_given(&o->compile, r, NEW_ARRAY(o->arena, const char *, r->num_params));
    if (!specialiser_open(&s, r, o->compile.device, &given)) bug("out of memory for the variant of %s", r->kernel);
    if (specialise(&s, NULL, make_arguments(o->arena, r, values), &made, why,
                   sizeof why)) /* else the compile says it */
        o->compile = variant_options(o->arena, &o->compile, r, o->compile.device, &made);
    specialiser_close(&s);
}

/* Words that name a constexpr are -D, as those of fsc run are. True: there were such. */
static bool define_words(ToolOptions *o, const Record *r) {
    fsc_name_value *known = NEW_ARRAY(o->arena, fsc_name_value, o->compile.num_known);
    size_t n = 0, all = o->compile.num_known;
    for (size_t k = 0; k < all; k++) {
        const fsc_name_value *word = &o->compile.known[k];
        uint32_t i = 0;
        while (i < r->num_params && strcmp(r->params[i].name, word->name) != 0) i++;
        if (i < r->num_params && r->params[i].kind == RECORD_CONSTEXPR) vec_push(o->arena, &o->defines, *word);
        else known[n++] = *word;
    }
    o->compile.known = known, o->compile.num_known = n;
    o->compile.defines = o->defines.at, o->compile.num_defines = o->defines.len;
    return n < all;
}

void assume_launch(ToolOptions *o, const char *text, size_t length) {
    fsc_compilation *front = NULL;
    Record *interface = NULL;
    bool has_words = o->compile.num_known > 0,
         all_there = has_words && driver_interface(&o->compile, text, length, &front, &interface) == FSC_OK;
    if (all_there && define_words(o, interface)) {
        record_free(interface);
        fsc_compilation_destroy(front);
        front = NULL, interface = NULL;
        all_there = driver_interface(&o->compile, text, length, &front, &interface) == FSC_OK;
    }
    if (all_there) {
        RuleBinding *values = NEW_ARRAY(o->arena, RuleBinding, interface->num_params);
        uint32_t found = 0;
        for (uint32_t i = 0; i < interface->num_params; i++) {
            const RecordParam *p = &interface->params[i];
            if (p->kind == RECORD_SCALAR && p->value[0]) values[i].known = record_value(p, &values[i].value);
            for (size_t k = 0; k < o->compile.num_known; k++) {
                if (strcmp(p->name, o->compile.known[k].name) != 0) continue;
                found++;
                values[i].name = p->name;
                (void)number_bind(&values[i], o->compile.known[k].value);
            }
        }
        Fill fill = {interface, values, NEW_ARRAY(o->arena, FillOrigin, interface->num_params)};
        for (uint32_t i = 0; i < interface->num_params; i++) fill_contiguous(&fill, i);
        if (found == o->compile.num_known)
            apply(o, interface, values); /* else a name is wrong: the report says which */
    }
    record_free(interface);
    fsc_compilation_destroy(front);
}
