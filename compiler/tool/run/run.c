/* run.c - `fsc run FILE NAME=VALUE…`: compile, launch, time.
 *
 * In: a file and what its parameters are. Out: files for the buffers that the kernel writes, and a line with the time
 * and the rate: bytes of each buffer read once and written once, over the median time of a launch. The results are
 * those of the first launch; warm-ups and repeats come after it (of the CPU's: warm-up 0, repeat 1 is one launch in
 * all).
 */
#include "base/schema.h"
#include "codegen/codegen.h"
#include "tool/interrupt.h"
#include "tool/run/expect.h"
#include "tool/run/told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_written(const Bound *p) {
    return p->array.data && p->writes && p->word && p->word->kind == WORD_FILE;
}

static bool is_stream(const Bound *p) {
    return is_written(p) && strcmp(p->word->path, "-") == 0;
}

/* Where lines for people go: standard output has room for one array, or for text. */
static FILE *lines_of(const Job *j) {
    FILE *f = stdout;
    for (uint32_t i = 0; i < j->bounds.interface->num_params; i++)
        if (is_stream(&j->bounds.at[i])) f = stderr;
    return f;
}

/* The files of buffers that the kernel writes; one that it reads first is written back. */
static ExitCode claim_files(const Job *j) {
    const Bounds *b = &j->bounds;
    const char *streamed = NULL;
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        const Bound *p = &b->at[i];
        const char *other = !is_stream(p)    ? NULL
                            : streamed       ? streamed
                            : j->o->json     ? "--json"
                            : j->o->coverage ? "--coverage"
                                             : NULL;
        if (other) {
            fprintf(stderr, "fsc run: standard output takes %s or %s, not both; write one to a file, %s=%s.npy\n",
                    other, p->param->name, p->param->name, p->param->name);
            return EXIT_CALL;
        }
        if (is_stream(p)) streamed = p->param->name;
        ExitCode code = is_written(p) ? file_claim(p->word->path, p->reads && !p->word->has_shape) : EXIT_DONE;
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

/* Back to the host, and to files. */
static ExitCode download(Job *j) {
    const Bounds *b = &j->bounds;
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        Bound *p = &b->at[i];
        if (!is_written(p) && !(p->is_asked && p->writes)) continue;
        ExitCode code = job_fetch(j, i);
        if (code == EXIT_DONE && is_written(p)) code = npy_write(p->word->path, &p->array);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

static double rate_of(const Job *j, double ms) {
    return ms > 0 ? (double)job_bytes(j) / ms * 1e-6 : 0;
}

/* What the driver says of the code that was launched, and where the code came from; nothing of host code, which has no
 * registers, nor of an explicit grid's, which may be another variant's. */
static void print_resources(const Job *j) {
    fsc_kernel *kernel = NULL;
    fsc_kernel_report r;
    fsc_variant_counts counts;
    if (j->props.kind != FSC_CUDA || j->has_grid || fsc_jit_prepare(j->jit, j->args, j->nargs, &kernel) != FSC_OK)
        return;
    if (fsc_kernel_warmup(kernel, 0, &r) != FSC_OK) return;
    fsc_jit_counts(j->jit, &counts);
    printf(", \"threads_per_block\": %u, \"registers\": %u, \"spill_bytes\": %u, \"shared_bytes\": %u, "
           "\"blocks_per_sm\": %u, "
           "\"from_disk\": %s",
           r.threads_per_block, r.registers, r.spill_bytes, r.shared_static + r.shared_dynamic, r.blocks_per_sm,
           counts.from_disk ? "true" : "false");
}

/* By which line of a tuning file; NULL: there is none. */
static const char *told(const Job *j) {
    const RuleEnv env = bounds_env(&j->bounds);
    return tuned_told(j->o->arena, fsc_jit_interface(j->jit), &env);
}

/* One object, with what there is of times, resources and lines. */
static void print_json(const Job *j, const double *ms) {
    fsc_counts c;
    bool has_lines = j->o->coverage && fsc_device_counts(j->device, &c) == FSC_OK;
    if (!ms && !has_lines) return;
    printf("{\"schema_version\": %d, \"kernel\": \"%s\", \"device\": \"%s\"",
           j->o->coverage ? SCHEMA_COVERAGE : SCHEMA_RUN, j->bounds.interface->kernel, j->props.name);
    if (ms)
        printf(", \"milliseconds\": %.6f, \"bytes\": %" PRIu64 ", \"gigabytes_per_second\": %.3f, \"repeat\": %u", *ms,
               job_bytes(j), rate_of(j, *ms), j->o->repeat);
    if (ms) print_resources(j);
    if (ms && told(j)) printf(", \"tuned\": \"%s\"", told(j));
    if (has_lines) coverage_json(&c);
    printf("}\n");
}

static void print_text(const Job *j, double ms) {
    FILE *f = lines_of(j);
    if (j->o->check) {
        fprintf(f, "%s on %s, checked: no mistakes (%.4f ms, median of %u)\n", j->bounds.interface->kernel,
                j->props.name, ms, j->o->repeat);
    } else {
        fprintf(f, "%s on %s: %.4f ms, %.1f GB/s (median of %u, %.3f MB)\n", j->bounds.interface->kernel, j->props.name,
                ms, rate_of(j, ms), j->o->repeat, (double)job_bytes(j) * 1e-6);
    }
    if (told(j)) fprintf(f, "  tuned: %s\n", told(j));
}

/* What --print and --expect ask for. */
static ExitCode answer(Job *j) {
    Text text = {0};
    const Bounds *b = &j->bounds;
    for (uint32_t i = 0; i < j->o->prints.len; i++)
        for (uint32_t k = 0; k < b->interface->num_params; k++)
            if (strcmp(b->at[k].param->name, j->o->prints.at[i]) == 0)
                show_array(&text, j->o->prints.at[i], &b->at[k].array);
    size_t shown = text.len;
    ExitCode code = expect_all(j, &text);
    fwrite(text.at ? text.at : "", 1, code == EXIT_DONE && !j->o->json ? text.len : shown, lines_of(j));
    if (code == EXIT_INPUT)
        fprintf(stderr, "%sfsc run: not as expected; --print shows a buffer, --rtol and --atol allow more\n",
                text.at + shown);
    text_free(&text);
    return code;
}

/* times: NULL where it is not timed. The emulator's may take long, and Ctrl-C ends it. */
static fsc_status launch_first(Job *j, double *times) {
    bool is_long = j->props.kind == FSC_EMU;
    if (is_long) interrupt_begin(j->device);
    fsc_status s = times ? job_time(j, 0, 1, NULL, times) : job_launch(j);
    if (s == FSC_OK && !times) s = fsc_stream_wait(j->device, NULL);
    if (is_long) interrupt_end();
    return s;
}

/* The first launch gives the results; with no warm-up it is also the first that is timed. *ms: the median,
 * NULL if none is. A launch that was stopped has findings and counts, but no results. */
static ExitCode launch_all(Job *j, const double **ms) {
    uint32_t warmup = j->o->warmup, repeat = j->o->repeat;
    double *times = NEW_ARRAY(j->o->arena, double, repeat + 1);
    fsc_status s = launch_first(j, warmup == 0 && repeat == 1 ? times : NULL);
    if (interrupt_came()) interrupt_tell(j->device);
    if (s != FSC_OK) return job_fail(j, s);
    if (interrupt_came()) return EXIT_DONE;
    ExitCode code = download(j);
    if (code == EXIT_DONE) code = answer(j);
    if (code != EXIT_DONE) return code;
    if (repeat && !(warmup == 0 && repeat == 1)) {
        s = job_time(j, warmup ? warmup - 1 : 0, repeat, NULL, times);
        if (s != FSC_OK) return job_fail(j, s);
    }
    if (repeat) *ms = &times[repeat / 2];
    return EXIT_DONE;
}

static ExitCode run_source(Job *j) {
    const double *ms = NULL;
    ExitCode code = job_make(j);
    if (code == EXIT_DONE) code = expect_names(j);
    if (code == EXIT_DONE) code = claim_files(j);
    if (code == EXIT_DONE) code = launch_all(j, &ms);
    if (j->o->json)
        print_json(j, ms);
    else if (ms)
        print_text(j, *ms);
    if (j->o->coverage && !j->o->json) coverage_text(j);
    return code;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* --arch=cpu and --arch=emu name a device, too; checks and coverage need one of the two.
 * Where time is not the point, one launch does. */
static void choose_device(ToolOptions *o) {
    bool is_auto = strcmp(o->device, "auto") == 0;
    const Target *t = o->has_arch ? target_find(o->compile.arch) : NULL;
    if (t && target_runs_here(t))
        o->device = o->compile.arch;
    else if (o->check && is_auto)
        o->device = "emu";
    else if (o->coverage && is_auto)
        o->device = "cpu";
    if (!o->check && !o->coverage && !o->compile.device_debug && strncmp(o->device, "emu", 3) != 0) return;
    if (!o->has_warmup) o->warmup = 0;
    if (!o->has_repeat) o->repeat = 1;
}

ExitCode command_run(ToolOptions *o) {
    if (o->words.len == 0) {
        fprintf(stderr, "fsc run: no input file; 'fsc run --help' says how to call it\n");
        return EXIT_CALL;
    }
    if (o->json && o->prints.len) {
        fprintf(stderr, "fsc run: --print is text and --json an object; write a file instead: %s=%s.npy\n",
                o->prints.at[0], o->prints.at[0]);
        return EXIT_CALL;
    }
    Job j = {.o = o, .grid = {1, 1, 1}};
    const char *file = o->words.at[0];
    size_t length = 0;
    char *text = file_read(file, &length);
    if (!text) return EXIT_INPUT;
    o->compile.file = strcmp(file, "-") == 0 ? "<stdin>" : file;
    j.text = text;
    j.length = length;
    choose_device(o);
    ExitCode code;
    fsc_status s = fsc_device_open(o->device, &j.device);
    if (s == FSC_OK && o->check) s = fsc_device_check(j.device, true);
    if (s == FSC_OK && o->coverage) s = fsc_device_count_lines(j.device, true);
    if (s == FSC_OK) s = fsc_device_props(j.device, &j.props);
    code = s == FSC_OK ? run_source(&j) : tool_fail(s, fsc_last_message());
    if (s == FSC_NO_DRIVER) fprintf(stderr, "  --device=cpu and --device=emu need none\n");
    job_print_log(&j);
    job_free(&j);
    fsc_device_close(j.device);
    free(text);
    return code;
}
