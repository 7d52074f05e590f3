/* map.c - tensor maps of a launch: whether there can be one of these sizes, and the maps behind the arguments.
 *
 * In: a variant's record, addresses, extents and strides of a call. Out: the maps as the device reads them.
 * Method: the device's kind makes a map; a driver takes some hundred nanoseconds for it. So each map of a variant keeps
 * its last few, by value: a launch of the same buffers copies one, under a count that is odd while one is written.
 */
#include "runtime/device/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16, KEY_WORDS = sizeof(MapSizes) / 8, MAP_WORDS = sizeof(TensorMap) / 8, ALIGNED = 16 /* bytes */ };

static const int64_t most_extent = INT64_C(1) << 32, most_stride = (INT64_C(1) << 40) - ALIGNED; /* the driver's */

/* A map that was made, and of what. */
typedef struct KeptMap {
    atomic_uint writes; /* twice as many as there were; odd: one is under way */
    atomic_ullong key[KEY_WORDS], map[MAP_WORDS];
} KeptMap;

struct VariantMap {
    uint32_t slot, bytes; /* the argument, and of an element of it */
    KeptMap kept[KEPT];
};

bool variant_add_maps(Variant *v) {
    const Record *r = v->record;
    if (r->num_maps == 0) return true;
    v->maps = calloc(r->num_maps, sizeof *v->maps);
    for (uint32_t i = 0; v->maps && i < r->num_maps; i++) {
        VariantMap *m = &v->maps[i];
        while (v->slots[m->slot].param != r->maps[i].param) m->slot++; /* the reader has seen that it is a pointer */
        m->bytes = fsc_dtype_size(v->slots[m->slot].dtype);
    }
    return v->maps != NULL;
}

void variant_free_maps(Variant *v) {
    free(v->maps);
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

MapSizes *map_begin(Call *c, const Variant *v, uint32_t map) {
    c->sizes[map] = (MapSizes){.base = (uintptr_t)c->args[v->maps[map].slot].u.pointer, .strides = {1}};
    return &c->sizes[map];
}

static bool dimension_fits(const RecordMap *m, uint32_t at, uint32_t bytes, MapSizes *s, char *why, size_t size) {
    int64_t extent = s->extents[at], stride = s->strides[at];
    bool is_extent = extent >= 1 && extent <= most_extent;
    bool is_stride = stride >= 1 && stride <= most_stride / bytes;
    s->strides[at] = is_stride ? stride * bytes : 0;
    is_stride = is_stride && (at == 0 || s->strides[at] % ALIGNED == 0);
    if (is_extent && is_stride) return true;
    if (why && !is_extent)
        snprintf(why, size, "has %lld elements along dimension %u of %u, and a tensor map takes 1 to 2^32",
                 (long long)extent, m->num_boxes - at, m->num_boxes);
    else if (why)
        snprintf(why, size,
                 "has a stride of %lld elements of %u bytes along dimension %u of %u, and a tensor map takes multiples "
                 "of %d bytes below 2^40",
                 (long long)stride, bytes, m->num_boxes - at, m->num_boxes, ALIGNED);
    return false;
}

bool map_fits(const Variant *v, uint32_t map, MapSizes *s, char *why, size_t size) {
    const RecordMap *m = &v->record->maps[map];
    char text[256] = "";
    bool is_taken = v->module->device->takes_maps, is_address = s->base && s->base % ALIGNED == 0,
         is_sound = is_taken && is_address;
    for (uint32_t i = 0; is_sound && i < m->num_boxes; i++)
        is_sound = dimension_fits(m, i, v->maps[map].bytes, s, why ? text : NULL, sizeof text);
    if (is_sound || !why) return is_sound;
    const char *name = v->record->params[m->param].name;
    if (!is_taken)
        snprintf(why, size, "the kernel reads %s through a tensor map, which this device or its driver does not make",
                 name);
    else if (!is_address)
        snprintf(why, size, "argument %s is at %#llx, and a tensor map takes multiples of %d bytes", name,
                 (unsigned long long)s->base, ALIGNED);
    else
        snprintf(why, size, "argument %s %s", name, text);
    return false;
}

/* ---- Maps that were made ----------------------------------------------------------------------------------------- */

/* Where maps of these sizes are kept: arrays of one kernel differ by their address above all. */
static KeptMap *place_of(VariantMap *m, const uint64_t key[KEY_WORDS]) {
    uint64_t hash = 0;
    for (int i = 0; i < KEY_WORDS; i++) hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return &m->kept[hash >> 60];
}

/* A word of another write is not seen without that write's odd count: both are released in this order. */
static bool read_kept(KeptMap *k, const uint64_t key[KEY_WORDS], TensorMap *out) {
    uint64_t words[MAP_WORDS];
    unsigned writes = atomic_load_explicit(&k->writes, memory_order_acquire);
    if (writes % 2) return false;
    for (int i = 0; i < KEY_WORDS; i++)
        if (atomic_load_explicit(&k->key[i], memory_order_acquire) != key[i]) return false;
    for (int i = 0; i < MAP_WORDS; i++) words[i] = atomic_load_explicit(&k->map[i], memory_order_acquire);
    memcpy(out->bytes, words, sizeof out->bytes);
    return atomic_load_explicit(&k->writes, memory_order_relaxed) == writes;
}

/* Unless another thread is about to keep one there. */
static void write_kept(KeptMap *k, const uint64_t key[KEY_WORDS], const TensorMap *map) {
    uint64_t words[MAP_WORDS];
    unsigned writes = atomic_load_explicit(&k->writes, memory_order_relaxed);
    memcpy(words, map->bytes, sizeof words);
    if (writes % 2 || !atomic_compare_exchange_strong(&k->writes, &writes, writes + 1)) return;
    for (int i = 0; i < KEY_WORDS; i++) atomic_store_explicit(&k->key[i], key[i], memory_order_release);
    for (int i = 0; i < MAP_WORDS; i++) atomic_store_explicit(&k->map[i], words[i], memory_order_release);
    atomic_store_explicit(&k->writes, writes + 2, memory_order_release);
}

fsc_status call_append_maps(Call *c) {
    const Variant *v = c->variant;
    for (uint32_t i = 0; i < v->record->num_maps; i++) {
        uint64_t key[KEY_WORDS];
        memcpy(key, &c->sizes[i], sizeof key);
        KeptMap *kept = place_of(&v->maps[i], key);
        c->pointers[c->nargs + i] = &c->maps[i];
        if (read_kept(kept, key, &c->maps[i])) continue;
        fsc_status s = c->kernel->device->kind->encode_map(c, i, &c->sizes[i], &c->maps[i]);
        if (s != FSC_OK) return s;
        write_kept(kept, key, &c->maps[i]);
    }
    return FSC_OK;
}
