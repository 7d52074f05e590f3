/* mbarrier.c - stores to the blocks of a cluster, and bulk copies, that count their bytes where they arrive.
 *
 * In: mbarriers that begin to count, are told what to expect, and are waited for; stores. Out: the bytes; findings
 * where one does not count yet, counts others than were said, or its block ends without having waited; with checks who
 * knows by a wait what others have done.
 * Method: a store or copy writes at once, and is a conflict for whoever touches the bytes without having waited
 * (shadow.c). A wait teaches its warp what each warp that stored knew and had done: a time for each pair of warps. That
 * is all a GPU has to keep of it: loads before, and stores that count. What a warp has learnt its block's others know
 * behind a barrier of the block. Of a bulk copy only the wait for its own mbarrier and phase counts. A turn is an
 * mbarrier without bytes, which nobody waits for: the last warp to come learns what those before it knew.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

struct Mbarrier {
    uint32_t offset;
    uint32_t phase, waited; /* ended so far; of those somebody waited for */
    bool is_told;           /* in this phase, how many bytes */
    int64_t missing;        /* of them; below 0: they came before it was told */
    uint32_t came;          /* in this turn */
    uint32_t *coming, *known; /* by warp: what who has stored knows; by the last phase that has ended */
    uint32_t *seen;           /* by warp of the block: how many phases have ended, as far as it knows */
};

static uint32_t warps_of(const Team *t) {
    return (t->threads_per_block + WARP - 1) / WARP;
}

static uint32_t all_warps(const Team *t) {
    return t->num_blocks * warps_of(t);
}

static uint32_t warp_in(const Team *t, uint32_t thread) {
    return thread / t->threads_per_block * warps_of(t) + thread % t->threads_per_block / WARP;
}

/* What warp w knows of each. */
static uint32_t *learnt(const Team *t, uint32_t w) {
    return t->learnt + (size_t)w * all_warps(t);
}

static void join(uint32_t *to, const uint32_t *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (from[i] > to[i]) to[i] = from[i];
}

bool mbarriers_know(const Team *t, const Touch *old, const Touch *now) {
    uint32_t n = t->threads_per_block;
    if (old->is_bulk) {
        const Block *b = &t->blocks[old->thread / n]; /* the other's, too */
        return b->mbarriers[old->mbarrier].seen[now->thread % n / WARP] > old->phase;
    }
    return t->learnt && old->clock < learnt(t, warp_in(t, now->thread))[warp_in(t, old->thread)];
}

void mbarriers_begin(Team *t) {
    size_t n = all_warps(t);
    if (t->learnt) memset(t->learnt, 0, n * n * sizeof *t->learnt);
    for (uint32_t i = 0; i < t->num_blocks; i++) t->blocks[i].num_mbarriers = 0;
}

void mbarriers_destroy(Team *t) {
    for (uint32_t i = 0; t->blocks && i < t->num_blocks; i++) {
        for (uint32_t k = 0; k < t->blocks[i].cap_mbarriers; k++) free(t->blocks[i].mbarriers[k].coming);
        free(t->blocks[i].mbarriers);
    }
    free(t->learnt);
}

void mbarriers_meet(Block *b) {
    Team *t = b->team;
    uint32_t warps = warps_of(t), first = b->rank * warps;
    if (!t->learnt) return;
    uint32_t *all = learnt(t, first);
    t->clock++;
    for (uint32_t w = 0; w < warps; w++) join(all, learnt(t, first + w), all_warps(t));
    for (uint32_t w = 0; w < warps; w++) all[first + w] = t->clock;
    for (uint32_t w = 1; w < warps; w++) memcpy(learnt(t, first + w), all, all_warps(t) * sizeof *all);
    for (uint32_t i = 0; i < b->num_mbarriers; i++) {
        uint32_t *seen = b->mbarriers[i].seen;
        for (uint32_t w = 1; w < warps; w++) join(seen, seen + w, 1);
        for (uint32_t w = 1; w < warps; w++) seen[w] = seen[0];
    }
}

static void complain(const Thread *t, uint32_t offset, int32_t site, const char *text) {
    Spot spot = thread_spot(t, site, offset);
    finding_add(t->block->team->launch->findings, FINDING_COUNTS, &spot, "%s, at byte %u of shared memory of block %u",
                text, offset, t->block->rank);
}

Mbarrier *mbarrier_find(const Thread *t, const Block *in, uint32_t offset, int32_t site) {
    for (uint32_t i = 0; i < in->num_mbarriers; i++)
        if (in->mbarriers[i].offset == offset) return &in->mbarriers[i];
    complain(t, offset, site, "uses an mbarrier that does not count yet");
    return NULL;
}

/* With checks a phase ends in knowledge, too. */
static void end_phase(Block *b, Mbarrier *m) {
    if (!m->is_told || m->missing) return;
    m->phase++;
    m->is_told = false;
    memcpy(m->known, m->coming, all_warps(b->team) * sizeof *m->known);
    for (uint32_t i = 0; i < b->team->threads_per_block; i++)
        if (b->threads[i].state == THREAD_AT_COUNT) b->threads[i].state = THREAD_READY;
    team_progress(b->team);
}

static bool mbarrier_create(Block *b, Mbarrier **out) {
    size_t n = all_warps(b->team);
    if (!b->team->learnt) b->team->learnt = calloc(n * n, sizeof *b->team->learnt);
    if (b->num_mbarriers == b->cap_mbarriers) {
        Mbarrier *more = realloc(b->mbarriers, (b->cap_mbarriers + 1) * sizeof *more);
        if (more) b->mbarriers = more;
        if (more) more[b->cap_mbarriers] = (Mbarrier){.coming = calloc(3 * n, sizeof(uint32_t))};
        if (!more || !more[b->cap_mbarriers].coming) return false;
        b->cap_mbarriers++;
    }
    *out = &b->mbarriers[b->num_mbarriers++];
    return b->team->learnt != NULL;
}

void emu_mbarrier_init(EmuThread *head, uint32_t mbarrier, uint32_t predicate, uint32_t n, int32_t site) {
    Thread *t = (Thread *)head; /* its first member */
    (void)site;
    for (uint32_t i = 0; i < n && predicate; i++) {
        Mbarrier *m;
        if (!mbarrier_create(t->block, &m)) {
            atomic_store(&t->block->team->launch->out_of_memory, true);
            return;
        }
        uint32_t warps = all_warps(t->block->team), *coming = m->coming;
        memset(coming, 0, 3 * warps * sizeof *coming);
        *m = (Mbarrier){.offset = mbarrier + i * (uint32_t)sizeof(uint64_t),
                        .coming = coming,
                        .known = coming + warps,
                        .seen = coming + 2 * (size_t)warps};
    }
}

void emu_mbarrier_expect(EmuThread *head, uint32_t mbarrier, uint32_t predicate, uint32_t bytes, int32_t site) {
    Thread *t = (Thread *)head;
    Mbarrier *m = predicate ? mbarrier_find(t, t->block, mbarrier, site) : NULL;
    if (!m) return;
    if (m->is_told) complain(t, mbarrier, site, "tells an mbarrier twice in one phase how many bytes to expect");
    m->is_told = true;
    m->missing += bytes;
    if (m->missing < 0) complain(t, mbarrier, site, "expects fewer bytes than have come");
    end_phase(t->block, m);
}

void emu_turn_init(EmuThread *head, uint32_t word, uint32_t predicate, uint32_t n, int32_t site) {
    emu_mbarrier_init(head, word, predicate, n, site);
}

uint32_t emu_turn(EmuThread *head, uint32_t word, uint32_t predicate, uint32_t all, int32_t site) {
    Thread *t = (Thread *)head;
    Mbarrier *m = predicate ? mbarrier_find(t, t->block, word, site) : NULL;
    if (!m) return 0;
    Team *team = t->block->team;
    uint32_t warp = warp_in(team, thread_index(t)), missing = all - m->came++;
    join(m->coming, learnt(team, warp), all_warps(team));
    m->coming[warp] = ++team->clock;
    if (missing > 1) return missing;
    join(learnt(team, warp), m->coming, all_warps(team));
    m->came = 0;
    return missing;
}

void emu_mbarrier_wait(EmuThread *head, uint32_t mbarrier, uint32_t parity, int32_t site) {
    Thread *t = (Thread *)head;
    Mbarrier *m = mbarrier_find(t, t->block, mbarrier, site);
    while (m && m->phase % 2 == parity) thread_meet(t, THREAD_AT_COUNT, true, site, 0);
    if (!m) return;
    Team *team = t->block->team;
    m->waited = m->phase;
    m->seen[t->head.tid / WARP] = m->phase;
    join(learnt(team, warp_in(team, thread_index(t))), m->known, all_warps(team));
}

void mbarrier_begin_bulk(Thread *t, const Mbarrier *m) {
    t->bulk = (uint16_t)(m - t->block->mbarriers);
    t->bulk_phase = m->phase;
}

void mbarrier_count(Thread *t, Block *in, Mbarrier *m, uint32_t bytes, int32_t site) {
    Team *team = t->block->team;
    uint32_t warp = warp_in(team, thread_index(t));
    join(m->coming, learnt(team, warp), all_warps(team));
    m->coming[warp] = ++team->clock; /* all that the warp has done up to here */
    m->missing -= (int64_t)bytes;
    if (m->is_told && m->missing < 0) complain(t, m->offset, site, "stores more bytes than are expected");
    end_phase(in, m);
}

void emu_store_async(EmuThread *head, uint64_t offset, uint32_t mbarrier, uint32_t block, uint32_t predicate,
                       uint64_t *data, uint32_t access, int32_t site) {
    Thread *t = (Thread *)head;
    Team *team = t->block->team;
    Block *in = &team->blocks[block % team->num_blocks];
    EmuAccess a = emu_access_unpack(access);
    Mbarrier *m = predicate ? mbarrier_find(t, in, mbarrier, site) : NULL;
    if (!m) return;
    shared_access(t, in, offset, data, a, SHARED_STORE_ASYNC, site);
    mbarrier_count(t, in, m, (uint32_t)a.words * a.bytes, site);
}

void mbarriers_end(const Team *t) {
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        const Block *b = &t->blocks[i];
        stores_end(b);
        for (uint32_t k = 0; k < b->num_mbarriers; k++) {
            const Mbarrier *m = &b->mbarriers[k];
            if (m->missing || m->is_told || m->waited != m->phase)
                complain(&b->threads[0], m->offset, -1, "ends while bytes come to it: it did not wait for all of them");
            if (m->came) complain(&b->threads[0], m->offset, -1, "ends in the middle of a turn: some have yet to come");
        }
    }
}
