/* named.c - launches for those who debug: arguments by name, pointers that cannot be right,
 * and a wait for what came of it.
 *
 * In: a kernel, arguments with the names that the caller has for them. Out: fsc_launch,
 * or a sentence with the kernel's signature.
 * Method: count, names, kinds and types against the record of the variants; then the checks of every launch; then
 * pointers: none where the kernel goes through it, memory that the GPU does not see; then the launch, and its end.
 */
#include "runtime/base/number.h"
#include "runtime/base/process.h"
#include "runtime/launch/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNATURE = 900, MOST_NAMES = 256 };

/* ---- The signature ----------------------------------------------------------------------------------------------- */

static void append_contract(char *out, size_t size, const Record *r, const RecordParam *p) {
    const char *names[MOST_NAMES];
    char code[120];
    if (p->num_dims == 0 || r->num_params > MOST_NAMES) return;
    for (uint32_t i = 0; i < r->num_params; i++) names[i] = r->params[i].name;
    for (uint32_t i = 0; i < p->num_dims; i++) {
        rule_print(p->dims[i].extent, names, r->num_params, code, sizeof code);
        text_append(out, size, "%s%s", i ? ", " : "[", code);
        rule_print(p->dims[i].stride, names, r->num_params, code, sizeof code);
        if (strcmp(code, "1") != 0) text_append(out, size, ":%s", code);
    }
    text_append(out, size, "]");
}

/* "softmax(y: *fp32[n_rows:y_stride, n_cols], n_rows: i32)": the run-time parameters in their order. */
static const char *signature(const Record *r, char *out, size_t size) {
    bool is_first = true;
    snprintf(out, size, "%s(", r->kernel);
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        if (p->kind == RECORD_CONSTEXPR) continue;
        text_append(out, size, "%s%s: %s%s", is_first ? "" : ", ", p->name, p->kind == RECORD_POINTER ? "*" : "",
               *p->dtype ? p->dtype : "any type");
        if (p->kind == RECORD_POINTER) append_contract(out, size, r, p);
        is_first = false;
    }
    text_append(out, size, ")");
    return out;
}

/* The parameter at a place of the call, NULL beyond the last. */
static const RecordParam *param_at(const Record *r, size_t place) {
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind != RECORD_CONSTEXPR && place-- == 0) return &r->params[i];
    }
    return NULL;
}

static size_t count_params(const Record *r) {
    size_t n = 0;
    while (param_at(r, n)) n++;
    return n;
}

/* ---- Names, kinds, types ----------------------------------------------------------------------------------------- */

/* The place of a parameter of that name from 1; 0: there is none. */
static size_t place_of(const Record *r, const char *name) {
    for (size_t i = 0; param_at(r, i); i++) {
        if (strcmp(param_at(r, i)->name, name) == 0) return i + 1;
    }
    return 0;
}

/* The first parameter that no argument is named for. */
static const char *missing(const Record *r, const fsc_named_arg *args, size_t nargs) {
    for (size_t i = 0; param_at(r, i); i++) {
        bool found = false;
        for (size_t k = 0; k < nargs && !found; k++)
            found = args[k].name && strcmp(args[k].name, param_at(r, i)->name) == 0;
        if (!found) return param_at(r, i)->name;
    }
    return NULL;
}

static fsc_status check_count(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t nargs) {
    char text[SIGNATURE], which[120] = "";
    size_t n = count_params(r);
    bool has_names = nargs > 0 && nargs < n;
    for (size_t i = 0; has_names && i < nargs; i++) has_names = args[i].name != NULL;
    if (n == nargs) return FSC_OK;
    if (has_names && missing(r, args, nargs))
        snprintf(which, sizeof which, "; %.80s is missing", missing(r, args, nargs));
    return status_fail(d, FSC_ERROR_ARGUMENT, "%zu arguments for a kernel of %zu%s: %s", nargs, n, which,
                       signature(r, text, sizeof text));
}

static fsc_status check_name(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t i) {
    const char *name = args[i].name, *wanted = param_at(r, i)->name;
    char text[SIGNATURE];
    if (!name || strcmp(name, wanted) == 0) return FSC_OK;
    signature(r, text, sizeof text);
    if (place_of(r, name))
        return status_fail(d, FSC_ERROR_ARGUMENT,
                           "argument %zu is named %s, which is parameter %zu; parameter %zu is %s: %s", i + 1, name,
                           place_of(r, name), i + 1, wanted, text);
    return status_fail(d, FSC_ERROR_ARGUMENT,
                       "argument %zu is named %.80s, and the kernel has no such parameter; parameter %zu is %s: %s",
                       i + 1, name, i + 1, wanted, text);
}

static const char *kind_name(fsc_arg_kind k) {
    static const char *const names[] = {"a pointer", "an integer", "a float", "missing", "an integer"};
    return k <= FSC_ARG_UNSIGNED ? names[k] : "of no kind that there is";
}

static fsc_status check_kind(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t i) {
    const RecordParam *p = param_at(r, i);
    fsc_arg_kind kind = args[i].arg.kind;
    fsc_dtype t = fsc_dtype_find(p->dtype);
    char text[SIGNATURE];
    bool is_pointer = p->kind == RECORD_POINTER,
         is_float_for_int = kind == FSC_ARG_FLOAT && t != FSC_DTYPE_NONE && !dtype_is_float(t);
    if (is_pointer == (kind == FSC_ARG_POINTER) && !is_float_for_int && kind != FSC_ARG_MISSING &&
        kind <= FSC_ARG_UNSIGNED)
        return FSC_OK;
    return status_fail(d, FSC_ERROR_ARGUMENT, "argument %zu, %s, is %s, and the parameter is %s%s: %s", i + 1, p->name,
                       kind_name(kind), is_pointer ? "a pointer to " : "of type ", *p->dtype ? p->dtype : "any type",
                       signature(r, text, sizeof text));
}

/* What the caller says of the type, where the kernel leaves it not open. */
static bool has_type(const Record *r, const fsc_named_arg *args, size_t i) {
    fsc_dtype wanted = fsc_dtype_find(param_at(r, i)->dtype), given = args[i].arg.dtype;
    return given == FSC_DTYPE_NONE || wanted == FSC_DTYPE_NONE || given == wanted;
}

static fsc_status fail_type(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t i) {
    const RecordParam *p = param_at(r, i);
    const char *star = p->kind == RECORD_POINTER ? "*" : "";
    char text[SIGNATURE];
    return status_fail(d, FSC_ERROR_ARGUMENT, "argument %zu, %s, is %s%s, and the parameter is %s%s: %s", i + 1,
                       p->name, star, fsc_dtype_name(args[i].arg.dtype), star, p->dtype,
                       signature(r, text, sizeof text));
}

fsc_status named_check(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t nargs) {
    fsc_status s = check_count(d, r, args, nargs);
    for (size_t i = 0; s == FSC_OK && i < nargs; i++) s = check_name(d, r, args, i);
    for (size_t i = 0; s == FSC_OK && i < nargs; i++) s = check_kind(d, r, args, i);
    return s;
}

fsc_status named_check_types(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t nargs) {
    for (size_t i = 0; i < nargs; i++) {
        if (!has_type(r, args, i)) return fail_type(d, r, args, i);
    }
    return FSC_OK;
}

/* Of several variants one has to take the types: the sentence is about the first. */
static fsc_status check_variants(const fsc_kernel *k, const fsc_named_arg *args, size_t nargs) {
    const VariantTable *t = kernel_table(k);
    fsc_status s = named_check(k->device, t->at[0]->record, args, nargs);
    if (s != FSC_OK) return s;
    for (size_t v = 0; v < t->count; v++) {
        bool fits = true;
        for (size_t i = 0; i < nargs && fits; i++) fits = has_type(t->at[v]->record, args, i);
        if (fits) return FSC_OK;
    }
    return named_check_types(k->device, t->at[0]->record, args, nargs);
}

/* ---- Pointers ---------------------------------------------------------------------------------------------------- */

/* The first access through a parameter that the record knows; NULL: none. */
static const RecordAccess *access_of(const Record *r, uint32_t param) {
    for (uint32_t i = 0; i < r->num_accesses; i++) {
        if (r->accesses[i].param == (int32_t)param) return &r->accesses[i];
    }
    return NULL;
}

static fsc_status check_null(const Call *c, uint32_t i) {
    const Record *r = c->variant->record;
    uint32_t param = c->variant->slots[i].param;
    const RecordAccess *a = access_of(r, param);
    char text[SIGNATURE];
    if (!a || r->params[param].num_dims) return FSC_OK; /* with a contract every launch has looked */
    return status_fail(c->kernel->device, FSC_ERROR_ARGUMENT, "argument %u, %s, is NULL, and %s:%u %s: %s", i + 1,
                       r->params[param].name, r->file, a->line, a->is_store ? "stores through it" : "loads through it",
                       signature(r, text, sizeof text));
}

static fsc_status check_reach(const Call *c, uint32_t i) {
    fsc_device *d = c->kernel->device;
    const Record *r = c->variant->record;
    char text[SIGNATURE];
    bool sees = true;
    fsc_status s = d->kind->sees ? d->kind->sees(d, c->bits[i], r->kernel, &sees) : FSC_OK;
    if (s != FSC_OK || sees) return s;
    return status_fail(
        d, FSC_ERROR_ARGUMENT,
        "argument %u, %s, is at %#llx, which is no memory that %s sees: copy it there (fsc_memory_write): %s", i + 1,
        r->params[c->variant->slots[i].param].name, (unsigned long long)c->bits[i], d->props.name,
        signature(r, text, sizeof text));
}

static fsc_status check_pointers(const Call *c) {
    const Record *r = c->variant->record;
    fsc_device *d = c->kernel->device;
    bool is_empty = c->grid[0] == 0 || c->grid[1] == 0 || c->grid[2] == 0, pushed = false;
    fsc_status s = FSC_OK;
    if (is_empty) return s;
    s = device_enter(d, &pushed);
    for (uint32_t i = 0; s == FSC_OK && i < c->variant->num_slots; i++) {
        if (r->params[c->variant->slots[i].param].kind != RECORD_POINTER) continue;
        s = c->bits[i] ? check_reach(c, i) : check_null(c, i);
    }
    device_leave(d, pushed);
    return s;
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

/* What an argument is, for the sentence about a launch that went wrong. */
static void append_value(char *out, size_t size, const fsc_arg *a) {
    char number[40];
    if (a->kind == FSC_ARG_POINTER)
        text_append(out, size, "%#llx", (unsigned long long)(uintptr_t)a->u.pointer);
    else if (a->kind == FSC_ARG_FLOAT)
        text_append(out, size, "%s", number_format(number, sizeof number, "%g", a->u.real));
    else
        text_append(out, size, "%s", arg_print(a, number, sizeof number));
}

/* The launch's own sentence, and with which arguments it was. */
static fsc_status tell_launch(const Call *c, fsc_status s) {
    const Record *r = c->variant->record;
    char said[MESSAGE_SIZE], values[SIGNATURE] = "";
    snprintf(said, sizeof said, "%s", fsc_last_message());
    for (size_t i = 0; i < c->nargs; i++) {
        text_append(values, sizeof values, "%s%s = ", i ? ", " : "", param_at(r, i)->name);
        append_value(values, sizeof values, &c->args[i]);
    }
    return status_fail(c->kernel->device, s, "kernel %s of %s, grid %lld x %lld x %lld, %s: %s", r->kernel, r->file,
                       (long long)c->grid[0], (long long)c->grid[1], (long long)c->grid[2], values, said);
}

/* The refusal's own sentence, and the signature. */
static fsc_status tell_refusal(const fsc_kernel *k, fsc_status s) {
    char said[MESSAGE_SIZE], text[SIGNATURE];
    snprintf(said, sizeof said, "%s", fsc_last_message());
    return status_fail(k->device, s, "%s: %s", said, signature(kernel_table(k)->at[0]->record, text, sizeof text));
}

/* A wait would end the capture of the caller's graph. */
static fsc_status check_stream(fsc_device *d, void *stream) {
    bool pushed = false, capturing = false;
    if (!d->kind->capturing) return FSC_OK;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->capturing(d, stream, &capturing);
    device_leave(d, pushed);
    if (s != FSC_OK || !capturing) return s;
    return status_fail(d, FSC_ERROR_USAGE,
                       "the stream is being captured, and a checked launch waits for its end: take fsc_launch");
}

static fsc_status launch_and_wait(Call *c, void *stream) {
    fsc_status s = call_launch(c, stream);
    if (s == FSC_OK) s = fsc_stream_wait(c->kernel->device, stream);
    return s == FSC_OK ? s : tell_launch(c, s);
}

fsc_status fsc_launch_checked(fsc_kernel *k, const int64_t grid[3], const fsc_named_arg *args, size_t nargs,
                              void *stream) {
    if (!k || (!args && nargs))
        return status_fail(NULL, FSC_ERROR_USAGE, "fsc_launch_checked: the kernel or its arguments are NULL");
    OWN_FLOATS;
    fsc_status s = check_variants(k, args, nargs);
    if (s == FSC_OK) s = check_stream(k->device, stream);
    if (s != FSC_OK) return s;
    fsc_arg *plain = calloc(nargs + 1, sizeof *plain);
    if (!plain) return status_memory(k->device);
    for (size_t i = 0; i < nargs; i++) plain[i] = args[i].arg;
    Call c;
    s = call_begin(&c, k, grid, plain, nargs);
    if (s != FSC_OK)
        s = tell_refusal(k, s);
    else if ((s = check_pointers(&c)) == FSC_OK)
        s = launch_and_wait(&c, stream);
    call_end(&c);
    free(plain);
    return s;
}
