/* variant.c - from options to what specialisation is given, and from a specialisation back to the options of a compile.
 *
 * In: options, a kernel's interface, a specialisation. Out: options; text. Nothing is compiled.
 */
#include "variant.h"

#include "check/check.h"

#include <inttypes.h>
#include <string.h>

typedef struct Pairs {
    fsc_name_value *at;
    size_t n;
} Pairs;

static const char *find(const fsc_name_value *pairs, size_t n, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < n; i++) {
        const char *own = pairs[i].name;
        if (strncmp(own, name, length) == 0 && (!own[length] || strcmp(own + length, ":") == 0)) return pairs[i].value;
    }
    return NULL;
}

SpecGiven variant_given(const fsc_compile_options *o, const Record *interface, const char **values) {
    for (uint32_t i = 0; i < interface->num_params; i++) {
        const RecordParam *p = &interface->params[i];
        bool is_dtype = p->kind == RECORD_CONSTEXPR && p->value_kind == RECORD_DTYPE;
        const char *type = is_dtype ? find(o->types, o->num_types, p->name) : NULL;
        values[i] = type ? type : find(o->defines, o->num_defines, p->name);
        if (is_dtype && values[i]) values[i] = dtype_canonical(values[i]);
    }
    return (SpecGiven){values, {o->num_warps != 0, o->num_stages != 0, o->num_ctas != 0}};
}

/* ---- The options of a compile ------------------------------------------------------------------------------------ */

/* The first of a name counts. */
static void add(Pairs *to, const char *name, const char *value) {
    for (size_t i = 0; i < to->n; i++)
        if (strcmp(to->at[i].name, name) == 0) return;
    to->at[to->n++] = (fsc_name_value){name, value};
}

static Pairs begin(Arena *a, const fsc_name_value *own, size_t n, size_t more) {
    Pairs p = {NEW_ARRAY(a, fsc_name_value, n + more + 1), 0};
    for (size_t i = 0; i < n; i++) add(&p, own[i].name, own[i].value);
    return p;
}

static void add_fact(Arena *a, const RecordParam *p, const SpecFact *f, Pairs *types, Pairs *defines,
                     Pairs *divisible) {
    const char *name = arena_printf(a, "%s", p->name);
    if (f->dtype != FSC_DTYPE_NONE)
        add(types, name, arena_printf(a, "%s%s", f->is_pointer ? "*" : "", fsc_dtype_name(f->dtype)));
    if (f->equals_one || f->divisible) add(divisible, name, f->equals_one ? "1" : arena_printf(a, "%u", f->divisible));
    if (!f->range.most) return;
    add(defines, arena_printf(a, "%s>", name), arena_printf(a, "%u", f->range.least));
    add(defines, arena_printf(a, "%s<", name), arena_printf(a, "%u", f->range.most));
}

fsc_compile_options variant_options(Arena *a, const fsc_compile_options *o, const Record *interface,
                                    const fsc_props *device, const Specialisation *s) {
    const Record *r = interface;
    fsc_compile_options out = *o;
    Pairs types = begin(a, o->types, o->num_types, r->num_params),
          defines = begin(a, o->defines, o->num_defines, 2 * (size_t)r->num_params);
    Pairs divisible = begin(a, NULL, 0, r->num_params), known = begin(a, NULL, 0, r->num_params);
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        char text[64];
        add_fact(a, p, &s->facts[i], &types, &defines, &divisible);
        if (p->kind != RECORD_CONSTEXPR && s->values[i].known)
            add(&known, arena_printf(a, "%s", p->name),
                arena_printf(a, "%s", rule_value_print(s->values[i].value, text, sizeof text)));
    }
    out.types = types.at, out.num_types = types.n;
    out.defines = defines.at, out.num_defines = defines.n;
    out.divisible = divisible.at, out.num_divisible = divisible.n;
    out.known = known.at, out.num_known = known.n;
    out.device = device;
    out.no_maps = o->no_maps || !s->launch.maps;
    out.few_programs = s->launch.few.most != 0;
    out.most_programs = s->launch.few.most <= UINT8_MAX ? (uint8_t)s->launch.few.most : 0;
    return out;
}

/* ---- The key ----------------------------------------------------------------------------------------------------- */

static void print_value(const RuleBinding *b, Text *out) {
    char text[64];
    if (b->known) text_printf(out, "%s=%s ", b->name, rule_value_print(b->value, text, sizeof text));
}

static void print_fact(const RecordParam *p, const SpecFact *f, Text *out) {
    if (f->range.most) text_printf(out, "%s=%u..%u ", p->name, f->range.least, f->range.most);
    if (f->equals_one) text_printf(out, "%s==1 ", p->name);
    if (f->divisible) text_printf(out, "%s/%u ", p->name, f->divisible);
}

void variant_key(const Record *interface, const fsc_props *device, const Specialisation *s, Text *out) {
    const Record *r = interface;
    for (uint32_t i = 0; i < r->num_params; i++)
        if (r->params[i].kind == RECORD_CONSTEXPR && r->params[i].value_kind != RECORD_DTYPE && r->params[i].rule)
            print_value(&s->values[i], out);
    for (uint32_t i = 0; i < r->num_params; i++)
        if (s->facts[i].dtype != FSC_DTYPE_NONE)
            text_printf(out, "%s:%s%s ", r->params[i].name, s->facts[i].is_pointer ? "*" : "",
                        fsc_dtype_name(s->facts[i].dtype));
    for (int i = 0; i < SPEC_COMPILED; i++) print_value(&s->compiled[i], out);
    for (uint32_t i = 0; i < r->num_params; i++) print_fact(&r->params[i], &s->facts[i], out);
    if (s->launch.few.most) text_printf(out, "few=%u..%u of %u ", s->launch.few.least, s->launch.few.most, device->sms);
    text_printf(out, " ");
}
