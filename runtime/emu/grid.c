/* grid.c - the programs of a launch over the host's cores.
 *
 * In: a call. Out: every program has run, or was stopped. Method: each worker holds one team and drives it to its end,
 * then takes the next number. While all it holds only spin, it begins one more beside them, up to a limit, so that a
 * program may wait for a later one.
 */
#define _DEFAULT_SOURCE
#include "runtime/cpu/pool.h"
#include "runtime/emu/emu.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_FIBERS = 8192,    /* of one worker: teams beside each other */
    MOST_TEAMS = 256,
    SPINS_BEFORE_NEXT = 16, /* rounds in which all spin until one more team begins */
    HANG_SECONDS = 10,      /* without a store or an end anywhere, while everything spins */
};

typedef struct Worker {
    Launch *launch;
    Team *teams;
    uint32_t made, most; /* of teams */
    uint32_t active;
    uint32_t spins;          /* rounds in a row in which all spun */
    uint64_t progress;       /* of the launch, when this last changed … */
    struct timespec changed; /* … and when that was */
    Fiber home;
} Worker;

struct Emulator {
    Pool *pool;
    uint32_t workers;
};

Emulator *emulator_create(uint32_t threads) {
    Emulator *e = calloc(1, sizeof *e);
    if (e) e->pool = pool_create(threads);
    if (e && e->pool) {
        e->workers = threads ? threads : 1;
        return e;
    }
    free(e);
    return NULL;
}

void emulator_destroy(Emulator *e) {
    if (!e) return;
    pool_destroy(e->pool);
    free(e);
}

/* ---- One worker -------------------------------------------------------------------------------------------------- */

/* A team that is free, made if there may be one more; NULL: none, or out of memory. */
static Team *free_team(Worker *w) {
    for (uint32_t i = 0; i < w->made; i++)
        if (!w->teams[i].is_active) return &w->teams[i];
    if (w->made == w->most) return NULL;
    Team *t = &w->teams[w->made];
    if (team_create(t, w->launch)) {
        w->made++;
        return t;
    }
    team_destroy(t);
    if (w->made == 0) atomic_store(&w->launch->out_of_memory, true);
    w->most = w->made;
    return NULL;
}

static Progress *progress_of(const Launch *l) {
    return &l->call->kernel->device->progress;
}

/* The next program of the launch starts in a free team. */
static bool begin_next(Worker *w) {
    if (atomic_load(&w->launch->next) >= w->launch->teams) return false;
    Team *t = free_team(w);
    if (!t) return false;
    uint64_t number = atomic_fetch_add(&w->launch->next, 1);
    if (number >= w->launch->teams) return false;
    team_begin(t, number, &w->home);
    w->active++;
    w->spins = 0;
    return true;
}

/* True if at least one team did more than spin. */
static bool step_all(Worker *w) {
    bool ran = false;
    for (uint32_t i = 0; i < w->made; i++) {
        if (!w->teams[i].is_active) continue;
        TeamStep s = team_step(&w->teams[i]);
        ran |= s != TEAM_SPUN;
        if (s != TEAM_ENDED) continue;
        atomic_fetch_add(&w->launch->progress, 1);
        atomic_fetch_add(&progress_of(w->launch)->ended, w->launch->shape->programs_per_block);
        w->active--;
    }
    return ran;
}

/* Everything here spins: has anything happened anywhere for long? */
static void look_for_hang(Worker *w) {
    uint64_t progress = atomic_load(&w->launch->progress);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (progress != w->progress || w->spins == 1) {
        w->progress = progress;
        w->changed = now;
    } else if (now.tv_sec - w->changed.tv_sec > HANG_SECONDS) {
        for (uint32_t i = 0; i < w->made; i++)
            if (w->teams[i].is_active) team_hang(&w->teams[i]);
        w->active = 0;
        atomic_store(&w->launch->next, w->launch->teams); /* the others would hang as well */
    }
}

static void work(Worker *w) {
    fiber_home(&w->home);
    while (!atomic_load(&w->launch->out_of_memory) && !atomic_load(&progress_of(w->launch)->is_stopped)) {
        if (w->active == 0 && !begin_next(w)) break;
        if (step_all(w)) {
            w->spins = 0;
            continue;
        }
        w->spins++;
        if (w->spins >= SPINS_BEFORE_NEXT && begin_next(w)) continue;
        look_for_hang(w);
        sched_yield();
    }
}

/* A program of the pool is a worker; the pool's "arguments" are the workers. */
static void pool_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)nprog, (void)scratch;
    work((Worker *)(uintptr_t)args[pid[0]]);
}

/* ---- A launch ---------------------------------------------------------------------------------------------------- */

static bool run_workers(Emulator *e, Launch *l) {
    uint32_t n = l->teams < e->workers ? (uint32_t)l->teams : e->workers;
    Worker *workers = calloc(n, sizeof *workers);
    const void **args = calloc(n, sizeof *args);
    uint32_t fibers = l->shape->threads_per_block * l->shape->blocks_per_program;
    uint32_t most = MOST_FIBERS / fibers < 1            ? 1
                    : MOST_FIBERS / fibers > MOST_TEAMS ? MOST_TEAMS
                                                        : MOST_FIBERS / fibers;
    bool ok = workers && args;
    for (uint32_t i = 0; ok && i < n; i++) {
        workers[i] = (Worker){.launch = l, .most = most, .teams = calloc(most, sizeof(Team))};
        args[i] = &workers[i];
        ok = workers[i].teams != NULL;
    }
    if (ok) ok = pool_run(e->pool, &(PoolJob){.entry = pool_entry, .args = args, .grid = {n, 1, 1}});
    for (uint32_t i = 0; workers && i < n; i++) {
        for (uint32_t k = 0; k < workers[i].made; k++) team_destroy(&workers[i].teams[k]);
        free(workers[i].teams);
    }
    free(workers);
    free(args);
    return ok && !atomic_load(&l->out_of_memory);
}

/* Checks know much of each element that is accessed: half of the machine's memory at most,
 * and 1 GB for a page that shows a run. */
static uint64_t shadow_limit(const Launch *l) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t half = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_MAX;
    return l->recording && half > 1u << 30 ? 1u << 30 : half;
}

static fsc_status run_launch(Emulator *e, Launch *l) {
    const fsc_device *d = l->call->kernel->device;
    bool ok = run_workers(e, l);
    if (!ok && l->shadow && shadow_is_full(l->shadow))
        return status_fail(d, FSC_ERROR_MEMORY,
                           "the checks keep %zu bytes for each element that a launch accesses, and this one needs more "
                           "than %llu MB of them: "
                           "launch fewer programs, or give smaller buffers",
                           sizeof(Cell), (unsigned long long)(shadow_limit(l) >> 20));
    if (!ok) return status_memory(d);
    bool is_whole = !atomic_load(&l->is_ended) && !atomic_load(&d->progress.is_stopped);
    return l->checked && is_whole ? global_unwritten(l) : FSC_OK;
}

/* With what checks and counts need. */
static fsc_status prepare_and_run(Emulator *e, Launch *l) {
    Call *c = l->call;
    fsc_device *d = c->kernel->device;
    bool counted = c->variant->module->code.counters && atomic_load(&d->counted);
    l->recording = d->recording;
    EmuCalls calls = l->recording ? record_calls() : counted ? count_calls() : emu_calls;
    l->calls = &calls;
    fsc_status s = l->checked || counted || l->recording ? regions_create(c, &l->regions) : FSC_OK;
    if (s == FSC_OK && l->checked && !(l->shadow = shadow_create(&l->regions, shadow_limit(l)))) s = status_memory(d);
    if (s == FSC_OK && l->recording && !record_launch(l)) s = status_memory(d);
    if (s == FSC_OK && counted) s = counts_begin(c);
    if (s == FSC_OK && counted && !(l->touched = touched_create(&l->regions))) s = status_memory(d);
    if (s == FSC_OK && counted) l->counts = d->counts;
    if (s == FSC_OK) s = run_launch(e, l);
    if (l->counts) touched_end(l->touched, counts_params(l->counts));
    touched_destroy(l->touched);
    uint64_t begun = atomic_load(&l->next), teams = begun < l->teams ? begun : l->teams;
    if (l->counts) counts_end(c, l->shape, teams * l->shape->programs_per_block, teams * l->shape->blocks_per_program);
    return s;
}

fsc_status emulator_run(Emulator *e, Call *c, bool checked) {
    const Variant *v = c->variant;
    fsc_device *d = c->kernel->device;
    RecordLaunch packed = launch_shape(c, &v->record->launches[0]), *shape = &packed;
    uint64_t x = ((uint64_t)c->grid[0] + shape->programs_per_block - 1) / shape->programs_per_block;
    Launch l = {.call = c,
                .entry = (EmuEntry *)v->module->code.thread,
                .args = (const void *const *)c->pointers,
                .shape = shape,
                .blocks = {(uint32_t)(x * shape->blocks_per_program), (uint32_t)c->grid[1], (uint32_t)c->grid[2]},
                .teams = x * (uint64_t)c->grid[1] * (uint64_t)c->grid[2],
                .checked = checked,
                .findings = d->findings,
                .log = debug_create(c->grid)};
    if (!l.log) return status_memory(d);
    atomic_store(&d->progress.ended, 0);
    atomic_store(&d->progress.all, l.teams * shape->programs_per_block);
    findings_reset(d->findings, v->module, v->record->kernel);
    pthread_mutex_init(&l.lock, NULL);
    fsc_status s = prepare_and_run(e, &l);
    debug_end(l.log);
    if (s == FSC_OK) s = findings_status(d);
    shadow_destroy(l.shadow);
    regions_destroy(&l.regions);
    pthread_mutex_destroy(&l.lock);
    return s;
}
