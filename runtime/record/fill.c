/* fill.c - values of parameters from the arrays of a call: what shape contracts name, what defaults say.
 *
 * In: a kernel's interface, given values, arrays. Out: values, or the sentence about two that contradict.
 * Method: a code that is a bare name is bound, or compared with what is bound; a code that is an expression is compared
 * once all names are. Nothing is allocated, and no code but expressions is evaluated: this is on the way of every
 * launch from Python.
 */
#include "runtime/record/fill.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(char *err, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool fail(char *err, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(err, size, fmt, args);
    va_end(args);
    return false;
}

/* "$4" alone: parameter 4; -1 for any other code. */
static int64_t bare_name(const char *code, uint32_t count) {
    int64_t i = 0;
    if (!code || code[0] != '$' || code[1] == '\0') return -1;
    for (const char *c = code + 1; *c; c++) {
        if (*c < '0' || *c > '9' || i > (int64_t)count) return -1;
        i = i * 10 + (*c - '0');
    }
    return i < (int64_t)count ? i : -1;
}

/* "n_rows=6", "its default", "the shape of x". */
static const char *origin_text(const Fill *f, uint32_t index, FillOrigin from, char *out, size_t size) {
    static const char *const words[] = {"", "its default", "shape", "number of elements", "stride"};
    const char *array = f->record->params[from.array].name;
    char value[48];
    switch (from.how) {
    case FILL_GIVEN:
        rule_value_print(f->values[index].value, value, sizeof value);
        (void)snprintf(out, size, "%.60s=%s", f->record->params[index].name, value);
        return out;
    case FILL_DEFAULT: return words[FILL_DEFAULT];
    case FILL_SHAPE:
    case FILL_COUNT:
    case FILL_STRIDE: break;
    }
    (void)snprintf(out, size, "the %s of %.40s", words[from.how], array);
    return out;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool bind_value(Fill *f, const char *code, int64_t value, FillOrigin from, char *err, size_t size) {
    int64_t index = bare_name(code, f->record->num_params);
    char first[112], second[112];
    if (index < 0) return true; /* an expression: fill_check and the launch look at it */
    RuleBinding *b = &f->values[index];
    FillOrigin *o = &f->origins[index];
    if (!b->known) {
        b->known = true;
        b->value = rule_int(value);
        *o = from;
        return true;
    }
    if (rule_is_int(b->value) && b->value.i == value) return true;
    char known[48];
    return fail(err, size, "%s is %s by %s, and %" PRId64 " by %s", f->record->params[index].name,
                rule_value_print(b->value, known, sizeof known),
                origin_text(f, (uint32_t)index, *o, first, sizeof first), value,
                origin_text(f, (uint32_t)index, from, second, sizeof second));
}

static bool is_empty(const fsc_array *a) {
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->shape[i] == 0) return true;
    return false;
}

/* Whether its stride along a dimension means anything: between two elements. */
static bool has_stride(const fsc_array *a, uint32_t dim) {
    return a->shape[dim] > 1 && !is_empty(a);
}

/* Its elements in order, one stride apart: as one row. False: they are not. */
static bool as_one_row(const fsc_array *a, int64_t *count, int64_t *stride) {
    bool is_known = false; /* the stride: a dimension of several elements has said it */
    int64_t next = 0;
    *count = 1;
    *stride = 1;
    for (uint32_t i = a->rank; i-- > 0;) {
        if (a->shape[i] > 1 && !is_known) *stride = a->strides[i];
        else if (a->shape[i] > 1 && a->strides[i] != next) return is_empty(a);
        is_known |= a->shape[i] > 1;
        if (__builtin_mul_overflow(*count, a->shape[i], count) || __builtin_mul_overflow(*count, *stride, &next))
            return false;
    }
    return true;
}

static bool bind_row(Fill *f, uint32_t param, const fsc_array *a, char *err, size_t size) {
    const RecordParam *p = &f->record->params[param];
    int64_t count = 0, stride = 0;
    if (!as_one_row(a, &count, &stride))
        return fail(
            err, size,
            "%s is one row by its contract, and the elements of the array of %u dimensions do not lie one behind the "
            "other: make a contiguous copy of it",
            p->name, a->rank);
    FillOrigin from = {a->rank == 1 ? FILL_SHAPE : FILL_COUNT, param};
    return bind_value(f, p->dims[0].extent, count, from, err, size) &&
           (count <= 1 || bind_value(f, p->dims[0].stride, stride, (FillOrigin){FILL_STRIDE, param}, err, size));
}

bool fill_array(Fill *f, uint32_t param, const fsc_array *a, char *err, size_t size) {
    const RecordParam *p = &f->record->params[param];
    if (p->num_dims == 0) return true;
    if (p->num_dims == 1) return bind_row(f, param, a, err, size);
    if (a->rank != p->num_dims)
        return fail(err, size, "%s has %u dimensions by its contract, and the array has %u", p->name, p->num_dims,
                    a->rank);
    for (uint32_t i = a->rank; i-- > 0;) {
        if (!bind_value(f, p->dims[i].extent, a->shape[i], (FillOrigin){FILL_SHAPE, param}, err, size)) return false;
        if (has_stride(a, i) &&
            !bind_value(f, p->dims[i].stride, a->strides[i], (FillOrigin){FILL_STRIDE, param}, err, size))
            return false;
    }
    return true;
}

static bool has_no_elements(const RecordParam *p, const RuleEnv *env) {
    int64_t extent = 1;
    for (uint32_t i = 0; i < p->num_dims; i++)
        if (rule_eval_int(p->dims[i].extent, env, &extent, NULL, 0) == RULE_OK && extent == 0) return true;
    return false;
}

/* all: every stride that nobody said; else along one element, or of no elements: no array says those,
 * and nothing hangs on them. */
static void fill_strides(Fill *f, const RecordParam *p, bool all) {
    RuleEnv env = {.values = f->values, .num_values = f->record->num_params};
    int64_t step = 1, extent = 0;
    all |= has_no_elements(p, &env);
    for (uint32_t i = p->num_dims; i-- > 0;) {
        int64_t index = bare_name(p->dims[i].stride, env.num_values);
        if (rule_eval_int(p->dims[i].extent, &env, &extent, NULL, 0) != RULE_OK) return;
        if (index >= 0 && (all || extent <= 1) && !f->values[index].known &&
            f->record->params[index].kind == RECORD_SCALAR) {
            f->values[index].known = true;
            f->values[index].value = rule_int(step);
            f->origins[index].how = FILL_DEFAULT;
        }
        if (__builtin_mul_overflow(step, extent > 1 ? extent : 1, &step)) return;
    }
}

void fill_contiguous(Fill *f, uint32_t param) {
    fill_strides(f, &f->record->params[param], true);
}

void fill_defaults(Fill *f) {
    bool missing = false;
    for (uint32_t i = 0; i < f->record->num_params; i++) {
        const RecordParam *p = &f->record->params[i];
        if (p->kind != RECORD_SCALAR || f->values[i].known) continue;
        f->values[i].known = p->value && p->value[0] && record_value(p, &f->values[i].value);
        f->origins[i].how = FILL_DEFAULT;
        missing |= !f->values[i].known;
    }
    for (uint32_t i = 0; missing && i < f->record->num_params; i++) {
        const RecordParam *p = &f->record->params[i];
        fill_strides(f, p, p->kind == RECORD_CONSTEXPR); /* of an array that is left out */
    }
}

/* ---- What must hold ---------------------------------------------------------------------------------------------- */

/* The stride that the contract says, where it is no bare name: those were compared when they were bound. */
static bool check_stride(const Fill *f, const RecordParam *p, uint32_t dim, int64_t stride, char *err, size_t size) {
    RuleEnv env = {.values = f->values, .num_values = f->record->num_params};
    const char *code = p->dims[dim].stride;
    int64_t want = 0;
    if (strcmp(code, "1") == 0) want = 1;
    else if (bare_name(code, env.num_values) >= 0 || rule_eval_int(code, &env, &want, NULL, 0) != RULE_OK) return true;
    if (want == stride) return true;
    return fail(err, size, "dimension %u of %s has a stride of %" PRId64 ", and its contract wants %" PRId64
                           ": pass a contiguous copy, or name the stride in the contract", dim, p->name, stride, want);
}

static bool check_extent(const Fill *f, const RecordParam *p, uint32_t dim, int64_t extent, char *err, size_t size) {
    RuleEnv env = {.values = f->values, .num_values = f->record->num_params};
    const char *code = p->dims[dim].extent;
    int64_t want = 0;
    if (bare_name(code, env.num_values) >= 0 || rule_eval_int(code, &env, &want, NULL, 0) != RULE_OK || extent >= want)
        return true;
    return fail(err, size, "dimension %u of %s has %" PRId64 " elements, and its contract wants %" PRId64, dim, p->name,
                extent, want);
}

bool fill_check(const Fill *f, uint32_t param, const fsc_array *a, char *err, size_t size) {
    const RecordParam *p = &f->record->params[param];
    int64_t count = 0, stride = 0;
    if (p->num_dims == 1)
        return !as_one_row(a, &count, &stride) || (check_extent(f, p, 0, count, err, size) &&
                                                   (count <= 1 || check_stride(f, p, 0, stride, err, size)));
    for (uint32_t i = 0; i < p->num_dims && p->num_dims == a->rank; i++) {
        if (!check_extent(f, p, i, a->shape[i], err, size)) return false;
        if (has_stride(a, i) && !check_stride(f, p, i, a->strides[i], err, size)) return false;
    }
    return true;
}

uint64_t fill_bytes(const fsc_array *a, uint32_t element) {
    uint64_t last = 0, step = 0;
    bool over = false;
    if (is_empty(a)) return 0;
    for (uint32_t i = 0; i < a->rank; i++) {
        uint64_t stride = a->strides[i] < 0 ? 0 : (uint64_t)a->strides[i];
        over |= __builtin_mul_overflow((uint64_t)a->shape[i] - 1, stride, &step) ||
                __builtin_add_overflow(last, step, &last);
    }
    over |= __builtin_add_overflow(last, 1u, &last) || __builtin_mul_overflow(last, (uint64_t)element, &last);
    return over ? UINT64_MAX : last;
}
