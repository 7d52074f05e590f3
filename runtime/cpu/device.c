/* device.c - device "cpu": kernels as loops over tiles, on the host's threads.
 *
 * In: how many threads. Out: device_cpu. Method: the pool runs programs; the rest is what host.c shares.
 */
#include "runtime/cpu/host.h"

static fsc_status open_device(fsc_device *d, int64_t threads) {
    uint32_t n = threads < 0 ? cores_count() : (uint32_t)threads;
    d->own = pool_create(n);
    return d->own ? host_open(d, n) : status_memory(NULL);
}

static void close_device(fsc_device *d) {
    pool_destroy(d->own);
    host_close(d);
}

static bool has_entry(const fsc_host_code *code) {
    return code->entry != NULL;
}

static fsc_status report(Variant *v, fsc_kernel_report *o) {
    const fsc_props *p = &v->module->device->props;
    o->threads_per_block = 1;
    o->max_threads_per_block = p->max_threads_per_block;
    o->resident_blocks = o->resident_programs = p->sms;
    return FSC_OK;
}

static void set_executor(fsc_device *d, fsc_executor *run, void *context) {
    pool_set_executor(d->own, run, context);
}

const Device device_cpu = {
    HOST_DEVICE,
    .name = "cpu",
    .kind = FSC_CPU,
    .takes_quick = true,
    .open = open_device,
    .close = close_device,
    .has_entry = has_entry,
    .report = report,
    .launch = cpu_launch,
    .set_executor = set_executor,
};
