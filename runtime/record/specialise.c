/* specialise.c - what a launch specialises code by: values, types, alignment, whole vectors, lengths, few programs.
 *
 * In: an interface, a device, what options say; arguments. Out: a Specialisation.
 * Method: values first, constexpr parameters by option or launch rule, each when those are known that its rule asks
 * for; then what holds of all arguments together (the units of whole vectors, the range of few programs), and with that
 * each argument by itself.
 * The second half is fast: launches of variants that are there ask it (jit/quick.c).
 */
#include "runtime/record/specialise.h"

#include "runtime/base/arg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- An interface, made ready ------------------------------------------------------------------------------------ */

static bool is_of_gpu(const Specialiser *s) {
    return s->device->kind != FSC_CPU;
}

/* From sm_90 on; an emulator that stands for no card is like a newer one. */
static bool reads_maps(const fsc_props *p) {
    enum { MAPS_FROM = 90 };
    unsigned long arch = strncmp(p->arch, "sm_", 3) == 0 ? strtoul(p->arch + 3, NULL, 10) : 0;
    return p->kind != FSC_CPU && (arch >= MAPS_FROM || (arch == 0 && p->kind == FSC_EMU));
}

static const char *given_value(const Specialiser *s, uint32_t index) {
    return s->given.values ? s->given.values[index] : NULL;
}

/* "$4" alone, an argument. */
static bool is_argument(const Record *r, const char *code, uint32_t *index) {
    char *end = NULL;
    if (code[0] != '$') return false;
    *index = (uint32_t)strtoul(code + 1, &end, 10);
    return *end == '\0' && *index < r->num_params && r->params[*index].kind == RECORD_SCALAR;
}

/* Is the number of programs an argument: "$4" alone, or "$7 $8 $4 sel", where a constexpr chooses? */
static bool counts_programs(Specialiser *s, const char *code) {
    const Record *r = s->interface;
    char argument[16];
    uint32_t choice = 0;
    int end = 0;
    s->choice = SPEC_NO_CHOICE;
    if (is_argument(r, code, &s->programs)) return true;
    bool is_form = sscanf(code, "$%" SCNu32 " %*s %15s sel%n", &choice, argument, &end) == 2 && end && !code[end];
    if (!is_form || choice >= r->num_params || r->params[choice].kind != RECORD_CONSTEXPR) return false;
    s->choice = choice;
    return is_argument(r, argument, &s->programs);
}

/* Constexpr parameters with a rule, by the scalars that it uses. A length that an option says has no range. */
static void find_rows(Specialiser *s) {
    const Record *r = s->interface;
    for (uint32_t tile = 0; tile < r->num_params && is_of_gpu(s); tile++) {
        const RecordParam *p = &r->params[tile];
        for (uint32_t i = 0; p->kind == RECORD_CONSTEXPR && p->rule && i < r->num_params; i++) {
            bool is_length = r->params[i].kind == RECORD_SCALAR && !given_value(s, i) && rule_uses(p->rule, i);
            if (is_length) s->rows[s->num_rows++] = (SpecRow){i, tile};
        }
    }
}

/* Does array p's contract name the integer where a row of it begins, or ends? Else *is_outer if it does at all. */
static bool names(const RecordParam *p, uint32_t index, bool *is_outer) {
    bool found = false;
    for (uint32_t k = 0; p->kind == RECORD_POINTER && k < p->num_dims; k++) {
        bool is_extent = rule_uses(p->dims[k].extent, index);
        found |= rule_uses(p->dims[k].stride, index) || (is_extent && k + 1 == p->num_dims);
        *is_outer |= is_extent;
    }
    return found;
}

bool specialise_matters(const Record *interface, uint32_t index) {
    const Record *r = interface;
    bool is_outer = false, has_contract = false, found = false;
    for (uint32_t i = 0; i < r->num_params; i++) {
        found |= names(&r->params[i], index, &is_outer);
        has_contract |= r->params[i].kind == RECORD_POINTER && r->params[i].num_dims;
    }
    return found || !has_contract;
}

/* All of group x are of group y. */
static void join_groups(Specialiser *s, uint8_t x, uint8_t y) {
    for (uint32_t i = 0; i < s->interface->num_params; i++)
        if (s->groups[i] == x) s->groups[i] = y;
}

/* Arrays whose contracts name one integer are a group, as their tiles may share a layout: each integer of theirs is
 * asked for the vectors of all of them. What no contract names may be part of any address. */
static void find_groups(Specialiser *s) {
    const Record *r = s->interface;
    uint8_t next = 1;
    for (uint32_t i = 0; i < r->num_params; i++) {
        bool is_outer = false;
        if (r->params[i].kind != RECORD_SCALAR) continue;
        for (uint32_t p = 0; p < r->num_params; p++) {
            if (!names(&r->params[p], i, &is_outer)) continue;
            if (!s->groups[i] && !s->groups[p] && next < SPEC_GROUPS) s->groups[i] = s->groups[p] = next++;
            else if (!s->groups[i]) s->groups[i] = s->groups[p];
            else if (!s->groups[p]) s->groups[p] = s->groups[i];
            else join_groups(s, s->groups[p], s->groups[i]);
        }
        if (!s->groups[i] && is_outer) s->groups[i] = SPEC_OUTER;
    }
}

bool specialiser_open(Specialiser *s, const Record *interface, const fsc_props *device, const SpecGiven *given) {
    const Record *r = interface;
    size_t scalars = 0, rules = 0;
    *s = (Specialiser){.interface = interface, .device = device, .given = *given, .takes_maps = reads_maps(device)};
    for (uint32_t i = 0; i < r->num_params; i++) {
        scalars += r->params[i].kind == RECORD_SCALAR;
        rules += r->params[i].kind == RECORD_CONSTEXPR && r->params[i].rule;
    }
    s->arguments = calloc(r->num_params + 1u, sizeof *s->arguments);
    s->rows = calloc(scalars * rules + 1, sizeof *s->rows);
    s->groups = calloc(r->num_params + 1u, sizeof *s->groups);
    if (!s->arguments || !s->rows || !s->groups) return false;
    for (uint32_t i = 0; i < r->num_params; i++)
        if (r->params[i].kind != RECORD_CONSTEXPR) s->arguments[s->num_arguments++] = i;
    find_rows(s);
    find_groups(s);
    s->may_be_few = is_of_gpu(s) && !given->compiled[SPEC_NUM_CTAS] && !r->num_ctas && r->num_grid == 1 &&
                    counts_programs(s, r->grid[0]) && !given_value(s, s->programs);
    return true;
}

void specialiser_close(Specialiser *s) {
    free(s->arguments);
    free(s->rows);
    free(s->groups);
    *s = (Specialiser){0};
}

/* ---- Arguments, once the constexpr parameters are known ---------------------------------------------------------- */

/* Of an array: as the argument says, else the source, else the dtype parameter that the source names. */
static fsc_dtype element_of(const Record *r, const RuleBinding *constants, uint32_t index, const fsc_arg *a) {
    const RecordParam *p = &r->params[index];
    if (a->dtype != FSC_DTYPE_NONE || p->dtype[0] == '\0') return a->dtype;
    for (uint32_t i = 0; i < r->num_params; i++) {
        bool is_it = r->params[i].kind == RECORD_CONSTEXPR && strcmp(r->params[i].name, p->dtype) == 0;
        if (is_it)
            return constants[i].known && constants[i].value.is_dtype ? (fsc_dtype)constants[i].value.i : FSC_DTYPE_NONE;
    }
    return fsc_dtype_find(p->dtype);
}

/* What an integer may be a multiple of: a sum of powers of two. */
static uint32_t units_of(const Specialiser *s, const SpecLaunch *l, uint32_t index) {
    return s->groups[index] == SPEC_OUTER ? 0 : l->units[s->groups[index]];
}

/* The range that a row's length lies in: where it has a tile of its own. Whole vectors are those of the widest array:
 * of narrower ones as many elements are shorter vectors. */
static Bucket range_of(const Specialiser *s, const SpecLaunch *l, const RuleBinding *constants, uint32_t index,
                       int64_t length) {
    uint32_t units = units_of(s, l, index), unit = units ? units & (~units + 1) : BUCKET_NO_UNIT;
    if (length < 2 || length > INT32_MAX / 2) return (Bucket){0, 0};
    int64_t tile = (int64_t)1 << (64 - __builtin_clzll((uint64_t)length - 1));
    for (uint32_t i = 0; i < s->num_rows; i++) {
        const RuleBinding *b = &constants[s->rows[i].tile];
        if (s->rows[i].length == index && b->known && rule_is_int(b->value) && b->value.i == tile)
            return bucket_of((uint32_t)length, unit);
    }
    return (Bucket){0, 0};
}

/* Are there as many programs as the argument says? */
static bool are_programs_counted(const Specialiser *s, const RuleBinding *constants) {
    if (!s->may_be_few || s->choice == SPEC_NO_CHOICE) return s->may_be_few;
    const RuleBinding *b = &constants[s->choice];
    return b->known && rule_is_int(b->value) && b->value.i == 0;
}

static SpecLaunch of_launch(const Specialiser *s, const RuleBinding *constants, const int64_t *grid,
                            const fsc_arg *args) {
    SpecLaunch l = {.maps = s->takes_maps};
    int64_t programs = 0;
    uint32_t longest = 0;
    bool may_be_few = are_programs_counted(s, constants);
    for (uint32_t i = 0; i < s->num_arguments; i++) {
        if (args[i].kind != FSC_ARG_POINTER) continue;
        uint32_t index = s->arguments[i],
                 unit = bucket_unit(fsc_dtype_size(element_of(s->interface, constants, index, &args[i])));
        l.units[0] |= (uint8_t)unit;
        l.units[s->groups[index]] |= (uint8_t)unit;
    }
    for (uint32_t i = 0; i < s->num_arguments && may_be_few; i++) {
        if (!arg_is_int(&args[i])) continue;
        Bucket range = range_of(s, &l, constants, s->arguments[i], args[i].u.integer);
        if (range.most > longest) longest = range.most;
        if (s->arguments[i] == s->programs) programs = args[i].u.integer;
    }
    bool is_few = may_be_few && bucket_of_rows(programs, s->device->sms, longest, &l.few);
    bool fits = !grid || (grid[0] <= (int64_t)l.few.most && grid[1] == 1 && grid[2] == 1);
    if (!is_few || !fits) l.few = (Bucket){0, 0};
    return l;
}

static SpecFact fact_of_int(const Specialiser *s, const SpecLaunch *l, const RuleBinding *constants, uint32_t index,
                            int64_t i) {
    const char *dtype = s->interface->params[index].dtype;
    bool is_float = dtype[0] == 'f' || dtype[0] == 'b';
    SpecFact f = {.dtype = dtype[0] ? FSC_DTYPE_NONE : i == (int32_t)i ? FSC_I32 : FSC_I64};
    if (is_float) return f;
    f.equals_one = i == 1;
    for (uint32_t units = units_of(s, l, index), unit = BUCKET_MOST_UNIT; unit && !f.divisible; unit /= 2)
        if (units & unit && bucket_is_whole(i, unit)) f.divisible = unit;
    f.range = range_of(s, l, constants, index, i);
    if (!f.range.most && s->may_be_few && index == s->programs) f.range = l->few;
    return f;
}

static SpecFact of_argument(const Specialiser *s, const SpecLaunch *l, const RuleBinding *constants, uint32_t index,
                            const fsc_arg *a) {
    const RecordParam *p = &s->interface->params[index];
    bool is_open = p->dtype[0] == '\0';
    if (arg_is_int(a)) return fact_of_int(s, l, constants, index, a->u.integer);
    switch (a->kind) {
    case FSC_ARG_POINTER: {
        bool is_aligned = (uintptr_t)a->u.pointer % SPEC_ALIGNED == 0;
        return (SpecFact){.dtype = is_open ? a->dtype : FSC_DTYPE_NONE,
                          .is_pointer = true,
                          .divisible = is_aligned ? SPEC_ALIGNED : 0};
    }
    case FSC_ARG_UNSIGNED: return (SpecFact){.dtype = is_open ? FSC_U64 : FSC_DTYPE_NONE};
    case FSC_ARG_FLOAT: return (SpecFact){.dtype = is_open ? FSC_FP32 : FSC_DTYPE_NONE};
    default: return (SpecFact){0};
    }
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void take_arguments(const Specialiser *s, const fsc_arg *args, Specialisation *out) {
    for (uint32_t i = 0; i < s->num_arguments; i++) {
        RuleBinding *b = &out->values[s->arguments[i]];
        bool is_pointer = args[i].kind == FSC_ARG_POINTER;
        b->known = arg_is_int(&args[i]) || args[i].kind == FSC_ARG_FLOAT || is_pointer;
        b->value = is_pointer             ? rule_int((int64_t)(intptr_t)args[i].u.pointer)
                   : arg_is_int(&args[i]) ? rule_int(args[i].u.integer)
                                          : rule_float(args[i].u.real);
    }
}

/* A dtype parameter: an option, else what the first array says, else the default. */
static void take_dtype(const Specialiser *s, uint32_t index, const fsc_arg *args, Specialisation *out) {
    const RecordParam *p = &s->interface->params[index];
    const char *given = given_value(s, index), *name = given ? given : p->value;
    for (uint32_t i = 0; i < s->num_arguments && !given; i++) {
        const RecordParam *array = &s->interface->params[s->arguments[i]];
        if (args[i].kind != FSC_ARG_POINTER || args[i].dtype == FSC_DTYPE_NONE || strcmp(array->dtype, p->name) != 0)
            continue;
        out->facts[index].dtype = args[i].dtype;
        name = fsc_dtype_name(args[i].dtype);
        break;
    }
    out->values[index].known = name && rule_dtype(name, strlen(name), &out->values[index].value);
}

/* Fixed by an option, else by the launch rule where its inputs are known. */
static bool take_constexpr(const Specialiser *s, uint32_t index, const RuleEnv *env, Specialisation *out, char *err,
                           size_t size) {
    const RecordParam *p = &s->interface->params[index];
    const char *given = given_value(s, index);
    RuleBinding *b = &out->values[index];
    if (given || !p->rule) {
        RecordParam known = *p;
        if (given) known.value = given;
        b->known = known.value && known.value[0] && record_value(&known, &b->value);
        return true;
    }
    char why[256];
    RuleStatus status = rule_eval(p->rule, env, &b->value, why, sizeof why);
    b->known = status == RULE_OK;
    if (status == RULE_OK || status == RULE_UNBOUND)
        return true; /* the compile says what is missing, if the default does not do */
    (void)snprintf(err, size, "the launch rule of %s: %s", p->name, why);
    return false;
}

/* A rule may ask for a parameter that the source has behind it. */
static bool take_constexprs(const Specialiser *s, const RuleEnv *env, Specialisation *out, char *err, size_t size) {
    const Record *r = s->interface;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < r->num_params; i++) {
            const RecordParam *p = &r->params[i];
            if (p->kind != RECORD_CONSTEXPR || p->value_kind == RECORD_DTYPE || out->values[i].known) continue;
            if (!take_constexpr(s, i, env, out, err, size)) return false;
            again |= out->values[i].known;
        }
    }
    return true;
}

/* num_warps and its kin are compiled in: where the launch rule takes them from arguments, their values specialise. */
static void take_compiled(const Specialiser *s, const RuleEnv *env, Specialisation *out) {
    static const char *const names[] = {"num_warps", "num_stages", "num_ctas"};
    const Record *r = s->interface;
    const char *const codes[] = {r->num_warps, r->num_stages, r->num_ctas};
    for (int i = 0; i < SPEC_COMPILED; i++) {
        int64_t value = 0;
        out->compiled[i] = (RuleBinding){.name = names[i]};
        if (!is_of_gpu(s) || !codes[i] || s->given.compiled[i] ||
            rule_eval_int(codes[i], env, &value, NULL, 0) != RULE_OK)
            continue;
        out->compiled[i].known = true;
        out->compiled[i].value = rule_int(value);
    }
}

bool specialise(const Specialiser *s, const int64_t *grid, const fsc_arg *args, Specialisation *out, char *err,
                size_t size) {
    const Record *r = s->interface;
    const RuleEnv env = {.values = out->values,
                         .num_values = r->num_params,
                         .num_sms = s->device->sms,
                         .max_shared = s->device->shared_per_block_optin,
                         .num_regs = s->device->registers_per_sm,
                         .warp_size = s->device->warp_size};
    for (uint32_t i = 0; i < r->num_params; i++) {
        out->values[i] = (RuleBinding){.name = r->params[i].name};
        out->facts[i] = (SpecFact){0};
    }
    take_arguments(s, args, out);
    for (uint32_t i = 0; i < r->num_params; i++)
        if (r->params[i].kind == RECORD_CONSTEXPR && r->params[i].value_kind == RECORD_DTYPE)
            take_dtype(s, i, args, out);
    if (!take_constexprs(s, &env, out, err, size)) return false;
    take_compiled(s, &env, out);
    out->launch = of_launch(s, out->values, grid, args);
    for (uint32_t i = 0; i < s->num_arguments; i++)
        out->facts[s->arguments[i]] = of_argument(s, &out->launch, out->values, s->arguments[i], &args[i]);
    return true;
}

/* ---- A variant that is there ------------------------------------------------------------------------------------- */

/* `units`: what the parameter may be a multiple of. */
static bool is_fact(const SpecFact *f, const RecordParam *p, fsc_dtype dtype, uint32_t units) {
    for (uint32_t unit = 1; unit <= units; unit *= 2)
        if (units & unit && (p->divisible >= unit) != (f->divisible >= unit)) return false;
    return p->least == f->range.least && p->most == f->range.most && p->equals_one == f->equals_one &&
           (f->dtype == FSC_DTYPE_NONE || f->dtype == dtype);
}

bool specialise_is(const Specialiser *s, const SpecVariant *v, const int64_t *grid, const fsc_arg *args) {
    const SpecLaunch l = of_launch(s, v->constants, grid, args);
    if (l.maps != v->maps) return false;
    for (uint32_t i = 0; i < v->num_slots; i++) {
        const Slot *slot = &v->slots[i];
        SpecFact f = of_argument(s, &l, v->constants, slot->param, &args[i]);
        bool is_other = args[i].kind == FSC_ARG_POINTER && args[i].dtype != slot->dtype;
        const RecordParam *p = &v->record->params[slot->param];
        uint32_t units = p->kind == RECORD_POINTER ? SPEC_ALIGNED : units_of(s, &l, slot->param);
        if (is_other || !is_fact(&f, p, slot->dtype, units)) return false;
    }
    return true;
}
