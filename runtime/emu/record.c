/* record.c - launches that are recorded: events of chosen programs, extents of all.
 *
 * In: the calls of compiled code that tells what it makes. Out: a Recording. Method: as count.c, a table of calls that
 * stands before the emulator's own; each thread knows its program's record, or that it has none.
 */
#include "runtime/debug/recording.h"
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

static Thread *thread_of(EmuThread *t) {
    return (Thread *)t; /* its first member */
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static RecordedEvent *add_event(Thread *t, RecordedKind kind) {
    RecordedProgram *p = t->recorded;
    const Recording *r = t->block->team->launch->recording;
    if (!p || p->values > r->limit) return NULL;
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 4096;
        RecordedEvent *more = realloc(p->events, cap * sizeof *more);
        if (!more) {
            atomic_store(&t->block->team->launch->out_of_memory, true);
            return NULL;
        }
        p->events = more;
        p->cap = cap;
    }
    RecordedEvent *e = &p->events[p->n++];
    *e = (RecordedEvent){.step = t->step, .thread = thread_index(t) % p->threads, .kind = (uint8_t)kind};
    return e;
}

static void tell_step(EmuThread *head, uint32_t op) {
    Thread *t = thread_of(head);
    t->step++;
    RecordedEvent *e = add_event(t, RECORDED_STEP);
    if (e) e->what = (int32_t)op;
}

static void tell_value(EmuThread *head, uint32_t value, uint32_t reg, uint64_t bits) {
    Thread *t = thread_of(head);
    RecordedProgram *p = t->recorded;
    if (!p || (reg == NO_REGISTER && thread_index(t) % p->threads)) return;
    p->values++;
    RecordedEvent *e = add_event(t, RECORDED_VALUE);
    if (!e) return;
    e->what = (int32_t)value;
    e->address = reg;
    e->data[0] = bits;
}

/* ---- Global memory ----------------------------------------------------------------------------------------------- */

static void extend(RecordedExtent *e, uint64_t first, uint64_t bytes) {
    if (!e->bytes || first < e->first) e->first = first;
    if (first + bytes > e->end) e->end = first + bytes;
    e->bytes += bytes;
}

static void record_global(Thread *t, RecordedKind kind, uint64_t address, bool is_active, uint32_t bytes) {
    const Launch *l = t->block->team->launch;
    const Region *region = is_active ? region_find(&l->regions, address, 1) : NULL;
    RecordedEvent *e = add_event(t, kind);
    int32_t param = region ? region->param : -1;
    uint64_t offset = region ? address - region->begin : address;
    if (e) {
        e->what = param;
        e->address = offset;
        e->bytes = (uint8_t)bytes;
        e->is_active = is_active;
    }
    if (!t->outline || param < 0) return;
    if (kind != RECORDED_STORE) extend(&t->outline[2 * param], offset, bytes);
    if (kind != RECORDED_LOAD) extend(&t->outline[2 * param + 1], offset, bytes);
}

static uint32_t bytes_of(uint32_t access) {
    EmuAccess a = emu_access_unpack(access);
    return (uint32_t)a.words * a.bytes;
}

static void load_global(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t access,
                        int32_t site) {
    record_global(thread_of(t), RECORDED_LOAD, address, predicate != 0, bytes_of(access));
    emu_calls.load_global(t, address, predicate, data, access, site);
}

static void store_global(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t access,
                         int32_t site) {
    record_global(thread_of(t), RECORDED_STORE, address, predicate != 0, bytes_of(access));
    emu_calls.store_global(t, address, predicate, data, access, site);
}

static void atomic(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t what, int32_t site) {
    record_global(thread_of(t), RECORDED_ATOMIC, address, predicate != 0, emu_atomic_unpack(what).bytes);
    emu_calls.atomic(t, address, predicate, data, what, site);
}

/* ---- Shared memory ----------------------------------------------------------------------------------------------- */

static void record_shared(Thread *t, RecordedKind kind, uint64_t offset, uint32_t block, bool is_active,
                          const uint64_t *data, uint32_t access) {
    RecordedEvent *e = add_event(t, kind);
    if (!e) return;
    EmuAccess a = emu_access_unpack(access);
    e->what = (int32_t)block;
    e->address = offset;
    e->bytes = (uint8_t)bytes_of(access);
    e->is_active = is_active;
    for (uint32_t i = 0; i < a.words; i++) memcpy((char *)e->data + (size_t)i * a.bytes, &data[i], a.bytes);
}

static void load_shared(EmuThread *t, uint64_t offset, uint32_t predicate, uint64_t *data, uint32_t access,
                        int32_t site) {
    emu_calls.load_shared(t, offset, predicate, data, access, site);
    record_shared(thread_of(t), RECORDED_SHARED_LOAD, offset, t->rank, predicate != 0, data, access);
}

static void store_shared(EmuThread *t, uint64_t offset, uint32_t predicate, uint64_t *data, uint32_t access,
                         int32_t site) {
    record_shared(thread_of(t), RECORDED_SHARED_STORE, offset, t->rank, predicate != 0, data, access);
    emu_calls.store_shared(t, offset, predicate, data, access, site);
}

static void store_cluster(EmuThread *t, uint64_t offset, uint32_t block, uint32_t predicate, uint64_t *data,
                          uint32_t access, int32_t site) {
    record_shared(thread_of(t), RECORDED_CLUSTER_STORE, offset, block, predicate != 0, data, access);
    emu_calls.store_cluster(t, offset, block, predicate, data, access, site);
}

static void store_async(EmuThread *t, uint64_t offset, uint32_t mbarrier, uint32_t block, uint32_t predicate,
                          uint64_t *data, uint32_t access, int32_t site) {
    record_shared(thread_of(t), RECORDED_CLUSTER_STORE, offset, block, predicate != 0, data, access);
    emu_calls.store_async(t, offset, mbarrier, block, predicate, data, access, site);
}

/* Each lane whose row it is moves 16 bytes. */
static void record_row(Thread *t, RecordedKind kind, uint32_t offset, uint32_t matrices) {
    enum { ROWS = 8, ROW = 16 };
    RecordedEvent *e = add_event(t, kind);
    if (!e) return;
    e->what = (int32_t)t->head.rank;
    e->address = offset;
    e->bytes = ROW;
    e->is_active = t->head.tid % WARP < ROWS * emu_matrices(matrices);
    const RecordLaunch *l = t->block->team->launch->shape;
    bool is_inside = (uint64_t)offset + ROW <= l->shared_static + l->shared_dynamic;
    if (e->is_active && is_inside) memcpy(e->data, t->block->shared + offset, ROW);
}

static void ldmatrix(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call) {
    emu_calls.ldmatrix(t, words, offset, matrices, site, call);
    record_row(thread_of(t), RECORDED_SHARED_LOAD, offset, matrices);
}

static void stmatrix(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call) {
    emu_calls.stmatrix(t, words, offset, matrices, site, call);
    record_row(thread_of(t), RECORDED_SHARED_STORE, offset, matrices);
}

/* ---- Words between the blocks of a program of scope grid --------------------------------------------------------- */

static void record_word(Thread *t, RecordedKind kind, uint32_t word, uint32_t predicate, uint32_t value,
                        uint32_t round) {
    RecordedEvent *e = add_event(t, kind);
    if (!e) return;
    e->what = (int32_t)round;
    e->address = (uint64_t)word * WORD;
    e->bytes = WORD;
    e->is_active = predicate != 0;
    e->data[0] = (uint64_t)round << 32 | value;
}

static void grid_store(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t value, uint32_t round, int32_t site) {
    record_word(thread_of(t), RECORDED_WORD_STORE, word, predicate, value, round);
    emu_calls.grid_store(t, word, predicate, value, round, site);
}

static uint32_t grid_wait(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t round, int32_t site) {
    uint32_t value = emu_calls.grid_wait(t, word, predicate, round, site);
    record_word(thread_of(t), RECORDED_WORD_LOAD, word, predicate, value, round);
    return value;
}

/* ---- Asynchronous copies: global memory is read where one begins, shared memory written at the wait -------------- */

static void copy_async(EmuThread *t, uint32_t offset, uint64_t address, uint32_t predicate, uint32_t bytes,
                       uint32_t all, int32_t site) {
    bool is_active = predicate && bytes;
    record_global(thread_of(t), RECORDED_LOAD, address, is_active, is_active ? bytes : all);
    emu_calls.copy_async(t, offset, address, predicate, bytes, all, site);
}

static void record_arrival(Thread *t, const AsyncCopy *copy) {
    RecordedEvent *e = add_event(t, RECORDED_SHARED_COPY);
    if (!e) return;
    const Region *region = region_find(&t->block->team->launch->regions, copy->address, 1);
    e->what = region ? region->param : -1;
    e->address = copy->offset;
    e->bytes = (uint8_t)copy->bytes;
    e->is_active = true;
    memcpy(e->data, copy->data, copy->bytes);
}

static void copy_wait(EmuThread *head, uint32_t pending) {
    Thread *t = thread_of(head);
    for (uint32_t i = 0; i < t->copies.n; i++)
        if (copy_arrives(&t->copies, &t->copies.at[i], pending)) record_arrival(t, &t->copies.at[i]);
    emu_calls.copy_wait(head, pending);
}

/* A bulk copy's bytes are all there at once. */
static void record_unit(Thread *t, const BulkUnit *u) {
    RecordedEvent *e = add_event(t, RECORDED_SHARED_COPY);
    if (!e) return;
    const Launch *l = t->block->team->launch;
    const Region *region = u->first < u->end ? region_find(&l->regions, u->address, 1) : NULL;
    e->what = region ? region->param : -1;
    e->address = u->offset;
    e->bytes = sizeof e->data;
    e->is_active = true;
    bool is_inside = (uint64_t)u->offset + sizeof e->data <= l->shape->shared_static + l->shape->shared_dynamic;
    if (is_inside) memcpy(e->data, t->block->shared + u->offset, sizeof e->data);
}

static void bulk_load(EmuThread *head, uint64_t *words, uint32_t offset, uint32_t mbarrier, uint32_t predicate,
                      uint64_t map, int32_t site) {
    const EmuMap *m = (const EmuMap *)(uintptr_t)map;
    Thread *t = thread_of(head);
    uint32_t units = predicate ? bulk_bytes(m) / (uint32_t)sizeof(uint64_t[2]) : 0;
    emu_calls.bulk_load(head, words, offset, mbarrier, predicate, map, site);
    for (uint32_t i = 0; i < units; i++) {
        BulkUnit u = bulk_unit(m, words, offset, i);
        record_global(t, RECORDED_LOAD, u.address, u.first < u.end, u.end - u.first);
        record_unit(t, &u);
    }
}

static void bulk_store(EmuThread *head, uint64_t *words, uint32_t offset, uint32_t predicate, uint64_t map,
                       int32_t site) {
    const EmuMap *m = (const EmuMap *)(uintptr_t)map;
    uint32_t units = predicate ? bulk_bytes(m) / (uint32_t)sizeof(uint64_t[2]) : 0;
    for (uint32_t i = 0; i < units; i++) {
        BulkUnit u = bulk_unit(m, words, offset, i);
        record_global(thread_of(head), RECORDED_STORE, u.address, u.first < u.end, u.end - u.first);
    }
    emu_calls.bulk_store(head, words, offset, predicate, map, site);
}

/* ---- Meetings ---------------------------------------------------------------------------------------------------- */

static void record_meeting(EmuThread *t, RecordedKind kind, uint32_t what, uint32_t value) {
    RecordedEvent *e = add_event(thread_of(t), kind);
    if (!e) return;
    e->what = (int32_t)what;
    e->data[0] = value;
    e->is_active = true;
}

static uint32_t shuffle_xor(EmuThread *t, uint32_t value, uint32_t mask, int32_t site, uint32_t call) {
    record_meeting(t, RECORDED_SHUFFLE_XOR, mask, value);
    return emu_calls.shuffle_xor(t, value, mask, site, call);
}

static uint32_t shuffle_lane(EmuThread *t, uint32_t value, uint32_t lane, int32_t site, uint32_t call) {
    record_meeting(t, RECORDED_SHUFFLE_LANE, lane, value);
    return emu_calls.shuffle_lane(t, value, lane, site, call);
}

#define MEETING(name, scope)                                                                                           \
    static void name(EmuThread *t, int32_t site, uint32_t call) {                                                      \
        record_meeting(t, RECORDED_BARRIER, scope, 0);                                                                 \
        emu_calls.name(t, site, call);                                                                                 \
    }
MEETING(barrier_warp, 0)
MEETING(barrier_block, 1)
MEETING(barrier_cluster, 2)
#undef MEETING

/* Shown as the meeting that it stands for. */
static void mbarrier_wait(EmuThread *t, uint32_t mbarrier, uint32_t parity, int32_t site) {
    record_meeting(t, RECORDED_BARRIER, 2, 0);
    emu_calls.mbarrier_wait(t, mbarrier, parity, site);
}

EmuCalls record_calls(void) {
    EmuCalls calls = emu_calls;
    calls.record_step = tell_step;
    calls.record_value = tell_value;
    WATCHED(WATCH)
    WATCH(ldmatrix) WATCH(stmatrix)
    calls.copy_wait = copy_wait;
    calls.mbarrier_wait = mbarrier_wait;
    return calls;
}

/* ---- A launch, a team -------------------------------------------------------------------------------------------- */

static void program_drop(RecordedProgram *p) {
    free(p->events);
    p->events = NULL;
    p->n = p->cap = 0;
    p->values = 0;
    p->has_run = false;
}

void recording_free(Recording *r) {
    for (uint32_t i = 0; i < r->num_programs; i++) program_drop(&r->programs[i]);
    free(r->extents);
    r->extents = NULL;
}

bool record_launch(const Launch *l) {
    Recording *r = l->recording;
    recording_free(r);
    r->record = l->call->variant->record;
    r->owner = l->call->variant->module->code.owner;
    r->num_params = r->record->num_params;
    uint64_t programs = 1;
    for (int d = 0; d < 3; d++) programs *= r->grid[d] = (uint64_t)l->call->grid[d];
    for (uint32_t i = 0; i < r->num_programs; i++)
        for (int d = 0; d < 3; d++)
            if (r->programs[i].at[d] < 0) r->programs[i].at[d] += l->call->grid[d];
    r->num_outlines = programs < RECORDED_OUTLINES ? programs : RECORDED_OUTLINES;
    r->extents = calloc((size_t)r->num_outlines * 2 * r->num_params + 1, sizeof *r->extents);
    return r->extents != NULL;
}

static void thread_record(Thread *t, Recording *r, uint32_t threads) {
    Spot spot = thread_spot(t, -1, 0);
    const int64_t *at = spot.program;
    uint64_t index = (uint64_t)at[0] + r->grid[0] * ((uint64_t)at[1] + r->grid[1] * (uint64_t)at[2]);
    bool is_there = (uint64_t)at[0] < r->grid[0]; /* packed blocks reach beyond the grid */
    t->step = 0;
    t->recorded = NULL;
    t->outline = is_there && index < r->num_outlines ? &r->extents[index * 2 * r->num_params] : NULL;
    for (uint32_t i = 0; is_there && i < r->num_programs; i++) {
        RecordedProgram *p = &r->programs[i];
        if (memcmp(p->at, at, sizeof p->at) != 0) continue;
        p->has_run = true;
        p->threads = threads;
        t->recorded = p;
        break;
    }
}

void record_begin(Team *team) {
    const Launch *l = team->launch;
    uint32_t threads = l->shape->threads_per_block / l->shape->programs_per_block * l->shape->blocks_per_program;
    for (uint32_t i = 0; i < team->num_blocks; i++)
        for (uint32_t k = 0; k < team->threads_per_block; k++)
            thread_record(&team->blocks[i].threads[k], l->recording, threads);
}

void device_record(fsc_device *d, Recording *r) {
    d->recording = r;
}

bool device_records(const fsc_device *d) {
    return d->recording != NULL;
}
