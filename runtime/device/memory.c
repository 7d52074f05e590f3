/* memory.c - buffers of a device: getting, giving back, copying, filling; and what host devices gave.
 *
 * In: a device, plain pointers, sizes of 64 bits. Out: statuses. Method: what is asked for is checked here, the
 * device's table does it; a call of no bytes is success and touches nothing.
 */
#include "runtime/base/process.h"
#include "runtime/device/device.h"

#include <stdlib.h>

static fsc_status need(const fsc_device *d, bool all, const char *call) {
    if (d && all) return FSC_OK;
    return status_fail(d, FSC_ERROR_USAGE, "%s: %s is NULL", call, d ? "a pointer" : "the device");
}

/* ---- What a host device gave: checked launches ask how much is left behind a pointer ----------------------------- */

typedef struct Allocation {
    struct Allocation *next;
    uint64_t begin, bytes;
} Allocation;

bool memory_remember(fsc_device *d, const void *p, uint64_t bytes) {
    Allocation *a = malloc(sizeof *a);
    if (!a) return false;
    HOLD_FORKS;
    pthread_mutex_lock(&d->lock);
    *a = (Allocation){d->allocations, (uintptr_t)p, bytes};
    d->allocations = a;
    pthread_mutex_unlock(&d->lock);
    return true;
}

void memory_forget(fsc_device *d, const void *p) {
    HOLD_FORKS;
    Allocation *found = NULL;
    pthread_mutex_lock(&d->lock);
    for (Allocation **at = &d->allocations; *at; at = &(*at)->next) {
        if ((*at)->begin != (uintptr_t)p) continue;
        found = *at;
        *at = found->next;
        break;
    }
    pthread_mutex_unlock(&d->lock);
    free(found);
}

uint64_t memory_left(fsc_device *d, uint64_t address) {
    HOLD_FORKS;
    uint64_t left = 0;
    pthread_mutex_lock(&d->lock);
    for (const Allocation *a = d->allocations; a; a = a->next)
        if (address >= a->begin && address - a->begin < a->bytes) left = a->bytes - (address - a->begin);
    pthread_mutex_unlock(&d->lock);
    return left;
}

void memory_forget_all(fsc_device *d) {
    for (Allocation *a = d->allocations, *next = NULL; a; a = next) {
        next = a->next;
        free(a);
    }
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

fsc_status fsc_memory_alloc(fsc_device *d, uint64_t bytes, void **out) {
    fsc_status s = need(d, out, "fsc_memory_alloc");
    if (s != FSC_OK) return s;
    bool pushed = false;
    void *p = NULL;
    if (bytes) s = device_enter(d, &pushed);
    if (bytes && s == FSC_OK) s = d->kind->alloc(d, bytes, &p);
    device_leave(d, pushed);
    if (s == FSC_OK) *out = p;
    return s;
}

fsc_status fsc_memory_free(fsc_device *d, void *buffer) {
    fsc_status s = need(d, true, "fsc_memory_free");
    if (s != FSC_OK || !buffer) return s;
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->free(d, buffer);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_memory_write(fsc_device *d, void *buffer, const void *host, uint64_t bytes) {
    fsc_status s = need(d, bytes == 0 || (buffer && host), "fsc_memory_write");
    if (s != FSC_OK || bytes == 0) return s;
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->write(d, buffer, host, (size_t)bytes);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_memory_read(fsc_device *d, void *host, const void *buffer, uint64_t bytes) {
    fsc_status s = need(d, bytes == 0 || (buffer && host), "fsc_memory_read");
    if (s != FSC_OK || bytes == 0) return s;
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->read(d, host, buffer, (size_t)bytes);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_memory_fill(fsc_device *d, void *buffer, uint8_t byte, uint64_t bytes) {
    fsc_status s = need(d, bytes == 0 || buffer, "fsc_memory_fill");
    if (s != FSC_OK || bytes == 0) return s;
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->fill(d, buffer, byte, (size_t)bytes);
    device_leave(d, pushed);
    return s;
}
