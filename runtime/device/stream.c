/* stream.c - streams and events: where launches queue, when they end, how long they took.
 *
 * In: a device, CUstreams as plain pointers. Out: statuses, milliseconds. Method: the driver's own on CUDA; on the CPU
 * a launch has ended when it returns, so a stream is nothing and an event is the host's clock.
 */
#include "runtime/device/internal.h"

#include <stdlib.h>
#include <time.h>

struct fsc_event {
    fsc_device *device;
    CUevent cu;
    bool recorded;
    struct timespec time; /* CPU */
};

static fsc_status no_device(const char *call) {
    return status_fail(NULL, FSC_ERROR_USAGE, "%s: the handle is NULL", call);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

fsc_status fsc_stream_create(fsc_device *d, void **out) {
    if (!d || !out) return no_device("fsc_stream_create");
    if (device_is_host(d)) {
        *out = NULL;
        return FSC_OK;
    }
    bool pushed = false;
    CUstream stream = NULL;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuStreamCreate, &stream, 0);
    device_leave(d, pushed);
    if (s == FSC_OK) *out = stream;
    return s;
}

fsc_status fsc_stream_destroy(fsc_device *d, void *stream) {
    if (!d) return no_device("fsc_stream_destroy");
    if (device_is_host(d) || !stream) return FSC_OK;
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuStreamDestroy, stream);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_stream_wait(fsc_device *d, void *stream) {
    if (!d) return no_device("fsc_stream_wait");
    if (device_is_host(d)) return FSC_OK;
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuStreamSynchronize, stream);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_device_wait(fsc_device *d) {
    if (!d) return no_device("fsc_device_wait");
    if (device_is_host(d)) return FSC_OK;
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = driver_check(d, cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    device_leave(d, pushed);
    return s;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

fsc_status fsc_event_create(fsc_device *d, fsc_event **out) {
    if (!d || !out) return no_device("fsc_event_create");
    fsc_event *e = calloc(1, sizeof *e);
    if (!e) return status_memory(d);
    e->device = d;
    fsc_status s = FSC_OK;
    if (!device_is_host(d)) {
        bool pushed = false;
        s = device_enter(d, &pushed);
        if (s == FSC_OK) s = CU(d, cuEventCreate, &e->cu, 0);
        device_leave(d, pushed);
    }
    if (s != FSC_OK)
        free(e);
    else
        *out = e;
    return s;
}

void fsc_event_destroy(fsc_event *e) {
    if (!e) return;
    bool pushed = false;
    if (e->cu) {
        if (device_enter(e->device, &pushed) == FSC_OK) CU_QUIET(e->device, cuEventDestroy, e->cu);
        device_leave(e->device, pushed);
    }
    free(e);
}

fsc_status fsc_event_record(fsc_event *e, void *stream) {
    if (!e) return no_device("fsc_event_record");
    bool pushed = false;
    fsc_status s = FSC_OK;
    if (device_is_host(e->device)) {
        clock_gettime(CLOCK_MONOTONIC, &e->time);
    } else {
        s = device_enter(e->device, &pushed);
        if (s == FSC_OK) s = CU(e->device, cuEventRecord, e->cu, stream);
        device_leave(e->device, pushed);
    }
    if (s == FSC_OK) e->recorded = true;
    return s;
}

fsc_status fsc_event_elapsed(fsc_event *start, fsc_event *end, double *milliseconds) {
    if (!start || !end || !milliseconds) return no_device("fsc_event_elapsed");
    fsc_device *d = end->device;
    if (start->device != d) return status_fail(d, FSC_ERROR_USAGE, "the two events are of different devices");
    if (!start->recorded || !end->recorded) return status_fail(d, FSC_ERROR_USAGE, "an event was never recorded");
    if (device_is_host(d)) {
        *milliseconds = (double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
                        (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6;
        return FSC_OK;
    }
    bool pushed = false;
    float ms = 0;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = CU(d, cuEventSynchronize, end->cu);
    if (s == FSC_OK) s = CU(d, cuEventElapsedTime, &ms, start->cu, end->cu);
    device_leave(d, pushed);
    if (s == FSC_OK) *milliseconds = (double)ms;
    return s;
}
