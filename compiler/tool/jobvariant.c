/* jobvariant.c - the options under which a compile gives a variant that was launched.
 *
 * In: a job, the variant's record. Out: the job's options with what the record says of types, constexpr values, ranges and
 * alignment.
 */
#include "tool/job.h"

typedef struct Pairs {
    fsc_name_value *at;
    size_t n;
} Pairs;

static void add(Arena *a, Pairs *to, const char *name, const char *value) {
    to->at[to->n++] = (fsc_name_value){arena_printf(a, "%s", name), arena_printf(a, "%s", value)};
}

static Pairs pairs(const ToolOptions *o, const Record *r) {
    return (Pairs){NEW_ARRAY(o->arena, fsc_name_value, 3 * (size_t)r->num_params + o->compile.num_defines + 1), 0};
}

void job_variant_options(const Job *j, const Record *r, ToolOptions *o) {
    const Record *interface = j->bounds.interface;
    Arena *a = o->arena;
    Pairs types = pairs(o, r), defines = pairs(o, r), divisible = pairs(o, r), known = pairs(o, r);
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *q = &r->params[i];
        const Bound *b = &j->bounds.at[i];
        if (q->kind == RECORD_CONSTEXPR) {
            add(a, q->value_kind == RECORD_DTYPE ? &types : &defines, q->name, q->value);
            continue;
        }
        if (interface->params[i].dtype[0] == '\0')
            add(a, &types, q->name, arena_printf(a, "%s%s", q->kind == RECORD_POINTER ? "*" : "", q->dtype));
        if (q->equals_one || q->divisible % 16 == 0) add(a, &divisible, q->name, q->equals_one ? "1" : "16");
        if (q->least) add(a, &defines, arena_printf(a, "%s>", q->name), arena_printf(a, "%u", q->least));
        if (q->most) add(a, &defines, arena_printf(a, "%s<", q->name), arena_printf(a, "%u", q->most));
        char text[64];
        if (q->kind == RECORD_SCALAR && b->value->known)
            add(a, &known, q->name, rule_value_print(b->value->value, text, sizeof text));
    }
    o->compile.types = types.at, o->compile.num_types = types.n;
    o->compile.defines = defines.at, o->compile.num_defines = defines.n;
    o->compile.divisible = divisible.at, o->compile.num_divisible = divisible.n;
    o->compile.known = known.at, o->compile.num_known = known.n;
    o->compile.signature = NULL; /* the record says it all */
}
