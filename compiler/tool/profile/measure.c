/* measure.c - what a GPU counts of the launch that was counted here: `fsc profile --device=cuda`.
 *
 * In: a Profile with its prediction for that GPU. Out: p->measured, row by row beside what was predicted.
 * Method: the same call on the GPU: events time launches behind a cold L2, and the driver tells what the loaded code
 * takes. Counters of single units are NVIDIA's ncu's (bench/counters.py).
 */
#include "tool/profile/profile.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { WARMUP = 3, REPEAT = 20 };

/* predicted, then measured, separated by '|' */
__attribute__((format(printf, 3, 4))) static void put(Profile *p, const char *name, const char *format, ...) {
    MeasuredRow *row = &p->measured.rows[p->measured.num_rows++];
    char both[sizeof row->predicted + sizeof row->measured];
    va_list values;
    va_start(values, format);
    vsnprintf(both, sizeof both, format, values);
    va_end(values);
    char *bar = strchr(both, '|');
    if (!bar) bug("measured row %s", name);
    *bar = '\0';
    row->name = name;
    snprintf(row->predicted, sizeof row->predicted, "%.*s", (int)sizeof row->predicted - 1, both);
    snprintf(row->measured, sizeof row->measured, "%.*s", (int)sizeof row->measured - 1, bar + 1);
}

static void fill(Profile *p, const fsc_kernel_report *r, double seconds) {
    const Needs *n = &p->card.needs;
    const fsc_residency *o = &n->occupancy;
    double bytes = (double)(p->read_once + p->written_once);
    p->measured.seconds = seconds;
    put(p, "time", "at least %.3f us|%.3f us", p->least_seconds * 1e6, seconds * 1e6);
    if (seconds > 0)
        put(p, "bytes a second", "%.1f GB/s|%.1f GB/s", bytes / p->least_seconds * 1e-9, bytes / seconds * 1e-9);
    put(p, "registers per thread", "%u (%s)|%u", n->registers_high, n->registers_from, r->registers);
    put(p, "spilled bytes", "%u|%u", n->spill_bytes, r->spill_bytes);
    put(p, "shared bytes", "%u|%u", n->shared, r->shared_static + r->shared_dynamic);
    put(p, "blocks per SM", "%u|%u", o->blocks_per_sm, r->blocks_per_sm);
}

static fsc_status launch_there(Profile *p, Job *j) {
    double times[REPEAT];
    Flush flush;
    fsc_kernel_report r;
    fsc_kernel *kernel = NULL;
    fsc_status s = fsc_jit_prepare(j->jit, j->args, j->nargs, &kernel);
    if (s == FSC_OK) s = fsc_kernel_warmup(kernel, 0, &r);
    if (s != FSC_OK) return s;
    s = flush_create(j->device, &j->props, &flush);
    if (s == FSC_OK) s = job_time(j, WARMUP, REPEAT, &flush, times);
    flush_destroy(&flush);
    if (s == FSC_OK) fill(p, &r, times[REPEAT / 2] * 1e-3);
    return s;
}

ExitCode profile_measure(Profile *p, const char *device) {
    ToolOptions o = *p->j->o;
    o.check = false;
    o.device = device;
    Job j = {.o = &o, .text = p->j->text, .length = p->j->length, .grid = {1, 1, 1}};
    fsc_status s = fsc_device_open(device, &j.device);
    if (s == FSC_OK) s = fsc_device_props(j.device, &j.props);
    ExitCode code = s == FSC_OK ? job_make(&j) : tool_fail(s, fsc_last_message());
    if (code == EXIT_DONE && (s = launch_there(p, &j)) != FSC_OK) code = job_fail(&j, s);
    p->measured.device = arena_printf(p->j->o->arena, "%s", j.props.name);
    job_free(&j);
    fsc_device_close(j.device);
    return code;
}
