/* stream.c - streams and events: where launches queue, when they end, how long they took.
 *
 * In: a device, streams as plain pointers. Out: statuses, milliseconds. Method: what is asked for is checked here, the
 * device's table does it.
 */
#include "runtime/device/device.h"

#include <stdlib.h>

static fsc_status no_device(const char *call) {
    return status_fail(NULL, FSC_ERROR_USAGE, "%s: the handle is NULL", call);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

fsc_status fsc_stream_create(fsc_device *d, void **out) {
    if (!d || !out) return no_device("fsc_stream_create");
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->stream_create(d, out);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_stream_destroy(fsc_device *d, void *stream) {
    if (!d) return no_device("fsc_stream_destroy");
    if (!stream) return FSC_OK;
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->stream_destroy(d, stream);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_stream_wait(fsc_device *d, void *stream) {
    if (!d) return no_device("fsc_stream_wait");
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->stream_wait(d, stream);
    device_leave(d, pushed);
    return s;
}

fsc_status fsc_device_wait(fsc_device *d) {
    if (!d) return no_device("fsc_device_wait");
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->wait(d);
    device_leave(d, pushed);
    return s;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

fsc_status fsc_event_create(fsc_device *d, fsc_event **out) {
    if (!d || !out) return no_device("fsc_event_create");
    fsc_event *e = calloc(1, sizeof *e);
    if (!e) return status_memory(d);
    e->device = d;
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->event_create(e);
    device_leave(d, pushed);
    if (s != FSC_OK)
        free(e);
    else
        *out = e;
    return s;
}

void fsc_event_destroy(fsc_event *e) {
    if (!e) return;
    bool pushed = false;
    if (device_enter(e->device, &pushed) == FSC_OK) e->device->kind->event_destroy(e);
    device_leave(e->device, pushed);
    free(e);
}

fsc_status fsc_event_record(fsc_event *e, void *stream) {
    if (!e) return no_device("fsc_event_record");
    bool pushed = false;
    fsc_status s = device_enter(e->device, &pushed);
    if (s == FSC_OK) s = e->device->kind->event_record(e, stream);
    device_leave(e->device, pushed);
    if (s == FSC_OK) e->is_recorded = true;
    return s;
}

fsc_status fsc_event_elapsed(fsc_event *start, fsc_event *end, double *milliseconds) {
    if (!start || !end || !milliseconds) return no_device("fsc_event_elapsed");
    fsc_device *d = end->device;
    if (start->device != d) return status_fail(d, FSC_ERROR_USAGE, "the two events are of different devices");
    if (!start->is_recorded || !end->is_recorded) return status_fail(d, FSC_ERROR_USAGE, "an event was never recorded");
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->event_elapsed(start, end, milliseconds);
    device_leave(d, pushed);
    return s;
}
