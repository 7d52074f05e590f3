/* document.c - an open file of `fsc lsp`: text, positions, compiles.
 *
 * In: texts from the editor. Out: per kernel a compilation with its IR and record; messages as JSON.
 * Method: the file is compiled once to find its kernels and their parameters, then once a kernel, with every parameter
 * a multiple of 16 where a launch may find that. Nothing is lowered to machine code.
 */
#include "tool/edit/document.h"

#include "runtime/base/ascii.h"

#include <stdlib.h>
#include <string.h>

static void analysis_free(Analysis *a) {
    for (uint32_t i = 0; i < a->count; i++) fsc_compilation_destroy(a->kernels[i]);
    a->count = 0;
}

void document_set_text(Document *d, const char *text) {
    free(d->text);
    d->text = strdup(text);
    if (!d->text) bug("out of memory for %s", d->path);
    d->length = strlen(text);
    d->is_stale = true;
}

void document_free(Document *d) {
    analysis_free(&d->now);
    analysis_free(&d->good);
    arena_destroy(d->arena);
    free(d->uri);
    free(d->path);
    free(d->text);
    free(d);
}

/* ---- Compiles ---------------------------------------------------------------------------------------------------- */

static fsc_compilation *compile_kernel(const Document *d, const fsc_compile_options *base, const Node *kernel) {
    fsc_compile_options o = *base;
    fsc_compilation *c = NULL;
    fsc_name_value *aligned = kernel ? calloc(kernel->list.len + 1, sizeof *aligned) : NULL;
    o.file = d->path;
    o.emit = FSC_EMIT_REPORT;
    o.diagnostics = FSC_DIAGNOSTICS_JSON;
    o.error_limit = 100;
    if (kernel) o.kernel = kernel->name;
    for (uint32_t i = 0; aligned && i < kernel->list.len; i++)
        aligned[i] = (fsc_name_value){kernel->list.at[i]->name, "16"};
    o.divisible = aligned;
    o.num_divisible = aligned ? kernel->list.len : 0;
    (void)driver_compile(&o, d->text, d->length, false, &c);
    free(aligned);
    return c;
}

static bool is_same(const Json *a, const Json *b) {
    static const char *const members[] = {"message", "code", "file"};
    for (size_t i = 0; i < COUNT(members); i++)
        if (strcmp(json_text(a, members[i]), json_text(b, members[i])) != 0) return false;
    return json_count(a, "line") == json_count(b, "line") && json_count(a, "column") == json_count(b, "column");
}

/* The messages of one compile; those that another kernel had already are left out. */
static void collect(Document *d, const fsc_compilation *c) {
    const char *text = fsc_compilation_diagnostics(c);
    const Json *j = json_read(d->arena, text, strlen(text));
    for (const Json *m = json_at(j, "diagnostics")->first; m; m = m->next) {
        bool is_new = true;
        for (uint32_t i = 0; i < d->found.len; i++) is_new &= !is_same(d->found.at[i], m);
        if (is_new) vec_push(d->arena, &d->found, m);
    }
}

void document_compile(Document *d, const fsc_compile_options *base) {
    const Node *kernels[MOST_KERNELS];
    arena_destroy(d->arena);
    d->arena = arena_create();
    d->found.at = NULL, d->found.len = d->found.cap = 0;
    d->is_stale = false;
    analysis_free(&d->now);
    fsc_compilation *first = compile_kernel(d, base, NULL);
    uint32_t count = first && first->module ? check_entry_points(first->module, kernels, MOST_KERNELS) : 0;
    if (count > MOST_KERNELS) count = MOST_KERNELS;
    bool has_values = false;
    for (uint32_t i = 0; i < count; i++) {
        fsc_compilation *c = compile_kernel(d, base, kernels[i]);
        if (!c) continue;
        collect(d, c);
        has_values |= c->func && c->func->stage == STAGE_SIMT;
        d->now.kernels[d->now.count++] = c;
    }
    if (d->now.count) fsc_compilation_destroy(first);
    else if (first) collect(d, first), d->now.kernels[d->now.count++] = first;
    if (!has_values) return;
    analysis_free(&d->good);
    d->good = d->now;
    d->now.count = 0;
}

const Module *document_module(const Document *d) {
    const Analysis *a = d->now.count ? &d->now : &d->good;
    return a->count ? a->kernels[0]->module : NULL;
}

/* ---- Positions --------------------------------------------------------------------------------------------------- */

static uint32_t units(const char *s, size_t left, uint32_t *bytes) {
    uint32_t n = utf8_length(s, left);
    *bytes = n ? n : 1;
    return n == 4 ? 2 : 1;
}

size_t document_place(const Document *d, uint32_t line, uint32_t col) {
    size_t at = 0;
    for (; line > 1 && at < d->length; at++) line -= d->text[at] == '\n';
    for (; col > 1 && at < d->length && d->text[at] != '\n'; col--) at++;
    return at;
}

size_t document_offset(const Document *d, const Json *position) {
    size_t at = document_place(d, json_count(position, "line") + 1, 1);
    uint32_t left = json_count(position, "character"), bytes;
    while (left && at < d->length && d->text[at] != '\n') {
        uint32_t n = units(d->text + at, d->length - at, &bytes);
        left -= n < left ? n : left;
        at += bytes;
    }
    return at;
}

void document_position(const Document *d, size_t offset, Text *out) {
    uint32_t line = 0, column = 0, bytes;
    size_t at = 0;
    for (size_t i = 0; i < offset && i < d->length; i++)
        if (d->text[i] == '\n') line++, at = i + 1;
    for (; at < offset && at < d->length; at += bytes) column += units(d->text + at, d->length - at, &bytes);
    text_printf(out, "{\"line\": %u, \"character\": %u}", line, column);
}

void document_range(const Document *d, size_t begin, size_t end, Text *out) {
    text_printf(out, "{\"start\": ");
    document_position(d, begin, out);
    text_printf(out, ", \"end\": ");
    document_position(d, end, out);
    text_printf(out, "}");
}

bool document_word(const Document *d, size_t offset, size_t *begin, size_t *end) {
    size_t from = offset < d->length ? offset : d->length, to = from;
    while (from && is_word(d->text[from - 1])) from--;
    while (to < d->length && is_word(d->text[to])) to++;
    *begin = from, *end = to;
    return to > from && !is_digit(d->text[from]);
}
