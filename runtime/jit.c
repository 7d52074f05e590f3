/* jit.c - a source file on a device: the variant for each launch's arguments, compiled once and kept. Part of libfsc.
 *
 * In: text, a device, arguments. Out: a kernel handle per variant, launched through fsc_launch with all its checks.
 * Method: the kernel's interface (parameters before specialisation) is read once. A launch makes a key from what
 * specialises: element types, divisibility by 16, equality to 1, constexpr values of the launch rule, on GPUs the range that
 * a row's length falls into (bucket.h). A key that is new is compiled: on CUDA to PTX that the driver assembles, on the CPU to host code.
 */
#include "driver.h"
#include "runtime/bucket.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Variant {
    char *key;
    fsc_kernel *kernel;
} Variant;

struct fsc_jit {
    pthread_mutex_t lock; /* around everything below but the interface, which never changes */
    fsc_device *device;
    FscDeviceProps props;
    char *source, *file;
    size_t length;
    fsc_compile_options options;
    fsc_compilation *front; /* the parsed file: owns what the interface's compile needed */
    Record *interface;
    Variant *variants;
    size_t num_variants, cap;
    Text message, log;
};

static fsc_status fail(fsc_jit *j, fsc_status s, const char *text) {
    j->message.len = 0;
    text_printf(&j->message, "%s", text);
    return s;
}

const char *fsc_jit_message(const fsc_jit *j) {
    return j->message.at ? j->message.at : "";
}

const char *fsc_jit_log(const fsc_jit *j) {
    return j->log.at ? j->log.at : "";
}

const struct Record *fsc_jit_interface(const fsc_jit *j) {
    return j->interface;
}

/* ---- Open and close --------------------------------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < j->num_variants; i++) {
        fsc_kernel_destroy(j->variants[i].kernel);
        free(j->variants[i].key);
    }
    free(j->variants);
    record_free(j->interface);
    fsc_compilation_destroy(j->front);
    free_pairs(j->options.defines, j->options.num_defines);
    free_pairs(j->options.types, j->options.num_types);
    free((void *)(uintptr_t)j->options.kernel);
    free((void *)(uintptr_t)j->options.signature);
    free((void *)(uintptr_t)j->options.cpu);
    free((void *)(uintptr_t)j->options.print_after);
    free((void *)(uintptr_t)j->options.passes);
    free(j->source);
    free(j->file);
    text_free(&j->message);
    text_free(&j->log);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

static char *copy_name(const char *s) {
    return s ? copy_text(s, strlen(s)) : NULL;
}

fsc_status fsc_jit_create(fsc_device *device, const char *source, size_t length, const fsc_compile_options *o,
                          fsc_jit **out) {
    fsc_jit *j = calloc(1, sizeof *j);
    *out = j;
    if (!j) return FSC_ERROR_MEMORY;
    pthread_mutex_init(&j->lock, NULL);
    j->device = device;
    fsc_compile_options_init(&j->options);
    if (o) j->options = *o;
    j->options.divisible = NULL;
    j->options.num_divisible = 0;
    j->options.print_after = copy_name(j->options.print_after);
    bool leaves_out = j->options.passes && *j->options.passes == '-';
    j->options.passes = leaves_out ? copy_name(j->options.passes) : NULL;
    j->source = copy_text(source, length);
    j->file = copy_name(j->options.file);
    j->options.file = j->file;
    j->length = length;
    j->options.defines = copy_pairs(j->options.defines, j->options.num_defines);
    j->options.types = copy_pairs(j->options.types, j->options.num_types);
    j->options.kernel = copy_name(j->options.kernel);
    j->options.signature = copy_name(j->options.signature);
    j->options.cpu = copy_name(j->options.cpu);
    if (!j->source || !j->file || !j->options.defines || !j->options.types) return fail(j, FSC_ERROR_MEMORY, "out of memory");
    fsc_status s = fsc_device_props(device, &j->props);
    if (s != FSC_OK) return fail(j, s, fsc_last_message());
    j->options.arch = j->props.arch;
    j->options.emit = j->props.kind == FSC_CUDA ? FSC_EMIT_PTX : FSC_EMIT_ASM; /* of the host: code in memory */
    s = driver_interface(&j->options, j->source, length, &j->front, &j->interface);
    return s == FSC_OK ? FSC_OK : fail(j, s, fsc_compilation_diagnostics(j->front));
}

/* ---- From arguments to a variant -------------------------------------------------------------------------------------- */

enum { MAX_PARAMS = 256 };

/* What one launch says about every parameter of the interface. */
typedef struct Binding {
    RuleBinding values[MAX_PARAMS];
    fsc_name_value types[MAX_PARAMS], divisible[MAX_PARAMS], known[MAX_PARAMS], bounds[2 * MAX_PARAMS];
    size_t num_types, num_divisible, num_known, num_bounds;
    bool checked; /* the CPU's code asks before each access */
    Text key;
    Arena *arena;
} Binding;

static bool is_given(const fsc_name_value *pairs, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(pairs[i].name, name) == 0) return true;
    }
    return false;
}

static void add(fsc_name_value *list, size_t *n, const char *name, const char *value) {
    if (is_given(list, *n, name)) return;
    list[(*n)++] = (fsc_name_value){name, value};
}

static bool is_dtype_param(const Record *r, const char *name) {
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind == RECORD_CONSTEXPR && strcmp(r->params[i].name, name) == 0) return true;
    }
    return false;
}

static void bind_pointer(fsc_jit *j, Binding *b, const RecordParam *p, const FscArg *a) {
    const char *dtype = fsc_dtype_name(a->dtype);
    if (a->dtype != FSC_DTYPE_NONE && p->dtype[0] == '\0') {
        add(b->types, &b->num_types, p->name, arena_printf(b->arena, "*%s", dtype));
    } else if (a->dtype != FSC_DTYPE_NONE && is_dtype_param(j->interface, p->dtype)) {
        add(b->types, &b->num_types, p->dtype, dtype);
    }
    if ((uintptr_t)a->u.pointer % 16 == 0) add(b->divisible, &b->num_divisible, p->name, "16");
}

static void bind_scalar(fsc_jit *j, Binding *b, uint32_t index, const FscArg *a) {
    const RecordParam *p = &j->interface->params[index];
    bool is_int = a->kind == FSC_ARG_INT;
    int64_t i = a->u.integer;
    if (p->dtype[0] == '\0') {
        const char *type = !is_int ? "fp32" : i == (int32_t)i ? "i32" : "i64";
        add(b->types, &b->num_types, p->name, type);
    }
    b->values[index].known = true;
    b->values[index].value = is_int ? rule_int(i) : rule_float(a->u.real);
    char text[64];
    add(b->known, &b->num_known, p->name, arena_printf(b->arena, "%s", rule_value_print(b->values[index].value, text, sizeof text)));
    if (is_int && i == 1) add(b->divisible, &b->num_divisible, p->name, "1");
    if (is_int && i % 16 == 0) add(b->divisible, &b->num_divisible, p->name, "16");
}

static const char *option_value(const fsc_compile_options *o, const char *name) {
    for (size_t i = 0; i < o->num_defines; i++) {
        if (strcmp(o->defines[i].name, name) == 0) return o->defines[i].value;
    }
    return NULL;
}

/* Constexpr parameters in order: fixed by an option, else by the launch rule where its inputs are known. */
static fsc_status bind_constexpr(fsc_jit *j, Binding *b, uint32_t index) {
    const RecordParam *p = &j->interface->params[index];
    const char *given = option_value(&j->options, p->name);
    if (p->value_kind == RECORD_DTYPE) return FSC_OK;
    if (given || !p->rule) {
        RecordParam known = *p;
        if (given) known.value = given;
        b->values[index].known = known.value && known.value[0] && record_value(&known, &b->values[index].value);
        return FSC_OK;
    }
    RuleEnv env = {.values = b->values,
                   .num_values = j->interface->num_params,
                   .num_sms = j->props.sms,
                   .max_shared = j->props.shared_per_block_optin,
                   .num_regs = j->props.registers_per_sm,
                   .warp_size = j->props.warp_size};
    char err[256], text[64];
    RuleStatus s = rule_eval(p->rule, &env, &b->values[index].value, err, sizeof err);
    if (s == RULE_UNBOUND) return FSC_OK; /* the compile says what is missing, if the default does not do */
    if (s != RULE_OK) {
        char why[384];
        snprintf(why, sizeof why, "the launch rule of %s: %s", p->name, err);
        return fail(j, FSC_ERROR_RULE, why);
    }
    b->values[index].known = true;
    rule_value_print(b->values[index].value, text, sizeof text);
    text_printf(&b->key, "%s=%s ", p->name, text);
    return FSC_OK;
}

/* The lengths that GPU code is compiled for: as `-D n<=MOST -D n>=LEAST` would say. */
static void bind_bounds(const fsc_jit *j, Binding *b) {
    RuleEnv env = {.values = b->values, .num_values = j->interface->num_params};
    Bucket range;
    for (uint32_t i = 0; i < j->interface->num_params && j->props.kind != FSC_CPU; i++) {
        const char *name = j->interface->params[i].name;
        if (option_value(&j->options, name) || !bucket_find(j->interface, i, &env, &range)) continue;
        add(b->bounds, &b->num_bounds, arena_printf(b->arena, "%s>", name), arena_printf(b->arena, "%u", range.least));
        add(b->bounds, &b->num_bounds, arena_printf(b->arena, "%s<", name), arena_printf(b->arena, "%u", range.most));
    }
}

static fsc_status bind(fsc_jit *j, Binding *b, const FscArg *args, size_t nargs) {
    const Record *r = j->interface;
    if (r->num_params > MAX_PARAMS) return fail(j, FSC_ERROR_USAGE, "a kernel may have 256 parameters at most");
    size_t next = 0, runtime = 0;
    for (uint32_t i = 0; i < r->num_params; i++) {
        runtime += r->params[i].kind != RECORD_CONSTEXPR;
        b->values[i].name = r->params[i].name;
    }
    if (runtime != nargs) {
        char why[160];
        snprintf(why, sizeof why, "kernel %s takes %zu run-time arguments (pointers and scalars), not %zu", r->kernel, runtime, nargs);
        return fail(j, FSC_ERROR_ARGUMENT, why);
    }
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        if (p->kind == RECORD_CONSTEXPR) continue;
        const FscArg *a = &args[next++];
        if (a->kind == FSC_ARG_POINTER) bind_pointer(j, b, p, a);
        else bind_scalar(j, b, i, a);
    }
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind != RECORD_CONSTEXPR) continue;
        fsc_status s = bind_constexpr(j, b, i);
        if (s != FSC_OK) return s;
    }
    for (size_t i = 0; i < b->num_types; i++) text_printf(&b->key, "%s:%s ", b->types[i].name, b->types[i].value);
    bind_bounds(j, b);
    for (size_t i = 0; i < b->num_bounds; i++) text_printf(&b->key, "%s=%s ", b->bounds[i].name, b->bounds[i].value);
    for (size_t i = 0; i < b->num_divisible; i++) text_printf(&b->key, "%s/%s ", b->divisible[i].name, b->divisible[i].value);
    if (!b->key.at) text_printf(&b->key, " ");
    return FSC_OK;
}

/* ---- Compile and keep -------------------------------------------------------------------------------------------------- */

static void destroy_code(void *owner) {
    fsc_compilation_destroy(owner);
}

/* The code's sites as places; they live as long as the compilation. */
static const FscSite *sites_of(fsc_compilation *c, size_t *n) {
    const Span *spans = hostcode_sites(c->host, n);
    FscSite *sites = NEW_ARRAY(c->arena, FscSite, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        Place p = diag_place(c->diag, spans[i]);
        sites[i] = (FscSite){p.source ? p.source->name : "", p.line, p.col};
    }
    return sites;
}

static fsc_status load(fsc_jit *j, fsc_compilation *c, bool checked, fsc_module **module) {
    if (j->props.kind == FSC_CUDA) {
        size_t n = 0;
        const char *ptx = fsc_compilation_output(c, &n);
        fsc_status s = fsc_module_load(j->device, ptx, n, module);
        fsc_compilation_destroy(c);
        return s;
    }
    FscHostCode code = {.entry = hostcode_entry(c->host),
                        .thread = hostcode_thread(c->host),
                        .scratch_bytes = hostcode_scratch(c->host),
                        .checked = checked,
                        .debugs = j->options.device_debug,
                        .owner = c,
                        .destroy = destroy_code};
    code.sites = sites_of(c, &code.num_sites);
    fsc_status s = fsc_module_host(j->device, c->record, &code, module);
    if (s != FSC_OK) fsc_compilation_destroy(c);
    return s;
}

/* The caller's own choices first, then what the arguments say. */
static fsc_name_value *merge(const Binding *b, const fsc_name_value *own, size_t n, const fsc_name_value *more, size_t m, size_t *count) {
    fsc_name_value *all = NEW_ARRAY(b->arena, fsc_name_value, n + m + 1);
    *count = 0;
    for (size_t i = 0; i < n; i++) add(all, count, own[i].name, own[i].value);
    for (size_t i = 0; i < m; i++) add(all, count, more[i].name, more[i].value);
    return all;
}

static fsc_status compile_variant(fsc_jit *j, Binding *b, fsc_kernel **out) {
    fsc_compile_options o = j->options;
    o.types = merge(b, j->options.types, j->options.num_types, b->types, b->num_types, &o.num_types);
    o.defines = merge(b, j->options.defines, j->options.num_defines, b->bounds, b->num_bounds, &o.num_defines);
    o.divisible = b->divisible;
    o.num_divisible = b->num_divisible;
    o.known = b->known;
    o.num_known = b->num_known;
    o.device = &j->props;
    fsc_compilation *c = NULL;
    fsc_module *module = NULL;
    o.check = b->checked;
    fsc_status s = driver_compile(&o, j->source, j->length, j->props.kind != FSC_CUDA, &c);
    if (s != FSC_OK) {
        if (c) text_printf(&j->log, "%s", fsc_compilation_dumps(c));
        fail(j, s, c ? fsc_compilation_diagnostics(c) : "out of memory");
        fsc_compilation_destroy(c);
        return s;
    }
    text_printf(&j->log, "%s%s%s", fsc_compilation_dumps(c), fsc_compilation_diagnostics(c), fsc_compilation_times(c));
    s = load(j, c, b->checked, &module);
    if (s == FSC_OK) s = fsc_kernel_create(module, NULL, out);
    fsc_module_unload(module);
    return s == FSC_OK ? s : fail(j, s, fsc_last_message());
}

static fsc_status keep(fsc_jit *j, const Binding *b, fsc_kernel *kernel) {
    if (j->num_variants == j->cap) {
        size_t cap = j->cap ? j->cap * 2 : 8;
        Variant *more = realloc(j->variants, cap * sizeof *more);
        if (!more) return fail(j, FSC_ERROR_MEMORY, "out of memory");
        j->variants = more;
        j->cap = cap;
    }
    char *key = copy_text(b->key.at, b->key.len);
    if (!key) return fail(j, FSC_ERROR_MEMORY, "out of memory");
    j->variants[j->num_variants++] = (Variant){key, kernel};
    return FSC_OK;
}

static fsc_status prepare_locked(fsc_jit *j, const FscArg *args, size_t nargs, fsc_kernel **out) {
    Binding *b = calloc(1, sizeof *b);
    if (!b) return fail(j, FSC_ERROR_MEMORY, "out of memory");
    b->arena = arena_create();
    fsc_kernel *kernel = NULL;
    b->checked = j->props.kind == FSC_CPU && fsc_device_checks(j->device);
    if (b->checked) text_printf(&b->key, "checked ");
    fsc_status s = bind(j, b, args, nargs);
    for (size_t i = 0; s == FSC_OK && i < j->num_variants; i++) {
        if (strcmp(j->variants[i].key, b->key.at) == 0) kernel = j->variants[i].kernel;
    }
    if (s == FSC_OK && !kernel) {
        s = compile_variant(j, b, &kernel);
        if (s == FSC_OK) s = keep(j, b, kernel);
    }
    arena_destroy(b->arena);
    text_free(&b->key);
    free(b);
    if (s == FSC_OK) *out = kernel;
    return s;
}

fsc_status fsc_jit_prepare(fsc_jit *j, const FscArg *args, size_t nargs, fsc_kernel **out) {
    pthread_mutex_lock(&j->lock);
    fsc_status s = prepare_locked(j, args, nargs, out);
    pthread_mutex_unlock(&j->lock);
    return s;
}

fsc_status fsc_jit_launch(fsc_jit *j, const int64_t grid[3], const FscArg *args, size_t nargs, void *stream) {
    fsc_kernel *kernel = NULL;
    fsc_status s = fsc_jit_prepare(j, args, nargs, &kernel);
    if (s != FSC_OK) return s;
    s = fsc_launch(kernel, grid, args, nargs, stream);
    if (s == FSC_OK) return s;
    pthread_mutex_lock(&j->lock);
    fail(j, s, fsc_last_message());
    pthread_mutex_unlock(&j->lock);
    return s;
}
