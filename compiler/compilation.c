/* compilation.c - what a compile is given and what it gives: options as they begin and as they must be,
 * texts of a compilation.
 *
 * In: the options and pointers of a caller of fsc.h. Out: a sentence about what is missing there; outputs, "" for none.
 */
#include "driver.h"

#include "runtime/base/process.h"
#include "runtime/device/status.h"

#include <stdlib.h>

/* ---- Options ----------------------------------------------------------------------------------------------------- */

void fsc_compile_options_init(fsc_compile_options *o) {
    if (!o) return;
    *o = (fsc_compile_options){
        .file = "<input>", .emit = FSC_EMIT_PTX, .arch = "sm_80", .opt_level = 2, .error_limit = 20};
#ifdef FSC_VERIFY_EACH
    o->verify_each = true; /* the presets debug and ci */
#endif
}

bool pairs_are_whole(const fsc_name_value *pairs, size_t n) {
    if (n && !pairs) return false;
    for (size_t i = 0; i < n; i++)
        if (!pairs[i].name || !pairs[i].value) return false;
    return true;
}

fsc_status options_check(const char *call, const fsc_compile_options *o) {
    if (!o)
        return status_fail(NULL, FSC_ERROR_USAGE, "%s: the options are NULL: fsc_compile_options_init fills some in",
                           call);
    const char *list = !pairs_are_whole(o->defines, o->num_defines)       ? "defines"
                       : !pairs_are_whole(o->types, o->num_types)         ? "types"
                       : !pairs_are_whole(o->divisible, o->num_divisible) ? "divisible"
                       : !pairs_are_whole(o->known, o->num_known)         ? "known"
                                                                          : NULL;
    if (list)
        return status_fail(NULL, FSC_ERROR_USAGE, "%s: %s of the options is NULL, or has a name or a value that is",
                           call, list);
    if (!o->file || !o->arch)
        return status_fail(NULL, FSC_ERROR_USAGE, "%s: %s of the options is NULL", call, o->file ? "arch" : "file");
    if ((unsigned)o->emit > FSC_EMIT_REPORT || (unsigned)o->diagnostics > FSC_DIAGNOSTICS_SARIF)
        return status_fail(NULL, FSC_ERROR_USAGE, "%s: %s of the options is no value of its enum", call,
                           (unsigned)o->emit > FSC_EMIT_REPORT ? "emit" : "diagnostics");
    return FSC_OK;
}

const char *fsc_find_ptxas(void) {
    return ptxas_find();
}

/* ---- What a compile gives ---------------------------------------------------------------------------------------- */

void fsc_compilation_destroy(fsc_compilation *c) {
    if (!c) return;
    HOLD_FORKS;
    if (c->host) hostcode_destroy(c->host);
    if (c->record) record_free(c->record);
    text_free(&c->output);
    text_free(&c->diagnostics);
    text_free(&c->dumps);
    text_free(&c->times);
    text_free(&c->files);
    text_free(&c->record_text);
    arena_destroy(c->arena);
    free(c);
}

static const char *text_of(const Text *t) {
    return t && t->at ? t->at : "";
}

const char *fsc_compilation_output(const fsc_compilation *c, size_t *length) {
    if (length) *length = c ? c->output.len : 0;
    return text_of(c ? &c->output : NULL);
}

const char *fsc_compilation_diagnostics(const fsc_compilation *c) {
    return text_of(c ? &c->diagnostics : NULL);
}

const char *fsc_compilation_dumps(const fsc_compilation *c) {
    return text_of(c ? &c->dumps : NULL);
}

const char *fsc_compilation_times(const fsc_compilation *c) {
    return text_of(c ? &c->times : NULL);
}

const char *fsc_compilation_files(const fsc_compilation *c) {
    return text_of(c ? &c->files : NULL);
}

const char *fsc_compilation_record(const fsc_compilation *c) {
    return text_of(c ? &c->record_text : NULL);
}

void fsc_compilation_registers(const fsc_compilation *c, uint32_t *low, uint32_t *high) {
    if (low) *low = c ? c->registers_low : 0;
    if (high) *high = c ? c->registers_high : 0;
}
