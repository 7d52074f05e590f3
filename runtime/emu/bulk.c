/* bulk.c - barriers in shared memory that count arrivals and bytes, and the bulk copies that bring these.
 *
 * In: the calls of a block's threads. Out: the bytes, the phases, findings. Method: global memory is read when a copy begins, the earliest that a GPU
 * may do it; shared memory is written when a thread waits for the phase, the latest. In between its bytes are coming, and nobody may touch them
 * (shared.c); from then on they are there for whoever has waited for that phase, or has met one that has at another barrier.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 16, BARRIER_BYTES = 8, MOST_BARRIERS = 255, INDEX_BITS = 8 };

static void out_of_memory(const Thread *t) {
    atomic_store(&t->block->team->launch->out_of_memory, true);
}

static void found(const Thread *t, FindingKind kind, int32_t site, uint32_t offset, const char *text) {
    Spot spot = thread_spot(t, site, offset);
    finding_add(t->block->team->launch->findings, kind, &spot, "%s", text);
}

static EmuBarrier *barrier_at(const Block *b, uint32_t offset) {
    for (uint32_t i = 0; i < b->bulk.n; i++)
        if (b->bulk.at[i].is_valid && b->bulk.at[i].offset == offset) return &b->bulk.at[i];
    return NULL;
}

/* The barrier that a thread uses; NULL: there is none, which is a finding. */
static EmuBarrier *barrier_used(Thread *t, uint32_t offset, int32_t site) {
    EmuBarrier *b = barrier_at(t->block, offset);
    if (!b) found(t, FINDING_SHARED_UNWRITTEN, site, offset, "uses as a barrier bytes of shared memory that are none: nobody initialised it, or it has ended");
    else shared_barrier(t, offset, false, site);
    return b;
}

/* A place in the list: that of a barrier which was there before, or a new one. */
static EmuBarrier *barrier_new(const Thread *t, uint32_t offset) {
    Bulk *k = &t->block->bulk;
    for (uint32_t i = 0; i < k->n; i++)
        if (k->at[i].offset == offset) return &k->at[i];
    if (k->n == MOST_BARRIERS) return NULL;
    EmuBarrier *more = realloc(k->at, (k->n + 1) * sizeof *more);
    if (!more) return NULL;
    k->at = more;
    k->at[k->n] = (EmuBarrier){.offset = offset, .known = calloc(t->block->team->threads_per_block, sizeof *more->known)};
    return k->at[k->n].known ? &k->at[k->n++] : NULL;
}

void barrier_init(Thread *t, uint32_t offset, uint32_t arrivals, int32_t site) {
    if (!shared_within(t, offset, BARRIER_BYTES, true, site)) return;
    if (barrier_at(t->block, offset)) {
        found(t, FINDING_DIVERGENT, site, offset, "initialises a barrier in shared memory that is one already");
        return;
    }
    EmuBarrier *b = barrier_new(t, offset);
    if (!b) {
        out_of_memory(t);
        return;
    }
    shared_barrier(t, offset, true, site);
    *b = (EmuBarrier){.offset = offset, .arrivals = arrivals, .missing = arrivals, .is_valid = true, .known = b->known};
}

void barrier_end(Thread *t, uint32_t offset, int32_t site) {
    EmuBarrier *b = barrier_used(t, offset, site);
    if (!b) return;
    shared_barrier(t, offset, true, site);
    b->is_valid = false;
}

void barrier_expect(Thread *t, uint32_t offset, uint32_t bytes, int32_t site) {
    EmuBarrier *b = barrier_used(t, offset, site);
    if (!b) return;
    if (!b->missing) {
        found(t, FINDING_DIVERGENT, site, offset, "arrives at a barrier in shared memory where all have arrived whom its phase waits for");
        return;
    }
    b->bytes += bytes;
    b->missing--;
}

/* ---- Copies -------------------------------------------------------------------------------------------------------------- */

static bool is_whole(Thread *t, uint32_t offset, uint64_t address, uint32_t bytes, int32_t site) {
    const RecordLaunch *l = t->block->team->launch->shape;
    uint32_t size = l->shared_static + l->shared_dynamic;
    if (offset % UNIT || address % UNIT || bytes % UNIT || !bytes) {
        Spot spot = thread_spot(t, site, address);
        finding_add(t->block->team->launch->findings, FINDING_ALIGN, &spot,
                    "copies %u bytes in bulk to byte %u of shared memory; address, place and size must be multiples of %d", bytes, offset, UNIT);
        return false;
    }
    if (offset <= size && bytes <= size - offset) return true;
    Spot spot = thread_spot(t, site, offset);
    finding_add(t->block->team->launch->findings, FINDING_SHARED_BOUNDS, &spot, "copies %u bytes in bulk to byte %u of %u bytes of shared memory", bytes, offset, size);
    return false;
}

static BulkCopy *copy_new(const Thread *t, uint32_t bytes) {
    Bulk *k = &t->block->bulk;
    if (k->num_copies == k->cap) {
        uint32_t cap = k->cap ? 2 * k->cap : 8;
        BulkCopy *more = realloc(k->copies, cap * sizeof *more);
        if (!more) return NULL;
        k->copies = more, k->cap = cap;
    }
    BulkCopy *c = &k->copies[k->num_copies];
    *c = (BulkCopy){.bytes = bytes, .data = malloc(bytes)};
    if (c->data) k->num_copies++;
    return c->data ? c : NULL;
}

void bulk_copy(Thread *t, uint32_t offset, uint64_t address, uint32_t bytes, uint32_t barrier, int32_t site) {
    if (!is_whole(t, offset, address, bytes, site) || !barrier_used(t, barrier, site)) return;
    BulkCopy *c = copy_new(t, bytes);
    if (!c) {
        out_of_memory(t);
        return;
    }
    c->offset = offset, c->barrier = barrier, c->site = site;
    for (uint32_t at = 0; at < bytes; at += UNIT) {
        uint64_t words[2] = {0, 0};
        global_access(t, address + at, words, (EmuAccess){.words = 2, .bytes = 8}, false, site);
        memcpy(c->data + at, words, UNIT);
    }
    shared_coming(t, offset, bytes, true, site);
}

static void copy_drop(Bulk *k, uint32_t i) {
    free(k->copies[i].data);
    k->copies[i] = k->copies[--k->num_copies];
}

/* What is on its way to the barrier arrives; the thread is who sees it first. */
static void land(Thread *t, EmuBarrier *b, uint32_t mark) {
    Bulk *k = &t->block->bulk;
    for (uint32_t i = k->num_copies; i-- > 0;) {
        const BulkCopy *c = &k->copies[i];
        if (c->barrier != b->offset) continue;
        memcpy(t->block->shared + c->offset, c->data, c->bytes);
        shared_coming(t, c->offset, c->bytes, false, c->site);
        shared_mark(t->block, c->offset, c->bytes, mark);
        copy_drop(k, i);
    }
}

/* ---- Phases -------------------------------------------------------------------------------------------------------------- */

static int64_t bytes_coming(const Block *in, const EmuBarrier *b) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < in->bulk.num_copies; i++)
        if (in->bulk.copies[i].barrier == b->offset) bytes += in->bulk.copies[i].bytes;
    return bytes;
}

static void complete(Thread *t, EmuBarrier *b) {
    uint32_t index = (uint32_t)(b - t->block->bulk.at) + 1;
    b->last = ++t->block->bulk.phases << INDEX_BITS | index;
    land(t, b, b->last);
    b->phases++;
    b->missing = b->arrivals;
    b->bytes = 0;
}

bool barrier_passes(Thread *t) {
    EmuBarrier *b = barrier_at(t->block, t->wait_offset);
    if (!b) return false;
    if ((b->phases & 1) == t->wait_parity && !b->missing && b->bytes == bytes_coming(t->block, b)) complete(t, b);
    if ((b->phases & 1) == t->wait_parity) return false;
    b->known[t->head.tid] = b->last;
    return true;
}

bool barrier_begin_wait(Thread *t, uint32_t offset, uint32_t parity, int32_t site) {
    if (!barrier_used(t, offset, site)) return false;
    t->wait_offset = offset;
    t->wait_parity = parity & 1;
    t->site = site;
    return !barrier_passes(t);
}

bool bulk_is_known(const Thread *t, uint32_t mark) {
    const Bulk *k = &t->block->bulk;
    uint32_t index = (mark & MOST_BARRIERS) - 1;
    return index < k->n && k->at[index].known[t->head.tid] >> INDEX_BITS >= mark >> INDEX_BITS;
}

/* ---- A block ------------------------------------------------------------------------------------------------------------- */

void bulk_begin(Block *b) {
    Bulk *k = &b->bulk;
    while (k->num_copies) copy_drop(k, k->num_copies - 1);
    for (uint32_t i = 0; i < k->n; i++) free(k->at[i].known);
    k->n = k->phases = 0;
}

void bulk_end(Block *b) {
    for (uint32_t i = 0; i < b->bulk.num_copies; i++)
        found(&b->threads[0], FINDING_SHARED_EARLY, b->bulk.copies[i].site, b->bulk.copies[i].offset, "copies in bulk, and nobody has waited for it when the block ends");
}

void bulk_destroy(Block *b) {
    bulk_begin(b);
    free(b->bulk.at);
    free(b->bulk.copies);
}
