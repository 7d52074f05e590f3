/* team.c - the threads of one program (a block, or a cluster of blocks), scheduled until all have ended.
 *
 * In: a launch and a team's number. Out: the program has run, or was stopped with a finding. Method: the scheduler
 * switches to every thread that can run; a thread comes back when it waits, spins or ends. Then each meeting whose
 * threads are all there, at one call instruction, is released. If nothing ran and some threads wait, they wait for
 * ever: divergence.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 1 << 21 };

/* ---- One thread -------------------------------------------------------------------------------------------------- */

/* A thread's fiber: runs the kernel once for each team that begins. */
static void thread_run(void *context) {
    Thread *t = context;
    for (;;) {
        t->block->team->launch->entry(&t->head, t->block->team->launch->args);
        t->state = THREAD_ENDED;
        fiber_switch(&t->fiber, t->block->team->home);
    }
}

static void thread_wait(Thread *t, ThreadState state) {
    t->state = state;
    fiber_switch(&t->fiber, t->block->team->home);
}

enum { LOOKS = 8 /* without any change until that counts as waiting */ };

void thread_spin(Thread *t) {
    Team *team = t->block->team;
    if (t->looked_at != team->progress) t->looks = 0;
    t->looked_at = team->progress;
    t->look_site = t->site;
    if (++t->looks >= LOOKS) team->is_waiting = true;
    thread_wait(t, THREAD_SPINS);
}

void thread_pause(Thread *t) {
    thread_wait(t, THREAD_READY);
}

void team_progress(Team *t) {
    t->progress++;
    t->is_waiting = false;
    atomic_fetch_add_explicit(&t->launch->progress, 1, memory_order_relaxed);
}

void thread_meet(Thread *t, ThreadState where, bool is_barrier, int32_t site, uint32_t call) {
    t->is_barrier = is_barrier;
    t->site = site;
    t->call = call;
    thread_wait(t, where);
}

uint32_t thread_index(const Thread *t) {
    return t->block->rank * t->block->team->threads_per_block + t->head.tid;
}

static uint32_t threads_of_program(const Launch *l) {
    return l->shape->threads_per_block / l->shape->programs_per_block;
}

/* Which of the programs that share the thread's block is its own? 0 unless they are packed. */
static uint32_t packed_index(const Thread *t) {
    return t->head.tid / threads_of_program(t->block->team->launch);
}

/* Does its warp hold several programs, and this thread's is one that the grid does not have? Nobody waits for it. */
bool thread_is_beyond(const Thread *t) {
    const Launch *l = t->block->team->launch;
    if (threads_of_program(l) >= WARP || t->state != THREAD_ENDED) return false;
    return (int64_t)t->head.ctaid[0] * l->shape->programs_per_block + packed_index(t) >= l->call->grid[0];
}

uint64_t thread_owner(const Thread *t) {
    return t->block->team->number * t->block->team->launch->shape->programs_per_block + packed_index(t) + 1;
}

/* ---- Blocks and teams -------------------------------------------------------------------------------------------- */

static size_t stacks_of(const Team *t) {
    return (size_t)t->num_blocks * t->threads_per_block;
}

static bool block_create(Block *b, Team *t, uint32_t rank, char *stacks) {
    const Launch *l = t->launch;
    uint32_t n = t->threads_per_block, shared = l->shape->shared_static + l->shape->shared_dynamic;
    *b = (Block){.team = t, .rank = rank};
    b->threads = calloc(n, sizeof *b->threads);
    b->warp_barriers = calloc((n + WARP - 1) / WARP, sizeof *b->warp_barriers);
    b->shared = calloc(1, (size_t)shared + 16);
    b->cells = l->checked ? calloc((size_t)shared + 1, sizeof *b->cells) : NULL;
    if (!b->threads || !b->warp_barriers || !b->shared || (l->checked && !b->cells)) return false;
    for (uint32_t i = 0; i < n; i++) {
        Thread *thread = &b->threads[i];
        const EmuThread head = {.calls = l->calls, .tid = i, .ntid = n, .rank = rank};
        *thread = (Thread){.head = head, .block = b, .state = THREAD_ENDED};
        fiber_create(&thread->fiber, stacks + ((size_t)rank * n + i) * stacks_stride(STACK_BYTES), STACK_BYTES,
                     thread_run, thread);
    }
    return true;
}

bool team_create(Team *t, Launch *l) {
    *t = (Team){
        .launch = l, .num_blocks = l->shape->blocks_per_program, .threads_per_block = l->shape->threads_per_block};
    t->blocks = calloc(t->num_blocks, sizeof *t->blocks);
    t->stacks = t->blocks ? stacks_create(stacks_of(t), STACK_BYTES) : NULL;
    bool ok = t->stacks != NULL;
    for (uint32_t i = 0; ok && i < t->num_blocks; i++) ok = block_create(&t->blocks[i], t, i, t->stacks);
    return ok && (!l->counts || count_create(t));
}

static void thread_destroy(Thread *t) {
    fiber_destroy(&t->fiber);
    free(t->copies.at);
    free(t->sums.at);
}

void team_destroy(Team *t) {
    if (t->launch->counts) count_destroy(t);
    for (uint32_t i = 0; t->blocks && i < t->num_blocks; i++) {
        Block *b = &t->blocks[i];
        for (uint32_t k = 0; b->threads && k < t->threads_per_block; k++) thread_destroy(&b->threads[k]);
        free(b->threads);
        free(b->warp_barriers);
        free(b->shared);
        free(b->cells);
        free(b->stores.at);
        for (uint32_t k = 0; k < MOST_GROUPS; k++) free(b->products[k]);
    }
    stacks_destroy(t->stacks, stacks_of(t), STACK_BYTES);
    mbarriers_destroy(t);
    free(t->blocks);
    free(t->words);
    team_forget(t);
    free(t->known.at);
}

static void thread_begin(Thread *t, const Launch *l, uint64_t first_block) {
    uint64_t block = first_block + t->block->rank;
    const uint32_t *n = l->blocks;
    if (t->state != THREAD_ENDED) fiber_drop(&t->fiber); /* stopped on the way */
    t->state = THREAD_READY;
    t->turn = 0;
    t->looks = 0;
    t->prints = 0;
    t->is_idle = false;
    t->meetings = 0;
    t->head.turns = 0;
    t->store_site = -1;
    t->copies.n = t->copies.groups = 0;
    t->store_groups = 0;
    t->sums = (Sums){.at = t->sums.at, .cap = t->sums.cap};
    t->fence = (Fence){0};
    memcpy(t->head.nctaid, n, sizeof t->head.nctaid);
    t->head.ctaid[0] = (uint32_t)(block % n[0]);
    t->head.ctaid[1] = (uint32_t)(block / n[0] % n[1]);
    t->head.ctaid[2] = (uint32_t)(block / n[0] / n[1]);
}

void team_begin(Team *t, uint64_t number, Fiber *home) {
    t->home = home;
    t->number = number;
    t->is_active = true;
    t->barriers = 0;
    t->clock = 0;
    t->is_waiting = false;
    t->progress = 0;
    team_forget(t);
    words_begin(t);
    mbarriers_begin(t);
    if (t->launch->counts) count_begin(t);
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        Block *b = &t->blocks[i];
        b->barriers = 0;
        products_begin(b);
        b->stores.n = 0;
        memset(b->warp_barriers, 0, (t->threads_per_block + WARP - 1) / WARP * sizeof *b->warp_barriers);
        /* What shared memory holds at the start is anything: numbers that look like no result. */
        memset(b->shared, 0xA5, (size_t)t->launch->shape->shared_static + t->launch->shape->shared_dynamic);
        for (uint32_t k = 0; k < t->threads_per_block; k++)
            thread_begin(&b->threads[k], t->launch, number * t->num_blocks);
    }
    if (t->launch->recording) record_begin(t);
}

/* ---- Meetings ---------------------------------------------------------------------------------------------------- */

/* Threads that could meet: n of them, one after the other in memory. */
typedef struct Group {
    Thread *threads;
    uint32_t n;
} Group;

static Group warp_of(Block *b, uint32_t first) {
    uint32_t left = b->team->threads_per_block - first;
    return (Group){b->threads + first, left < WARP ? left : WARP};
}

/* The first one's program is in the grid if any of its warp's is. */
static bool all_wait(Group g, ThreadState where) {
    for (uint32_t i = 0; i < g.n; i++) {
        const Thread *t = &g.threads[i];
        bool is_here = t->state == where && t->call == g.threads[0].call;
        if (!is_here && (i == 0 || !thread_is_beyond(t))) return false;
    }
    return true;
}

static void release(Group g) {
    for (uint32_t i = 0; i < g.n; i++)
        if (g.threads[i].state != THREAD_ENDED) g.threads[i].state = THREAD_READY;
}

static bool release_groups(Block *b) {
    bool released = false;
    for (uint32_t i = 0; i + GROUP <= b->team->threads_per_block; i += GROUP) {
        Group g = {b->threads + i, GROUP};
        if (!all_wait(g, THREAD_AT_GROUP)) continue;
        release(g);
        released = true;
    }
    return released;
}

static bool release_block(Block *b) {
    Group g = {b->threads, b->team->threads_per_block};
    if (!all_wait(g, THREAD_AT_BLOCK)) return false;
    release(g);
    b->barriers++;
    mbarriers_meet(b);
    return true;
}

static bool release_cluster(Team *t) {
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        Group g = {t->blocks[i].threads, t->threads_per_block};
        if (!all_wait(g, THREAD_AT_CLUSTER) || g.threads[0].call != t->blocks[0].threads[0].call) return false;
    }
    for (uint32_t i = 0; i < t->num_blocks; i++) release((Group){t->blocks[i].threads, t->threads_per_block});
    t->barriers++;
    return true;
}

/* ---- Meetings that can never be ---------------------------------------------------------------------------------- */

static void stop(Team *t) {
    t->is_active = false;
}

void team_hang(Team *t) {
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        for (uint32_t k = 0; k < t->threads_per_block; k++) {
            const Thread *thread = &t->blocks[i].threads[k];
            if (thread->state == THREAD_ENDED || !thread->looks) continue;
            Spot spot = thread_spot(thread, thread->look_site, 0);
            finding_add(t->launch->findings, FINDING_DIVERGENT, &spot,
                        "loads a value again and again that no running program changes");
            stop(t);
            return;
        }
    }
}

/* ---- The scheduler ----------------------------------------------------------------------------------------------- */

typedef struct Round {
    bool ran, spun;
} Round;

static void run_thread(Team *t, Thread *thread, Round *r) {
    if (thread->state == THREAD_SPINS) thread->state = THREAD_READY;
    if (thread->state != THREAD_READY) return;
    fiber_switch(t->home, &thread->fiber);
    if (thread->state == THREAD_SPINS)
        r->spun = true;
    else
        r->ran = true;
}

/* A warp runs on as long as its lanes only wait for each other. */
static void run_warp(Block *b, uint32_t first, Round *r) {
    Group g = warp_of(b, first);
    for (;;) {
        for (uint32_t i = 0; i < g.n; i++) run_thread(b->team, &g.threads[i], r);
        if (!all_wait(g, THREAD_AT_WARP)) return;
        if (g.threads[0].is_barrier) b->warp_barriers[first / WARP]++;
        release(g);
    }
}

static bool all_ended(const Team *t) {
    for (uint32_t i = 0; i < t->num_blocks; i++)
        for (uint32_t k = 0; k < t->threads_per_block; k++)
            if (t->blocks[i].threads[k].state != THREAD_ENDED) return false;
    return true;
}

TeamStep team_step(Team *t) {
    Round r = {false, false};
    /* blocks that exchange words come in either order: none may count on one */
    bool is_back = t->num_words && t->turns++ % 2;
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        Block *b = &t->blocks[is_back ? t->num_blocks - 1 - i : i];
        for (uint32_t w = 0; w < t->threads_per_block; w += WARP) run_warp(b, w, &r);
        r.ran |= release_groups(b);
        r.ran |= release_block(b);
    }
    if (!t->is_active) return TEAM_ENDED; /* an assertion failed */
    r.ran |= release_cluster(t);
    if (r.ran && !t->is_waiting) return TEAM_RAN;
    if (r.ran || r.spun) return TEAM_SPUN;
    if (!all_ended(t)) report_divergence(t);
    else mbarriers_end(t);
    stop(t);
    return TEAM_ENDED;
}

/* ---- The emulator's side of the primitives ----------------------------------------------------------------------- */

static Thread *thread_of(EmuThread *t) {
    return (Thread *)t; /* its first member */
}

static void load_global(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t access,
                        int32_t site) {
    if (predicate) global_access(thread_of(t), address, data, emu_access_unpack(access), false, site);
}

static void store_global(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t access,
                         int32_t site) {
    if (predicate) global_access(thread_of(t), address, data, emu_access_unpack(access), true, site);
}

static void load_shared(EmuThread *t, uint64_t offset, uint32_t predicate, uint64_t *data, uint32_t access,
                        int32_t site) {
    if (predicate)
        shared_access(thread_of(t), thread_of(t)->block, offset, data, emu_access_unpack(access), SHARED_LOAD, site);
}

static void store_shared(EmuThread *t, uint64_t offset, uint32_t predicate, uint64_t *data, uint32_t access,
                         int32_t site) {
    if (predicate)
        shared_access(thread_of(t), thread_of(t)->block, offset, data, emu_access_unpack(access), SHARED_STORE, site);
}

static void store_cluster(EmuThread *t, uint64_t offset, uint32_t block, uint32_t predicate, uint64_t *data,
                          uint32_t access, int32_t site) {
    Team *team = thread_of(t)->block->team;
    if (predicate)
        shared_access(thread_of(t), &team->blocks[block % team->num_blocks], offset, data, emu_access_unpack(access),
                      SHARED_STORE, site);
}

static void atomic_global(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t atomic,
                          int32_t site) {
    if (predicate)
        global_atomic(thread_of(t), address, data, emu_atomic_unpack(atomic), site);
    else
        data[0] = 0;
}

static void copy_async(EmuThread *t, uint32_t offset, uint64_t address, uint32_t predicate, uint32_t bytes,
                       uint32_t all, int32_t site) {
    if (predicate) copy_begin(thread_of(t), offset, address, bytes, all, site);
}

static void copy_commit(EmuThread *t) {
    thread_of(t)->copies.groups++;
}

static void copy_wait(EmuThread *t, uint32_t pending) {
    copy_arrive(thread_of(t), pending);
}

/* Each lane shows its value, all of the warp meet, each looks at its program's lanes. The next shuffle uses the other
 * place, so nobody overwrites what a slower lane has yet to read. */
static uint32_t shuffle(EmuThread *thread, uint32_t value, uint32_t lane, int32_t site, uint32_t call) {
    Thread *t = thread_of(thread);
    uint32_t turn = t->turn, threads = threads_of_program(t->block->team->launch),
             lanes = threads < WARP ? threads : WARP;
    t->turn ^= 1;
    t->exchange[turn] = value;
    thread_meet(t, THREAD_AT_WARP, false, site, call);
    uint32_t first = t->head.tid / lanes * lanes, from = first + lane % lanes;
    return t->block->threads[from < t->block->team->threads_per_block ? from : t->head.tid].exchange[turn];
}

static uint32_t shuffle_xor(EmuThread *t, uint32_t value, uint32_t mask, int32_t site, uint32_t call) {
    return shuffle(t, value, (t->tid ^ mask) % WARP, site, call);
}

static uint32_t shuffle_lane(EmuThread *t, uint32_t value, uint32_t lane, int32_t site, uint32_t call) {
    return shuffle(t, value, lane, site, call);
}

#define BARRIER(name, where)                                                                                           \
    static void name(EmuThread *t, int32_t site, uint32_t call) {                                                      \
        thread_meet(thread_of(t), where, true, site, call);                                                            \
    }
BARRIER(barrier_warp, THREAD_AT_WARP)
BARRIER(barrier_block, THREAD_AT_BLOCK)
BARRIER(barrier_cluster, THREAD_AT_CLUSTER)
#undef BARRIER

static void print_begin(EmuThread *t) {
    thread_of(t)->prints++;
}

static void print(EmuThread *thread, const char *text, const char *format, uint64_t shape, uint32_t element,
                  uint64_t value) {
    const Thread *t = thread_of(thread);
    Spot spot = thread_spot(t, -1, 0);
    DebugLine l = {spot.program, t->prints, element, shape, text, format, value};
    debug_add(t->block->team->launch->log, &l);
}

/* No other program begins; those under way go on. */
static void assertion(EmuThread *thread, const char *text, uint64_t shape, uint32_t element, int32_t site) {
    Thread *t = thread_of(thread);
    Launch *l = t->block->team->launch;
    Spot spot = thread_spot(t, site, 0);
    debug_assertion(l->findings, &spot, shape, element, text);
    atomic_store(&l->is_ended, true);
    atomic_store(&l->next, l->teams);
    stop(t->block->team);
    thread_wait(t, THREAD_STOPPED);
}

static void tell_step(EmuThread *t, uint32_t op) {
    (void)t, (void)op;
}

static void tell_value(EmuThread *t, uint32_t value, uint32_t reg, uint64_t bits) {
    (void)t, (void)value, (void)reg, (void)bits;
}

const EmuCalls emu_calls = {
    .load_global = load_global,
    .store_global = store_global,
    .load_shared = load_shared,
    .store_shared = store_shared,
    .store_cluster = store_cluster,
    .store_async = emu_store_async,
    .mbarrier_init = emu_mbarrier_init,
    .mbarrier_expect = emu_mbarrier_expect,
    .turn_init = emu_turn_init,
    .turn = emu_turn,
    .mbarrier_wait = emu_mbarrier_wait,
    .bulk_load = emu_bulk_load,
    .bulk_store = emu_bulk_store,
    .bulk_commit = emu_bulk_commit,
    .bulk_wait = emu_bulk_wait,
    .atomic = atomic_global,
    .copy_async = copy_async,
    .copy_commit = copy_commit,
    .copy_wait = copy_wait,
    .shuffle_xor = shuffle_xor,
    .shuffle_lane = shuffle_lane,
    .ldmatrix = emu_ldmatrix,
    .stmatrix = emu_stmatrix,
    .mma = emu_mma,
    .wgmma_fence = emu_wgmma_fence,
    .wgmma_at = emu_wgmma_at,
    .wgmma = emu_wgmma,
    .wgmma_held = emu_wgmma_held,
    .wgmma_commit = emu_wgmma_commit,
    .wgmma_wait = emu_wgmma_wait,
    .proxy_fence = emu_proxy_fence,
    .barrier_warp = barrier_warp,
    .barrier_block = barrier_block,
    .barrier_cluster = barrier_cluster,
    .grid_store = emu_grid_store,
    .grid_wait = emu_grid_wait,
    .grid_leave = emu_grid_leave,
    .print_begin = print_begin,
    .print = print,
    .assertion = assertion,
    .record_step = tell_step,
    .record_value = tell_value,
    .ex2 = emu_ex2, .lg2 = emu_lg2, .rcp = emu_rcp, .rsqrt = emu_rsqrt, .sqrt = emu_sqrt, .div = emu_div,
    .to_s32 = emu_to_s32, .nearest_s32 = emu_nearest_s32, .to_u32 = emu_to_u32,
    .to_e4m3 = emu_to_e4m3, .from_e4m3 = emu_from_e4m3,
};
