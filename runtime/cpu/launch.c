/* launch.c - a checked call over the host's threads.
 *
 * In: a call. Out: every program of its grid has run. Method: the pool; where the code asks before accesses, prints or
 * counts, what it calls is handed over behind the arguments, and such launches take turns.
 */
#include "runtime/base/hooks.h"
#include "runtime/base/process.h"
#include "runtime/cpu/host.h"
#include "runtime/debug/checks.h"
#include "runtime/debug/counts.h"

/* What checked code of the CPU asks before each access. */
typedef struct HostHook {
    AccessHook hook; /* the first member */
    Regions regions;
    Findings *findings;
} HostHook;

static uint32_t allow_access(AccessHook *hook, const int64_t *pid, uint64_t address, uint32_t bytes, uint32_t is_store,
                             int32_t site) {
    (void)hook, (void)pid, (void)address, (void)is_store, (void)site;
    return bytes != 0;
}

static uint32_t host_access(AccessHook *hook, const int64_t *pid, uint64_t address, uint32_t bytes, uint32_t is_store,
                            int32_t site) {
    HostHook *h = (HostHook *)hook;
    if (bytes == 0) return false;
    if (region_find(&h->regions, address, bytes)) return true;
    Spot spot = {.site = site, .other_site = -1, .program = {pid[0], pid[1], pid[2]}, .thread = -1, .address = address};
    char text[256];
    region_explain(&h->regions, address, bytes, is_store, text, sizeof text);
    finding_add(h->findings, FINDING_BOUNDS, &spot, "%s", text);
    return false;
}

/* What code with prints and assertions calls. */
typedef struct HostDebug {
    DebugHook hook; /* the first member */
    DebugLog *log;
    Findings *findings;
    const int64_t *grid;
    atomic_ullong limit; /* the first program in which an assertion failed: later ones need not begin */
} HostDebug;

static void host_print(DebugHook *hook, const int64_t *pid, const char *text, const char *format, uint64_t shape,
                       uint64_t element, uint64_t value) {
    DebugLine l = {.program = pid, .element = element, .shape = shape, .text = text, .format = format, .value = value};
    debug_add(((HostDebug *)hook)->log, &l);
}

static void host_assertion(DebugHook *hook, const int64_t *pid, uint32_t holds, const char *text, uint64_t shape,
                           uint64_t element, int32_t site) {
    HostDebug *h = (HostDebug *)hook;
    if (holds) return;
    uint64_t program = (uint64_t)((pid[2] * h->grid[1] + pid[1]) * h->grid[0] + pid[0]);
    unsigned long long limit = atomic_load(&h->limit);
    Spot spot = {.site = site, .other_site = -1, .program = {pid[0], pid[1], pid[2]}, .thread = -1};
    debug_assertion(h->findings, &spot, shape, element, text);
    while (program < limit && !atomic_compare_exchange_weak(&h->limit, &limit, program)) continue;
}

static fsc_status run_pool(const Call *c, atomic_ullong *limit) {
    fsc_module *m = c->variant->module;
    PoolJob job = {.entry = m->code.entry,
                   .args = (const void *const *)c->pointers,
                   .grid = {c->grid[0], c->grid[1], c->grid[2]},
                   .scratch_bytes = m->code.scratch_bytes,
                   .limit = limit,
                   .cost = &m->program_ns};
    return pool_run(m->device->own, &job) ? FSC_OK : status_memory(m->device);
}

static fsc_status run_cpu(Call *c) {
    if (!c->variant->module->code.debugs) return run_pool(c, NULL);
    fsc_device *d = c->kernel->device;
    HostDebug h = {
        .hook = {host_print, host_assertion}, .log = debug_create(c->grid), .findings = d->findings, .grid = c->grid};
    atomic_init(&h.limit, UINT64_MAX);
    if (!h.log) return status_memory(d);
    c->pointers[c->nargs + 1] = &h.hook;
    fsc_status s = run_pool(c, &h.limit);
    debug_end(h.log);
    return s;
}

static fsc_status run_cpu_checked(Call *c) {
    fsc_device *d = c->kernel->device;
    HostHook h = {.hook = {host_access}, .findings = d->findings};
    fsc_status s = regions_create(c, &h.regions);
    if (s != FSC_OK) return s;
    c->pointers[c->nargs] = &h.hook;
    s = run_cpu(c);
    regions_destroy(&h.regions);
    return s;
}

/* With findings: one launch at a time. Code that was compiled with checks asks also after they were switched off. */
static fsc_status launch_cpu_watched(Call *c) {
    fsc_device *d = c->kernel->device;
    AccessHook hook = {allow_access};
    bool checked = c->variant->module->code.checked && atomic_load(&d->checked);
    c->pointers[c->nargs] = &hook;
    pthread_mutex_lock(&d->turn);
    findings_reset(d->findings, c->variant->module, c->variant->record->kernel);
    fsc_status s = checked ? run_cpu_checked(c) : run_cpu(c);
    if (s == FSC_OK) s = findings_status(d);
    pthread_mutex_unlock(&d->turn);
    return s;
}

static fsc_status run_host(Call *c) {
    const fsc_host_code *code = &c->variant->module->code;
    AccessHook hook = {allow_access};
    if (code->debugs || (code->checked && atomic_load(&c->kernel->device->checked))) return launch_cpu_watched(c);
    if (code->checked) c->pointers[c->nargs] = &hook;
    return run_cpu(c);
}

fsc_status cpu_launch(Call *c, void *stream) {
    (void)stream; /* it ends before it returns */
    HOLD_FORKS;
    fsc_device *d = c->kernel->device;
    if (!c->variant->module->code.counters || !atomic_load(&d->counted)) return run_host(c);
    pthread_mutex_lock(&d->counting);
    fsc_status s = counts_begin(c);
    if (s == FSC_OK) {
        s = run_host(c);
        counts_end(c, NULL, UINT64_MAX, 0);
    }
    pthread_mutex_unlock(&d->counting);
    return s;
}
