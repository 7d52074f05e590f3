/* bench.c - `fsc bench FILE --axis N=256..12672:128 NAME=VALUE…`: time and GB/s of a kernel over sizes,
 * types and warps; beside them those of an earlier run, and of a copy of as many bytes.
 *
 * In: a file, the axes, words as of `fsc run` in which axes may stand for numbers. Out: a line for each point, or JSON
 * with every sample; a plot. Method: each point is a job of its own. Before each timed launch on a GPU the L2 is
 * written over (flush.h), so that data comes from memory; the median of the samples counts.
 */
#include "base/schema.h"
#include "tool/bench/against.h"
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
    fsc_props props;
    Flush flush;
    Sweep sweep;
    Names warps; /* one at least; "" says nothing */
    Plot plot;
    uint32_t points;
    Against against;
    uint32_t faster, slower, alike, fresh; /* than the earlier run; fresh: not in it */
    uint64_t copied;                       /* bytes of the last copy that was timed */
    double copy_ms;
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

/* ---- What stands beside a point ---------------------------------------------------------------------------------- */

static const char copy[] = "@kernel(grid=(cdiv(n, 2048),))\n"
                           "def copy(y: *i32[n], x: *i32[n], n: i32):\n"
                           "    i = program_id(0) * 2048 + arange(0, 2048)\n"
                           "    store(y + i, load(x + i, mask=i < n), mask=i < n)\n";

typedef struct Beside {
    double copy_rate;       /* GB/s of a copy of as many bytes; 0: not measured */
    const Earlier *earlier; /* NULL: none */
} Beside;

/* Times a copy that reads half of the bytes and writes the other half. */
static ExitCode time_copy(Bench *b, uint64_t bytes) {
    ToolOptions o = {.arena = b->o->arena, .command = COMMAND_BENCH, .device = b->o->device, .repeat = b->o->repeat};
    fsc_compile_options_init(&o.compile);
    o.compile.file = "copy.dsl";
    vec_push(o.arena, &o.words, "copy.dsl");
    vec_push(o.arena, &o.words, arena_printf(o.arena, "n=%" PRIu64, bytes / 8));
    Job j = {.o = &o, .device = b->device, .props = b->props, .grid = {1, 1, 1}, .text = copy, .length = strlen(copy)};
    double *times = NEW_ARRAY(o.arena, double, o.repeat);
    ExitCode code = job_make(&j);
    fsc_status s = code == EXIT_DONE ? job_time(&j, b->o->warmup, o.repeat, &b->flush, times) : FSC_OK;
    if (s != FSC_OK) code = job_fail(&j, s);
    b->copied = bytes;
    b->copy_ms = times[o.repeat / 2];
    job_free(&j);
    return code;
}

/* The columns that name a point, in the order of names_of. */
static const char **keys_of(const Bench *b, const Shown *p) {
    const char **keys = NEW_ARRAY(b->o->arena, const char *, b->sweep.num_axes + 2);
    for (uint32_t i = 0; i < b->sweep.num_axes; i++) keys[i] = arena_printf(b->o->arena, "%" PRId64, p->values[i]);
    keys[b->sweep.num_axes] = p->dtype;
    keys[b->sweep.num_axes + 1] = p->warps;
    return keys;
}

static const char **names_of(const Bench *b) {
    const char **names = NEW_ARRAY(b->o->arena, const char *, b->sweep.num_axes + 2);
    for (uint32_t i = 0; i < b->sweep.num_axes; i++) names[i] = b->sweep.axes[i].name;
    names[b->sweep.num_axes] = "dtype";
    names[b->sweep.num_axes + 1] = "num_warps";
    return names;
}

/* "+3.1 %" of time; "~" before it where half of the samples of one run lie among those of the other. */
static const char *change(Bench *b, const Earlier *e, double ms, double low, double high) {
    if (!e) return b->fresh++, "new";
    bool is_alike = low <= e->high && e->low <= high;
    is_alike ? b->alike++ : ms < e->ms ? b->faster++ : b->slower++;
    return arena_printf(b->o->arena, "%s%+.1f %%", is_alike ? "~ " : "", e->ms > 0 ? (ms / e->ms - 1) * 100 : 0);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_head(const Bench *b) {
    if (b->o->csv) {
        const char **names = names_of(b);
        for (uint32_t i = 0; i < b->sweep.num_axes + 2; i++) printf("%s,", names[i]);
        printf("bytes,milliseconds,low_milliseconds,high_milliseconds,gigabytes_per_second%s%s,device\n",
               b->o->roof ? ",copy_gigabytes_per_second,share_of_copy" : "",
               b->o->against ? ",before_milliseconds" : "");
        return;
    }
    for (uint32_t i = 0; i < b->sweep.num_axes; i++) printf("%10s", b->sweep.axes[i].name);
    printf("  %-6s %5s %12s %10s", "dtype", "warps", "ms", "GB/s");
    if (b->o->roof) printf(" %8s", "of copy");
    if (b->o->against) printf(" %12s %10s", "before", "change");
    printf("   on %s, median of %u\n", b->props.name, b->o->repeat);
}

static void print_csv(const Bench *b, const Shown *p, uint64_t bytes, const double *times, const Beside *beside) {
    uint32_t n = b->o->repeat;
    double rate = times[n / 2] > 0 ? (double)bytes / times[n / 2] * 1e-6 : 0;
    const char **keys = keys_of(b, p);
    for (uint32_t i = 0; i < b->sweep.num_axes + 2; i++) printf("%s,", keys[i]);
    printf("%" PRIu64 ",%.6f,%.6f,%.6f,%.3f", bytes, times[n / 2], times[n / 4], times[n - 1 - n / 4], rate);
    if (b->o->roof) printf(",%.3f,%.4f", beside->copy_rate, beside->copy_rate > 0 ? rate / beside->copy_rate : 0);
    if (b->o->against && beside->earlier)
        printf(",%.6f", beside->earlier->ms);
    else if (b->o->against)
        printf(",");
    printf(",\"%s\"\n", b->props.name);
}

static void print_json(const Bench *b, const Shown *p, uint64_t bytes, const double *times, const Beside *beside) {
    uint32_t repeat = b->o->repeat;
    double ms = times[repeat / 2], rate = ms > 0 ? (double)bytes / ms * 1e-6 : 0;
    printf("%s\n  {", b->points ? "," : "");
    for (uint32_t i = 0; i < b->sweep.num_axes; i++)
        printf("\"%s\": %" PRId64 ", ", b->sweep.axes[i].name, p->values[i]);
    if (*p->dtype) printf("\"dtype\": \"%s\", ", p->dtype);
    if (*p->warps) printf("\"num_warps\": %s, ", p->warps);
    printf("\"bytes\": %" PRIu64 ", \"milliseconds\": %.6f, \"gigabytes_per_second\": %.3f, ", bytes, ms, rate);
    if (b->o->roof) printf("\"copy_gigabytes_per_second\": %.3f, ", beside->copy_rate);
    if (beside->earlier) printf("\"before_milliseconds\": %.6f, ", beside->earlier->ms);
    printf("\"samples\": [");
    for (uint32_t i = 0; i < repeat; i++) printf("%s%.6f", i ? ", " : "", times[i]);
    printf("]}");
}

static void print_line(Bench *b, const Shown *p, uint64_t bytes, const double *times, const Beside *beside) {
    uint32_t n = b->o->repeat;
    double ms = times[n / 2], rate = ms > 0 ? (double)bytes / ms * 1e-6 : 0;
    for (uint32_t i = 0; i < b->sweep.num_axes; i++) printf("%10" PRId64, p->values[i]);
    printf("  %-6s %5s %12.4f %10.1f", *p->dtype ? p->dtype : "-", *p->warps ? p->warps : "-", ms, rate);
    if (b->o->roof && beside->copy_rate > 0)
        printf(" %6.0f %%", 100 * rate / beside->copy_rate);
    else if (b->o->roof)
        printf(" %8s", "-");
    if (b->o->against && beside->earlier)
        printf(" %12.4f", beside->earlier->ms);
    else if (b->o->against)
        printf(" %12s", "-");
    if (b->o->against) printf(" %10s", change(b, beside->earlier, ms, times[n / 4], times[n - 1 - n / 4]));
    printf("\n");
}

static void print_point(Bench *b, const Shown *p, uint64_t bytes, const double *times, const Beside *beside) {
    if (b->points == 0 && !b->o->json) print_head(b);
    if (b->o->json)
        print_json(b, p, bytes, times, beside);
    else if (b->o->csv)
        print_csv(b, p, bytes, times, beside);
    else
        print_line(b, p, bytes, times, beside);
    if (!b->o->json) (void)fflush(stdout);
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
    }
    uint64_t bytes = code == EXIT_DONE ? job_bytes(&j) : 0;
    job_free(&j); /* before another takes as much memory */
    if (code == EXIT_DONE && o.roof && bytes / 8 && bytes != b->copied) code = time_copy(b, bytes);
    if (code != EXIT_DONE) return code;
    Beside beside = {b->o->roof && b->copied == bytes && b->copy_ms > 0 ? (double)bytes / b->copy_ms * 1e-6 : 0, NULL};
    if (o.against) beside.earlier = against_find(&b->against, keys_of(b, p));
    print_point(b, p, bytes, times, &beside);
    b->points++;
    return EXIT_DONE;
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
    if (b->o->json)
        printf("\n]}\n");
    else if (code == EXIT_DONE && b->o->against && !b->o->csv)
        printf("against %s: %u faster, %u slower, %u alike, %u new\n", b->o->against, b->faster, b->slower, b->alike,
               b->fresh);
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
    if (b->o->against && b->against.device && strcmp(b->against.device, b->props.name) != 0)
        fprintf(stderr, "fsc bench: %s was measured on %s, and this is %s\n", b->o->against, b->against.device,
                b->props.name);
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
    if (o->csv && o->json) {
        fprintf(stderr, "fsc bench: --csv or --json, not both\n");
        return EXIT_CALL;
    }
    Bench b = {.o = o};
    if (!read_axes(&b)) return EXIT_CALL;
    uint32_t num_keys = b.sweep.num_axes + 2;
    if (o->against && !against_read(o->arena, o->against, names_of(&b), num_keys, &b.against)) return EXIT_INPUT;
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
