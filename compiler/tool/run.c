/* run.c - `fsc run FILE NAME=VALUE…`: compile, launch, time.
 *
 * In: a file and what its parameters are. Out: files for the buffers that the kernel writes, and a line with the time and
 * the rate: bytes of each buffer read once and written once, over the median time of a launch.
 * The results are those of the first launch; warm-ups and repeats come after it (of the CPU's: warm-up 0, repeat 1 is one
 * launch in all).
 */
#include "driver.h"
#include "tool/bind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_GAP = 1 << 20 }; /* bytes between buffers of a checked launch, so that what misses one hits no other */

typedef struct Run {
    ToolOptions *o;
    Bounds bounds;
    fsc_device *device;
    FscDeviceProps props;
    fsc_jit *front; /* the file as its options alone have it: the interface that words are bound to */
    fsc_jit *jit;   /* with the constexpr parameters and types that words fixed */
    FscArg *args;
    void **buffers; /* device memory, one per parameter of the interface, NULL for scalars */
    uint32_t nargs;
    int64_t grid[3];
    bool has_grid;
    const char *text; /* of the file */
    size_t length;
} Run;

static ExitCode fail(fsc_status s, const char *message) {
    fprintf(stderr, "fsc run: %s\n", message);
    return (ExitCode)fsc_status_exit_code(s);
}

/* The finding's line of the source with a caret below; nothing if it has no place in this file. */
static void print_source_line(const Run *r, const FscFinding *f) {
    const char *at = r->text, *end = r->text + r->length;
    for (uint32_t line = 1; line < f->line && at; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    if (!f->line || !at || strcmp(f->file, r->o->compile.file) != 0) return;
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
    fprintf(stderr, "%5u | %.*s\n      | ", f->line, (int)(stop - at), at);
    for (const char *s = at; s < stop && s - at < (ptrdiff_t)f->col - 1; s++) {
        if (((unsigned char)*s & 0xC0) != 0x80) fputc(*s == '\t' ? '\t' : ' ', stderr); /* one a character */
    }
    fputs("^\n", stderr);
}

/* What a checked launch found. */
static ExitCode fail_check(const Run *r, fsc_status s) {
    size_t n = fsc_device_findings(r->device);
    FscFinding f, before;
    for (size_t i = 0; i < n; i++) {
        if (fsc_device_finding(r->device, i, &f) != FSC_OK) break;
        fprintf(stderr, "%s\n", f.text);
        print_source_line(r, &f);
        bool is_said = false;
        for (size_t k = 0; k < i && !is_said; k++)
            is_said = fsc_device_finding(r->device, k, &before) == FSC_OK && strcmp(before.advice, f.advice) == 0;
        if (!is_said) fprintf(stderr, "note: %s\n", f.advice);
    }
    if (s == FSC_ERROR_ASSERT)
        fprintf(stderr, "fsc run: %s\n", fsc_status_text(s));
    else
        fprintf(stderr, "fsc run: the checks found %zu mistake%s\n", n, n == 1 ? "" : "s");
    return (ExitCode)fsc_status_exit_code(s);
}

static ExitCode fail_launch(const Run *r, fsc_status s) {
    if (s == FSC_ERROR_CHECK || (s == FSC_ERROR_ASSERT && fsc_device_findings(r->device))) return fail_check(r, s);
    return fail(s, *fsc_jit_message(r->jit) ? fsc_jit_message(r->jit) : fsc_last_message());
}

/* ---- Arguments ---------------------------------------------------------------------------------------------------------- */

static fsc_status upload(Run *r) {
    const Bounds *b = &r->bounds;
    r->args = NEW_ARRAY(r->o->arena, FscArg, b->interface->num_params);
    r->buffers = NEW_ARRAY(r->o->arena, void *, b->interface->num_params);
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        const Bound *p = &b->at[i];
        if (p->param->kind == RECORD_CONSTEXPR) continue;
        if (!p->array.data) {
            RuleValue v = p->value.value;
            bool wants_float = strchr(p->param->dtype, 'f') != NULL;
            r->args[r->nargs++] = v.is_float ? fsc_float(v.f) : wants_float ? fsc_float((double)v.i) : fsc_int(v.i);
            continue;
        }
        uint64_t bytes = p->array.bytes + (r->o->check && p->array.bytes ? CHECK_GAP : 0);
        fsc_status s = fsc_memory_alloc(r->device, bytes, &r->buffers[i]);
        if (s == FSC_OK && p->array.bytes) s = fsc_memory_write(r->device, r->buffers[i], p->array.data, p->array.bytes);
        if (s != FSC_OK) return s;
        r->args[r->nargs++] = fsc_pointer(r->buffers[i], p->array.bytes, fsc_dtype_find(p->array.dtype));
    }
    return FSC_OK;
}

/* Back to the host, and to files. */
static ExitCode download(Run *r) {
    const Bounds *b = &r->bounds;
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        Bound *p = &b->at[i];
        if (!p->array.data || !p->writes || p->word->kind != WORD_FILE) continue;
        fsc_status s = p->array.bytes ? fsc_memory_read(r->device, p->array.data, r->buffers[i], p->array.bytes) : FSC_OK;
        if (s != FSC_OK) return fail(s, fsc_last_message());
        if (!npy_write(p->word->path, &p->array)) return EXIT_ENVIRONMENT;
    }
    return EXIT_DONE;
}

/* Constexpr parameters as this variant has them, wherever the values came from. */
static void bind_variant(const Record *variant, RuleEnv *env) {
    RuleBinding *values = (RuleBinding *)(uintptr_t)env->values;
    for (uint32_t i = 0; i < env->num_values; i++) {
        for (uint32_t k = 0; k < variant->num_params && !values[i].known; k++) {
            const RecordParam *p = &variant->params[k];
            if (p->kind == RECORD_CONSTEXPR && strcmp(p->name, values[i].name) == 0) values[i].known = record_value(p, &values[i].value);
        }
    }
}

static ExitCode evaluate_grid(Run *r) {
    fsc_kernel *kernel = NULL;
    fsc_status s = fsc_jit_prepare(r->jit, r->args, r->nargs, &kernel);
    if (s != FSC_OK) return fail(s, fsc_jit_message(r->jit));
    const Record *variant = fsc_kernel_record(kernel, 0);
    r->has_grid = r->o->grid != NULL;
    if (!r->has_grid && variant->num_grid == 0) {
        fprintf(stderr, "fsc run: kernel %s has no launch rule; give the number of programs: --grid=EXPR\n", variant->kernel);
        return EXIT_CALL;
    }
    if (!r->has_grid) return EXIT_DONE;
    RuleEnv env = bounds_env(&r->bounds);
    env.num_sms = r->props.sms;
    env.max_shared = r->props.shared_per_block_optin;
    env.num_regs = r->props.registers_per_sm;
    env.warp_size = r->props.warp_size;
    bind_variant(variant, &env);
    char err[256];
    if (driver_grid(r->o->arena, r->o->grid, r->bounds.interface, &env, r->grid, err, sizeof err)) return EXIT_DONE;
    fprintf(stderr, "fsc run: --grid %s: %s\n", r->o->grid, err);
    return EXIT_CALL;
}

/* ---- Time ----------------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static fsc_status launch_once(Run *r) {
    return fsc_jit_launch(r->jit, r->has_grid ? r->grid : NULL, r->args, r->nargs, NULL);
}

/* The median of `repeat` launches in milliseconds. */
static fsc_status time_launches(Run *r, uint32_t warmup, uint32_t repeat, double *median) {
    fsc_event *start = NULL, *end = NULL;
    double *times = NEW_ARRAY(r->o->arena, double, repeat);
    fsc_status s = fsc_event_create(r->device, &start);
    if (s == FSC_OK) s = fsc_event_create(r->device, &end);
    for (uint32_t i = 0; s == FSC_OK && i < warmup; i++) s = launch_once(r);
    for (uint32_t i = 0; s == FSC_OK && i < repeat; i++) {
        s = fsc_event_record(start, NULL);
        if (s == FSC_OK) s = launch_once(r);
        if (s == FSC_OK) s = fsc_event_record(end, NULL);
        if (s == FSC_OK) s = fsc_event_elapsed(start, end, &times[i]);
    }
    fsc_event_destroy(start);
    fsc_event_destroy(end);
    if (s != FSC_OK) return s;
    qsort(times, repeat, sizeof *times, compare);
    *median = times[repeat / 2];
    return FSC_OK;
}

static void print_result(const Run *r, double ms) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->bounds.interface->num_params; i++) {
        const Bound *p = &r->bounds.at[i];
        if (p->array.data) bytes += p->array.bytes * ((p->reads ? 1u : 0u) + (p->writes ? 1u : 0u));
    }
    double rate = ms > 0 ? (double)bytes / ms * 1e-6 : 0;
    if (r->o->json) {
        printf("{\"kernel\": \"%s\", \"device\": \"%s\", \"milliseconds\": %.6f, \"bytes\": %" PRIu64
               ", \"gigabytes_per_second\": %.3f, \"repeat\": %u}\n",
               r->bounds.interface->kernel, r->props.name, ms, bytes, rate, r->o->repeat);
    } else if (r->o->check) {
        printf("%s on %s, checked: no mistakes (%.4f ms, median of %u)\n", r->bounds.interface->kernel, r->props.name,
               ms, r->o->repeat);
    } else {
        printf("%s on %s: %.4f ms, %.1f GB/s (median of %u, %.3f MB)\n", r->bounds.interface->kernel, r->props.name, ms, rate,
               r->o->repeat, (double)bytes * 1e-6);
    }
}

/* The first launch gives the results; with no warm-up it is also the first that is timed. */
static ExitCode launch_all(Run *r) {
    uint32_t warmup = r->o->warmup, repeat = r->o->repeat;
    double ms = 0;
    fsc_status s;
    if (warmup == 0 && repeat == 1) {
        s = time_launches(r, 0, 1, &ms);
    } else {
        s = launch_once(r);
        if (s == FSC_OK) s = fsc_stream_wait(r->device, NULL);
    }
    if (s != FSC_OK) return fail_launch(r, s);
    ExitCode code = download(r);
    if (code != EXIT_DONE) return code;
    if (repeat && !(warmup == 0 && repeat == 1)) {
        s = time_launches(r, warmup ? warmup - 1 : 0, repeat, &ms);
        if (s != FSC_OK) return fail_launch(r, s);
    }
    if (repeat) print_result(r, ms);
    return EXIT_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------------------------------ */

/* Which pointers are read and written, from a compile with the defaults; NULL where that is not enough. */
static Record *find_accesses(const ToolOptions *o, const char *text, size_t length) {
    fsc_compile_options report = o->compile;
    report.arch = "cpu";
    report.emit = FSC_EMIT_REPORT;
    report.opt_level = 0;
    fsc_compilation *c = NULL;
    Record *found = NULL;
    if (fsc_compile(&report, text, length, &c) == FSC_OK) {
        const char *record = fsc_compilation_record(c);
        found = record_parse(record, strlen(record), NULL, 0);
    }
    fsc_compilation_destroy(c);
    return found;
}

static ExitCode run_source(Run *r, const char *text, size_t length) {
    fsc_status s = fsc_jit_create(r->device, text, length, &r->o->compile, &r->front);
    if (s != FSC_OK) {
        fputs(fsc_jit_message(r->front), stderr);
        return (ExitCode)fsc_status_exit_code(s);
    }
    Record *accesses = find_accesses(r->o, text, length);
    bool ok = bounds_make(&r->bounds, r->o, fsc_jit_interface(r->front), accesses);
    record_free(accesses);
    if (!ok) return EXIT_CALL;
    s = fsc_jit_create(r->device, text, length, &r->o->compile, &r->jit);
    if (s != FSC_OK) return fail(s, fsc_jit_message(r->jit));
    s = upload(r);
    if (s != FSC_OK) return fail(s, fsc_last_message());
    ExitCode code = evaluate_grid(r);
    return code == EXIT_DONE ? launch_all(r) : code;
}

/* What the compiles had to say besides errors: dumps and warnings; the times only if asked for. */
static void print_log(const Run *r) {
    const char *log = r->jit ? fsc_jit_log(r->jit) : "";
    const char *times = strstr(log, "parse   ");
    if (r->o->time_report || !times) fputs(log, stderr);
    else fwrite(log, 1, (size_t)(times - log), stderr);
}

/* --arch=cpu and --arch=emu name a device, too; checks need one of the two. Where time is not the point, one launch does. */
static void choose_device(ToolOptions *o) {
    bool is_auto = strcmp(o->device, "auto") == 0;
    if (o->has_arch && (strcmp(o->compile.arch, "cpu") == 0 || strcmp(o->compile.arch, "emu") == 0)) o->device = o->compile.arch;
    else if (o->check && is_auto) o->device = "emu";
    if (!o->check && !o->compile.device_debug && strncmp(o->device, "emu", 3) != 0) return;
    if (!o->has_warmup) o->warmup = 0;
    if (!o->has_repeat) o->repeat = 1;
}

ExitCode command_run(ToolOptions *o) {
    if (o->words.len == 0) {
        fprintf(stderr, "fsc run: no input file; 'fsc run --help' says how to call it\n");
        return EXIT_CALL;
    }
    Run r = {.o = o, .grid = {1, 1, 1}};
    const char *file = o->words.at[0];
    size_t length = 0;
    char *text = file_read(file, &length);
    if (!text) return EXIT_INPUT;
    o->compile.file = strcmp(file, "-") == 0 ? "<stdin>" : file;
    r.text = text;
    r.length = length;
    choose_device(o);
    ExitCode code;
    fsc_status s = fsc_device_open(o->device, &r.device);
    if (s == FSC_OK && o->check) s = fsc_device_check(r.device, true);
    if (s == FSC_OK) s = fsc_device_props(r.device, &r.props);
    code = s == FSC_OK ? run_source(&r, text, length) : fail(s, fsc_last_message());
    if (s == FSC_NO_DRIVER) fprintf(stderr, "  --device=cpu and --device=emu need none\n");
    print_log(&r);
    for (uint32_t i = 0; r.buffers && i < r.bounds.interface->num_params; i++) {
        if (r.buffers[i]) (void)fsc_memory_free(r.device, r.buffers[i]);
    }
    bounds_free(&r.bounds);
    fsc_jit_destroy(r.jit);
    fsc_jit_destroy(r.front);
    fsc_device_close(r.device);
    free(text);
    return code;
}
