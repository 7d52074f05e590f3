/* device.c - devices: counting, opening by name, properties.
 *
 * In: "auto", "cuda", "cuda:N", "cpu", "cpu:N", "emu", "emu:N". Out: a handle. Method: the rows of devices.def; what a
 * device is and does is in its own table.
 */
#include "runtime/base/number.h"
#include "runtime/device/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Device *const kinds[] = {
#define DEVICE(name) &device_##name,
#include "runtime/device/devices.def"
#undef DEVICE
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- Properties -------------------------------------------------------------------------------------------------- */

void device_stand_for(fsc_device *d, const fsc_props *card) {
    fsc_props own = d->props;
    d->props = *card;
    d->props.kind = own.kind;
    d->props.memory_bytes = own.memory_bytes;
    memcpy(d->props.name, own.name, sizeof own.name);
    memcpy(d->props.arch, own.arch, sizeof own.arch);
    snprintf(d->card_arch, sizeof d->card_arch, "%s", card->arch);
}

fsc_status fsc_device_props(const fsc_device *d, fsc_props *out) {
    if (!d || !out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_props: no device or no place for the result");
    *out = d->props;
    return FSC_OK;
}

fsc_status fsc_device_count(fsc_device_kind kind, int *count) {
    if (!count) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_count: no place for the result");
    *count = 1;
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i]->kind != kind || !kinds[i]->count) continue;
        *count = 0;
        return kinds[i]->count(count);
    }
    return FSC_OK;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static fsc_device *device_create(const Device *kind) {
    fsc_device *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->kind = kind;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->turn, NULL);
    pthread_mutex_init(&d->loading, NULL);
    pthread_mutex_init(&d->counting, NULL);
    return d;
}

static fsc_status open_as(const Device *kind, int64_t number, fsc_device **out) {
    fsc_device *d = device_create(kind);
    if (!d) return status_memory(NULL);
    fsc_status s = kind->open(d, number);
    if (s == FSC_OK)
        *out = d;
    else
        fsc_device_close(d);
    return s;
}

/* The number behind "cuda:" or "cpu:", -1 where there is no colon. False if it is none or out of range. */
static bool read_number(const char *rest, int64_t least, int64_t most, int64_t *out) {
    *out = -1;
    if (*rest == '\0') return true;
    return *rest == ':' && number_read_int(rest + 1, strlen(rest + 1), out) && *out >= least && *out <= most;
}

fsc_status fsc_device_open(const char *name, fsc_device **out) {
    if (!out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_open: no place for the result");
    if (!name || strcmp(name, "auto") == 0)
        return open_as(&device_cuda, -1, out) == FSC_OK ? FSC_OK : open_as(&device_cpu, -1, out);
    for (int i = 0; i < KINDS; i++) {
        const Device *k = kinds[i];
        size_t n = strlen(k->name);
        int64_t number = -1;
        if (strncmp(name, k->name, n) == 0 && read_number(name + n, k->least, k->most, &number))
            return open_as(k, number, out);
    }
    return status_fail(NULL, FSC_ERROR_USAGE,
                       "'%.80s' is no device; one is auto, cuda, cuda:N, cpu, cpu:THREADS, emu or emu:THREADS",
                       name);
}

fsc_status fsc_device_set_executor(fsc_device *d, fsc_executor *run, void *context) {
    if (!d) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_set_executor: no device");
    if (!d->kind->set_executor)
        return status_fail(d, FSC_ERROR_USAGE,
                           "fsc_device_set_executor: the programs of device '%s' run on no threads of the application; "
                           "those of 'cpu' do",
                           d->kind->name);
    d->kind->set_executor(d, run, context);
    return FSC_OK;
}

void fsc_device_close(fsc_device *d) {
    if (!d) return;
    d->kind->close(d);
    pthread_mutex_destroy(&d->turn);
    pthread_mutex_destroy(&d->loading);
    pthread_mutex_destroy(&d->counting);
    pthread_mutex_destroy(&d->lock);
    free(d);
}
