/* launch.c - launching: a checked call onto the driver's stream, or over the host's threads.
 *
 * In: kernel, grid or none, arguments, stream. Out: a queued launch. Method: call_begin checks and converts; the blocks
 * are counted in 64 bits; cuLaunchKernel, or cuLaunchKernelEx where a program spans a cluster of blocks; on the host
 * the pool or the emulator, which end before the launch returns.
 */
#include "runtime/base/hooks.h"
#include "runtime/base/process.h"
#include "runtime/debug/counts.h"
#include "runtime/emu/emu.h"

enum { BLOCKS_TO_KEEP = 4 }; /* for each multiprocessor, before programs share blocks; the smallest block is a warp */

RecordLaunch launch_packed(const RecordLaunch *l, uint64_t programs, uint32_t sms) {
    RecordLaunch s = *l;
    uint64_t wanted = (uint64_t)sms * BLOCKS_TO_KEEP;
    while (s.programs_per_block > 1 && s.threads_per_block > WARP && programs / s.programs_per_block < wanted) {
        s.programs_per_block /= 2;
        s.threads_per_block /= 2;
    }
    return s;
}

RecordLaunch launch_shape(const Call *c, const RecordLaunch *l) {
    uint64_t programs = (uint64_t)c->grid[0] * (uint64_t)c->grid[1] * (uint64_t)c->grid[2]; /* checked: below 2^63 */
    return launch_packed(l, programs, c->kernel->device->props.sms);
}

bool launch_takes(const RecordLaunch *l, const int64_t grid[3]) {
    return !l->together || (grid[0] <= (int64_t)l->together && grid[1] == 1 && grid[2] == 1);
}

/* Blocks along x for grid_x programs: packed ones share a block, large ones take a cluster of them,
 * or blocks that are all on the device at once. */
static fsc_status count_blocks(const Call *c, const RecordLaunch *l, uint32_t *blocks) {
    int64_t programs = c->grid[0], packed = l->programs_per_block;
    if (!launch_takes(l, c->grid))
        return status_fail(c->kernel->device, FSC_ERROR_GRID,
                           "kernel %s was compiled for a grid of up to %u programs along x alone, each shared by %u "
                           "blocks that wait for each other, not for %lld x %lld x %lld; "
                           "the grid of its launch rule fits, and with num_ctas=1 any does",
                           c->variant->record->kernel, l->together, l->blocks_per_program, (long long)programs,
                           (long long)c->grid[1], (long long)c->grid[2]);
    int64_t n = (programs / packed + (programs % packed != 0)) * l->blocks_per_program; /* below 2^31 · 2^32 */
    if (n > INT32_MAX)
        return status_fail(c->kernel->device, FSC_ERROR_GRID, "kernel %s: %lld blocks along x are beyond the limit, %d",
                           c->variant->record->kernel, (long long)n, INT32_MAX);
    *blocks = (uint32_t)n;
    return FSC_OK;
}

static fsc_status launch_one(Call *c, uint32_t index, CUstream stream) {
    fsc_device *d = c->kernel->device;
    RecordLaunch shape = launch_shape(c, &c->variant->record->launches[index]), *l = &shape;
    CUfunction function = c->variant->functions[index];
    const char *name = c->variant->record->kernel;
    uint32_t x = 0, y = (uint32_t)c->grid[1], z = (uint32_t)c->grid[2];
    fsc_status s = count_blocks(c, l, &x);
    if (s != FSC_OK) return s;
    if (l->blocks_per_program == 1)
        return CU_FOR(d, name, cuLaunchKernel, function, x, y, z, l->threads_per_block, 1, 1, l->shared_dynamic, stream,
                  c->pointers, NULL);
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.cluster = {l->blocks_per_program, 1, 1}};
    if (l->together) attribute = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {.grid_x = x,
                             .grid_y = y,
                             .grid_z = z,
                             .block_x = l->threads_per_block,
                             .block_y = 1,
                             .block_z = 1,
                             .shared_bytes = l->shared_dynamic,
                             .stream = stream,
                             .attrs = &attribute,
                             .num_attrs = 1};
    return CU_FOR(d, name, cuLaunchKernelEx, &config, function, c->pointers, NULL);
}

/* The real grid behind the arguments, for entries that pack programs, or the launch's number, for those whose blocks
 * meet through global memory; others have no such parameters and the driver, which knows how many there are, does not
 * look. */
static void append_grid(Call *c) {
    static atomic_uint launches;
    for (size_t i = 0; i < GRID_SLOTS; i++) {
        c->bits[c->nargs + i] = (uint64_t)c->grid[i];
        c->pointers[c->nargs + i] = &c->bits[c->nargs + i];
    }
    if (c->variant->record->launches[0].together) c->bits[c->nargs] = atomic_fetch_add(&launches, 1) % UINT32_MAX + 1;
}

static fsc_status launch_cuda(Call *c, void *stream) {
    fsc_device *d = c->kernel->device;
    bool pushed = false;
    append_grid(c);
    fsc_status s = device_enter(d, &pushed);
    for (uint32_t i = 0; s == FSC_OK && i < c->variant->record->num_launches; i++) s = launch_one(c, i, stream);
    device_leave(d, pushed);
    return s;
}

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

static void host_print(DebugHook *hook, const int64_t *pid, const char *text, const char *format, uint32_t shape,
                       uint64_t element, uint64_t value) {
    DebugLine l = {.program = pid, .element = element, .shape = shape, .text = text, .format = format, .value = value};
    debug_add(((HostDebug *)hook)->log, &l);
}

static void host_assertion(DebugHook *hook, const int64_t *pid, uint32_t holds, const char *text, uint32_t shape,
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
    const fsc_module *m = c->variant->module;
    const void *const *args = (const void *const *)c->pointers;
    bool ok = pool_run(m->device->pool, m->code.entry, args, c->grid, m->code.scratch_bytes, limit);
    return ok ? FSC_OK : status_memory(m->device);
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
    const FscHostCode *code = &c->variant->module->code;
    AccessHook hook = {allow_access};
    if (code->debugs || (code->checked && atomic_load(&c->kernel->device->checked))) return launch_cpu_watched(c);
    if (code->checked) c->pointers[c->nargs] = &hook;
    return run_cpu(c);
}

static fsc_status launch_cpu(Call *c) {
    HOLD_FORKS;
    fsc_device *d = c->kernel->device;
    if (!c->variant->module->code.counters || !atomic_load(&d->counted)) return run_host(c);
    pthread_mutex_lock(&d->counting);
    fsc_status s = counts_begin(c);
    if (s == FSC_OK) {
        s = run_host(c);
        counts_end(c, NULL, 0);
    }
    pthread_mutex_unlock(&d->counting);
    return s;
}

static fsc_status launch_emu(Call *c) {
    HOLD_FORKS;
    fsc_device *d = c->kernel->device;
    RecordLaunch shape = launch_shape(c, &c->variant->record->launches[0]);
    uint32_t blocks = 0;
    fsc_status s = count_blocks(c, &shape, &blocks);
    if (s != FSC_OK) return s;
    append_grid(c);
    pthread_mutex_lock(&d->turn);
    s = emulator_run(d->emulator, c, atomic_load(&d->checked));
    pthread_mutex_unlock(&d->turn);
    return s;
}

fsc_status call_launch(Call *c, void *stream) {
    if (c->grid[0] == 0 || c->grid[1] == 0 || c->grid[2] == 0) return FSC_OK;
    fsc_status s = variant_ready(c->variant);
    if (s != FSC_OK) return s;
    switch (c->kernel->device->props.kind) {
    case FSC_CPU: return launch_cpu(c);
    case FSC_EMU: return launch_emu(c);
    case FSC_CUDA: break;
    }
    return launch_cuda(c, stream);
}

fsc_status fsc_launch(fsc_kernel *k, const int64_t grid[3], const FscArg *args, size_t nargs, void *stream) {
    if (!k || (!args && nargs))
        return status_fail(NULL, FSC_ERROR_USAGE, "fsc_launch: the kernel or its arguments are NULL");
    OWN_FLOATS;
    Call c;
    fsc_status s = call_begin(&c, k, grid, args, nargs);
    if (s == FSC_OK) s = call_launch(&c, stream);
    call_end(&c);
    return s;
}

fsc_status fsc_launch_grid(fsc_kernel *k, const FscArg *args, size_t nargs, int64_t grid[3], size_t *variant) {
    if (!k || !grid || (!args && nargs))
        return status_fail(NULL, FSC_ERROR_USAGE, "fsc_launch_grid: the kernel, its arguments or the result are NULL");
    OWN_FLOATS;
    Call c;
    fsc_status s = call_begin(&c, k, NULL, args, nargs);
    for (int i = 0; s == FSC_OK && i < 3; i++) grid[i] = c.grid[i];
    for (size_t i = 0; s == FSC_OK && variant && i < fsc_kernel_variants(k); i++) {
        if (fsc_kernel_record(k, i) == c.variant->record) *variant = i;
    }
    call_end(&c);
    return s;
}
