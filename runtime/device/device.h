/* device.h - what a device is: its handle, and the functions that each kind of device has. Nothing here is public.
 *
 * The public functions check what they are given and go through the table; no other file asks of which kind a device
 * is. A new kind is a folder with a table, and a row of devices.def.
 */
#ifndef FSC_DEVICE_H
#define FSC_DEVICE_H

#include "runtime/device/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

typedef struct Call Call; /* code.h */
typedef struct Variant Variant;
typedef struct MapSizes MapSizes;
typedef struct TensorMap TensorMap;
typedef struct Findings Findings;
typedef struct Counts Counts;

/* What a kind of device is, and does. Functions about memory,
 * streams and events are called between `enter` and `leave`. */
typedef struct Device {
    const char *name; /* "cpu": fsc_device_open takes it with ":NUMBER", */
    int32_t least, most; /* which is one of these, or without: -1 */
    fsc_device_kind kind;
    bool is_host;      /* memory is the host's, code is called in this process, launches end before they return */
    bool has_threads;  /* its code is that of one thread of a block; else that of a program */
    bool takes_quick;  /* a call needs no more than quick.c finds out */
    fsc_status (*count)(int *count); /* NULL: there is one */
    fsc_status (*open)(fsc_device *d, int64_t number); /* fills props and own; after a failure there is a close, too */
    void (*close)(fsc_device *d);
    fsc_status (*enter)(fsc_device *d, bool *pushed); /* NULL: nothing to do; likewise leave */
    void (*leave)(fsc_device *d);
    /* Memory: copies have ended when they return. */
    fsc_status (*alloc)(fsc_device *d, uint64_t bytes, void **out);
    fsc_status (*free)(fsc_device *d, void *buffer);
    fsc_status (*write)(fsc_device *d, void *buffer, const void *host, size_t bytes);
    fsc_status (*read)(fsc_device *d, void *host, const void *buffer, size_t bytes);
    fsc_status (*fill)(fsc_device *d, void *buffer, uint8_t byte, size_t bytes);
    /* Whether the device sees the memory at this address of a launch of the kernel; NULL: whatever the host sees. */
    fsc_status (*sees)(fsc_device *d, uint64_t address, const char *kernel, bool *sees);
    /* Streams and events. */
    fsc_status (*stream_create)(fsc_device *d, void **out);
    fsc_status (*stream_destroy)(fsc_device *d, void *stream);
    fsc_status (*stream_wait)(fsc_device *d, void *stream);
    fsc_status (*wait)(fsc_device *d);
    fsc_status (*capturing)(fsc_device *d, void *stream, bool *is_capturing); /* a graph; NULL: never */
    fsc_status (*event_create)(fsc_event *e);
    void (*event_destroy)(fsc_event *e);
    fsc_status (*event_record)(fsc_event *e, void *stream);
    fsc_status (*event_elapsed)(fsc_event *start, fsc_event *end, double *milliseconds);
    /* Code: images (load and unload) on some devices, entries in this process (has_entry) on the others; else NULL. */
    fsc_status (*load)(fsc_module *m, const void *image, size_t size); /* its records are read and fit */
    void (*unload)(fsc_module *m);
    bool (*has_entry)(const fsc_host_code *code);
    fsc_status (*ready)(Variant *v); /* before its first launch, under the lock `loading`; NULL: nothing to do */
    /* NULL: its programs run one after the other */
    fsc_status (*blocks_per_sm)(Variant *v, uint32_t launch, int *blocks);
    fsc_status (*report)(Variant *v, fsc_kernel_report *out);
    fsc_status (*launch)(Call *c, void *stream); /* of a grid that is not empty */
    /* Map number `map` of the call's variant, of these sizes, which fit; NULL: its code reads none. */
    fsc_status (*encode_map)(const Call *c, uint32_t map, const MapSizes *sizes, TensorMap *out);
    void (*set_executor)(fsc_device *d, fsc_executor *run, void *context); /* NULL: it runs on no threads of others */
} Device;

/* Each defined in its folder. */
#define DEVICE(name) extern const Device device_##name;
#include "runtime/device/devices.def"
#undef DEVICE

/* How far the emulator's launch has come, for any thread to read. Who sets is_stopped, be it in a signal's handler, has
 * the launch end early, and any after it: no program begins, and those under way are left. */
typedef struct Progress {
    atomic_ullong ended, all; /* programs, and what fills up the last block */
    atomic_bool is_stopped;
} Progress;

struct fsc_device {
    const Device *kind;
    fsc_props props;
    void *own;            /* of the kind's own files */
    char card_arch[16];   /* of the emulator: of the card that it stands for; "": none */
    bool takes_maps;      /* it can make tensor maps, and code that reads them runs here */
    Findings *findings;   /* of checked launches, on host devices */
    pthread_mutex_t loading; /* of code that is loaded when it is first needed */
    Counts *counts;       /* of counted launches; NULL before the first */
    atomic_bool checked, counted;
    Progress progress;
    struct Recording *recording; /* of launches on the emulator, the owner's; NULL: none (recording.h) */
    pthread_mutex_t turn; /* of launches that share the findings (of the emulator: the counts, too): one at a time */
    pthread_mutex_t counting; /* of launches of the CPU that share the counts; taken before `turn` */
    pthread_mutex_t lock; /* of what follows */
    struct Allocation *allocations; /* of host devices: what fsc_memory_alloc gave */
    char message[MESSAGE_SIZE];
};

struct fsc_event {
    fsc_device *device;
    bool is_recorded;
    void *own;            /* of a kind that has events of its own; of the others: */
    struct timespec time; /* when it was recorded */
};

/* Makes the device's context current for this thread if it is not; *pushed says whether device_leave must pop it.
 * Reports the fault of an earlier kernel (FSC_ERROR_FAULT). */
static inline fsc_status device_enter(fsc_device *d, bool *pushed) {
    *pushed = false;
    return d->kind->enter ? d->kind->enter(d, pushed) : FSC_OK;
}
static inline void device_leave(fsc_device *d, bool pushed) {
    if (pushed) d->kind->leave(d);
}
/* Device "emu": its programs get what they would get on the card, and the JIT compiles the card's variants for it,
 * from here on. */
void device_stand_for(fsc_device *d, const fsc_props *card);

/* ---- memory.c: what host devices gave ---------------------------------------------------------------------------- */

bool memory_remember(fsc_device *d, const void *p, uint64_t bytes); /* false: out of memory */
void memory_forget(fsc_device *d, const void *p);
void memory_forget_all(fsc_device *d); /* frees the list, not the buffers */
/* Bytes from the address to the end of the allocation of this host device that it lies in; 0: in none. */
uint64_t memory_left(fsc_device *d, uint64_t address);

#endif
