/* bulk.c - bulk copies: boxes of the memory that a tensor map tells of, into shared memory, counted by an mbarrier, and
 * from there to memory.
 *
 * In: a map, coordinates, a place. Out: the box there, row after row, with its units of 16 bytes swizzled; findings.
 * Method: of a load all is read and written at once, and is a conflict for whoever touches the place without having
 * waited (mbarrier.c). What lies beside the map's extents is not read and becomes 0, and counts all the same. A store
 * reads and writes when its thread waits for it: as late as it may. Until then whoever writes the place is found.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 16 /* bytes */, ATOM_ROWS = 8 };

_Static_assert(sizeof(EmuMap) <= sizeof(TensorMap), "a map is what the entry's parameter holds");

fsc_status emu_encode_map(const Call *c, uint32_t map, const MapSizes *sizes, TensorMap *out) {
    const RecordMap *m = &c->variant->record->maps[map];
    EmuMap e = {.base = sizes->base,
                .rank = m->num_boxes,
                .element_bytes = fsc_dtype_size(fsc_dtype_find(c->variant->record->params[m->param].dtype)),
                .swizzle = m->swizzle};
    for (uint32_t i = 0; i < m->num_boxes; i++) {
        e.extents[i] = sizes->extents[i];
        e.strides[i] = sizes->strides[i];
        e.box[i] = m->boxes[i].elements;
    }
    *out = (TensorMap){0};
    memcpy(out->bytes, &e, sizeof e);
    return FSC_OK;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

uint32_t bulk_bytes(const EmuMap *m) {
    uint32_t bytes = m->element_bytes;
    for (uint32_t i = 0; i < m->rank; i++) bytes *= m->box[i];
    return bytes;
}

BulkUnit bulk_unit(const EmuMap *m, const uint64_t *words, uint32_t offset, uint32_t i) {
    uint32_t at = offset + i * UNIT, in_row = m->box[0] * m->element_bytes / UNIT, row = i / in_row;
    BulkUnit u = {.offset = at ^ (at >> 7 & (m->swizzle / UNIT - 1)) * UNIT};
    uint64_t address = m->base;
    for (uint32_t d = 1; d < m->rank; d++) {
        int64_t place = (int64_t)(int32_t)words[d] + row % m->box[d];
        row /= m->box[d];
        if (place < 0 || place >= m->extents[d]) return u;
        address += (uint64_t)place * (uint64_t)m->strides[d];
    }
    int64_t elements = UNIT / m->element_bytes, place = (int64_t)(int32_t)words[0] + i % in_row * elements;
    int64_t first = place < 0 ? -place : 0, left = m->extents[0] - place, end = left < elements ? left : elements;
    if (first >= end) return u;
    u.first = (uint32_t)first * m->element_bytes;
    u.end = (uint32_t)end * m->element_bytes;
    u.address = address + (uint64_t)(place + first) * m->element_bytes;
    return u;
}

/* ---- A copy ------------------------------------------------------------------------------------------------------ */

static void complain(const Thread *t, FindingKind kind, uint32_t offset, int32_t site, const char *text) {
    Spot spot = thread_spot(t, site, offset);
    finding_add(t->block->team->launch->findings, kind, &spot, "%s, at byte %u of shared memory", text, offset);
}

static bool is_sound(const Thread *t, const EmuMap *m, const uint64_t *words, uint32_t offset, int32_t site) {
    const RecordLaunch *l = t->block->team->launch->shape;
    uint64_t end = (uint64_t)offset + bulk_bytes(m);
    if ((int64_t)(int32_t)words[0] * m->element_bytes % UNIT) {
        complain(t, FINDING_ALIGN, offset, site, "copies a box whose rows begin beside multiples of 16 bytes");
        return false;
    }
    if (offset % (ATOM_ROWS * m->swizzle)) {
        complain(t, FINDING_SHARED_BOUNDS, offset, site, "copies a box to where its swizzled rows do not begin");
        return false;
    }
    if (end <= (uint64_t)l->shared_static + l->shared_dynamic) return true;
    complain(t, FINDING_SHARED_BOUNDS, offset, site, "copies a box beyond the block's shared memory");
    return false;
}

/* A whole unit at once where it lies so; else by elements. */
static void read_unit(Thread *t, const EmuMap *m, const BulkUnit *u, unsigned char out[UNIT], int32_t site) {
    bool is_whole = u->end - u->first == UNIT && u->address % UNIT == 0;
    EmuAccess a = {.words = 1, .bytes = (uint8_t)m->element_bytes};
    if (is_whole) a = (EmuAccess){.words = 2, .bytes = UNIT / 2};
    for (uint32_t at = u->first; at < u->end; at += (uint32_t)a.words * a.bytes) {
        uint64_t words[2] = {0, 0};
        global_access(t, u->address + (at - u->first), words, a, false, site);
        for (uint32_t i = 0; i < a.words; i++) memcpy(out + at + i * a.bytes, &words[i], a.bytes);
    }
}

void emu_bulk_load(EmuThread *head, uint64_t *words, uint32_t offset, uint32_t mbarrier, uint32_t predicate,
                   uint64_t map, int32_t site) {
    Thread *t = (Thread *)head; /* its first member */
    const EmuMap *m = (const EmuMap *)(uintptr_t)map;
    const EmuAccess whole = {.words = 2, .bytes = UNIT / 2};
    Mbarrier *counts = predicate ? mbarrier_find(t, t->block, mbarrier, site) : NULL;
    if (!counts) return;
    mbarrier_begin_bulk(t, counts);
    uint32_t units = is_sound(t, m, words, offset, site) ? bulk_bytes(m) / UNIT : 0;
    for (uint32_t i = 0; i < units; i++) {
        BulkUnit u = bulk_unit(m, words, offset, i);
        unsigned char bytes[UNIT] = {0};
        uint64_t data[2];
        read_unit(t, m, &u, bytes, site);
        memcpy(data, bytes, UNIT);
        shared_access(t, t->block, u.offset, data, whole, SHARED_STORE_BULK, site);
    }
    mbarrier_count(t, t->block, counts, bulk_bytes(m), site);
}

/* ---- To memory --------------------------------------------------------------------------------------------------- */

/* Do two boxes of one map share elements? */
static bool overlaps(const EmuMap *m, const uint64_t *x, const uint64_t *y) {
    bool meets = true;
    for (uint32_t i = 0; i < m->rank; i++) {
        int64_t a = (int32_t)x[i], b = (int32_t)y[i], first = a > b ? a : b, end = (a < b ? a : b) + m->box[i];
        meets &= first < end && end > 0 && first < m->extents[i];
    }
    return meets;
}

void emu_bulk_store(EmuThread *head, uint64_t *words, uint32_t offset, uint32_t predicate, uint64_t map, int32_t site) {
    Thread *t = (Thread *)head;
    BulkStores *s = &t->block->stores;
    const EmuMap *m = (const EmuMap *)(uintptr_t)map;
    if (!predicate || !is_sound(t, m, words, offset, site)) return;
    for (uint32_t i = 0; i < bulk_bytes(m) && t->block->team->launch->checked; i += UNIT) {
        uint64_t data[2]; /* a barrier came before */
        shared_access(t, t->block, offset + i, data, (EmuAccess){.words = 2, .bytes = UNIT / 2}, SHARED_LOAD, site);
        if (proxy_is_shown(t->block, offset + i)) continue;
        complain(t, FINDING_SHARED_PROXY, offset + i, site,
                 "a bulk store reads what was stored, and no proxy fence and barrier stand in between");
        break;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->at[i].map != map || !overlaps(m, s->at[i].places, words)) continue;
        complain(t, FINDING_ORDER, offset, site, "writes where another bulk store does that was not waited for");
        break;
    }
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 8;
        BulkStore *more = realloc(s->at, cap * sizeof *more);
        if (!more) {
            atomic_store(&t->block->team->launch->out_of_memory, true);
            return;
        }
        s->at = more;
        s->cap = cap;
    }
    BulkStore *one = &s->at[s->n++];
    *one = (BulkStore){.map = map, .offset = offset, .group = t->store_groups, .by = t, .site = site};
    memcpy(one->places, words, m->rank * sizeof *words);
}

void emu_bulk_commit(EmuThread *t) {
    ((Thread *)t)->store_groups++;
}

/* By elements where a unit does not lie whole. */
static void write_box(Thread *t, const BulkStore *s) {
    const EmuMap *m = (const EmuMap *)(uintptr_t)s->map;
    for (uint32_t i = 0; i < bulk_bytes(m) / UNIT; i++) {
        BulkUnit u = bulk_unit(m, s->places, s->offset, i);
        uint64_t data[2] = {0, 0};
        unsigned char bytes[UNIT];
        shared_access(t, t->block, u.offset, data, (EmuAccess){.words = 2, .bytes = UNIT / 2}, SHARED_LOAD, s->site);
        memcpy(bytes, data, UNIT);
        bool is_whole = u.end - u.first == UNIT && u.address % UNIT == 0;
        EmuAccess a = {.words = 1, .bytes = (uint8_t)m->element_bytes};
        if (is_whole) a = (EmuAccess){.words = 2, .bytes = UNIT / 2};
        for (uint32_t at = u.first; at < u.end; at += (uint32_t)a.words * a.bytes) {
            for (uint32_t k = 0; k < a.words; k++) {
                data[k] = 0;
                memcpy(&data[k], bytes + at + k * a.bytes, a.bytes);
            }
            global_access(t, u.address + (at - u.first), data, a, true, s->site);
        }
    }
}

void emu_bulk_wait(EmuThread *head, uint32_t is_read) {
    Thread *t = (Thread *)head;
    BulkStores *s = &t->block->stores;
    uint32_t left = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        BulkStore *one = &s->at[i];
        bool is_waited = one->by == t && one->group < t->store_groups;
        if (is_waited && !one->is_read) write_box(t, one);
        one->is_read |= is_waited;
        if (!is_waited || is_read) s->at[left++] = *one;
    }
    s->n = left;
}

bool stores_read(const Block *b, uint64_t offset) {
    for (uint32_t i = 0; i < b->stores.n; i++) {
        const BulkStore *s = &b->stores.at[i];
        uint64_t end = (uint64_t)s->offset + bulk_bytes((const EmuMap *)(uintptr_t)s->map);
        if (!s->is_read && offset >= s->offset && offset < end) return true;
    }
    return false;
}

void stores_end(const Block *b) {
    for (uint32_t i = 0; i < b->stores.n; i++) {
        const BulkStore *s = &b->stores.at[i];
        if (!s->is_read) complain(s->by, FINDING_SHARED_LATE, s->offset, s->site, "ends while a bulk store reads");
    }
}
