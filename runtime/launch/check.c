/* check.c - everything a launch checks before it runs: arguments, variant, conditions, contracts, grid.
 *
 * In: a kernel, a grid or none, arguments. Out: a Call with the variant, the values as the kernel reads them and the
 * grid; or a status whose sentence names parameter, value and what was wanted.
 * Method: the short way (quick.c) where all is well and integers do; else kinds, then the variant that assumes most of
 * what holds, then conversion, `require`, contracts, grid.
 */
#include "runtime/launch/quick.h"
#include "runtime/base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY = 512 };

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

/* " (BLOCK = 1024, n_cols = 1500)": the values of the parameters that the codes use; codes end in NULL. */
static char *with_values(const Call *c, const char *const *codes, char *out, size_t size) {
    char value[40];
    *out = '\0';
    for (uint32_t i = 0; i < c->env.num_values; i++) {
        bool used = false;
        for (const char *const *code = codes; *code && !used; code++) used = rule_uses(*code, i);
        if (!used || !c->values[i].known) continue;
        rule_value_print(c->values[i].value, value, sizeof value);
        text_append(out, size, "%s%s = %s", *out ? ", " : " (", c->values[i].name, value);
    }
    if (*out) text_append(out, size, ")");
    return out;
}

static char *shown(const Call *c, const char *code, char *out, size_t size) {
    rule_print(code, c->variant->names, c->variant->record->num_params, out, size);
    return out;
}

char *arg_print(const fsc_arg *a, char *out, size_t size) {
    if (a->kind == FSC_ARG_FLOAT) return number_print(a->u.real, out, size);
    if (arg_is_beyond(a)) snprintf(out, size, "%llu", (unsigned long long)a->u.natural);
    else snprintf(out, size, "%lld", (long long)a->u.integer);
    return out;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static RuleStatus occupancy(void *context, int64_t *programs) {
    Call *c = context;
    c->asked = variant_programs_per_sm(c->variant, programs);
    return c->asked == FSC_OK ? RULE_OK : RULE_UNBOUND;
}

void call_bind(Call *c, Variant *v) {
    const Record *r = v->record;
    const fsc_props *p = &c->kernel->device->props;
    if (r->num_params) memcpy(c->values, v->constants, r->num_params * sizeof *c->values);
    for (uint32_t i = 0; i < v->num_slots; i++) {
        const Slot *s = &v->slots[i];
        const fsc_arg *a = &c->args[i];
        RuleBinding *b = &c->values[s->param];
        b->known = true;
        if (a->kind == FSC_ARG_POINTER)
            b->value = rule_int((int64_t)(intptr_t)a->u.pointer);
        else if (a->kind == FSC_ARG_FLOAT || dtype_is_float(s->dtype))
            b->value = rule_float(arg_real(a));
        else
            b->value = rule_int(a->u.integer);
        if (arg_is_beyond(a) && !dtype_is_float(s->dtype)) b->known = false; /* no rule can hold it */
    }
    c->variant = v;
    c->env = (RuleEnv){.values = c->values,
                       .num_values = r->num_params,
                       .num_sms = p->sms,
                       .max_shared = p->shared_per_block_optin,
                       .num_regs = p->registers_per_sm,
                       .warp_size = p->warp_size,
                       .occupancy = occupancy,
                       .context = c};
    c->asked = FSC_OK;
}

/* The code's value, or FSC_ERROR_RULE; `what` names it in the sentence. */
static fsc_status evaluate(Call *c, const char *what, const char *code, RuleValue *out) {
    char err[200], text[200];
    RuleStatus s = rule_eval(code, &c->env, out, err, sizeof err);
    if (s == RULE_OK) return FSC_OK;
    if (s == RULE_UNBOUND && c->asked != FSC_OK) return c->asked; /* the driver's own message stands */
    const char *middle = s == RULE_UNBOUND ? "needs a value that is not known here: " : "";
    return status_fail(c->kernel->device, FSC_ERROR_RULE, "kernel %s: %s, %s: %s%s", c->variant->record->kernel, what,
                       shown(c, code, text, sizeof text), middle, err);
}

static fsc_status evaluate_int(Call *c, const char *what, const char *code, int64_t *out) {
    RuleValue v;
    char text[40];
    fsc_status s = evaluate(c, what, code, &v);
    if (s != FSC_OK) return s;
    if (v.is_dtype || (v.is_float && !(v.f >= -0x1p63 && v.f < 0x1p63 && v.f == (double)(int64_t)v.f)))
        return status_fail(c->kernel->device, FSC_ERROR_RULE, "kernel %s: %s is %s, not an integer",
                           c->variant->record->kernel, what, rule_value_print(v, text, sizeof text));
    *out = v.is_float ? (int64_t)v.f : v.i;
    return FSC_OK;
}

/* ---- The variant ------------------------------------------------------------------------------------------------- */

static bool is_multiple(uint64_t x, uint32_t of) {
    return of <= 1 || x % of == 0;
}

/* Whether a variant's assumptions hold; a sentence in `why` where not, unless it is NULL:
 * most launches ask several variants. */
static bool fits_pointer(const RecordParam *p, const Slot *s, const fsc_arg *a, char *why) {
    bool is_other = a->dtype != FSC_DTYPE_NONE && a->dtype != s->dtype;
    if (is_other && why)
        snprintf(why, WHY, "argument %s points to %s, and the kernel is compiled for %s", p->name,
                 fsc_dtype_name(a->dtype), fsc_dtype_name(s->dtype));
    if (is_other) return false;
    if (is_multiple((uintptr_t)a->u.pointer, p->divisible)) return true;
    if (why)
        snprintf(why, WHY,
                 "argument %s is at %#llx, which is not a multiple of %u bytes as the kernel was compiled for", p->name,
                 (unsigned long long)(uintptr_t)a->u.pointer, p->divisible);
    return false;
}

static bool fits_scalar(const RecordParam *p, const fsc_arg *a, char *why) {
    if (a->kind == FSC_ARG_FLOAT) return true;
    bool is_beyond = arg_is_beyond(a);
    int64_t i = is_beyond ? INT64_MAX : a->u.integer;
    uint64_t magnitude = is_beyond || i >= 0 ? a->u.natural : 0 - a->u.natural;
    char text[40] = "";
    if (why) arg_print(a, text, sizeof text);
    if (p->equals_one && i != 1) {
        if (why) snprintf(why, WHY, "argument %s is %s, and the kernel is compiled for 1", p->name, text);
        return false;
    }
    if ((p->least && i < p->least) || (p->most && i > p->most)) {
        if (why)
            snprintf(why, WHY, "argument %s is %s, and the kernel is compiled for %u to %lld", p->name, text, p->least,
                     p->most ? (long long)p->most : INT64_MAX);
        return false;
    }
    if (is_multiple(magnitude, p->divisible)) return true;
    if (why)
        snprintf(why, WHY, "argument %s is %s, which is not a multiple of %u as the kernel was compiled for", p->name,
                 text, p->divisible);
    return false;
}

static bool same_value(RuleValue a, RuleValue b) {
    if (a.is_dtype || b.is_dtype) return a.is_dtype == b.is_dtype && a.i == b.i;
    double x = a.is_float ? a.f : (double)a.i, y = b.is_float ? b.f : (double)b.i;
    return a.is_float || b.is_float ? x == y : a.i == b.i;
}

/* A constexpr that the rule or the default gave must be what the rule gives for these arguments. */
static bool fits_constexpr(Call *c, uint32_t index, char *why) {
    const RecordParam *p = &c->variant->record->params[index];
    RuleValue now;
    if (p->kind != RECORD_CONSTEXPR || !p->rule || !c->values[index].known) return true;
    if (p->origin == RECORD_OPTION || p->origin == RECORD_SIGNATURE || p->origin == RECORD_CONFIG) return true;
    char err[160], rule[160], values[160], given[40];
    RuleStatus s = rule_eval(p->rule, &c->env, &now, err, sizeof err);
    if (s == RULE_OK && same_value(now, c->values[index].value)) return true;
    if (!why) return false;
    shown(c, p->rule, rule, sizeof rule);
    with_values(c, (const char *const[]){p->rule, NULL}, values, sizeof values);
    const char *from = p->origin == RECORD_DEFAULT ? "its default"
                       : p->origin == RECORD_TUNED ? c->variant->record->tuned_file
                                                   : "the launch rule";
    if (s != RULE_OK)
        snprintf(why, WHY, "the launch rule %s = %s has no value%s: %s", p->name, rule, values, err);
    else
        snprintf(
            why, WHY,
            "the kernel is compiled with %s = %s, from %s, and the launch rule %s gives %s%s: compile it with -D %s=%s",
            p->name, p->value, from, rule, rule_value_print(now, given, sizeof given), values, p->name, given);
    return false;
}

/* So must num_warps and its kin, where a tuned file gave them; the CPU's code has no warps. */
static bool fits_compiled(Call *c, char *why) {
    static const char *const names[] = {"num_warps", "num_stages", "num_ctas"};
    const Record *r = c->variant->record;
    const char *const codes[] = {r->num_warps, r->num_stages, r->num_ctas};
    for (int i = 0; i < 3; i++) {
        int64_t now = 0;
        if (r->compiled[i] < 0 || c->kernel->device->props.kind == FSC_CPU) continue;
        RuleStatus s = rule_eval_int(codes[i], &c->env, &now, NULL, 0);
        if (s == RULE_OK && now == r->compiled[i]) continue;
        if (why)
            snprintf(why, WHY, "the kernel is compiled with %s = %lld, and %s gives %lld for these arguments", names[i],
                     (long long)r->compiled[i], r->tuned_file, (long long)now);
        return false;
    }
    return true;
}

/* Nor is a map made that the device cannot read. */
static bool fits_maps(Call *c, char *why) {
    const Record *r = c->variant->record;
    char err[200] = "";
    for (uint32_t i = 0; i < r->num_maps; i++) {
        const RecordMap *m = &r->maps[i];
        MapSizes *s = map_begin(c, c->variant, i);
        RuleStatus status = RULE_OK;
        for (uint32_t k = 0; k < m->num_boxes && status == RULE_OK; k++) {
            status = rule_eval_int(m->boxes[k].extent, &c->env, &s->extents[k], err, sizeof err);
            if (k && status == RULE_OK)
                status = rule_eval_int(m->boxes[k].stride, &c->env, &s->strides[k], err, sizeof err);
        }
        if (status != RULE_OK && why)
            snprintf(why, WHY, "the tensor map of %s has no sizes for these arguments: %s", r->params[m->param].name,
                     err);
        if (status != RULE_OK || !map_fits(c->variant, i, s, why, WHY)) return false;
    }
    return true;
}

static bool fits(Call *c, char *why) {
    const Variant *v = c->variant;
    for (uint32_t i = 0; i < v->num_slots; i++) {
        const RecordParam *p = &v->record->params[v->slots[i].param];
        bool ok = p->kind == RECORD_POINTER ? fits_pointer(p, &v->slots[i], &c->args[i], why)
                                            : fits_scalar(p, &c->args[i], why);
        if (!ok) return false;
    }
    for (uint32_t i = 0; i < v->record->num_params; i++) {
        if (!fits_constexpr(c, i, why)) return false;
    }
    return fits_compiled(c, why) && fits_maps(c, why);
}

/* Number and kinds, which all variants share. */
static fsc_status check_kinds(const Call *c, const Variant *v) {
    fsc_device *d = c->kernel->device;
    const Record *r = v->record;
    if (c->nargs != v->num_slots) {
        char names[WHY] = "";
        for (uint32_t i = 0; i < v->num_slots; i++)
            text_append(names, sizeof names, "%s%s", i ? ", " : "", r->params[v->slots[i].param].name);
        return status_fail(d, FSC_ERROR_ARGUMENT, "kernel %s takes %u run-time arguments (%s), not %zu", r->kernel,
                           v->num_slots, names, c->nargs);
    }
    for (uint32_t i = 0; i < v->num_slots; i++) {
        const RecordParam *p = &r->params[v->slots[i].param];
        fsc_arg_kind kind = c->args[i].kind;
        if (kind == FSC_ARG_MISSING)
            return status_fail(d, FSC_ERROR_ARGUMENT, "argument %s of kernel %s is missing", p->name, r->kernel);
        if ((p->kind == RECORD_POINTER) == (kind == FSC_ARG_POINTER) && (unsigned)kind <= FSC_ARG_UNSIGNED) continue;
        return status_fail(d, FSC_ERROR_ARGUMENT, "argument %s of kernel %s is a %s, not a %s", p->name, r->kernel,
                           p->kind == RECORD_POINTER ? "pointer" : "number",
                           kind == FSC_ARG_POINTER ? "pointer" : "number");
    }
    return FSC_OK;
}

/* Room for the values of the variant with the most parameters. */
static fsc_status make_room(Call *c) {
    size_t values = 0, n = c->nargs + RECORD_MAPS + GRID_SLOTS;
    for (size_t i = 0; i < c->table->count; i++) {
        uint32_t params = c->table->at[i]->record->num_params;
        if (params > values) values = params;
    }
    c->values = c->small_values;
    c->bits = c->small_bits;
    c->pointers = c->small_pointers;
    if (values <= CALL_VALUES && c->nargs <= CALL_ARGS) return FSC_OK;
    c->heap = calloc(1, values * sizeof *c->values + n * (sizeof *c->bits + sizeof *c->pointers));
    if (!c->heap) return status_memory(c->kernel->device);
    c->values = c->heap;
    c->bits = (uint64_t *)(c->values + values);
    c->pointers = (void **)(c->bits + n);
    return FSC_OK;
}

/* An explicit grid beyond what the variant's blocks can wait for; where there is no other variant,
 * the launch says so. */
static bool fits_grid(const Call *c, const int64_t *grid) {
    const Record *r = c->variant->record;
    return !grid || c->table->count == 1 || r->num_launches == 0 || launch_takes(&r->launches[0], grid);
}

static fsc_status choose_variant(Call *c, const int64_t *grid) {
    fsc_kernel *k = c->kernel;
    const VariantTable *t = c->table;
    char why[WHY] = "";
    Variant *best = NULL;
    for (size_t i = 0; i < t->count; i++) {
        Variant *v = t->at[i];
        if (best && v->assumptions <= best->assumptions) continue;
        call_bind(c, v);
        if (fits(c, NULL) && fits_grid(c, grid)) best = v;
    }
    const char *name = t->at[0]->record->kernel;
    if (best) {
        if (c->variant != best) call_bind(c, best);
        (void)fits_maps(c, NULL); /* it does: its sizes */
        return FSC_OK;
    }
    if (k->is_object && cover_explain(c, why, sizeof why))
        return status_fail(k->device, FSC_NO_VARIANT, "kernel %s: %s", name, why);
    call_bind(c, t->at[0]);
    if (fits(c, why))
        (void)snprintf(why, sizeof why, "it is compiled for a grid of up to %u programs",
                       c->variant->record->launches[0].most_programs);
    if (t->count == 1) return status_fail(k->device, FSC_NO_VARIANT, "kernel %s: %s", name, why);
    return status_fail(k->device, FSC_NO_VARIANT, "kernel %s: none of %zu compiled variants fits; the first: %s", name,
                       t->count, why);
}

/* ---- Conversion, conditions, contracts --------------------------------------------------------------------------- */

static fsc_status convert(Call *c, uint32_t i) {
    const Slot *s = &c->variant->slots[i];
    const RecordParam *p = &c->variant->record->params[s->param];
    const fsc_arg *a = &c->args[i];
    fsc_device *d = c->kernel->device;
    char text[40];
    c->pointers[i] = &c->bits[i];
    if (a->kind == FSC_ARG_POINTER) {
        c->bits[i] = (uintptr_t)a->u.pointer;
        if (!is_multiple(c->bits[i], fsc_dtype_size(s->dtype)))
            return status_fail(d, FSC_ERROR_ARGUMENT, "argument %s is at %#llx, between two elements of %s", p->name,
                               (unsigned long long)c->bits[i], p->dtype);
    } else if (dtype_is_float(s->dtype)) {
        c->bits[i] = number_float_bits(arg_real(a), s->dtype);
    } else if (a->kind == FSC_ARG_FLOAT) {
        return status_fail(d, FSC_ERROR_ARGUMENT, "argument %s is %s, and the kernel takes an integer (%s)", p->name,
                           arg_print(a, text, sizeof text), p->dtype);
    } else if (arg_is_beyond(a) ? s->dtype != FSC_U64 : !number_int_fits(a->u.integer, s->dtype)) {
        return status_fail(d, FSC_ERROR_ARGUMENT, "argument %s is %s, which does not fit %s", p->name,
                           arg_print(a, text, sizeof text), p->dtype);
    } else {
        c->bits[i] = a->u.natural; /* hosts are little endian: the low bytes come first */
    }
    return FSC_OK;
}

static fsc_status check_requires(Call *c) {
    const Record *r = c->variant->record;
    RuleValue v;
    char values[WHY];
    for (uint32_t i = 0; i < r->num_requires; i++) {
        fsc_status s = evaluate(c, "the required condition", r->requires[i].code, &v);
        if (s != FSC_OK) return s;
        if (rule_truth(v)) continue;
        with_values(c, (const char *const[]){r->requires[i].code, NULL}, values, sizeof values);
        return status_fail(c->kernel->device, FSC_ERROR_REQUIRE, "kernel %s requires %s, which does not hold%s",
                           r->kernel, r->requires[i].text, values);
    }
    return FSC_OK;
}

fsc_status call_dim(Call *c, const RecordParam *p, uint32_t dim, int64_t *extent, int64_t *stride) {
    fsc_status s = evaluate_int(c, "an extent in a shape contract", p->dims[dim].extent, extent);
    return s == FSC_OK ? evaluate_int(c, "a stride in a shape contract", p->dims[dim].stride, stride) : s;
}

/* Bytes from the pointer to behind the contract's last element: (1 + Σ (extent - 1) · stride) · size,
 * 0 if any is empty. */
static fsc_status contract_bytes(Call *c, const RecordParam *p, uint32_t size, uint64_t *bytes) {
    uint64_t last = 0, step = 0;
    bool empty = false, over = false;
    for (uint32_t i = 0; i < p->num_dims; i++) {
        int64_t extent = 0, stride = 0;
        fsc_status s = call_dim(c, p, i, &extent, &stride);
        if (s != FSC_OK) return s;
        if (extent < 0 || stride < 0)
            return status_fail(c->kernel->device, FSC_ERROR_CONTRACT,
                               "extent %u of %s is %lld with a stride of %lld: neither may be negative", i, p->name,
                               (long long)extent, (long long)stride);
        if (extent == 0)
            empty = true;
        else
            over |= __builtin_mul_overflow((uint64_t)(extent - 1), (uint64_t)stride, &step) ||
                    __builtin_add_overflow(last, step, &last);
    }
    over |= __builtin_add_overflow(last, 1u, &last) || __builtin_mul_overflow(last, (uint64_t)size, &last);
    *bytes = empty ? 0 : over ? UINT64_MAX : last;
    return FSC_OK;
}

static fsc_status check_contract(Call *c, uint32_t i) {
    const Slot *s = &c->variant->slots[i];
    const RecordParam *p = &c->variant->record->params[s->param];
    const fsc_arg *a = &c->args[i];
    uint64_t bytes = 0;
    if (p->kind != RECORD_POINTER || p->num_dims == 0) return FSC_OK;
    /* no size: extents are checked all the same */
    fsc_status status = contract_bytes(c, p, fsc_dtype_size(s->dtype), &bytes);
    bool is_null = !a->u.pointer && bytes;
    if (status != FSC_OK || (!is_null && (a->bytes == 0 || bytes <= a->bytes))) return status;

    char contract[200] = "", dim[80], values[200];
    const char *codes[2 * 16 + 1] = {NULL};
    for (uint32_t k = 0; k < p->num_dims && k < 16; k++) {
        text_append(contract, sizeof contract, "%s%s", k ? ", " : "", shown(c, p->dims[k].extent, dim, sizeof dim));
        text_append(contract, sizeof contract, ":%s", shown(c, p->dims[k].stride, dim, sizeof dim));
        codes[2 * k] = p->dims[k].extent;
        codes[2 * k + 1] = p->dims[k].stride;
    }
    if (is_null)
        return status_fail(c->kernel->device, FSC_ERROR_CONTRACT,
                           "buffer %s is NULL, and its contract %s[%s] wants %llu bytes%s", p->name, p->dtype, contract,
                           (unsigned long long)bytes, with_values(c, codes, values, sizeof values));
    return status_fail(c->kernel->device, FSC_ERROR_CONTRACT,
                       "buffer %s holds %llu bytes, and its contract %s[%s] wants %llu%s", p->name,
                       (unsigned long long)a->bytes, p->dtype, contract, (unsigned long long)bytes,
                       with_values(c, codes, values, sizeof values));
}

/* ---- Grid -------------------------------------------------------------------------------------------------------- */

static fsc_status make_grid(Call *c, const int64_t *grid) {
    static const char *const names[] = {"the grid's x", "the grid's y", "the grid's z"};
    const Record *r = c->variant->record;
    if (!grid && r->num_grid == 0)
        return status_fail(c->kernel->device, FSC_ERROR_USAGE, "kernel %s has no launch rule: give it a grid",
                           r->kernel);
    for (uint32_t i = 0; i < 3; i++) {
        c->grid[i] = grid ? grid[i] : 1;
        fsc_status s = !grid && i < r->num_grid ? evaluate_int(c, names[i], r->grid[i], &c->grid[i]) : FSC_OK;
        if (s != FSC_OK) return s;
        if (c->grid[i] < 0)
            return status_fail(c->kernel->device, FSC_ERROR_GRID, "kernel %s: %s is %lld", r->kernel, names[i],
                               (long long)c->grid[i]);
    }
    return FSC_OK;
}

/* The limits of a launch on a GPU; the CPU keeps to them too, so that what runs there runs everywhere. */
static fsc_status check_grid(const Call *c) {
    static const int64_t most[] = {INT32_MAX, GRID_YZ_MOST, GRID_YZ_MOST};
    static const char axis[] = "xyz";
    for (int i = 0; i < 3; i++) {
        if (c->grid[i] > most[i])
            return status_fail(c->kernel->device, FSC_ERROR_GRID,
                               "kernel %s: %lld programs along %c are beyond the limit, %lld",
                               c->variant->record->kernel, (long long)c->grid[i], axis[i], (long long)most[i]);
    }
    return FSC_OK;
}

fsc_status call_begin(Call *c, fsc_kernel *k, const int64_t *grid, const fsc_arg *args, size_t nargs) {
    c->kernel = k;
    c->args = args;
    c->nargs = nargs;
    c->heap = NULL;
    c->variant = NULL;
    c->table = kernel_table(k);
    if (call_quick(c, grid, NULL, NULL)) return FSC_OK;
    fsc_status s = check_kinds(c, c->table->at[0]);
    if (s == FSC_OK) s = make_room(c);
    if (s == FSC_OK) s = choose_variant(c, grid);
    for (uint32_t i = 0; s == FSC_OK && i < c->variant->num_slots; i++) s = convert(c, i);
    if (s == FSC_OK) s = check_requires(c);
    for (uint32_t i = 0; s == FSC_OK && i < c->variant->num_slots; i++) s = check_contract(c, i);
    if (s == FSC_OK) s = make_grid(c, grid);
    return s == FSC_OK ? check_grid(c) : s;
}

bool kernel_maps_fit(fsc_kernel *k, const fsc_arg *args, size_t nargs) {
    const VariantTable *t = kernel_table(k);
    Call c = {.kernel = k, .table = t, .args = args, .nargs = nargs};
    if (t->at[0]->record->num_maps == 0) return true;
    bool fit = true; /* what else is wrong the launch says */
    if (check_kinds(&c, t->at[0]) == FSC_OK && make_room(&c) == FSC_OK) {
        call_bind(&c, t->at[0]);
        fit = fits_maps(&c, NULL);
    }
    call_end(&c);
    return fit;
}

void call_end(Call *c) {
    free(c->heap);
}
