/* load.c - a variant's code onto the device: from a compile, or from an entry of the cache.
 *
 * In: a compilation, or the parts of an entry. Out: a module. Method: the driver takes PTX from either, so that one
 * program makes the machine code; it keeps that in a cache of its own. Host code is an object that is linked into this
 * process.
 */
#include "runtime/jit/jit.h"

#include "runtime/base/process.h"
#include "runtime/device/code.h"

#include <stdlib.h>
#include <string.h>

/* ---- From a compile ---------------------------------------------------------------------------------------------- */

static void destroy_compilation(void *owner) {
    fsc_compilation_destroy(owner);
}

static fsc_site site_of(const fsc_compilation *c, Span span) {
    Place p = diag_place(c->diag, span);
    return (fsc_site){p.source ? p.source->name : "", p.line, p.col};
}

/* The code's sites as places; they live as long as the compilation. */
static const fsc_site *sites_of(fsc_compilation *c, size_t *n) {
    *n = c->host->num_sites;
    fsc_site *sites = NEW_ARRAY(c->arena, fsc_site, *n + 1);
    for (size_t i = 0; i < *n; i++) sites[i] = site_of(c, c->host->sites[i]);
    return sites;
}

static fsc_host_code code_of(const fsc_jit *j, const Binding *b, const HostCode *host) {
    return (fsc_host_code){.entry = host->entry,
                           .thread = host->thread,
                           .scratch_bytes = host->scratch_bytes,
                           .checked = b->checked,
                           .debugs = j->options.device_debug,
                           .counters = host->counters.counters,
                           .num_counters = host->counters.num_counters,
                           .lines = host->counters.lines,
                           .num_lines = host->counters.num_lines};
}

fsc_status jit_load(fsc_jit *j, const Binding *b, fsc_compilation *c, fsc_module **module) {
    if (j->device->kind->is_host) {
        fsc_host_code code = code_of(j, b, c->host);
        code.sites = sites_of(c, &code.num_sites);
        code.owner = c;
        code.destroy = destroy_compilation;
        return fsc_module_host(j->device, c->record, &code, module);
    }
    size_t n = 0;
    const char *ptx = fsc_compilation_output(c, &n);
    return module_load_known(j->device, ptx, n, c->record_text.at, c->record_text.len, module);
}

bool jit_describe_host(const fsc_compilation *c, Text *out) {
    const HostCode *h = c->host;
    text_printf(out, "entry %s\nscratch %zu\nsites %zu\n", h->symbol, h->scratch_bytes, h->num_sites);
    for (size_t i = 0; i < h->num_sites; i++) {
        fsc_site s = site_of(c, h->sites[i]);
        if (strchr(s.file, '\n')) return false;
        text_printf(out, "%u %u %s\n", s.line, s.col, s.file);
    }
    return true;
}

/* ---- From the cache ---------------------------------------------------------------------------------------------- */

/* What a module of such host code owns. */
typedef struct Loaded {
    Arena *arena;
    HostCode *host;
} Loaded;

static void destroy_loaded(void *owner) {
    HOLD_FORKS;
    Loaded *l = owner;
    hostcode_destroy(l->host);
    arena_destroy(l->arena);
    free(l);
}

/* The text after `word` on the line at *at, cut off there; *at moves on. NULL: another line. */
static char *take_line(char **at, const char *word) {
    size_t n = strlen(word);
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (!end || strncmp(line, word, n) != 0) return NULL;
    *end = '\0';
    *at = end + 1;
    return line + n;
}

/* The sites that follow; NULL: the text is not as it was written. */
static const fsc_site *take_sites(Arena *a, char **at, size_t n) {
    fsc_site *sites = NEW_ARRAY(a, fsc_site, n + 1);
    for (size_t i = 0; i < n; i++) {
        char *line = take_line(at, ""), *rest = NULL;
        if (!line) return NULL;
        sites[i].line = (uint32_t)strtoul(line, &rest, 10);
        sites[i].col = (uint32_t)strtoul(rest, &rest, 10);
        if (*rest != ' ') return NULL;
        sites[i].file = rest + 1;
    }
    return sites;
}

static fsc_status load_host(fsc_jit *j, const Binding *b, const CacheEntry *e, Loaded *l, fsc_module **module) {
    const CachePart *text = &e->parts[CACHE_HOST], *record = &e->parts[CACHE_RECORD], *code = &e->parts[CACHE_CODE];
    char *at = arena_strndup(l->arena, text->at, text->size);
    char *symbol = take_line(&at, "entry "), *scratch = take_line(&at, "scratch "), *count = take_line(&at, "sites ");
    if (!symbol || !scratch || !count || !code->size) return FSC_ERROR_IMAGE;
    size_t n = strtoul(count, NULL, 10);
    const fsc_site *sites = n <= text->size ? take_sites(l->arena, &at, n) : NULL;
    Record *r = sites ? record_parse(record->at, record->size, NULL, 0) : NULL;
    if (!r) return FSC_ERROR_IMAGE;
    CodegenOptions o = {.diag = diag_create(l->arena, 1), .arena = l->arena};
    const bool has_threads = j->device->kind->has_threads;
    l->host = hostcode_load((Bytes){code->at, code->size}, symbol, has_threads, strtoul(scratch, NULL, 10), &o);
    fsc_status s = FSC_ERROR_IMAGE;
    if (l->host) {
        fsc_host_code host = code_of(j, b, l->host);
        host.sites = sites;
        host.num_sites = n;
        host.owner = l;
        host.destroy = destroy_loaded;
        s = fsc_module_host(j->device, r, &host, module);
    }
    record_free(r);
    return s;
}

fsc_status jit_load_entry(fsc_jit *j, const Binding *b, const CacheEntry *e, fsc_module **module) {
    const CachePart *record = &e->parts[CACHE_RECORD], *ptx = &e->parts[CACHE_PTX];
    if (!j->device->kind->is_host)
        return module_load_known(j->device, ptx->at, ptx->size, record->at, record->size, module);
    Loaded *l = calloc(1, sizeof *l);
    if (!l) return FSC_ERROR_MEMORY;
    l->arena = arena_create();
    fsc_status s = load_host(j, b, e, l, module);
    if (s != FSC_OK) destroy_loaded(l);
    return s;
}
