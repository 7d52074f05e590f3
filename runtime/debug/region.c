/* region.c - which bytes a checked launch may touch.
 *
 * In: a call. Out: its buffers, sorted by address, those that overlap joined. Method: a pointer's size is what the
 * caller said, else what is left of the allocation of this device that it points into.
 */
#include "runtime/debug/checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const Region *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->param > y->param) - (x->param < y->param);
}

static void join(Regions *r) {
    uint32_t n = 0;
    qsort(r->at, r->n, sizeof *r->at, compare);
    for (uint32_t i = 0; i < r->n; i++) {
        Region *last = n ? &r->at[n - 1] : NULL;
        if (last && r->at[i].begin < last->end) {
            if (r->at[i].end > last->end) last->end = r->at[i].end;
        } else {
            r->at[n++] = r->at[i];
        }
    }
    r->n = n;
}

fsc_status regions_create(const Call *c, Regions *out) {
    const Variant *v = c->variant;
    fsc_device *d = c->kernel->device;
    Regions r = {.record = v->record, .at = calloc(v->num_slots + 1, sizeof *r.at)};
    if (!r.at) return status_memory(d);
    for (uint32_t i = 0; i < v->num_slots; i++) {
        const RecordParam *p = &v->record->params[v->slots[i].param];
        uint64_t begin = c->bits[i], bytes = c->args[i].bytes;
        if (p->kind != RECORD_POINTER) continue;
        if (bytes == 0) bytes = memory_left(d, begin);
        if (bytes == 0 && begin) {
            free(r.at);
            return status_fail(
                d, FSC_ERROR_ARGUMENT,
                "a checked launch must know how large argument %s of kernel %s is: give its size in bytes "
                "(fsc_pointer), or memory of fsc_memory_alloc",
                p->name, v->record->kernel);
        }
        if (bytes > UINT64_MAX - begin) bytes = UINT64_MAX - begin;
        if (bytes && begin) r.at[r.n++] = (Region){begin, begin + bytes, (int32_t)v->slots[i].param};
    }
    join(&r);
    *out = r;
    return FSC_OK;
}

void regions_destroy(Regions *r) {
    free(r->at);
    *r = (Regions){0};
}

const Region *region_find(const Regions *r, uint64_t address, uint64_t bytes) {
    for (uint32_t i = 0; i < r->n; i++) {
        const Region *at = &r->at[i];
        if (address >= at->begin && address < at->end) return bytes <= at->end - address ? at : NULL;
    }
    return NULL;
}

/* How far outside of the region the access lies. */
static uint64_t distance(const Region *r, uint64_t address, uint64_t end) {
    return end <= r->begin ? r->begin - end : address >= r->end ? address - r->end : 0;
}

void region_explain(const Regions *r, uint64_t address, uint32_t bytes, bool is_store, char *out, size_t size) {
    const char *verb = is_store ? "writes" : "reads";
    uint64_t end = address + bytes;
    const Region *near = NULL;
    for (uint32_t i = 0; i < r->n; i++)
        if (!near || distance(&r->at[i], address, end) < distance(near, address, end)) near = &r->at[i];
    if (!near) {
        snprintf(out, size, "%s %u bytes at %#" PRIx64 ", and the launch has no buffer", verb, bytes, address);
        return;
    }
    const RecordParam *p = &r->record->params[near->param];
    uint32_t element = fsc_dtype_size(fsc_dtype_find(p->dtype));
    int64_t index = (int64_t)(address - near->begin) / (element ? element : 1);
    snprintf(out, size, "%s %u bytes at %s[%" PRId64 "], %s of %s (%" PRIu64 " elements of %s, from %#" PRIx64 " on)",
             verb, bytes, p->name, index, end > near->end ? "beyond the end" : "before the beginning", p->name,
             (near->end - near->begin) / (element ? element : 1), p->dtype, near->begin);
}
