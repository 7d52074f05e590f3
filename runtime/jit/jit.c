/* jit.c - a source file on a device: the variant for each launch's arguments, compiled once and kept. Part of libfsc.
 *
 * In: text, a device, arguments. Out: a kernel handle per variant, launched through fsc_launch with all its checks.
 * Method: the kernel's interface (parameters before specialisation) is read once. A launch makes a key from what
 * specialises (specialise.h). A key that is new is looked for on disk (jit/disk.c), else compiled, by the first thread
 * that wants it, while those that want others go on: on CUDA to PTX that the driver assembles, on the CPU to host code.
 */
#include "runtime/jit/jit.h"

#include "runtime/base/process.h"
#include "runtime/debug/recording.h"

#include <stdlib.h>
#include <string.h>

/* What the last call that failed in a thread said; only that thread reads and rewrites the text. */
typedef struct JitMessage {
    struct JitMessage *next;
    pthread_t thread;
    Text text;
} JitMessage;

/* The calling thread's; NULL: it has none. */
static JitMessage *find_message(const fsc_jit *j) {
    HOLD_FORKS;
    fsc_jit *writable = (fsc_jit *)(uintptr_t)j; /* the lock is no part of what const promises */
    pthread_mutex_lock(&writable->lock);
    JitMessage *m = j->messages;
    while (m && !pthread_equal(m->thread, pthread_self())) m = m->next;
    pthread_mutex_unlock(&writable->lock);
    return m;
}

static JitMessage *add_message(fsc_jit *j) {
    JitMessage *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->thread = pthread_self();
    pthread_mutex_lock(&j->lock);
    m->next = j->messages;
    j->messages = m;
    pthread_mutex_unlock(&j->lock);
    return m;
}

fsc_status jit_fail(fsc_jit *j, fsc_status s, const char *text) {
    HOLD_FORKS;
    JitMessage *m = find_message(j);
    if (!m) m = add_message(j);
    if (m) {
        m->text.len = 0;
        text_printf(&m->text, "%s", text);
    }
    return text == fsc_last_message() ? s : status_fail(NULL, s, "%s", text);
}

fsc_status jit_check(const fsc_jit *j, const char *call) {
    if (j && j->is_usable) return FSC_OK;
    return status_fail(NULL, FSC_ERROR_USAGE, "%s: the handle is not usable: what made it has failed", call);
}

fsc_status jit_check_arguments(fsc_jit *j, const char *call, const void *args, size_t nargs) {
    char text[80];
    fsc_status s = jit_check(j, call);
    if (s != FSC_OK || args || !nargs) return s;
    snprintf(text, sizeof text, "%s: the arguments are NULL", call);
    return jit_fail(j, FSC_ERROR_USAGE, text);
}

void jit_note(fsc_jit *j, uint32_t *counter, const char *text) {
    HOLD_FORKS;
    pthread_mutex_lock(&j->lock);
    if (counter) ++*counter;
    text_printf(&j->log, "%s", text);
    pthread_mutex_unlock(&j->lock);
}

const char *fsc_jit_message(const fsc_jit *j) {
    const JitMessage *m = j ? find_message(j) : NULL;
    return m && m->text.at ? m->text.at : "";
}

const char *fsc_jit_log(const fsc_jit *j) {
    return j && j->log.at ? j->log.at : "";
}

void fsc_jit_counts(const fsc_jit *j, fsc_variant_counts *out) {
    if (out) *out = (fsc_variant_counts){0};
    if (!j || !out) return;
    fsc_jit *writable = (fsc_jit *)(uintptr_t)j; /* the lock is no part of what const promises */
    pthread_mutex_lock(&writable->lock);
    *out = j->counts;
    pthread_mutex_unlock(&writable->lock);
}

const struct fsc_record *fsc_jit_interface(const fsc_jit *j) {
    return j ? j->interface : NULL;
}

/* ---- Open and close ---------------------------------------------------------------------------------------------- */

static char *copy_text(const char *s, size_t n) {
    char *to = malloc(n + 1);
    if (!to) return NULL;
    memcpy(to, s, n);
    to[n] = '\0';
    return to;
}

static void free_pairs(const fsc_name_value *pairs, size_t n) {
    for (size_t i = 0; pairs && i < n; i++) {
        free((void *)(uintptr_t)pairs[i].name);
        free((void *)(uintptr_t)pairs[i].value);
    }
    free((void *)(uintptr_t)pairs);
}

static const fsc_name_value *copy_pairs(const fsc_name_value *from, size_t n) {
    fsc_name_value *to = calloc(n ? n : 1, sizeof *to);
    for (size_t i = 0; to && i < n; i++) {
        to[i].name = copy_text(from[i].name, strlen(from[i].name));
        to[i].value = copy_text(from[i].value, strlen(from[i].value));
    }
    return to;
}

void fsc_jit_destroy(fsc_jit *j) {
    if (!j) return;
    HOLD_FORKS;
    for (size_t i = 0; i < j->num_variants; i++) {
        fsc_kernel_destroy(j->variants[i].kernel);
        free(j->variants[i].key);
    }
    fsc_kernel_destroy(j->all);
    free(j->variants);
    specialiser_close(&j->specialiser);
    free(j->given);
    free(j->fixed);
    record_free(j->accesses);
    text_free(&j->no_accesses);
    if (j->arena) arena_destroy(j->arena);
    cache_close(&j->cache);
    record_free(j->interface);
    fsc_compilation_destroy(j->front);
    free_pairs(j->options.defines, j->options.num_defines);
    free_pairs(j->options.types, j->options.num_types);
    free((void *)(uintptr_t)j->options.kernel);
    free((void *)(uintptr_t)j->options.signature);
    free((void *)(uintptr_t)j->options.cpu);
    free((void *)(uintptr_t)j->options.include);
    free((void *)(uintptr_t)j->options.tuned);
    free((void *)(uintptr_t)j->options.tuned_text);
    free((void *)(uintptr_t)j->options.print_after);
    free((void *)(uintptr_t)j->options.passes);
    free(j->source);
    free(j->file);
    for (JitMessage *m = j->messages, *next; m; m = next) {
        next = m->next;
        text_free(&m->text);
        free(m);
    }
    text_free(&j->log);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->made);
    free(j);
}

static char *copy_name(const char *s) {
    return s ? copy_text(s, strlen(s)) : NULL;
}

/* Read once, so that every variant of the handle is of the same text. */
static fsc_status find_tuned(fsc_jit *j) {
    const char *file = NULL, *why = NULL;
    Arena *a = arena_create();
    const char *text = j->options.file ? tuned_text(a, &j->options, &file, &why) : NULL;
    fsc_status s = FSC_OK;
    if (why) s = status_fail(NULL, FSC_ERROR_USAGE, "cannot read the tuning file '%s': %s", file, why);
    j->options.tuned = copy_name(text ? file : "off");
    j->options.tuned_text = copy_name(text);
    arena_destroy(a);
    return s;
}

/* The card's own, sm_90a of sm_90, unless one of the two is asked for by name, or the driver is older than PTX 8.0.
 * An emulator that stands for no card takes any card's own by name. */
static void choose_arch(fsc_jit *j) {
    enum { PTX_80 = 12000 };
    const fsc_device *d = j->device;
    const char *asked = j->options.arch, *card = *d->card_arch ? d->card_arch : j->props.arch;
    const Target *own = asked && strcmp(card, "emu") == 0 ? target_find(asked) : NULL;
    bool is_old = !d->kind->is_host && j->props.driver_version < PTX_80;
    bool is_taken = asked && (arch_is_of(asked, card) || (own && own->portable));
    j->card = j->props;
    snprintf(j->card.arch, sizeof j->card.arch, "%s", is_taken ? asked : is_old ? card : target_own(card));
    j->options.arch = d->kind->is_host ? j->props.arch : j->card.arch;
}

fsc_status fsc_jit_create(fsc_device *device, const char *source, size_t length, const fsc_compile_options *o,
                          fsc_jit **out) {
    if (!out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_jit_create: no place for the result");
    HOLD_FORKS;
    fsc_jit *j = calloc(1, sizeof *j);
    *out = j;
    if (!j) return status_memory(NULL);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->made, NULL);
    j->cache.folder = -1;
    j->device = device;
    fsc_compile_options_init(&j->options);
    fsc_status s = o ? options_check("fsc_jit_create", o) : FSC_OK;
    if (o && s == FSC_OK) j->options = *o;
    j->options.divisible = NULL;
    j->options.num_divisible = 0;
    j->options.print_after = copy_name(j->options.print_after);
    j->options.passes = copy_name(j->options.passes);
    bool has_text = source && (!o || o->file);
    j->source = source ? copy_text(source, length) : NULL;
    j->file = copy_name(j->options.file);
    j->options.file = j->file;
    j->length = length;
    j->options.defines = copy_pairs(j->options.defines, j->options.num_defines);
    j->options.types = copy_pairs(j->options.types, j->options.num_types);
    j->options.kernel = copy_name(j->options.kernel);
    j->options.signature = copy_name(j->options.signature);
    j->options.cpu = copy_name(j->options.cpu);
    j->options.include = copy_name(j->options.include);
    if (s == FSC_OK) s = find_tuned(j);
    if (!has_text) return jit_fail(j, FSC_ERROR_USAGE, "there is no source, or it has no file name: both are needed");
    if (s != FSC_OK) return jit_fail(j, s, fsc_last_message());
    if (!j->source || !j->file || !j->options.defines || !j->options.types)
        return jit_fail(j, FSC_ERROR_MEMORY, "out of memory");
    s = fsc_device_props(device, &j->props);
    if (s != FSC_OK) return jit_fail(j, s, fsc_last_message());
    choose_arch(j);
    j->options.emit = device->kind->is_host ? FSC_EMIT_ASM : FSC_EMIT_PTX; /* of the host: code in memory */
    disk_open(j);
    j->interface = disk_interface(j);
    fsc_compile_options front = j->options;
    front.device = &j->card;
    if (!j->interface) s = driver_interface(&front, j->source, length, &j->front, &j->interface);
    if (s != FSC_OK) return jit_fail(j, s, fsc_compilation_diagnostics(j->front));
    if (j->front) disk_keep_interface(j);
    jit_quick_open(j);
    j->is_usable = jit_bind_open(j) && jit_call_open(j);
    return j->is_usable ? FSC_OK : jit_fail(j, FSC_ERROR_MEMORY, "out of memory");
}

/* ---- Compile and keep -------------------------------------------------------------------------------------------- */

/* From source to a loaded kernel, and to disk. */
static fsc_status compile_variant(fsc_jit *j, Binding *b, fsc_kernel **out) {
    fsc_compile_options o = jit_options(j, b);
    fsc_compilation *c = NULL;
    fsc_module *module = NULL;
    fsc_status s = driver_compile(&o, j->source, j->length, j->device->kind->is_host, &c);
    jit_note(j, &j->counts.compiled, c ? fsc_compilation_dumps(c) : "");
    if (s != FSC_OK) {
        (void)jit_fail(j, s, c ? fsc_compilation_diagnostics(c) : "out of memory");
        fsc_compilation_destroy(c);
        return s;
    }
    jit_note(j, NULL, fsc_compilation_diagnostics(c));
    jit_note(j, NULL, fsc_compilation_times(c));
    s = jit_load(j, b, c, &module);
    bool is_mine = s != FSC_OK || !j->device->kind->is_host;
    if (s == FSC_OK) module->maps = b->special.launch.maps;
    if (s == FSC_OK) s = fsc_kernel_create(module, NULL, out);
    if (s == FSC_OK && !b->counted && !b->recorded) disk_keep(j, b, c, *out);
    if (is_mine) fsc_compilation_destroy(c);
    fsc_module_unload(module);
    return s == FSC_OK ? s : jit_fail(j, s, fsc_last_message());
}

/* ---- Who makes a variant ----------------------------------------------------------------------------------------- */

static size_t find_variant(const fsc_jit *j, const char *key) {
    size_t i = 0;
    while (i < j->num_variants && strcmp(j->variants[i].key, key) != 0) i++;
    return i;
}

/* A place in the table for a variant that is to be made; false: out of memory. */
static bool add_place(fsc_jit *j, const Text *text) {
    if (j->num_variants == j->cap) {
        size_t cap = j->cap ? j->cap * 2 : 8;
        JitVariant *more = realloc(j->variants, cap * sizeof *more);
        if (!more) return false;
        j->variants = more;
        j->cap = cap;
    }
    char *key = copy_text(text->at, text->len);
    if (key) j->variants[j->num_variants++] = (JitVariant){key, NULL};
    return key != NULL;
}

/* The variant, once it is there; or *out NULL, and the caller makes it while others wait for its settle(). */
static fsc_status claim(fsc_jit *j, const Text *key, fsc_kernel **out) {
    bool is_claimed = true;
    pthread_mutex_lock(&j->lock);
    for (;;) {
        size_t i = find_variant(j, key->at);
        bool is_there = i < j->num_variants;
        *out = is_there ? j->variants[i].kernel : NULL;
        if (!is_there) is_claimed = add_place(j, key);
        if (!is_there || *out) break;
        pthread_cond_wait(&j->made, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return is_claimed ? FSC_OK : jit_fail(j, FSC_ERROR_MEMORY, "out of memory");
}

/* What came of it; NULL: nothing, and who waits tries for itself. */
static void settle(fsc_jit *j, const Text *key, fsc_kernel *kernel) {
    pthread_mutex_lock(&j->lock);
    size_t i = find_variant(j, key->at);
    j->variants[i].kernel = kernel;
    if (kernel) {
        jit_quick_add(j, kernel);
    } else {
        free(j->variants[i].key);
        j->variants[i] = j->variants[--j->num_variants];
    }
    pthread_cond_broadcast(&j->made);
    pthread_mutex_unlock(&j->lock);
}

static fsc_status prepare_bound(fsc_jit *j, Binding *b, const int64_t *grid, const fsc_arg *args, size_t nargs,
                                fsc_kernel **out) {
    b->checked = !j->device->kind->has_threads && fsc_device_checks(j->device);
    if (b->checked) text_printf(&b->key, "checked ");
    b->counted = fsc_device_counts_lines(j->device);
    if (b->counted) text_printf(&b->key, "counted ");
    b->recorded = device_records(j->device);
    if (b->recorded) text_printf(&b->key, "recorded ");
    fsc_status s = jit_bind(j, b, grid, args, nargs);
    if (s == FSC_OK) s = claim(j, &b->key, out);
    if (s != FSC_OK || *out) return s;
    if (!b->counted && !b->recorded) disk_find(j, b, out);
    if (!*out) s = compile_variant(j, b, out);
    if (s != FSC_OK) *out = NULL;
    settle(j, &b->key, *out);
    return s;
}

/* Code that may read tensor maps is asked whether its own can be made of these arguments; else it is made without. */
static fsc_status prepare(fsc_jit *j, Binding *b, const int64_t *grid, const fsc_arg *args, size_t nargs,
                          fsc_kernel **out) {
    fsc_status s = prepare_bound(j, b, grid, args, nargs, out);
    if (s != FSC_OK || !b->special.launch.maps || kernel_maps_fit(*out, args, nargs)) return s;
    b->without_maps = true;
    b->key.len = 0;
    return prepare_bound(j, b, grid, args, nargs, out);
}

/* The variant of these arguments, and of this grid, if one is given. */
static fsc_status prepare_for(fsc_jit *j, const int64_t *grid, const fsc_arg *args, size_t nargs, fsc_kernel **out) {
    HOLD_FORKS;
    Binding *b = calloc(1, sizeof *b);
    if (!b) return jit_fail(j, FSC_ERROR_MEMORY, "out of memory");
    b->arena = arena_create();
    fsc_kernel *kernel = NULL;
    fsc_status s = prepare(j, b, grid, args, nargs, &kernel);
    arena_destroy(b->arena);
    text_free(&b->key);
    free(b);
    if (s == FSC_OK) *out = kernel;
    return s;
}

fsc_status fsc_jit_prepare(fsc_jit *j, const fsc_arg *args, size_t nargs, fsc_kernel **out) {
    fsc_status s = jit_check_arguments(j, "fsc_jit_prepare", args, nargs);
    if (s == FSC_OK && !out) s = jit_fail(j, FSC_ERROR_USAGE, "fsc_jit_prepare: no place for the result");
    if (s != FSC_OK) return s;
    OWN_FLOATS;
    return prepare_for(j, NULL, args, nargs, out);
}

fsc_status fsc_jit_launch(fsc_jit *j, const int64_t grid[3], const fsc_arg *args, size_t nargs, void *stream) {
    fsc_kernel *kernel = NULL;
    fsc_status s = jit_check_arguments(j, "fsc_jit_launch", args, nargs);
    if (s != FSC_OK) return s;
    OWN_FLOATS;
    bool is_known = jit_quick_launch(j, grid, args, nargs, stream, &s);
    if (!is_known) s = prepare_for(j, grid, args, nargs, &kernel);
    if (!is_known && s != FSC_OK) return s;
    if (!is_known) s = fsc_launch(kernel, grid, args, nargs, stream);
    if (s == FSC_OK) return s;
    return jit_fail(j, s, fsc_last_message());
}
