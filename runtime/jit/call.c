/* call.c - a launch of arrays through the JIT: what their shapes say is filled in. Part of libfsc.
 *
 * In: values by position, arrays with shape and strides, some scalars missing. Out: a launch, the code or the needs of
 * its variant; or what is missing or does not fit.
 * Method: fill.c over the kernel's interface, on the stack; then fsc_jit_launch, with all its checks.
 */
#include "runtime/jit/jit.h"

#include "runtime/base/process.h"
#include "runtime/device/code.h"
#include "runtime/record/fill.h"

#include <stdlib.h>
#include <string.h>

/* What the Python package packs by number (_arrays.py, VALUE). */
_Static_assert(sizeof(fsc_value) == 160 && offsetof(fsc_value, array) == 24 && offsetof(fsc_array, shape) == 8 &&
                   offsetof(fsc_array, strides) == 72 && offsetof(fsc_arg, u) == 16,
               "fsc_value is laid out as _arrays.py has it");

static const char *option_value(const fsc_compile_options *o, const char *name) {
    for (size_t i = 0; i < o->num_defines; i++)
        if (strcmp(o->defines[i].name, name) == 0) return o->defines[i].value;
    return NULL;
}

bool jit_call_open(fsc_jit *j) {
    const Record *r = j->interface;
    j->fixed = calloc(r->num_params + 1u, sizeof *j->fixed);
    for (uint32_t i = 0; j->fixed && i < r->num_params; i++) {
        RecordParam p = r->params[i];
        const char *given = option_value(&j->options, p.name);
        j->fixed[i].name = p.name;
        if (p.kind != RECORD_CONSTEXPR || p.value_kind == RECORD_DTYPE || (p.rule && !given)) continue;
        if (given) p.value = given;
        j->fixed[i].known = p.value && p.value[0] && record_value(&p, &j->fixed[i].value);
    }
    return j->fixed != NULL;
}

/* One launch being filled in. */
typedef struct Filling {
    fsc_jit *j;
    const fsc_value *given; /* by argument */
    Fill fill;
    RuleBinding values[JIT_PARAMS];
    FillOrigin origins[JIT_PARAMS];
    uint32_t params[JIT_PARAMS]; /* of each argument */
    fsc_arg args[JIT_PARAMS];
    size_t n;
    bool is_incomplete;
} Filling;

static fsc_status fail(const Filling *f, const char *why) {
    char text[FILL_WHY + 128];
    (void)snprintf(text, sizeof text, "kernel %s: %s", f->j->interface->kernel, why);
    return jit_fail(f->j, FSC_ERROR_ARGUMENT, text);
}

static bool has_array(const fsc_value *v) {
    return v->arg.kind == FSC_ARG_POINTER && v->array.rank <= FSC_RANK_MAX;
}

static void take_given(Filling *f) {
    const Record *r = f->j->interface;
    memcpy(f->values, f->j->fixed, r->num_params * sizeof *f->values);
    memset(f->origins, 0, r->num_params * sizeof *f->origins);
    f->fill = (Fill){r, f->values, f->origins};
    f->is_incomplete = false;
    for (uint32_t i = 0, k = 0; i < r->num_params && k < f->n; i++) {
        if (r->params[i].kind == RECORD_CONSTEXPR) continue;
        const fsc_arg *a = &f->given[k].arg;
        f->args[k] = *a;
        f->params[k++] = i;
        f->is_incomplete |= a->kind == FSC_ARG_MISSING;
        f->values[i].known = arg_is_int(a) || a->kind == FSC_ARG_FLOAT;
        if (f->values[i].known) f->values[i].value = arg_is_int(a) ? rule_int(a->u.integer) : rule_float(a->u.real);
    }
}

/* A number in a pointer's place, or the other way round: said before anything is compiled for it. */
static bool is_of_kind(const RecordParam *p, const fsc_arg *a, char *why) {
    bool is_pointer = a->kind == FSC_ARG_POINTER, is_open = p->kind == RECORD_SCALAR && p->dtype[0] == '\0';
    if (a->kind == FSC_ARG_MISSING || is_open || is_pointer == (p->kind == RECORD_POINTER)) return true;
    (void)snprintf(why, FILL_WHY, "argument %s is a %s, not a %s", p->name, is_pointer ? "number" : "pointer",
                   is_pointer ? "pointer" : "number");
    return false;
}

static fsc_status take_arrays(Filling *f) {
    char why[FILL_WHY];
    for (size_t k = 0; k < f->n; k++) {
        const fsc_value *v = &f->given[k];
        if (!is_of_kind(&f->j->interface->params[f->params[k]], &v->arg, why)) return fail(f, why);
        if (!has_array(v)) continue;
        if (!fill_array(&f->fill, f->params[k], &v->array, why, sizeof why)) return fail(f, why);
        if (v->arg.bytes == 0) f->args[k].bytes = fill_bytes(&v->array, fsc_dtype_size(v->arg.dtype));
    }
    return FSC_OK;
}

static fsc_status take_missing(Filling *f) {
    char why[FILL_WHY];
    fill_defaults(&f->fill);
    for (size_t k = 0; k < f->n; k++) {
        const RecordParam *p = &f->j->interface->params[f->params[k]];
        const RuleBinding *b = &f->values[f->params[k]];
        if (f->args[k].kind != FSC_ARG_MISSING) continue;
        if (b->known) {
            f->args[k] = b->value.is_float ? fsc_float(b->value.f) : fsc_int(b->value.i);
            continue;
        }
        bool is_pointer = p->kind == RECORD_POINTER;
        (void)snprintf(why, sizeof why, "argument %s is missing%s", p->name,
                       is_pointer ? "" : ", and no array says what it is");
        return fail(f, why);
    }
    return FSC_OK;
}

static fsc_status check_arrays(const Filling *f) {
    char why[FILL_WHY];
    for (size_t k = 0; k < f->n; k++)
        if (has_array(&f->given[k]) && !fill_check(&f->fill, f->params[k], &f->given[k].array, why, sizeof why))
            return fail(f, why);
    return FSC_OK;
}

/* The launch's arguments from the values. */
static fsc_status fill_in(Filling *f, fsc_jit *j, const fsc_value *values, size_t num_values) {
    const Record *r = j->interface;
    size_t runtime = 0;
    for (uint32_t i = 0; i < r->num_params; i++) runtime += r->params[i].kind != RECORD_CONSTEXPR;
    f->j = j;
    f->given = values;
    f->n = num_values;
    if (runtime != num_values || r->num_params > JIT_PARAMS) {
        char why[96];
        (void)snprintf(why, sizeof why, "it takes %zu run-time arguments of %d at most, not %zu", runtime, JIT_PARAMS,
                       num_values);
        return fail(f, why);
    }
    take_given(f);
    fsc_status s = take_arrays(f);
    if (s == FSC_OK && f->is_incomplete) s = take_missing(f);
    return s == FSC_OK ? check_arrays(f) : s;
}

fsc_status fsc_jit_call(fsc_jit *j, const int64_t grid[3], const fsc_value *values, size_t num_values, void *stream) {
    if (jit_check_arguments(j, "fsc_jit_call", values, num_values) != FSC_OK) return FSC_ERROR_USAGE;
    OWN_FLOATS;
    Filling f;
    fsc_status s = fill_in(&f, j, values, num_values);
    return s == FSC_OK ? fsc_jit_launch(j, grid, f.args, f.n, stream) : s;
}

/* ---- What a launch would run ------------------------------------------------------------------------------------- */

fsc_status fsc_jit_inspect(fsc_jit *j, const char *arch, fsc_emit emit, const fsc_value *values, size_t num_values,
                           fsc_compilation **out) {
    if (jit_check_arguments(j, "fsc_jit_inspect", values, num_values) != FSC_OK) return FSC_ERROR_USAGE;
    if (!out) return jit_fail(j, FSC_ERROR_USAGE, "fsc_jit_inspect: no place for the result");
    OWN_FLOATS;
    *out = NULL;
    Filling f;
    fsc_status s = fill_in(&f, j, values, num_values);
    Binding *b = s == FSC_OK ? calloc(1, sizeof *b) : NULL;
    if (!b) return s == FSC_OK ? jit_fail(j, FSC_ERROR_MEMORY, "out of memory") : s;
    b->arena = arena_create();
    s = jit_bind(j, b, NULL, f.args, f.n);
    fsc_compile_options o = {0};
    if (s == FSC_OK) {
        o = jit_options(j, b);
        if (arch && strcmp(arch, o.arch) != 0 && !arch_is_of(arch, o.arch)) o.device = NULL; /* is not here */
        if (arch) o.arch = arch;
        o.emit = emit;
        s = fsc_compile(&o, j->source, j->length, out);
        if (s != FSC_OK) (void)jit_fail(j, s, *out ? fsc_compilation_diagnostics(*out) : fsc_last_message());
    }
    arena_destroy(b->arena);
    text_free(&b->key);
    free(b);
    return s;
}

fsc_status fsc_jit_report(fsc_jit *j, const fsc_value *values, size_t num_values, fsc_kernel_report *out) {
    if (jit_check_arguments(j, "fsc_jit_report", values, num_values) != FSC_OK) return FSC_ERROR_USAGE;
    if (!out) return jit_fail(j, FSC_ERROR_USAGE, "fsc_jit_report: no place for the result");
    Filling f;
    fsc_kernel *kernel = NULL;
    fsc_status s = fill_in(&f, j, values, num_values);
    if (s == FSC_OK) s = fsc_jit_prepare(j, f.args, f.n, &kernel);
    if (s != FSC_OK) return s;
    s = fsc_kernel_warmup(kernel, 0, out);
    return s == FSC_OK ? s : jit_fail(j, s, fsc_last_message());
}
