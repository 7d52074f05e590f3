/* shared.c - accesses of a block's shared memory, by its own threads and by those of the cluster's other blocks.
 *
 * In: byte offsets. Out: the bytes, and findings: beyond what the kernel has, misaligned, read before any write, and
 * two threads at one byte between two barriers. Method: a cell per byte; a cell of an earlier program counts as
 * untouched.
 */
#include "runtime/emu/emu.h"

#include <stdio.h>
#include <string.h>

static Touch touch_of(const Thread *t, SharedAccess how, int32_t site) {
    const Block *b = t->block;
    return (Touch){.owner = b->team->number + 1,
                   .thread = thread_index(t),
                   .clock = b->team->clock,
                   .warp_time = b->warp_barriers[t->head.tid / WARP],
                   .block_time = b->barriers,
                   .cluster_time = b->team->barriers,
                   .deed = how == SHARED_LOAD ? DEED_READS : DEED_WRITES,
                   .is_async = how == SHARED_STORE_ASYNC || how == SHARED_STORE_BULK,
                   .is_bulk = how == SHARED_STORE_BULK,
                   .mbarrier = t->bulk,
                   .phase = t->bulk_phase,
                   .site = site};
}

/* Who reads the byte and was not waited for; NULL: nobody. */
static const char *late_reader(const Block *in, uint64_t offset) {
    return products_read(in, offset) ? "product" : stores_read(in, offset) ? "bulk store" : NULL;
}

/* `stored`: the bytes, where they are known; NULL for a load. */
static void check_bytes(Thread *t, Block *in, uint64_t offset, uint32_t bytes, SharedAccess how,
                        const unsigned char *stored, int32_t site) {
    bool is_store = how != SHARED_LOAD;
    Team *team = t->block->team;
    Touch now = touch_of(t, how, site);
    for (uint32_t i = 0; i < bytes; i++) {
        Cell *cell = &in->cells[offset + i];
        Touch with;
        now.is_other = stored && stored[i] != in->shared[offset + i];
        if (cell->writer.owner != now.owner && cell->reader.owner != now.owner) *cell = (Cell){0};
        bool is_unwritten = !is_store && cell->writer.owner == 0;
        if (cell->is_coming) {
            Spot spot = thread_spot(t, site, offset);
            spot.other_site = cell->writer.site;
            finding_add(team->launch->findings, FINDING_SHARED_EARLY, &spot,
                        "%s byte %llu of shared memory before the wait for the copy that writes it, begun",
                        is_store ? "writes" : "reads", (unsigned long long)(offset + i));
            return;
        }
        const char *reader = is_store ? late_reader(in, offset + i) : NULL;
        if (reader) {
            Spot spot = thread_spot(t, site, offset);
            finding_add(team->launch->findings, FINDING_SHARED_LATE, &spot,
                        "writes byte %llu of shared memory, which a %s still reads that was not waited for",
                        (unsigned long long)(offset + i), reader);
            return;
        }
        Conflict c = cell_touch(cell, t, &now, is_store, false, &with);
        if (is_unwritten) {
            Spot spot = thread_spot(t, site, offset);
            finding_add(team->launch->findings, FINDING_SHARED_UNWRITTEN, &spot,
                        "reads byte %llu of shared memory, which nobody wrote", (unsigned long long)(offset + i));
        } else if (c != CONFLICT_NONE) {
            char what[64];
            snprintf(what, sizeof what, "byte %llu of shared memory", (unsigned long long)(offset + i));
            const uint64_t owners[] = {thread_owner(t), thread_owner(t)};
            report_conflict(team->launch, FINDING_SHARED_RACE, &now, &with, owners, offset, what);
        } else {
            continue;
        }
        return;
    }
}

/* Another block's shared memory is there from the cluster's first meeting until the block ends. */
static bool is_there(const Thread *t, const Block *in, uint64_t offset, int32_t site) {
    const Team *team = in->team;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < team->threads_per_block; i++) ended += in->threads[i].state == THREAD_ENDED;
    if (in == t->block || (team->barriers > 0 && ended < team->threads_per_block)) return true;
    Spot spot = thread_spot(t, site, offset);
    finding_add(team->launch->findings, FINDING_SHARED_BOUNDS, &spot,
                "writes shared memory of block %u of the cluster, which %s", in->rank,
                ended < team->threads_per_block ? "may not have begun: no barrier of the cluster came before"
                                                : "has ended");
    return false;
}

bool shared_within(Thread *t, uint64_t offset, uint32_t bytes, bool is_store, int32_t site) {
    const Launch *l = t->block->team->launch;
    uint32_t size = l->shape->shared_static + l->shape->shared_dynamic;
    if (offset <= size && bytes <= size - offset && offset % bytes == 0) return true;
    Spot spot = thread_spot(t, site, offset);
    finding_add(l->findings, FINDING_SHARED_BOUNDS, &spot, "%s %u bytes at byte %llu of %u bytes of shared memory",
                is_store ? "writes" : "reads", bytes, (unsigned long long)offset, size);
    return false;
}

void shared_coming(Thread *t, uint32_t offset, uint32_t bytes, bool is_coming, int32_t site) {
    Block *b = t->block;
    if (!b->team->launch->checked) return;
    if (is_coming) check_bytes(t, b, offset, bytes, SHARED_STORE, NULL, site);
    for (uint32_t i = offset; i < offset + bytes; i++) {
        b->cells[i].is_coming = is_coming;
        b->cells[i].writer = touch_of(t, SHARED_STORE, site); /* others see it behind a barrier behind the wait */
    }
}

void shared_access(Thread *t, Block *in, uint64_t offset, uint64_t *data, EmuAccess a, SharedAccess how,
                   int32_t site) {
    bool is_store = how != SHARED_LOAD;
    const Launch *l = t->block->team->launch;
    uint32_t bytes = (uint32_t)a.words * a.bytes;
    if (!shared_within(t, offset, bytes, is_store, site)) return;
    if (in != t->block && l->checked && !is_there(t, in, offset, site)) return;
    unsigned char *at = in->shared + offset, stored[32];
    for (uint32_t i = 0; i < a.words && is_store; i++) memcpy(stored + i * a.bytes, &data[i], a.bytes);
    if (l->checked) check_bytes(t, in, offset, bytes, how, is_store ? stored : NULL, site);
    for (uint32_t i = 0; i < a.words; i++, at += a.bytes) {
        if (is_store) {
            memcpy(at, &data[i], a.bytes);
        } else {
            data[i] = 0;
            memcpy(&data[i], at, a.bytes);
        }
    }
}
