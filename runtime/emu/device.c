/* device.c - device "emu": a GPU's per-thread code on threads of this machine.
 *
 * In: how many host threads. Out: device_emu. Method: the emulator (emu.h) runs a launch; memory,
 * streams and events are the host's.
 */
#include "runtime/base/arch.h"
#include "runtime/base/process.h"
#include "runtime/cpu/host.h"
#include "runtime/emu/emu.h"

#include <stdio.h>

/* A block has what one of sm_90 has. */
static fsc_status open_device(fsc_device *d, int64_t threads) {
    uint32_t n = threads < 0 ? cores_count() : (uint32_t)threads;
    fsc_props *p = &d->props;
    d->own = emulator_create(n);
    fsc_status s = d->own ? host_open(d, n) : status_memory(NULL);
    p->shared_per_sm = ARCH_SHARED_PER_SM_90;
    p->shared_per_block_optin = ARCH_SHARED_90;
    p->max_threads_per_sm = ARCH_THREADS_PER_SM_90;
    p->max_threads_per_block = ARCH_BLOCK;
    p->max_blocks_per_sm = ARCH_BLOCKS_PER_SM_90;
    d->takes_maps = true;
    return s;
}

static void close_device(fsc_device *d) {
    emulator_destroy(d->own);
    host_close(d);
}

static bool has_entry(const fsc_host_code *code) {
    return code->thread != NULL;
}

static fsc_status ready(Variant *v) {
    const Record *r = v->record;
    fsc_status s = variant_check(v);
    if (s == FSC_OK && r->num_launches > 1)
        s = status_fail(v->module->device, FSC_ERROR_RECORD,
                        "kernel %s takes %u launches, and the emulator runs kernels of one", r->kernel,
                        r->num_launches);
    return s == FSC_OK ? launch_fits(v, &r->launches[0]) : s;
}

static fsc_status report(Variant *v, fsc_kernel_report *o) {
    const fsc_props *p = &v->module->device->props;
    const RecordLaunch *l = &v->record->launches[0];
    o->threads_per_block = l->threads_per_block;
    o->max_threads_per_block = p->max_threads_per_block;
    o->shared_static = l->shared_static;
    o->shared_dynamic = l->shared_dynamic;
    o->resident_blocks = o->resident_programs = p->sms;
    return FSC_OK;
}

static fsc_status launch(Call *c, void *stream) {
    (void)stream; /* it ends before it returns */
    HOLD_FORKS;
    fsc_device *d = c->kernel->device;
    RecordLaunch shape = launch_shape(c, &c->variant->record->launches[0]);
    uint32_t blocks = 0;
    fsc_status s = launch_blocks(c, &shape, &blocks);
    if (s != FSC_OK) return s;
    call_append_grid(c);
    s = call_append_maps(c);
    if (s != FSC_OK) return s;
    pthread_mutex_lock(&d->turn);
    s = emulator_run(d->own, c, atomic_load(&d->checked));
    pthread_mutex_unlock(&d->turn);
    return s;
}

const Device device_emu = {
    HOST_DEVICE,
    .name = "emu",
    .kind = FSC_EMU,
    .has_threads = true,
    .open = open_device,
    .close = close_device,
    .has_entry = has_entry,
    .ready = ready,
    .report = report,
    .launch = launch,
    .encode_map = emu_encode_map,
};
