/* host.h - what the devices whose memory is the host's share: "cpu" here, "emu" in its folder. */
#ifndef FSC_HOST_H
#define FSC_HOST_H

#include "runtime/cpu/pool.h"
#include "runtime/device/code.h"

/* The findings and the properties of a device that runs on so many threads: what kernels may ask for (num_sms,
 * max_shared, …) has nominal values, those of a GPU's block. */
fsc_status host_open(fsc_device *d, uint32_t threads);
void host_close(fsc_device *d);

/* Rows of their tables. */
fsc_status host_alloc(fsc_device *d, uint64_t bytes, void **out);
fsc_status host_free(fsc_device *d, void *buffer);
fsc_status host_write(fsc_device *d, void *buffer, const void *host, size_t bytes);
fsc_status host_read(fsc_device *d, void *host, const void *buffer, size_t bytes);
fsc_status host_fill(fsc_device *d, void *buffer, uint8_t byte, size_t bytes);
fsc_status host_stream_create(fsc_device *d, void **out); /* NULL: there is one */
fsc_status host_stream_wait(fsc_device *d, void *stream); /* all has ended: also for stream_destroy */
fsc_status host_wait(fsc_device *d);
fsc_status host_event_create(fsc_event *e);
void host_event_destroy(fsc_event *e);
fsc_status host_event_record(fsc_event *e, void *stream);
fsc_status host_event_elapsed(fsc_event *start, fsc_event *end, double *milliseconds);

#define HOST_DEVICE                                                                                                    \
    .least = 1, .most = 4096, .is_host = true,                                                                         \
    .alloc = host_alloc, .free = host_free, .write = host_write, .read = host_read, .fill = host_fill,                 \
    .stream_create = host_stream_create, .stream_destroy = host_stream_wait, .stream_wait = host_stream_wait,          \
    .wait = host_wait, .event_create = host_event_create, .event_destroy = host_event_destroy,                         \
    .event_record = host_event_record, .event_elapsed = host_event_elapsed

fsc_status cpu_launch(Call *c, void *stream);

#endif
