/* host.c - memory, streams and events of the devices whose memory is the host's.
 *
 * In: plain pointers. Out: statuses, milliseconds. Method: malloc and memcpy; a launch has ended when it returns, so a
 * stream is nothing and an event is the host's clock. What is given is noted, for checked launches.
 */
#include "runtime/base/arch.h"
#include "runtime/cpu/host.h"
#include "runtime/debug/checks.h"
#include "runtime/debug/counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 256 }; /* what the driver gives too */

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

fsc_status host_open(fsc_device *d, uint32_t threads) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    d->props = (fsc_props){.kind = d->kind->kind,
                           .sms = threads,
                           .registers_per_sm = ARCH_REGISTER_FILE,
                           .registers_per_block = ARCH_REGISTER_FILE,
                           .shared_per_sm = ARCH_SHARED,
                           .shared_per_block = ARCH_SHARED,
                           .shared_per_block_optin = ARCH_SHARED,
                           .warp_size = ARCH_WARP,
                           .memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0};
    snprintf(d->props.name, sizeof d->props.name, "%s", d->kind->name);
    snprintf(d->props.arch, sizeof d->props.arch, "%s", d->kind->name);
    d->findings = findings_create();
    return d->findings ? FSC_OK : status_memory(NULL);
}

void host_close(fsc_device *d) {
    findings_destroy(d->findings);
    counts_destroy(d->counts);
    memory_forget_all(d);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

fsc_status host_alloc(fsc_device *d, uint64_t bytes, void **out) {
    void *p = bytes <= PTRDIFF_MAX - ALIGNMENT
                  ? aligned_alloc(ALIGNMENT, (size_t)(bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)
                  : NULL;
    if (!p || !memory_remember(d, p, bytes)) {
        free(p);
        return status_fail(d, FSC_ERROR_DEVICE_MEMORY, "no memory for a buffer of %llu bytes",
                           (unsigned long long)bytes);
    }
    *out = p;
    return FSC_OK;
}

fsc_status host_free(fsc_device *d, void *buffer) {
    memory_forget(d, buffer);
    free(buffer);
    return FSC_OK;
}

fsc_status host_write(fsc_device *d, void *buffer, const void *host, size_t bytes) {
    (void)d;
    memmove(buffer, host, bytes);
    return FSC_OK;
}

fsc_status host_read(fsc_device *d, void *host, const void *buffer, size_t bytes) {
    (void)d;
    memmove(host, buffer, bytes);
    return FSC_OK;
}

fsc_status host_fill(fsc_device *d, void *buffer, uint8_t byte, size_t bytes) {
    (void)d;
    memset(buffer, byte, bytes);
    return FSC_OK;
}

/* ---- Streams and events ------------------------------------------------------------------------------------------ */

fsc_status host_stream_create(fsc_device *d, void **out) {
    (void)d;
    *out = NULL;
    return FSC_OK;
}

fsc_status host_stream_wait(fsc_device *d, void *stream) {
    (void)d, (void)stream;
    return FSC_OK;
}

fsc_status host_wait(fsc_device *d) {
    (void)d;
    return FSC_OK;
}

fsc_status host_event_create(fsc_event *e) {
    (void)e;
    return FSC_OK;
}

void host_event_destroy(fsc_event *e) {
    (void)e;
}

fsc_status host_event_record(fsc_event *e, void *stream) {
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &e->time);
    return FSC_OK;
}

fsc_status host_event_elapsed(fsc_event *start, fsc_event *end, double *milliseconds) {
    *milliseconds = (double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
                    (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6;
    return FSC_OK;
}
