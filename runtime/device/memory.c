/* memory.c - buffers of a device: getting, giving back, copying, filling.
 *
 * In: a device, plain pointers, sizes of 64 bits. Out: statuses. Method: the driver's synchronous calls on CUDA, malloc
 * and memcpy on the host; a call of no bytes is success and touches nothing.
 */
#include "runtime/base/process.h"
#include "runtime/device/internal.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 }; /* what the driver gives too */

static CUdeviceptr address(const void *buffer) {
    return (CUdeviceptr)(uintptr_t)buffer;
}

static fsc_status need(const fsc_device *d, bool all, const char *call) {
    if (d && all) return FSC_OK;
    return status_fail(d, FSC_ERROR_USAGE, "%s: %s is NULL", call, d ? "a pointer" : "the device");
}

/* ---- What a host device gave: checked launches ask how much is left behind a pointer ----------------------------- */

typedef struct Allocation {
    struct Allocation *next;
    uint64_t begin, bytes;
} Allocation;

static bool remember(fsc_device *d, const void *p, uint64_t bytes) {
    Allocation *a = malloc(sizeof *a);
    if (!a) return false;
    HOLD_FORKS;
    pthread_mutex_lock(&d->lock);
    *a = (Allocation){d->allocations, (uintptr_t)p, bytes};
    d->allocations = a;
    pthread_mutex_unlock(&d->lock);
    return true;
}

static void forget(fsc_device *d, const void *p) {
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

void memory_forget(fsc_device *d) {
    for (Allocation *a = d->allocations, *next = NULL; a; a = next) {
        next = a->next;
        free(a);
    }
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

static fsc_status alloc_host(fsc_device *d, uint64_t bytes, void **out) {
    void *p = bytes <= PTRDIFF_MAX - ALIGNMENT
                  ? aligned_alloc(ALIGNMENT, (size_t)(bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)
                  : NULL;
    if (!p || !remember(d, p, bytes)) {
        free(p);
        return status_fail(d, FSC_ERROR_DEVICE_MEMORY, "no memory for a buffer of %llu bytes",
                           (unsigned long long)bytes);
    }
    *out = p;
    return FSC_OK;
}

fsc_status fsc_memory_alloc(fsc_device *d, uint64_t bytes, void **out) {
    fsc_status s = need(d, out, "fsc_memory_alloc");
    if (s != FSC_OK) return s;
    if (bytes == 0) {
        *out = NULL;
        return FSC_OK;
    }
    if (device_is_host(d)) return alloc_host(d, bytes, out);
    bool pushed = false;
    CUdeviceptr p = 0;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) {
        CUresult r = CU_CALL(cuMemAlloc, &p, (size_t)bytes);
        s = driver_check(d, r, "cuMemAlloc");
        if (r == CUDA_ERROR_OUT_OF_MEMORY)
            status_fail(d, s,
                        "no memory on %s for a buffer of %llu bytes: cuMemAlloc gives CUDA_ERROR_OUT_OF_MEMORY; %s",
                        d->props.name, (unsigned long long)bytes, driver_advice(r));
    }
    device_leave(d, pushed);
    if (s == FSC_OK) *out = (void *)(uintptr_t)p;
    return s;
}

fsc_status fsc_memory_free(fsc_device *d, void *buffer) {
    fsc_status s = need(d, true, "fsc_memory_free");
    if (s != FSC_OK || !buffer) return s;
    if (device_is_host(d)) {
        forget(d, buffer);
        free(buffer);
        return FSC_OK;
    }
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuMemFree, address(buffer));
    device_leave(d, pushed);
    return s;
}

/* On CUDA the copy runs on the default stream; waiting for it makes "has ended" true for pageable memory too. */
static fsc_status finish(fsc_device *d, fsc_status s, bool pushed) {
    if (s == FSC_OK) s = CU(d, cuStreamSynchronize, NULL);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_memory_write(fsc_device *d, void *buffer, const void *host, uint64_t bytes) {
    fsc_status s = need(d, bytes == 0 || (buffer && host), "fsc_memory_write");
    if (s != FSC_OK || bytes == 0) return s;
    if (device_is_host(d)) {
        memmove(buffer, host, (size_t)bytes);
        return FSC_OK;
    }
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuMemcpyHtoD, address(buffer), host, (size_t)bytes);
    return finish(d, s, pushed);
}

fsc_status fsc_memory_read(fsc_device *d, void *host, const void *buffer, uint64_t bytes) {
    fsc_status s = need(d, bytes == 0 || (buffer && host), "fsc_memory_read");
    if (s != FSC_OK || bytes == 0) return s;
    if (device_is_host(d)) {
        memmove(host, buffer, (size_t)bytes);
        return FSC_OK;
    }
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuMemcpyDtoH, host, address(buffer), (size_t)bytes);
    return finish(d, s, pushed);
}

fsc_status fsc_memory_fill(fsc_device *d, void *buffer, uint8_t byte, uint64_t bytes) {
    fsc_status s = need(d, bytes == 0 || buffer, "fsc_memory_fill");
    if (s != FSC_OK || bytes == 0) return s;
    if (device_is_host(d)) {
        memset(buffer, byte, (size_t)bytes);
        return FSC_OK;
    }
    bool pushed = false;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuMemsetD8, address(buffer), byte, (size_t)bytes);
    return finish(d, s, pushed);
}
