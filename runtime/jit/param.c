/* param.c - what a kernel's parameters are, for callers that are no C: kinds, texts, who is read and written.
 * Part of libfsc.
 *
 * In: a handle; a file. Out: parameters one by one; names of entry points. Method: the interface, printed once on
 * demand; accesses are those of a variant compiled for this machine's CPU, which needs no device.
 */
#include "runtime/jit/jit.h"

#include "runtime/base/process.h"

#include <string.h>

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

static fsc_status parse(const char *file, const char *source, size_t length, fsc_compilation **out) {
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    o.file = file;
    o.emit = FSC_EMIT_AST;
    return driver_compile(&o, source, length, true, out);
}

fsc_status fsc_source_kernels(const char *file, const char *source, size_t length, fsc_compilation **out) {
    const Node *found[256];
    fsc_status s = parse(file, source, length, out);
    uint32_t n = s == FSC_OK && (*out)->module ? check_entry_points((*out)->module, found, COUNT(found)) : 0;
    for (uint32_t i = 0; i < n && i < COUNT(found); i++) text_printf(&(*out)->output, "%s\n", found[i]->name);
    return s;
}

fsc_status fsc_source_functions(const char *file, const char *source, size_t length, fsc_compilation **out) {
    fsc_status s = parse(file, source, length, out);
    const Module *m = s == FSC_OK ? (*out)->module : NULL;
    for (uint32_t i = 0; m && i < m->items.len; i++) {
        if (m->items.at[i]->kind == NODE_FUNCTION) text_printf(&(*out)->output, "%s\n", m->items.at[i]->name);
    }
    return s;
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

const char *fsc_jit_kernel(const fsc_jit *j) {
    return j && j->interface ? j->interface->kernel : "";
}

/* ": *T[n_rows:y_stride, n_cols]"; the stride of a contiguous array's dimension is left out, as a source would. */
static void print_pointer(const Record *r, const RecordParam *p, const char *const *names, Text *out) {
    char text[160];
    text_printf(out, "*%s%s", p->is_const ? "const " : "", p->dtype);
    for (uint32_t i = 0; i < p->num_dims; i++) {
        const char *next = i + 1 < p->num_dims ? p->dims[i + 1].extent : "1";
        bool is_last = i + 1 == p->num_dims, is_plain = strcmp(p->dims[i].stride, next) == 0 && i + 2 >= p->num_dims;
        rule_print(p->dims[i].extent, names, r->num_params, text, sizeof text);
        text_printf(out, "%s%s", i ? ", " : "[", text);
        rule_print(p->dims[i].stride, names, r->num_params, text, sizeof text);
        if (!is_plain) text_printf(out, ":%s", text);
        if (is_last) text_printf(out, "]");
    }
}

static void print_param(const Record *r, const RecordParam *p, const char *const *names, Text *out) {
    char text[160];
    text_printf(out, "%s", p->name);
    if (p->kind == RECORD_CONSTEXPR) {
        text_printf(out, ": %s", p->value_kind == RECORD_DTYPE ? "dtype" : "constexpr");
    } else if (p->kind == RECORD_POINTER || p->dtype[0]) {
        text_printf(out, ": ");
    }
    if (p->kind == RECORD_POINTER) print_pointer(r, p, names, out);
    if (p->kind == RECORD_SCALAR) text_printf(out, "%s", p->dtype);
    if (p->rule) rule_print(p->rule, names, r->num_params, text, sizeof text);
    if (p->rule || (p->value && p->value[0])) text_printf(out, " = %s", p->rule ? text : p->value);
}

/* Whether an array's shape could say what parameter `index` is. */
static bool is_named(const Record *r, uint32_t index) {
    char code[16];
    (void)snprintf(code, sizeof code, "$%u", index);
    for (uint32_t i = 0; i < r->num_params; i++)
        for (uint32_t d = 0; d < r->params[i].num_dims; d++)
            if (strcmp(r->params[i].dims[d].extent, code) == 0 || strcmp(r->params[i].dims[d].stride, code) == 0)
                return true;
    return false;
}

static fsc_param_kind kind_of(const RecordParam *p) {
    if (p->kind == RECORD_POINTER) return FSC_PARAM_POINTER;
    if (p->kind == RECORD_SCALAR) return p->dtype[0] ? FSC_PARAM_SCALAR : FSC_PARAM_OPEN;
    return p->value_kind == RECORD_DTYPE ? FSC_PARAM_DTYPE : FSC_PARAM_CONSTEXPR;
}

static void show(fsc_jit *j) {
    const Record *r = j->interface;
    j->arena = arena_create();
    const char **names = NEW_ARRAY(j->arena, const char *, r->num_params);
    fsc_param *all = NEW_ARRAY(j->arena, fsc_param, r->num_params);
    for (uint32_t i = 0; i < r->num_params; i++) names[i] = r->params[i].name;
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        Text text = {0};
        print_param(r, p, names, &text);
        all[i] = (fsc_param){.kind = kind_of(p),
                             .name = p->name,
                             .dtype = p->kind == RECORD_CONSTEXPR ? "" : p->dtype,
                             .text = arena_strndup(j->arena, text.at, text.len),
                             .is_optional =
                                 (p->kind != RECORD_POINTER && p->value && p->value[0]) || p->rule || is_named(r, i)};
        text_free(&text);
    }
    j->shown = all;
}

fsc_status fsc_jit_param(fsc_jit *j, size_t index, fsc_param *out) {
    if (jit_check(j, "fsc_jit_param") != FSC_OK) return FSC_ERROR_USAGE;
    if (!out) return jit_fail(j, FSC_ERROR_USAGE, "fsc_jit_param: no place for the result");
    if (index >= j->interface->num_params) return jit_fail(j, FSC_ERROR_USAGE, "the kernel has no such parameter");
    HOLD_FORKS;
    pthread_mutex_lock(&j->lock);
    if (!j->shown) show(j);
    *out = j->shown[index];
    pthread_mutex_unlock(&j->lock);
    return FSC_OK;
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

static Record *compile_accesses(const fsc_jit *j, Text *why) {
    fsc_compile_options report = j->options;
    report.arch = "cpu";
    report.cpu = NULL;
    report.emit = FSC_EMIT_REPORT;
    report.opt_level = 0;
    fsc_compilation *c = NULL;
    Record *found = NULL;
    if (fsc_compile(&report, j->source, j->length, &c) == FSC_OK)
        found = record_parse(c->record_text.at, c->record_text.len, NULL, 0);
    if (!found) text_printf(why, "%s", c ? fsc_compilation_diagnostics(c) : "out of memory");
    fsc_compilation_destroy(c);
    return found;
}

/* What the variant's record says of the parameter of that name; false: it has an access of nobody knows which. */
static bool find_access(const Record *r, const char *name, bool *reads, bool *writes) {
    for (uint32_t i = 0; i < r->num_accesses; i++) {
        const RecordAccess *a = &r->accesses[i];
        if (a->param < 0 || (uint32_t)a->param >= r->num_params) return false;
        if (strcmp(r->params[a->param].name, name) != 0) continue;
        *reads |= !a->is_store;
        *writes |= a->is_store;
    }
    return true;
}

fsc_status fsc_jit_access(fsc_jit *j, size_t index, bool *reads, bool *writes) {
    if (jit_check(j, "fsc_jit_access") != FSC_OK) return FSC_ERROR_USAGE;
    if (!reads || !writes) return jit_fail(j, FSC_ERROR_USAGE, "fsc_jit_access: no place for a result");
    if (index >= j->interface->num_params) return jit_fail(j, FSC_ERROR_USAGE, "the kernel has no such parameter");
    const RecordParam *p = &j->interface->params[index];
    HOLD_FORKS;
    pthread_mutex_lock(&j->lock);
    if (!j->accesses && !j->no_accesses.at) j->accesses = compile_accesses(j, &j->no_accesses);
    *reads = *writes = false;
    if (!j->accesses || !find_access(j->accesses, p->name, reads, writes)) {
        *reads = true;
        *writes = !p->is_const;
    }
    bool is_known = j->accesses != NULL;
    pthread_mutex_unlock(&j->lock);
    return is_known ? FSC_OK : jit_fail(j, FSC_ERROR_SOURCE, j->no_accesses.at);
}
