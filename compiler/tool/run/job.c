/* job.c - one kernel with its arguments on a device.
 *
 * In: a file's text and NAME=VALUE words. Out: a JIT with uploaded arguments and a grid; launches, and their times.
 * Method: the file is compiled twice: as its options alone have it, for the interface that words are bound to, and with
 * the constexpr parameters and types that words fixed.
 */
#include "tool/run/job.h"

#include "driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_GAP = 1 << 20, /* bytes between buffers of a checked launch, so that what misses one hits no other */
    QUEUED = 64,         /* timed launches that are queued before the first time is asked for */
};

ExitCode tool_fail(fsc_status s, const char *message) {
    fprintf(stderr, "%s: %s\n", tool_name, message);
    return (ExitCode)fsc_status_exit_code(s);
}

void job_show(FILE *f, const char *text, size_t n) {
    Text shown = {0};
    text_visible(&shown, text, n);
    if (shown.len) fwrite(shown.at, 1, shown.len, f);
    text_free(&shown);
}

/* The finding's line of the source with a caret below; nothing if it has no place in this file. */
static void print_source_line(const Job *j, const fsc_finding *f) {
    const char *at = j->text, *end = j->text + j->length;
    for (uint32_t line = 1; line < f->line && at; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    if (!f->line || !at || strcmp(f->file, j->o->compile.file) != 0) return;
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
    fprintf(stderr, "%5u | ", f->line);
    job_show(stderr, at, (size_t)(stop - at));
    fputs("\n      | ", stderr);
    for (const char *s = at; s < stop && s - at < (ptrdiff_t)f->col - 1;) {
        uint32_t n = visible_length(s, (size_t)(stop - s));
        fputs(*s == '\t' ? "\t" : n ? " " : "    ", stderr); /* <XX> is four */
        s += n ? n : 1;
    }
    fputs("^\n", stderr);
}

/* What a checked launch found. */
static ExitCode fail_check(const Job *j, fsc_status s) {
    size_t n = fsc_device_findings(j->device);
    fsc_finding f, before;
    for (size_t i = 0; i < n; i++) {
        if (fsc_device_finding(j->device, i, &f) != FSC_OK) break;
        job_show(stderr, f.text, strlen(f.text));
        fputc('\n', stderr);
        print_source_line(j, &f);
        bool is_said = false;
        for (size_t k = 0; k < i && !is_said; k++)
            is_said = fsc_device_finding(j->device, k, &before) == FSC_OK && strcmp(before.advice, f.advice) == 0;
        if (!is_said) fprintf(stderr, "note: %s\n", f.advice);
    }
    if (s == FSC_ERROR_ASSERT)
        fprintf(stderr, "%s: %s\n", tool_name, fsc_status_text(s));
    else
        fprintf(stderr, "%s: the checks found %zu mistake%s\n", tool_name, n, n == 1 ? "" : "s");
    return (ExitCode)fsc_status_exit_code(s);
}

ExitCode job_fail(const Job *j, fsc_status s) {
    if (s == FSC_ERROR_CHECK || (s == FSC_ERROR_ASSERT && fsc_device_findings(j->device))) return fail_check(j, s);
    return tool_fail(s, *fsc_jit_message(j->jit) ? fsc_jit_message(j->jit) : fsc_last_message());
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static fsc_status upload(Job *j) {
    const Bounds *b = &j->bounds;
    j->args = NEW_ARRAY(j->o->arena, fsc_arg, b->interface->num_params);
    j->buffers = NEW_ARRAY(j->o->arena, void *, b->interface->num_params);
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        const Bound *p = &b->at[i];
        if (p->param->kind == RECORD_CONSTEXPR) continue;
        if (!p->array.data) {
            RuleValue v = p->value->value;
            j->args[j->nargs++] = !p->value->known ? p->word->number : v.is_float ? fsc_float(v.f) : fsc_int(v.i);
            continue;
        }
        uint64_t bytes = p->array.bytes + (j->o->check && p->array.bytes ? CHECK_GAP : 0);
        fsc_status s = fsc_memory_alloc(j->device, bytes, &j->buffers[i]);
        if (s == FSC_OK && p->array.bytes)
            s = fsc_memory_write(j->device, j->buffers[i], p->array.data, p->array.bytes);
        if (s != FSC_OK) return s;
        j->args[j->nargs++] = fsc_pointer(j->buffers[i], p->array.bytes, fsc_dtype_find(p->array.dtype));
    }
    return FSC_OK;
}

/* What another job was given, by name. */
static void take_arrays(Job *j) {
    for (uint32_t i = 0; j->like && i < j->bounds.interface->num_params; i++) {
        const Array *to = &j->bounds.at[i].array;
        for (uint32_t k = 0; to->data && k < j->like->interface->num_params; k++) {
            const Bound *p = &j->like->at[k];
            const Array *from = p->given.data ? &p->given : &p->array;
            bool is_same = strcmp(p->param->name, j->bounds.at[i].param->name) == 0 && p->reads;
            if (is_same && from->bytes == to->bytes) memcpy(to->data, from->data, to->bytes);
        }
    }
}

/* Constexpr parameters as this variant has them, wherever the values came from. */
static void bind_variant(const Record *variant, RuleBinding *values, uint32_t num_values) {
    for (uint32_t i = 0; i < num_values; i++) {
        for (uint32_t k = 0; k < variant->num_params && !values[i].known; k++) {
            const RecordParam *p = &variant->params[k];
            if (p->kind == RECORD_CONSTEXPR && strcmp(p->name, values[i].name) == 0)
                values[i].known = record_value(p, &values[i].value);
        }
    }
}

ExitCode job_grid(Job *j) {
    fsc_kernel *kernel = NULL;
    fsc_status s = fsc_jit_prepare(j->jit, j->args, j->nargs, &kernel);
    if (s != FSC_OK) return tool_fail(s, fsc_jit_message(j->jit));
    const Record *variant = fsc_kernel_record(kernel, 0);
    j->has_grid = j->o->grid != NULL;
    if (!j->has_grid && variant->num_grid == 0) {
        fprintf(stderr, "%s: kernel %s has no launch rule; give the number of programs: --grid=EXPR\n", tool_name,
                variant->kernel);
        return EXIT_CALL;
    }
    if (!j->has_grid) return EXIT_DONE;
    RuleEnv env = bounds_env(&j->bounds);
    RuleBinding *values = NEW_ARRAY(j->o->arena, RuleBinding, env.num_values);
    for (uint32_t i = 0; i < env.num_values; i++) values[i] = env.values[i];
    env.values = values;
    env.num_sms = j->props.sms;
    env.max_shared = j->props.shared_per_block_optin;
    env.num_regs = j->props.registers_per_sm;
    env.warp_size = j->props.warp_size;
    bind_variant(variant, values, env.num_values);
    char err[256];
    if (driver_grid(j->o->arena, j->o->grid, j->bounds.interface, &env, j->grid, err, sizeof err)) return EXIT_DONE;
    fprintf(stderr, "%s: --grid %s: %s\n", tool_name, j->o->grid, err);
    return EXIT_CALL;
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

fsc_status job_launch(Job *j) {
    return fsc_jit_launch(j->jit, j->has_grid ? j->grid : NULL, j->args, j->nargs, NULL);
}

ExitCode job_fetch(Job *j, uint32_t i) {
    Bound *p = &j->bounds.at[i];
    if (j->o->expects.len && p->reads) {
        Array *a = &p->array;
        p->given = *a;
        if (!array_create(a, p->param->name, p->given.dtype, p->given.rank, p->given.shape)) return EXIT_ENVIRONMENT;
    }
    fsc_status s = p->array.bytes ? fsc_memory_read(j->device, p->array.data, j->buffers[i], p->array.bytes) : FSC_OK;
    return s == FSC_OK ? EXIT_DONE : tool_fail(s, fsc_last_message());
}

/* Queues up to QUEUED launches between two events each, so that the GPU does not wait for the host between them;
 * then reads. */
static fsc_status time_some(Job *j, uint32_t count, const Flush *flush, fsc_event **marks, double *times) {
    fsc_status s = FSC_OK;
    for (uint32_t i = 0; s == FSC_OK && i < count; i++) {
        if (flush) s = flush_launch(flush);
        if (s == FSC_OK) s = fsc_event_record(marks[2 * i], NULL);
        if (s == FSC_OK) s = job_launch(j);
        if (s == FSC_OK) s = fsc_event_record(marks[2 * i + 1], NULL);
    }
    for (uint32_t i = 0; s == FSC_OK && i < count; i++)
        s = fsc_event_elapsed(marks[2 * i], marks[2 * i + 1], &times[i]);
    return s;
}

fsc_status job_time(Job *j, uint32_t warmup, uint32_t repeat, const Flush *flush, double *times) {
    fsc_event *marks[2 * QUEUED] = {NULL};
    uint32_t used = repeat < QUEUED ? repeat : QUEUED;
    fsc_status s = FSC_OK;
    for (uint32_t i = 0; s == FSC_OK && i < 2 * used; i++) s = fsc_event_create(j->device, &marks[i]);
    for (uint32_t i = 0; s == FSC_OK && i < warmup; i++) s = job_launch(j);
    for (uint32_t done = 0; s == FSC_OK && done < repeat; done += QUEUED)
        s = time_some(j, repeat - done < QUEUED ? repeat - done : QUEUED, flush, marks, times + done);
    for (uint32_t i = 0; i < 2 * used; i++) fsc_event_destroy(marks[i]);
    if (s == FSC_OK) qsort(times, repeat, sizeof *times, compare);
    return s;
}

uint64_t job_bytes(const Job *j) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < j->bounds.interface->num_params; i++) {
        const Bound *p = &j->bounds.at[i];
        if (p->array.data) bytes += p->array.bytes * ((p->reads ? 1u : 0u) + (p->writes ? 1u : 0u));
    }
    return bytes;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

ExitCode job_open(Job *j) {
    fsc_status s = fsc_jit_create(j->device, j->text, j->length, &j->o->compile, &j->front);
    if (s != FSC_OK) {
        fputs(fsc_jit_message(j->front), stderr);
        return (ExitCode)fsc_status_exit_code(s);
    }
    if (!bounds_make(&j->bounds, j->o, j->front)) return j->bounds.is_wrong_source ? EXIT_INPUT : EXIT_CALL;
    take_arrays(j);
    s = upload(j);
    return s == FSC_OK ? EXIT_DONE : tool_fail(s, fsc_last_message());
}

ExitCode job_make(Job *j) {
    ExitCode code = job_open(j);
    if (code != EXIT_DONE) return code;
    fsc_status s = fsc_jit_create(j->device, j->text, j->length, &j->o->compile, &j->jit);
    return s == FSC_OK ? job_grid(j) : tool_fail(s, fsc_jit_message(j->jit));
}

void job_print_log(const Job *j) {
    const char *log = j->jit ? fsc_jit_log(j->jit) : "";
    const char *times = strstr(log, "parse   ");
    if (j->o->time_report || !times)
        fputs(log, stderr);
    else
        fwrite(log, 1, (size_t)(times - log), stderr);
}

void job_free(Job *j) {
    for (uint32_t i = 0; j->buffers && i < j->bounds.interface->num_params; i++) {
        if (j->buffers[i]) (void)fsc_memory_free(j->device, j->buffers[i]);
    }
    bounds_free(&j->bounds);
    fsc_jit_destroy(j->jit);
    fsc_jit_destroy(j->front);
}
