/* jitbind.c - from the arguments of a launch to what its variant is specialised by.
 *
 * In: the interface, arguments. Out: a Binding: types, alignments, ranges, constexpr values, and their text, which is the
 * variant's key in the process and part of its key on disk. Nothing is compiled.
 */
#include "runtime/jit.h"

#include "runtime/bucket.h"

#include <string.h>

static bool is_given(const fsc_name_value *pairs, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(pairs[i].name, name) == 0) return true;
    }
    return false;
}

static void add(fsc_name_value *list, size_t *n, const char *name, const char *value) {
    if (is_given(list, *n, name)) return;
    list[(*n)++] = (fsc_name_value){name, value};
}

static bool is_dtype_param(const Record *r, const char *name) {
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind == RECORD_CONSTEXPR && strcmp(r->params[i].name, name) == 0) return true;
    }
    return false;
}

static void bind_pointer(fsc_jit *j, Binding *b, const RecordParam *p, const FscArg *a) {
    const char *dtype = fsc_dtype_name(a->dtype);
    if (a->dtype != FSC_DTYPE_NONE && p->dtype[0] == '\0') {
        add(b->types, &b->num_types, p->name, arena_printf(b->arena, "*%s", dtype));
    } else if (a->dtype != FSC_DTYPE_NONE && is_dtype_param(j->interface, p->dtype)) {
        add(b->types, &b->num_types, p->dtype, dtype);
    }
    if ((uintptr_t)a->u.pointer % 16 == 0) add(b->divisible, &b->num_divisible, p->name, "16");
}

static void bind_scalar(fsc_jit *j, Binding *b, uint32_t index, const FscArg *a) {
    const RecordParam *p = &j->interface->params[index];
    bool is_int = a->kind == FSC_ARG_INT;
    int64_t i = a->u.integer;
    if (p->dtype[0] == '\0') {
        const char *type = !is_int ? "fp32" : i == (int32_t)i ? "i32" : "i64";
        add(b->types, &b->num_types, p->name, type);
    }
    b->values[index].known = true;
    b->values[index].value = is_int ? rule_int(i) : rule_float(a->u.real);
    char text[64];
    add(b->known, &b->num_known, p->name, arena_printf(b->arena, "%s", rule_value_print(b->values[index].value, text, sizeof text)));
    if (is_int && i == 1) add(b->divisible, &b->num_divisible, p->name, "1");
    if (is_int && bucket_is_whole(i, b->unit)) add(b->divisible, &b->num_divisible, p->name, arena_printf(b->arena, "%u", b->unit));
}

/* Of the arrays' types, as far as they are known. */
static uint32_t unit_of(const Record *r, const FscArg *args) {
    uint32_t unit = BUCKET_NO_UNIT;
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind == RECORD_CONSTEXPR) continue;
        const FscArg *a = args++;
        if (a->kind != FSC_ARG_POINTER) continue;
        unit = bucket_unit(unit, fsc_dtype_size(a->dtype != FSC_DTYPE_NONE ? a->dtype : fsc_dtype_find(r->params[i].dtype)));
    }
    return unit;
}

static const char *pair_value(const fsc_name_value *pairs, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(pairs[i].name, name) == 0) return pairs[i].value;
    }
    return NULL;
}

static const char *option_value(const fsc_compile_options *o, const char *name) {
    return pair_value(o->defines, o->num_defines, name);
}

static RuleEnv rule_env(const fsc_jit *j, const Binding *b) {
    return (RuleEnv){.values = b->values,
                     .num_values = j->interface->num_params,
                     .num_sms = j->props.sms,
                     .max_shared = j->props.shared_per_block_optin,
                     .num_regs = j->props.registers_per_sm,
                     .warp_size = j->props.warp_size};
}

/* As the compile will have it: an option, else what the first array says, else the default. */
static void bind_dtype(const fsc_jit *j, Binding *b, uint32_t index) {
    const RecordParam *p = &j->interface->params[index];
    const fsc_compile_options *o = &j->options;
    const char *given = pair_value(o->types, o->num_types, p->name);
    if (!given) given = option_value(o, p->name);
    const char *of_array = pair_value(b->types, b->num_types, p->name);
    const char *name = given ? dtype_canonical(given) : of_array ? of_array : p->value;
    b->values[index].known = name && rule_dtype(name, strlen(name), &b->values[index].value);
}

/* Constexpr parameters in order: fixed by an option, else by the launch rule where its inputs are known. */
static fsc_status bind_constexpr(fsc_jit *j, Binding *b, uint32_t index) {
    const RecordParam *p = &j->interface->params[index];
    const char *given = option_value(&j->options, p->name);
    if (given || !p->rule) {
        RecordParam known = *p;
        if (given) known.value = given;
        b->values[index].known = known.value && known.value[0] && record_value(&known, &b->values[index].value);
        return FSC_OK;
    }
    RuleEnv env = rule_env(j, b);
    char err[256], text[64];
    RuleStatus s = rule_eval(p->rule, &env, &b->values[index].value, err, sizeof err);
    if (s == RULE_UNBOUND) return FSC_OK; /* the compile says what is missing, if the default does not do */
    if (s != RULE_OK) {
        char why[384];
        snprintf(why, sizeof why, "the launch rule of %s: %s", p->name, err);
        return jit_fail(j, FSC_ERROR_RULE, why);
    }
    b->values[index].known = true;
    rule_value_print(b->values[index].value, text, sizeof text);
    text_printf(&b->key, "%s=%s ", p->name, text);
    return FSC_OK;
}

/* num_warps and its kin are compiled in: where the launch rule takes them from arguments, their values specialise. */
static void bind_launch(const fsc_jit *j, Binding *b) {
    const Record *r = j->interface;
    const fsc_compile_options *o = &j->options;
    const struct {
        const char *name, *code;
        uint32_t given;
    } rules[] = {{"num_warps", r->num_warps, o->num_warps},
                 {"num_stages", r->num_stages, o->num_stages},
                 {"num_ctas", r->num_ctas, o->num_ctas}};
    RuleEnv env = rule_env(j, b);
    for (size_t i = 0; i < COUNT(rules) && j->props.kind != FSC_CPU; i++) {
        int64_t value = 0;
        if (!rules[i].code || rules[i].given || rule_eval_int(rules[i].code, &env, &value, NULL, 0) != RULE_OK) continue;
        text_printf(&b->key, "%s=%" PRId64 " ", rules[i].name, value);
    }
}

static void bound(Binding *b, const char *name, Bucket range) {
    add(b->bounds, &b->num_bounds, arena_printf(b->arena, "%s>", name), arena_printf(b->arena, "%u", range.least));
    add(b->bounds, &b->num_bounds, arena_printf(b->arena, "%s<", name), arena_printf(b->arena, "%u", range.most));
}

/* The lengths that GPU code is compiled for, and few rows: as `-D n<=MOST -D n>=LEAST` would say. */
static void bind_bounds(const fsc_jit *j, Binding *b) {
    RuleEnv env = {.values = b->values, .num_values = j->interface->num_params};
    uint32_t longest = 0, index;
    Bucket range;
    for (uint32_t i = 0; i < j->interface->num_params && j->props.kind != FSC_CPU; i++) {
        const char *name = j->interface->params[i].name;
        if (option_value(&j->options, name) || !bucket_find(j->interface, i, &env, b->unit, &range)) continue;
        bound(b, name, range);
        if (range.most > longest) longest = range.most;
    }
    if (j->options.num_ctas || j->interface->num_ctas || !bucket_few(j->interface, &env, j->props.sms, longest, &index, &range)) return;
    const char *rows = j->interface->params[index].name;
    if (option_value(&j->options, rows)) return;
    bound(b, rows, range);
    b->few = true;
    b->most_programs = range.most <= UINT8_MAX ? (uint8_t)range.most : 0;
}

fsc_status jit_bind(fsc_jit *j, Binding *b, const FscArg *args, size_t nargs) {
    const Record *r = j->interface;
    if (r->num_params > JIT_PARAMS) return jit_fail(j, FSC_ERROR_USAGE, "a kernel may have 256 parameters at most");
    size_t next = 0, runtime = 0;
    for (uint32_t i = 0; i < r->num_params; i++) {
        runtime += r->params[i].kind != RECORD_CONSTEXPR;
        b->values[i].name = r->params[i].name;
    }
    if (runtime != nargs) {
        char why[160];
        snprintf(why, sizeof why, "kernel %s takes %zu run-time arguments (pointers and scalars), not %zu", r->kernel, runtime, nargs);
        return jit_fail(j, FSC_ERROR_ARGUMENT, why);
    }
    b->unit = unit_of(r, args);
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        if (p->kind == RECORD_CONSTEXPR) continue;
        const FscArg *a = &args[next++];
        if (a->kind == FSC_ARG_POINTER) bind_pointer(j, b, p, a);
        else bind_scalar(j, b, i, a);
    }
    for (uint32_t i = 0; i < r->num_params; i++)
        if (r->params[i].kind == RECORD_CONSTEXPR && r->params[i].value_kind == RECORD_DTYPE) bind_dtype(j, b, i);
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind != RECORD_CONSTEXPR || r->params[i].value_kind == RECORD_DTYPE) continue;
        fsc_status s = bind_constexpr(j, b, i);
        if (s != FSC_OK) return s;
    }
    for (size_t i = 0; i < b->num_types; i++) text_printf(&b->key, "%s:%s ", b->types[i].name, b->types[i].value);
    bind_launch(j, b);
    bind_bounds(j, b);
    for (size_t i = 0; i < b->num_bounds; i++) text_printf(&b->key, "%s=%s ", b->bounds[i].name, b->bounds[i].value);
    for (size_t i = 0; i < b->num_divisible; i++) text_printf(&b->key, "%s/%s ", b->divisible[i].name, b->divisible[i].value);
    if (!b->key.at) text_printf(&b->key, " ");
    return FSC_OK;
}

/* ---- The compile that it calls for --------------------------------------------------------------------------------- */

static fsc_name_value *merge(const Binding *b, const fsc_name_value *own, size_t n, const fsc_name_value *more, size_t m, size_t *count) {
    fsc_name_value *all = NEW_ARRAY(b->arena, fsc_name_value, n + m + 1);
    *count = 0;
    for (size_t i = 0; i < n; i++) add(all, count, own[i].name, own[i].value);
    for (size_t i = 0; i < m; i++) add(all, count, more[i].name, more[i].value);
    return all;
}

fsc_compile_options jit_options(const fsc_jit *j, const Binding *b) {
    fsc_compile_options o = j->options;
    o.types = merge(b, j->options.types, j->options.num_types, b->types, b->num_types, &o.num_types);
    o.defines = merge(b, j->options.defines, j->options.num_defines, b->bounds, b->num_bounds, &o.num_defines);
    o.divisible = b->divisible;
    o.num_divisible = b->num_divisible;
    o.known = b->known;
    o.num_known = b->num_known;
    o.device = &j->props;
    o.few_programs = b->few;
    o.most_programs = b->most_programs;
    o.check = b->checked;
    o.count = b->counted;
    o.record = b->recorded;
    return o;
}
