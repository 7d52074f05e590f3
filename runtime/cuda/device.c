/* device.c - device "cuda": its context, its properties, and the table of its functions.
 *
 * In: the driver. Out: device_cuda. Method: the context current in the calling thread is used if it is on the device
 * asked for, else the primary context is retained; nothing is created, and each call leaves the thread's current
 * context as it was.
 */
#include "runtime/cuda/driver.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Current context --------------------------------------------------------------------------------------------- */

static fsc_status enter(fsc_device *d, bool *pushed) {
    const CudaDevice *own = cuda_of(d);
    if (atomic_load_explicit(&own->fault, memory_order_acquire))
        return status_fail(d, FSC_ERROR_FAULT, "an earlier kernel faulted: %s; this context can do nothing more",
                           own->fault_message);
    CUcontext current = NULL;
    fsc_status s = CU(d, cuCtxGetCurrent, &current);
    if (s != FSC_OK || current == own->context) return s;
    s = CU(d, cuCtxPushCurrent, own->context);
    *pushed = s == FSC_OK;
    return s;
}

static void leave(fsc_device *d) {
    CUcontext old = NULL;
    CU_QUIET(d, cuCtxPopCurrent, &old); /* it pops all the same, and the call's own status counts */
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

/* Attributes that older drivers do not know stay 0. */
enum { EVERYWHERE, NEWER };

static const struct {
    CUdevice_attribute attribute;
    int known;
    size_t offset;
} prop_rows[] = {
    {CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, EVERYWHERE, offsetof(fsc_props, sms)},
    {CU_ATTRIBUTE_MAX_REGISTERS_PER_SM, EVERYWHERE, offsetof(fsc_props, registers_per_sm)},
    {CU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, EVERYWHERE, offsetof(fsc_props, registers_per_block)},
    {CU_ATTRIBUTE_MAX_SHARED_PER_SM, EVERYWHERE, offsetof(fsc_props, shared_per_sm)},
    {CU_ATTRIBUTE_MAX_SHARED_PER_BLOCK, EVERYWHERE, offsetof(fsc_props, shared_per_block)},
    {CU_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN, EVERYWHERE, offsetof(fsc_props, shared_per_block_optin)},
    {CU_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK, NEWER, offsetof(fsc_props, shared_reserved_per_block)},
    {CU_ATTRIBUTE_MAX_THREADS_PER_SM, EVERYWHERE, offsetof(fsc_props, max_threads_per_sm)},
    {CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK, EVERYWHERE, offsetof(fsc_props, max_threads_per_block)},
    {CU_ATTRIBUTE_MAX_BLOCKS_PER_SM, NEWER, offsetof(fsc_props, max_blocks_per_sm)},
    {CU_ATTRIBUTE_WARP_SIZE, EVERYWHERE, offsetof(fsc_props, warp_size)},
    {CU_ATTRIBUTE_CLOCK_RATE, NEWER, offsetof(fsc_props, clock_khz)},
};

static fsc_status read_attribute(const fsc_device *d, CUdevice_attribute a, int known, uint32_t *out) {
    int value = 0;
    CUresult r = CU_CALL(cuDeviceGetAttribute, &value, a, cuda_of(d)->cu);
    bool is_unknown = r == CUDA_ERROR_INVALID_VALUE && known == NEWER;
    *out = r == CUDA_SUCCESS && value > 0 ? (uint32_t)value : 0;
    return is_unknown ? FSC_OK : driver_check(NULL, r, "cuDeviceGetAttribute");
}

static fsc_status read_attributes(fsc_device *d) {
    fsc_props *p = &d->props;
    uint32_t major = 0, minor = 0, l2 = 0, clock = 0, bits = 0;
    fsc_status s = FSC_OK;
    for (size_t i = 0; s == FSC_OK && i < sizeof prop_rows / sizeof prop_rows[0]; i++)
        s = read_attribute(d, prop_rows[i].attribute, prop_rows[i].known,
                           (uint32_t *)(void *)((char *)p + prop_rows[i].offset));
    if (s == FSC_OK) s = read_attribute(d, CU_ATTRIBUTE_COMPUTE_MAJOR, EVERYWHERE, &major);
    if (s == FSC_OK) s = read_attribute(d, CU_ATTRIBUTE_COMPUTE_MINOR, EVERYWHERE, &minor);
    if (s == FSC_OK) s = read_attribute(d, CU_ATTRIBUTE_L2_CACHE_SIZE, NEWER, &l2);
    if (s == FSC_OK) s = read_attribute(d, CU_ATTRIBUTE_MEMORY_CLOCK_RATE, NEWER, &clock);
    if (s == FSC_OK) s = read_attribute(d, CU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, NEWER, &bits);
    snprintf(p->arch, sizeof p->arch, "sm_%u%u", major % 100, minor % 10);
    p->l2_bytes = l2;
    /* two transfers a clock on a bus of so many bits: 2 · kHz · 1000 · bits / 8 */
    p->bandwidth = (uint64_t)clock * 250 * bits;
    if (p->shared_per_block_optin == 0) p->shared_per_block_optin = p->shared_per_block;
    return s;
}

static fsc_status read_props(fsc_device *d, int ordinal) {
    fsc_props *p = &d->props;
    size_t bytes = 0;
    int version = 0;
    fsc_status s = CU(NULL, cuDeviceGetName, p->name, (int)sizeof p->name, cuda_of(d)->cu);
    if (s == FSC_OK) s = CU(NULL, cuDeviceTotalMem, &bytes, cuda_of(d)->cu);
    if (s == FSC_OK) s = CU(NULL, cuDriverGetVersion, &version);
    p->kind = FSC_CUDA;
    p->ordinal = ordinal;
    p->memory_bytes = bytes;
    p->driver_version = version > 0 ? (uint32_t)version : 0;
    return s == FSC_OK ? read_attributes(d) : s;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* The ordinal of a device: it is its handle in every driver so far, but ask, do not assume. */
static fsc_status find_ordinal(CUdevice device, int *ordinal) {
    int count = 0;
    CUdevice at = 0;
    fsc_status s = CU(NULL, cuDeviceGetCount, &count);
    for (int i = 0; s == FSC_OK && i < count; i++) {
        s = CU(NULL, cuDeviceGet, &at, i);
        *ordinal = i;
        if (s == FSC_OK && at == device) return FSC_OK;
    }
    return s != FSC_OK
               ? s
               : status_fail(NULL, FSC_NO_DEVICE, "the current context's device is none of the driver's %d", count);
}

/* The caller's context if it is on the device asked for (ordinal -1: on any), else the primary one. */
static fsc_status take_context(CudaDevice *d, int *ordinal) {
    CUcontext current = NULL;
    CUdevice on = 0;
    fsc_status s = CU(NULL, cuCtxGetCurrent, &current);
    if (s == FSC_OK && current) s = CU(NULL, cuCtxGetDevice, &on);
    if (s == FSC_OK && current && *ordinal < 0) s = find_ordinal(on, ordinal);
    if (*ordinal < 0) *ordinal = 0;
    if (s == FSC_OK) s = CU(NULL, cuDeviceGet, &d->cu, *ordinal);
    if (s != FSC_OK) return s;
    if (current && d->cu == on) {
        d->context = current;
        return FSC_OK;
    }
    s = CU(NULL, cuDevicePrimaryCtxRetain, &d->context, d->cu);
    d->is_retained = s == FSC_OK;
    return s;
}

fsc_status fsc_device_current(int *ordinal) {
    CUcontext current = NULL;
    CUdevice on = 0;
    if (!ordinal) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_current: no place for the result");
    *ordinal = 0;
    fsc_status s = driver_load();
    if (s == FSC_OK) s = CU(NULL, cuCtxGetCurrent, &current);
    if (s != FSC_OK || !current) return s;
    s = CU(NULL, cuCtxGetDevice, &on);
    return s == FSC_OK ? find_ordinal(on, ordinal) : s;
}

enum { MAPS_FROM = 90 /* sm_90 */ };

static fsc_status count_devices(int *count) {
    fsc_status s = driver_load();
    return s == FSC_OK ? CU(NULL, cuDeviceGetCount, count) : s;
}

static fsc_status open_device(fsc_device *d, int64_t wanted) {
    int count = 0, ordinal = (int)wanted;
    fsc_status s = count_devices(&count);
    if (s != FSC_OK) return s;
    if (count == 0) return status_fail(NULL, FSC_NO_DEVICE, "the CUDA driver sees no device");
    if (wanted >= count)
        return status_fail(NULL, FSC_NO_DEVICE, "there is no device cuda:%lld; the driver sees %d, from cuda:0 on",
                           (long long)wanted, count);
    d->own = calloc(1, sizeof(CudaDevice));
    if (!d->own) return status_memory(NULL);
    s = take_context(d->own, &ordinal);
    if (s == FSC_OK) s = read_props(d, ordinal);
    unsigned number = 0;
    char suffix = 0;
    d->takes_maps = cuda.cuTensorMapEncodeTiled && arch_read(d->props.arch, &number, &suffix) && number >= MAPS_FROM;
    return s;
}

static void close_device(fsc_device *d) {
    CudaDevice *own = d->own;
    if (own && own->is_retained) CU_QUIET(d, cuDevicePrimaryCtxRelease, own->cu);
    free(own);
}

const Device device_cuda = {
    .name = "cuda",
    .most = 1 << 16,
    .kind = FSC_CUDA,
    .has_threads = true,
    .takes_quick = true,
    .count = count_devices,
    .open = open_device,
    .close = close_device,
    .enter = enter,
    .leave = leave,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .write = cuda_write,
    .read = cuda_read,
    .fill = cuda_fill,
    .sees = cuda_sees,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_wait = cuda_stream_wait,
    .wait = cuda_wait,
    .capturing = cuda_capturing,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_elapsed = cuda_event_elapsed,
    .load = cuda_load,
    .unload = cuda_unload,
    .ready = cuda_ready,
    .blocks_per_sm = cuda_blocks_per_sm,
    .report = cuda_report,
    .launch = cuda_launch,
    .encode_map = cuda_encode_map,
};
