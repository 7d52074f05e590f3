/* disk.c - the JIT's variants on disk: what their keys are made of, and what an entry holds.
 *
 * In: a handle and a Binding. Out: a loaded kernel without a compile, or a written entry. Method: the key sums up all
 * that decides the code: this compiler's content, source, options, target (for GPUs the driver's version, else the
 * machine) and the Binding's text. What cannot be read, does not load or cannot be written counts as not there.
 */
#include "runtime/jit/jit.h"

#include "build_id.h"
#include "runtime/device/code.h"

#include <stdlib.h>
#include <string.h>

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static void add_number(Digest *d, int64_t n) {
    digest_add(d, &n, sizeof n);
}

static void add_pairs(Digest *d, const fsc_name_value *pairs, size_t n) {
    add_number(d, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        digest_text(d, pairs[i].name);
        digest_text(d, pairs[i].value);
    }
}

/* Every option that the code, its record or its warnings hang on. Not: emit and device, which follow from the device;
 * divisible and known, which the Binding has; print_after and print_layouts, with which there is no cache. */
static void add_options(Digest *d, const fsc_compile_options *o) {
    const int64_t numbers[] = {o->config,       o->num_warps,    o->num_stages,  o->num_ctas,
                               o->opt_level,    o->debug,        o->fast_math,   o->color,
                               o->diagnostics,  o->remarks,      o->verify_each, o->error_limit,
                               o->device_debug, o->few_programs, o->split,       o->most_programs,
                               o->op_lines,     o->no_maps,      o->overlap};
    const char *texts[] = {o->file,   o->arch,    o->cpu,   o->kernel,    o->signature,
                           o->passes, o->include, o->tuned, o->tuned_text};
    for (size_t i = 0; i < COUNT(numbers); i++) add_number(d, numbers[i]);
    for (size_t i = 0; i < COUNT(texts); i++) digest_text(d, texts[i]);
    add_pairs(d, o->defines, o->num_defines);
    add_pairs(d, o->types, o->num_types);
}
/* A field more? Into add_options with it, if the code hangs on it. */
_Static_assert(sizeof(void *) != 8 || offsetof(fsc_compile_options, tuned_text) == 200,
               "fsc_compile_options has changed");

static void add_machine(Digest *d, const fsc_jit *j) {
    Arena *a = arena_create();
    if (!j->device->kind->is_host)
        add_number(d, j->props.driver_version);
    else
        digest_text(d, codegen_host_machine(a, j->options.cpu));
    arena_destroy(a);
}

void disk_open(fsc_jit *j) {
    char why[CACHE_WHY];
    if (j->options.no_cache || j->options.print_after || j->options.print_layouts) return;
    if (!cache_open(&j->cache, true, why)) return;
    Digest *d = &j->basis;
    digest_begin(d);
    digest_text(d, FSC_BUILD_ID);
#ifdef FSC_PLANTS
    digest_text(d, getenv("FSC_PLANT")); /* the fault that is planted changes the code */
#endif
    add_number(d, j->props.kind);
    digest_text(d, j->card.arch);
    if (j->options.tuned_text) add_number(d, j->card.sms); /* which rows count */
    add_machine(d, j);
    add_options(d, &j->options);
    digest_field(d, j->source, j->length);
}

static void key_of(const fsc_jit *j, const Binding *b, char key[DIGEST_HEX + 1]) {
    Digest d = j->basis;
    digest_field(&d, b->key.at, b->key.len);
    digest_end(&d, key);
}

/* ---- Interfaces: no variant, but what a long file's parameters are ----------------------------------------------- */

enum { LONG_SOURCE = 8192 }; /* bytes that are parsed in half a millisecond */

static bool interface_key(const fsc_jit *j, char key[DIGEST_HEX + 1]) {
    Digest d = j->basis;
    if (j->cache.folder < 0 || j->length < LONG_SOURCE) return false;
    digest_text(&d, NULL); /* no Binding has this */
    digest_end(&d, key);
    return true;
}

Record *disk_interface(fsc_jit *j) {
    char key[DIGEST_HEX + 1];
    CacheEntry e;
    if (!interface_key(j, key) || !cache_read(&j->cache, key, true, &e)) return NULL;
    Record *r = record_parse_interface(e.parts[CACHE_RECORD].at, e.parts[CACHE_RECORD].size);
    cache_entry_free(&e);
    return r;
}

void disk_keep_interface(fsc_jit *j) {
    char key[DIGEST_HEX + 1];
    size_t n = 0;
    Text label = {0};
    char *text = !j->front->seeks_files && interface_key(j, key) ? record_write(j->interface, &n) : NULL;
    if (!text) return;
    text_printf(&label, "%s %s interface", j->interface->kernel, j->props.arch);
    const CacheEntry e = {.parts[CACHE_LABEL] = {label.at, label.len}, .parts[CACHE_RECORD] = {text, n}};
    (void)cache_write(&j->cache, key, &e);
    text_free(&label);
    free(text);
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

void disk_find(fsc_jit *j, const Binding *b, fsc_kernel **out) {
    char key[DIGEST_HEX + 1];
    CacheEntry e;
    fsc_module *module = NULL;
    if (j->cache.folder < 0) return;
    key_of(j, b, key);
    if (!cache_read(&j->cache, key, true, &e)) return;
    fsc_status s = jit_load_entry(j, b, &e, &module);
    if (s == FSC_OK) module->maps = b->special.launch.maps;
    if (s == FSC_OK) s = fsc_kernel_create(module, NULL, out);
    fsc_module_unload(module);
    if (s == FSC_OK) jit_note(j, &j->counts.from_disk, e.parts[CACHE_LOG].at);
    cache_entry_free(&e);
}

static CachePart part(const Text *t) {
    return (CachePart){t->at, t->len};
}

/* What the driver says of the kernel; nothing of host code, which has neither registers nor shared memory. */
static void describe_kernel(fsc_kernel *kernel, const fsc_jit *j, Text *out) {
    fsc_kernel_report r;
    if (j->device->kind->is_host || fsc_kernel_warmup(kernel, 0, &r) != FSC_OK) return;
    text_printf(out, "registers %u\nspills %u\nshared_static %u\nshared_dynamic %u\nthreads %u\nblocks_per_sm %u\n",
                r.registers, r.spill_bytes, r.shared_static, r.shared_dynamic, r.threads_per_block, r.blocks_per_sm);
}

void disk_keep(fsc_jit *j, const Binding *b, const fsc_compilation *c, fsc_kernel *kernel) {
    char key[DIGEST_HEX + 1];
    Text label = {0}, report = {0}, host = {0};
    CacheEntry e = {.parts[CACHE_RECORD] = part(&c->record_text), .parts[CACHE_LOG] = part(&c->diagnostics)};
    if (j->cache.folder < 0 || c->seeks_files) return; /* the key knows no other files */
    key_of(j, b, key);
    bool ok = true;
    if (!j->device->kind->is_host) {
        /* no cubin: the driver's linker makes another one than its loader, of more registers */
        e.parts[CACHE_PTX] = part(&c->output);
    } else {
        e.parts[CACHE_CODE] = (CachePart){c->host->object.at, c->host->object.len};
        ok = jit_describe_host(c, &host);
    }
    text_printf(&label, "%s %s %s", j->interface->kernel, j->props.arch, b->key.at);
    while (label.len && label.at[label.len - 1] == ' ') label.len--;
    describe_kernel(kernel, j, &report);
    e.parts[CACHE_LABEL] = part(&label);
    e.parts[CACHE_REPORT] = part(&report);
    e.parts[CACHE_HOST] = part(&host);
    if (ok) (void)cache_write(&j->cache, key, &e);
    text_free(&label);
    text_free(&report);
    text_free(&host);
}
