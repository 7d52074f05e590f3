/* touched.c - which sectors of a launch's buffers were read and written at all, in counted launches.
 *
 * In: addresses, from all host threads. Out: bytes of different sectors for each parameter: what memory must move at
 * the least, however good the caches are. Method: two bits a sector of each region, set once.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>

typedef struct Map {
    _Atomic uint32_t *read, *written; /* a bit a sector, from the region's first */
} Map;

struct Touched {
    const Regions *regions;
    Map *maps; /* one a region */
};

static uint64_t words_of(const Region *r) {
    return (r->end / SECTOR - r->begin / SECTOR) / 32 + 1;
}

Touched *touched_create(const Regions *r) {
    Touched *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->regions = r;
    t->maps = calloc(r->n + 1, sizeof *t->maps);
    bool ok = t->maps != NULL;
    for (uint32_t i = 0; ok && i < r->n; i++) {
        t->maps[i].read = calloc(words_of(&r->at[i]), sizeof *t->maps[i].read);
        t->maps[i].written = calloc(words_of(&r->at[i]), sizeof *t->maps[i].written);
        ok = t->maps[i].read && t->maps[i].written;
    }
    if (ok) return t;
    touched_destroy(t);
    return NULL;
}

void touched_destroy(Touched *t) {
    if (!t) return;
    for (uint32_t i = 0; t->maps && i < t->regions->n; i++) {
        free(t->maps[i].read);
        free(t->maps[i].written);
    }
    free(t->maps);
    free(t);
}

static void set(_Atomic uint32_t *map, uint64_t sector) {
    uint32_t bit = 1u << sector % 32;
    if (!(atomic_load_explicit(&map[sector / 32], memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(&map[sector / 32], bit, memory_order_relaxed);
}

void touched_add(Touched *t, const Region *r, uint64_t sector, bool reads, bool writes) {
    const Map *map = &t->maps[r - t->regions->at];
    uint64_t first = r->begin / SECTOR;
    if (sector < first || sector > r->end / SECTOR) return; /* an access that goes beyond the buffer */
    if (reads) set(map->read, sector - first);
    if (writes) set(map->written, sector - first);
}

static uint64_t count(const _Atomic uint32_t *map, uint64_t words) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < words; i++) n += (uint64_t)__builtin_popcount(map[i]);
    return n * SECTOR;
}

void touched_end(const Touched *t, fsc_param_counts *params) {
    for (uint32_t i = 0; i < t->regions->n; i++) {
        const Region *r = &t->regions->at[i];
        if (r->param < 0) continue;
        params[r->param].read_once += count(t->maps[i].read, words_of(r));
        params[r->param].written_once += count(t->maps[i].written, words_of(r));
    }
}
