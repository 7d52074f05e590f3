/* bench.c - `fsc bench FILE --axis N=256..12672:128 NAME=VALUE…`: time and GB/s of a kernel over sizes,
 * types and warps.
 *
 * In: a file, the axes, words as of `fsc run` in which axes may stand for numbers. Out: a line for each point, or JSON
 * with every sample; a plot. Method: each point is a job of its own. Before each timed launch on a GPU the L2 is
 * written over (flush.h), so that data comes from memory; the median of the samples counts.
 */
#include "base/schema.h"
#include "tool/bench/plot.h"
#include "tool/interrupt.h"
#include "tool/run/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bench {
    ToolOptions *o;
    const char *text; /* of the file */
    size_t length;
    fsc_device *device;
    FscDeviceProps props;
    Flush flush;
    Sweep sweep;
    Names warps; /* one at least; "" says nothing */
    Plot plot;
    uint32_t points;
} Bench;

/* ---- What is varied ---------------------------------------------------------------------------------------------- */

static bool read_axes(Bench *b) {
    if (b->o->axes.len == 0) {
        fprintf(
            stderr,
            "fsc bench: nothing to vary; give --axis NAME=256..12672:128, NAME a parameter or a name used in a word\n");
        return false;
    }
    if (!sweep_read(&b->sweep, b->o)) return false;
    split_list(b->o->arena, b->o->warps_list, &b->warps);
    for (uint32_t i = 0; i < b->warps.len; i++) {
        static const char *const allowed[] = {"", "1", "2", "4", "8", "16", "32"};
        bool fits = false;
        for (uint32_t k = 0; k < COUNT(allowed); k++) fits |= strcmp(b->warps.at[i], allowed[k]) == 0;
        if (fits) continue;
        fprintf(stderr, "fsc bench: --num-warps takes some of 1,2,4,8,16,32, not '%s'\n", b->warps.at[i]);
        return false;
    }
    return true;
}

/* ---- One point --------------------------------------------------------------------------------------------------- */

typedef struct Shown {
    const int64_t *values; /* one an axis */
    const char *dtype, *warps;
} Shown;

static void print_head(const Bench *b) {
    for (uint32_t i = 0; i < b->sweep.num_axes; i++) printf("%10s", b->sweep.axes[i].name);
    printf("  %-6s %5s %12s %10s   on %s, median of %u\n", "dtype", "warps", "ms", "GB/s", b->props.name, b->o->repeat);
}

static void print_point(const Bench *b, const Shown *p, const Job *j, const double *times) {
    uint32_t repeat = b->o->repeat;
    double ms = times[repeat / 2], rate = ms > 0 ? (double)job_bytes(j) / ms * 1e-6 : 0;
    if (!b->o->json) {
        if (b->points == 0) print_head(b);
        for (uint32_t i = 0; i < b->sweep.num_axes; i++) printf("%10" PRId64, p->values[i]);
        printf("  %-6s %5s %12.4f %10.1f\n", *p->dtype ? p->dtype : "-", *p->warps ? p->warps : "-", ms, rate);
        fflush(stdout);
        return;
    }
    printf("%s\n  {", b->points ? "," : "");
    for (uint32_t i = 0; i < b->sweep.num_axes; i++)
        printf("\"%s\": %" PRId64 ", ", b->sweep.axes[i].name, p->values[i]);
    if (*p->dtype) printf("\"dtype\": \"%s\", ", p->dtype);
    if (*p->warps) printf("\"num_warps\": %s, ", p->warps);
    printf("\"bytes\": %" PRIu64 ", \"milliseconds\": %.6f, \"gigabytes_per_second\": %.3f, \"samples\": [",
           job_bytes(j), ms, rate);
    for (uint32_t i = 0; i < repeat; i++) printf("%s%.6f", i ? ", " : "", times[i]);
    printf("]}");
}

/* The curve of everything but the first axis. */
static Curve *curve_of(Bench *b, const Shown *p) {
    Text name = {0};
    text_printf(&name, "%s", p->dtype);
    if (*p->warps) text_printf(&name, "%s%s warps", name.len ? ", " : "", p->warps);
    for (uint32_t i = 1; i < b->sweep.num_axes; i++)
        text_printf(&name, "%s%s = %" PRId64, name.len ? ", " : "", b->sweep.axes[i].name, p->values[i]);
    const char *text = name.len ? arena_strndup(b->o->arena, name.at, name.len) : "fsc";
    text_free(&name);
    for (uint32_t i = 0; i < b->plot.curves.len; i++)
        if (strcmp(b->plot.curves.at[i].name, text) == 0) return &b->plot.curves.at[i];
    Curve made = {.name = text};
    vec_push(b->o->arena, &b->plot.curves, made);
    return &b->plot.curves.at[b->plot.curves.len - 1];
}

static ExitCode measure(Bench *b, const Point *at, const char *warps) {
    const Shown shown = {at->values, b->sweep.dtypes.at[at->dtype], warps}, *p = &shown;
    ToolOptions o = sweep_options(&b->sweep, at);
    if (*warps) o.compile.num_warps = (uint32_t)strtoul(warps, NULL, 10);
    Job j = {.o = &o, .device = b->device, .props = b->props, .grid = {1, 1, 1}, .text = b->text, .length = b->length};
    double *times = NEW_ARRAY(o.arena, double, o.repeat);
    ExitCode code = job_make(&j);
    fsc_status s = code == EXIT_DONE ? job_time(&j, o.warmup, o.repeat, &b->flush, times) : FSC_OK;
    if (s != FSC_OK) code = job_fail(&j, s);
    if (code == EXIT_DONE && !interrupt_came()) {
        Curve *curve = curve_of(b, p);
        double ms = times[o.repeat / 2];
        vec_push(o.arena, &curve->x, (double)p->values[0]);
        vec_push(o.arena, &curve->y, ms > 0 ? (double)job_bytes(&j) / ms * 1e-6 : 0);
        print_point(b, p, &j, times);
        b->points++;
    }
    job_free(&j);
    return code;
}

/* ---- All points -------------------------------------------------------------------------------------------------- */

static ExitCode sweep_all(Bench *b) {
    if (b->o->json) {
        printf("{\"schema_version\": %d, \"device\": \"%s\", \"repeat\": %u, \"points\": [", SCHEMA_BENCH,
               b->props.name, b->o->repeat);
    }
    ExitCode code = EXIT_DONE;
    interrupt_begin(b->device);
    for (uint32_t w = 0; w < b->warps.len && code == EXIT_DONE && !interrupt_came(); w++) {
        Point p = sweep_first(&b->sweep);
        do {
            code = measure(b, &p, b->warps.at[w]);
        } while (code == EXIT_DONE && !interrupt_came() && sweep_next(&b->sweep, &p));
    }
    interrupt_end();
    if (b->o->json) printf("\n]}\n");
    if (interrupt_came()) fprintf(stderr, "fsc bench: stopped after %u points\n", b->points);
    return code;
}

static ExitCode draw(Bench *b) {
    const Axis *x = &b->sweep.axes[0];
    Text picture = {0};
    b->plot.title = arena_printf(b->o->arena, "%s on %s", b->o->compile.file, b->props.name);
    b->plot.x_name = x->name;
    b->plot.y_name = "GB/s";
    b->plot.log_x = x->at.at[0] > 0 && x->at.at[x->at.len - 1] / x->at.at[0] >= 64;
    plot_write(&b->plot, &picture);
    ExitCode code = file_write(b->o->svg, picture.at, picture.len);
    text_free(&picture);
    return code;
}

static ExitCode run_bench(Bench *b) {
    fsc_status s = fsc_device_open(b->o->device, &b->device);
    if (s == FSC_OK) s = fsc_device_props(b->device, &b->props);
    if (s == FSC_OK) s = flush_create(b->device, &b->props, &b->flush);
    if (s != FSC_OK) return tool_fail(s, fsc_last_message());
    ExitCode code = sweep_types(&b->sweep, b->device, b->text, b->length);
    if (code == EXIT_DONE) code = sweep_all(b);
    if (code == EXIT_DONE && b->o->svg && b->points) code = draw(b);
    return code;
}

ExitCode command_bench(ToolOptions *o) {
    if (o->words.len == 0) {
        fprintf(stderr, "fsc bench: no input file; 'fsc bench --help' says how to call it\n");
        return EXIT_CALL;
    }
    if (o->repeat == 0) {
        fprintf(stderr, "fsc bench: --repeat 0 measures nothing\n");
        return EXIT_CALL;
    }
    Bench b = {.o = o};
    if (!read_axes(&b)) return EXIT_CALL;
    char *text = file_read(o->words.at[0], &b.length);
    if (!text) return EXIT_INPUT;
    b.text = text;
    o->compile.file = strcmp(o->words.at[0], "-") == 0 ? "<stdin>" : o->words.at[0];
    ExitCode code = o->svg ? file_claim(o->svg, false) : EXIT_DONE;
    if (code == EXIT_DONE) code = run_bench(&b);
    flush_destroy(&b.flush);
    fsc_device_close(b.device);
    free(text);
    return code;
}
