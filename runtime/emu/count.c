/* count.c - accesses of emulated threads, gathered into those of their warps, and what each of them costs.
 *
 * In: the calls of compiled code that counts. Out: tallies by site. Method: lanes run one after the other, so a request
 * is open until all lanes of the warp have come to it: the same instruction, in the same turn of the loops, since the
 * warp last met. What lanes went around is closed when the warp meets or when all of its lanes are turns ahead.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

enum {
    BANKS = 32,
    BANK_BYTES = 4,
    FEW = 2048, /* requests of a warp: beyond them a lane that is ahead lets the others come */
};

/* One access instruction of a warp. */
typedef struct Request {
    uint32_t access, turns; /* which it is */
    int32_t site;
    fsc_traffic_kind kind;
    uint32_t bytes;         /* of a lane */
    uint32_t came, active;  /* lanes, a bit each: were here; take part */
    uint64_t address[WARP]; /* of those that take part */
} Request;

struct CountedWarp {
    Request *at;
    uint32_t n, cap;
    uint32_t all; /* its lanes */
    uint32_t meetings;
};

/* ---- What a request costs ---------------------------------------------------------------------------------------- */

static uint32_t count_bits(uint32_t x) {
    return (uint32_t)__builtin_popcount(x);
}

/* Puts x into the set unless it is there. */
static uint32_t insert(uint64_t *set, uint32_t n, uint64_t x) {
    for (uint32_t i = n; i-- > 0;)
        if (set[i] == x) return n;
    set[n] = x;
    return n + 1;
}

/* The different sectors. */
static uint32_t sectors_of(const Request *r, uint64_t set[2 * WARP]) {
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < WARP; lane++) {
        if (!(r->active >> lane & 1)) continue;
        n = insert(set, n, r->address[lane] / SECTOR);
        n = insert(set, n, (r->address[lane] + r->bytes - 1) / SECTOR);
    }
    return n;
}

/* The most different words of one bank that these lanes want. */
static uint32_t wavefronts_of(const Request *r, uint32_t lanes) {
    uint64_t words[WARP * 4];
    uint32_t n = 0, of_bank[BANKS] = {0}, most = 0;
    for (uint32_t lane = 0; lane < WARP; lane++) {
        if (!(lanes >> lane & 1)) continue;
        for (uint32_t i = 0; i < r->bytes; i += BANK_BYTES) n = insert(words, n, (r->address[lane] + i) / BANK_BYTES);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t wanted = ++of_bank[words[i] % BANKS];
        if (wanted > most) most = wanted;
    }
    return most;
}

/* Does each of these lanes want what the lane wants whose number differs by `bit`, if that is one of them? */
static bool want_alike(const Request *r, uint32_t lanes, uint32_t bit) {
    for (uint32_t lane = 0; lane < WARP; lane++) {
        uint32_t other = lane ^ bit;
        if ((lanes >> lane & 1) && (lanes >> other & 1) && r->address[lane] != r->address[other]) return false;
    }
    return true;
}

/* n: up to a whole warp. */
static uint32_t lanes_from(const Request *r, uint32_t first, uint32_t n) {
    return r->active & (uint32_t)(((UINT64_C(1) << n) - 1) << first);
}

/* Lanes that ask for 8 bytes go in halves of the warp, for 16 in quarters. Of loads two such groups go together where
 * neighbours, or lanes two apart, want the same: measured on an H200 (docs/how-to/profiling.md). */
static void add_wavefronts(const Request *r, fsc_traffic *t) {
    uint32_t group = r->bytes > 8 ? WARP / 4 : r->bytes > 4 ? WARP / 2 : WARP, n;
    for (uint32_t first = 0; first < WARP; first += n) {
        bool may_join = r->kind == FSC_SHARED_LOAD && group < WARP && first % (2 * group) == 0;
        uint32_t both = may_join ? lanes_from(r, first, 2 * group) : 0;
        n = may_join && (want_alike(r, both, 1) || want_alike(r, both, 2)) ? 2 * group : group;
        uint32_t lanes = lanes_from(r, first, n);
        if (!lanes) continue;
        t->units += wavefronts_of(r, lanes);
        t->least++;
    }
}

static void add_to_param(Team *team, const Request *r, const uint64_t *set, uint32_t sectors) {
    const Region *region = region_find(&team->launch->regions, r->address[__builtin_ctz(r->active)], 1);
    if (!region || region->param < 0) return;
    fsc_param_counts *p = &team->params[region->param];
    uint64_t bytes = (uint64_t)sectors * SECTOR;
    if (r->kind == FSC_LOAD)
        p->read += bytes;
    else if (r->kind == FSC_STORE)
        p->written += bytes;
    else
        p->changed += bytes;
    for (uint32_t i = 0; i < sectors; i++)
        touched_add(team->launch->touched, region, set[i], r->kind != FSC_STORE, r->kind != FSC_LOAD);
}

static Tally *tally_of(Team *team, int32_t site) {
    size_t last = counts_num_tallies(team->launch->counts) - 1;
    return &team->tallies[site < 0 || (size_t)site > last ? last : (size_t)site];
}

static void close_request(Team *team, Request *r) {
    fsc_traffic *t = &tally_of(team, r->site)->traffic[r->kind];
    t->idle += count_bits(r->came & ~r->active);
    if (!r->active) return;
    fsc_traffic one = {.requests = 1, .lanes = count_bits(r->active), .narrow = r->bytes, .wide = r->bytes};
    one.bytes = one.lanes * r->bytes;
    if (r->kind <= FSC_ATOMIC) {
        uint64_t set[2 * WARP];
        uint32_t sectors = sectors_of(r, set);
        one.units = sectors;
        add_to_param(team, r, set, sectors);
    } else {
        add_wavefronts(r, &one);
    }
    traffic_add(t, &one);
}

/* ---- Requests that are open -------------------------------------------------------------------------------------- */

static void close_all(Team *team, CountedWarp *w) {
    for (uint32_t i = 0; i < w->n; i++) close_request(team, &w->at[i]);
    w->n = 0;
}

/* Closes those that no lane will come to any more: all have been there, or all are turns ahead. */
static void sweep(Block *b, CountedWarp *w, uint32_t first) {
    uint32_t kept = 0, least = UINT32_MAX;
    for (uint32_t lane = 0; lane < WARP && first + lane < b->team->threads_per_block; lane++) {
        const Thread *t = &b->threads[first + lane];
        uint32_t turns = t->meetings == w->meetings ? t->head.turns : 0; /* 0: it has yet to come back from a meeting */
        if (t->state != THREAD_ENDED && turns < least) least = turns;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->at[i].came == w->all || w->at[i].turns < least)
            close_request(b->team, &w->at[i]);
        else
            w->at[kept++] = w->at[i];
    }
    w->n = kept;
}

static bool is_request(const Request *r, const Thread *t, fsc_traffic_kind kind) {
    uint32_t lane = 1u << t->head.tid % WARP;
    return r->access == t->head.access && r->turns == t->head.turns && r->kind == kind && !(r->came & lane);
}

/* The open request that the thread comes to: mostly the one behind its last. NULL: none. */
static Request *find(CountedWarp *w, Thread *t, fsc_traffic_kind kind) {
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t k = (t->request + 1 + i) % w->n;
        if (!is_request(&w->at[k], t, kind)) continue;
        t->request = k;
        return &w->at[k];
    }
    return NULL;
}

static Request *open_request(Thread *t, CountedWarp *w, fsc_traffic_kind kind, int32_t site, uint32_t bytes) {
    if (w->n == w->cap) {
        uint32_t cap = w->cap ? 2 * w->cap : 64;
        Request *more = realloc(w->at, cap * sizeof *more);
        if (!more) {
            atomic_store(&t->block->team->launch->out_of_memory, true);
            return NULL;
        }
        w->at = more;
        w->cap = cap;
    }
    t->request = w->n++;
    w->at[t->request] =
        (Request){.access = t->head.access, .turns = t->head.turns, .site = site, .kind = kind, .bytes = bytes};
    return &w->at[t->request];
}

static void count_access(EmuThread *head, fsc_traffic_kind kind, uint64_t address, uint32_t predicate, uint32_t bytes,
                         int32_t site) {
    Thread *t = (Thread *)head; /* its first member */
    CountedWarp *w = &t->block->counted[head->tid / WARP];
    Request *r = find(w, t, kind);
    if (!r && w->n == w->cap) {
        sweep(t->block, w, head->tid / WARP * WARP);
        if (w->n > FEW) thread_pause(t);
        r = find(w, t, kind); /* another lane may have opened it meanwhile */
    }
    if (!r) r = open_request(t, w, kind, site, bytes);
    if (!r) return;
    uint32_t lane = head->tid % WARP;
    r->came |= 1u << lane;
    if (!predicate) return;
    r->active |= 1u << lane;
    r->address[lane] = address;
}

/* The thread has met all lanes of its warp: whoever comes back first closes what was open. */
static void count_meeting(EmuThread *head) {
    Thread *t = (Thread *)head;
    CountedWarp *w = &t->block->counted[head->tid / WARP];
    head->turns = 0;
    if (++t->meetings == w->meetings) return;
    w->meetings = t->meetings;
    close_all(t->block->team, w);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static uint32_t bytes_of(uint32_t access) {
    EmuAccess a = emu_access_unpack(access);
    return (uint32_t)a.words * a.bytes;
}

#define ACCESS(name, kind)                                                                                             \
    static void name(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t access,              \
                     int32_t site) {                                                                                   \
        count_access(t, kind, address, predicate, bytes_of(access), site);                                             \
        emu_calls.name(t, address, predicate, data, access, site);                                                     \
    }
ACCESS(load_global, FSC_LOAD)
ACCESS(store_global, FSC_STORE)
ACCESS(load_shared, FSC_SHARED_LOAD)
ACCESS(store_shared, FSC_SHARED_STORE)
#undef ACCESS

static void store_cluster(EmuThread *t, uint64_t offset, uint32_t block, uint32_t predicate, uint64_t *data,
                          uint32_t access, int32_t site) {
    count_access(t, FSC_CLUSTER_STORE, offset | (uint64_t)block << 32, predicate, bytes_of(access), site);
    emu_calls.store_cluster(t, offset, block, predicate, data, access, site);
}

static void store_async(EmuThread *t, uint64_t offset, uint32_t mbarrier, uint32_t block, uint32_t predicate,
                          uint64_t *data, uint32_t access, int32_t site) {
    count_access(t, FSC_CLUSTER_STORE, offset | (uint64_t)block << 32, predicate, bytes_of(access), site);
    emu_calls.store_async(t, offset, mbarrier, block, predicate, data, access, site);
}

static void copy_async(EmuThread *t, uint32_t offset, uint64_t address, uint32_t predicate, uint32_t bytes,
                       uint32_t all, int32_t site) {
    count_access(t, FSC_LOAD, address, predicate && bytes, bytes, site);
    emu_calls.copy_async(t, offset, address, predicate, bytes, all, site);
}

/* As if the lanes of a warp accessed 16 bytes each, in memory and in shared memory; in units that reach over the map's
 * end fewer. */
static void count_units(EmuThread *t, const uint64_t *words, uint32_t offset, uint32_t predicate, uint64_t map,
                        fsc_traffic_kind in_memory, fsc_traffic_kind in_shared, int32_t site) {
    const EmuMap *m = (const EmuMap *)(uintptr_t)map;
    Team *team = ((Thread *)t)->block->team;
    Request load = {.site = site, .kind = in_memory}, store = {.site = site, .kind = in_shared, .bytes = 16};
    uint32_t units = predicate ? bulk_bytes(m) / store.bytes : 0;
    for (uint32_t i = 0; i < units; i++) {
        BulkUnit u = bulk_unit(m, words, offset, i);
        uint32_t lane = i % WARP, bytes = u.end - u.first;
        if (load.bytes != bytes && load.active) {
            close_request(team, &load);
            load.active = 0;
        }
        load.bytes = bytes;
        load.address[lane] = u.address;
        if (bytes) load.active |= 1u << lane;
        store.address[lane] = u.offset;
        store.active |= 1u << lane;
        if (lane < WARP - 1 && i < units - 1) continue;
        close_request(team, &load);
        close_request(team, &store);
        load.active = store.active = 0;
    }
}

static void bulk_load(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t mbarrier, uint32_t predicate,
                      uint64_t map, int32_t site) {
    count_units(t, words, offset, predicate, map, FSC_LOAD, FSC_SHARED_STORE, site);
    emu_calls.bulk_load(t, words, offset, mbarrier, predicate, map, site);
}

static void bulk_store(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t predicate, uint64_t map, int32_t site) {
    count_units(t, words, offset, predicate, map, FSC_STORE, FSC_SHARED_LOAD, site);
    emu_calls.bulk_store(t, words, offset, predicate, map, site);
}

static void atomic(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t what, int32_t site) {
    count_access(t, FSC_ATOMIC, address, predicate, emu_atomic_unpack(what).bytes, site);
    emu_calls.atomic(t, address, predicate, data, what, site);
}

static void grid_store(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t value, uint32_t round, int32_t site) {
    if (predicate) tally_of(((Thread *)t)->block->team, site)->words_written++;
    emu_calls.grid_store(t, word, predicate, value, round, site);
}

/* Once, however often a thread looks until the word is there. */
static uint32_t grid_wait(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t round, int32_t site) {
    if (predicate) tally_of(((Thread *)t)->block->team, site)->words_read++;
    return emu_calls.grid_wait(t, word, predicate, round, site);
}

static uint32_t shuffle_xor(EmuThread *t, uint32_t value, uint32_t mask, int32_t site, uint32_t call) {
    uint32_t x = emu_calls.shuffle_xor(t, value, mask, site, call);
    count_meeting(t);
    return x;
}

static uint32_t shuffle_lane(EmuThread *t, uint32_t value, uint32_t lane, int32_t site, uint32_t call) {
    uint32_t x = emu_calls.shuffle_lane(t, value, lane, site, call);
    count_meeting(t);
    return x;
}

/* Each lane whose row it is asks for 16 bytes. */
#define MATRICES(name, kind)                                                                                           \
    static void name(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call) { \
        count_access(t, kind, offset, t->tid % WARP < 8 * emu_matrices(matrices), 16, site);                           \
        emu_calls.name(t, words, offset, matrices, site, call);                                                        \
        count_meeting(t);                                                                                              \
    }
MATRICES(ldmatrix, FSC_SHARED_LOAD)
MATRICES(stmatrix, FSC_SHARED_STORE)
#undef MATRICES

static void mma(EmuThread *t, uint64_t *words, uint32_t what, int32_t site, uint32_t call) {
    emu_calls.mma(t, words, what, site, call);
    count_meeting(t);
}

#define MEETING(name)                                                                                                  \
    static void name(EmuThread *t, int32_t site, uint32_t call) {                                                      \
        emu_calls.name(t, site, call);                                                                                 \
        count_meeting(t);                                                                                              \
    }
MEETING(barrier_warp)
MEETING(barrier_block)
MEETING(barrier_cluster)
#undef MEETING

EmuCalls count_calls(void) {
    EmuCalls calls = emu_calls;
    WATCHED(WATCH)
    WATCH(ldmatrix) WATCH(stmatrix) WATCH(mma)
    return calls;
}

/* ---- Of a team --------------------------------------------------------------------------------------------------- */

bool count_create(Team *t) {
    uint32_t warps = (t->threads_per_block + WARP - 1) / WARP, rest = t->threads_per_block % WARP;
    t->tallies = calloc(counts_num_tallies(t->launch->counts), sizeof *t->tallies);
    t->params = calloc(t->launch->regions.record->num_params + 1, sizeof *t->params);
    bool ok = t->tallies && t->params;
    for (uint32_t i = 0; ok && i < t->num_blocks; i++) {
        Block *b = &t->blocks[i];
        ok = (b->counted = calloc(warps, sizeof *b->counted)) != NULL;
        for (uint32_t w = 0; ok && w < warps; w++)
            b->counted[w].all = rest && w + 1 == warps ? (1u << rest) - 1 : UINT32_MAX;
    }
    return ok;
}

void count_begin(Team *t) {
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        for (uint32_t w = 0; w * WARP < t->threads_per_block; w++) {
            close_all(t, &t->blocks[i].counted[w]);
            t->blocks[i].counted[w].meetings = 0;
        }
    }
}

static void add_to_launch(Team *t) {
    Launch *l = t->launch;
    Tally *all = counts_tallies(l->counts);
    fsc_param_counts *params = counts_params(l->counts);
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < counts_num_tallies(l->counts); i++) {
        for (int k = 0; k < FSC_TRAFFIC_KINDS; k++) traffic_add(&all[i].traffic[k], &t->tallies[i].traffic[k]);
        all[i].words_read += t->tallies[i].words_read;
        all[i].words_written += t->tallies[i].words_written;
    }
    for (uint32_t i = 0; i < l->regions.record->num_params; i++) {
        params[i].read += t->params[i].read;
        params[i].written += t->params[i].written;
        params[i].changed += t->params[i].changed;
    }
    pthread_mutex_unlock(&l->lock);
}

void count_destroy(Team *t) {
    bool is_whole = t->tallies && t->params;
    for (uint32_t i = 0; t->blocks && i < t->num_blocks; i++) {
        for (uint32_t w = 0; t->blocks[i].counted && w * WARP < t->threads_per_block; w++) {
            if (is_whole) close_all(t, &t->blocks[i].counted[w]);
            free(t->blocks[i].counted[w].at);
        }
        free(t->blocks[i].counted);
    }
    if (is_whole) add_to_launch(t);
    free(t->tallies);
    free(t->params);
}
