/* device.c - devices: counting, opening by name, properties; and making a device's context current around a call.
 *
 * In: "auto", "cuda", "cuda:N", "cpu", "cpu:N", "emu", "emu:N". Out: a handle. Method: the context current in the
 * calling thread is used if it is on the device asked for, else the primary context is retained; nothing is created,
 * and each call leaves the thread's current context as it was.
 */
#include "runtime/base/number.h"
#include "runtime/debug/checks.h"
#include "runtime/debug/counts.h"
#include "runtime/emu/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Current context --------------------------------------------------------------------------------------------- */

bool device_is_host(const fsc_device *d) {
    return d->props.kind != FSC_CUDA;
}

fsc_status device_enter(fsc_device *d, bool *pushed) {
    *pushed = false;
    if (atomic_load_explicit(&d->fault, memory_order_acquire))
        return status_fail(d, FSC_ERROR_FAULT, "an earlier kernel faulted: %s; this context can do nothing more",
                           d->fault_message);
    CUcontext current = NULL;
    fsc_status s = CU(d, cuCtxGetCurrent, &current);
    if (s != FSC_OK || current == d->context) return s;
    s = CU(d, cuCtxPushCurrent, d->context);
    *pushed = s == FSC_OK;
    return s;
}

void device_leave(fsc_device *d, bool pushed) {
    CUcontext old = NULL;
    if (pushed) CU_QUIET(d, cuCtxPopCurrent, &old); /* it pops all the same, and the call's own status counts */
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

/* Attributes that older drivers do not know stay 0. */
enum { EVERYWHERE, NEWER };

static const struct {
    CUdevice_attribute attribute;
    int known;
    size_t offset;
} prop_rows[] = {
    {CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, EVERYWHERE, offsetof(FscDeviceProps, sms)},
    {CU_ATTRIBUTE_MAX_REGISTERS_PER_SM, EVERYWHERE, offsetof(FscDeviceProps, registers_per_sm)},
    {CU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, EVERYWHERE, offsetof(FscDeviceProps, registers_per_block)},
    {CU_ATTRIBUTE_MAX_SHARED_PER_SM, EVERYWHERE, offsetof(FscDeviceProps, shared_per_sm)},
    {CU_ATTRIBUTE_MAX_SHARED_PER_BLOCK, EVERYWHERE, offsetof(FscDeviceProps, shared_per_block)},
    {CU_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN, EVERYWHERE, offsetof(FscDeviceProps, shared_per_block_optin)},
    {CU_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK, NEWER, offsetof(FscDeviceProps, shared_reserved_per_block)},
    {CU_ATTRIBUTE_MAX_THREADS_PER_SM, EVERYWHERE, offsetof(FscDeviceProps, max_threads_per_sm)},
    {CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK, EVERYWHERE, offsetof(FscDeviceProps, max_threads_per_block)},
    {CU_ATTRIBUTE_MAX_BLOCKS_PER_SM, NEWER, offsetof(FscDeviceProps, max_blocks_per_sm)},
    {CU_ATTRIBUTE_WARP_SIZE, EVERYWHERE, offsetof(FscDeviceProps, warp_size)},
    {CU_ATTRIBUTE_CLOCK_RATE, NEWER, offsetof(FscDeviceProps, clock_khz)},
};

static fsc_status read_attribute(const fsc_device *d, CUdevice_attribute a, int known, uint32_t *out) {
    int value = 0;
    CUresult r = CU_CALL(cuDeviceGetAttribute, &value, a, d->cu);
    bool is_unknown = r == CUDA_ERROR_INVALID_VALUE && known == NEWER;
    *out = r == CUDA_SUCCESS && value > 0 ? (uint32_t)value : 0;
    return is_unknown ? FSC_OK : driver_check(NULL, r, "cuDeviceGetAttribute");
}

static fsc_status read_attributes(fsc_device *d) {
    FscDeviceProps *p = &d->props;
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
    FscDeviceProps *p = &d->props;
    size_t bytes = 0;
    int version = 0;
    fsc_status s = CU(NULL, cuDeviceGetName, p->name, (int)sizeof p->name, d->cu);
    if (s == FSC_OK) s = CU(NULL, cuDeviceTotalMem, &bytes, d->cu);
    if (s == FSC_OK) s = CU(NULL, cuDriverGetVersion, &version);
    p->kind = FSC_CUDA;
    p->ordinal = ordinal;
    p->memory_bytes = bytes;
    p->driver_version = version > 0 ? (uint32_t)version : 0;
    return s == FSC_OK ? read_attributes(d) : s;
}

/* What kernels may ask for (num_sms, max_shared, …) has nominal values on the CPU: those of a GPU's block. */
static void cpu_props(FscDeviceProps *p, uint32_t threads) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    *p = (FscDeviceProps){.kind = FSC_CPU,
                          .name = "cpu",
                          .arch = "cpu",
                          .sms = threads,
                          .registers_per_sm = 65536,
                          .registers_per_block = 65536,
                          .shared_per_sm = 49152,
                          .shared_per_block = 49152,
                          .shared_per_block_optin = 49152,
                          .warp_size = 32,
                          .memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0};
}

/* A block of the emulator has what one of sm_90 has. */
static void emu_props(FscDeviceProps *p, uint32_t threads) {
    cpu_props(p, threads);
    p->kind = FSC_EMU;
    snprintf(p->name, sizeof p->name, "emu");
    snprintf(p->arch, sizeof p->arch, "emu");
    p->shared_per_sm = 233472;
    p->shared_per_block_optin = 232448;
    p->max_threads_per_sm = 2048;
    p->max_threads_per_block = 1024;
    p->max_blocks_per_sm = 32;
}

void device_stand_for(fsc_device *d, const FscDeviceProps *card) {
    FscDeviceProps own = d->props;
    d->props = *card;
    d->props.kind = own.kind;
    d->props.memory_bytes = own.memory_bytes;
    memcpy(d->props.name, own.name, sizeof own.name);
    memcpy(d->props.arch, own.arch, sizeof own.arch);
    snprintf(d->card_arch, sizeof d->card_arch, "%s", card->arch);
}

fsc_status fsc_device_props(const fsc_device *d, FscDeviceProps *out) {
    if (!d || !out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_props: no device or no place for the result");
    *out = d->props;
    return FSC_OK;
}

fsc_status fsc_device_count(FscDeviceKind kind, int *count) {
    if (!count) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_count: no place for the result");
    *count = kind != FSC_CUDA;
    if (kind != FSC_CUDA) return FSC_OK;
    fsc_status s = driver_load();
    return s == FSC_OK ? CU(NULL, cuDeviceGetCount, count) : s;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static fsc_device *device_create(void) {
    fsc_device *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->turn, NULL);
    pthread_mutex_init(&d->loading, NULL);
    pthread_mutex_init(&d->counting, NULL);
    return d;
}

static fsc_status open_host(FscDeviceKind kind, int64_t threads, fsc_device **out) {
    fsc_device *d = device_create();
    if (!d) return status_memory(NULL);
    uint32_t n = threads < 0 ? pool_cores() : (uint32_t)threads;
    d->findings = findings_create();
    if (kind == FSC_EMU) {
        emu_props(&d->props, n);
        d->emulator = emulator_create(n);
    } else {
        cpu_props(&d->props, n);
        d->pool = pool_create(n);
    }
    if (!d->findings || (!d->pool && !d->emulator)) {
        fsc_device_close(d);
        return status_memory(NULL);
    }
    *out = d;
    return FSC_OK;
}

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
static fsc_status take_context(fsc_device *d, int *ordinal) {
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
    d->retained = s == FSC_OK;
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

static fsc_status open_cuda(int64_t wanted, fsc_device **out) {
    int count = 0, ordinal = (int)wanted;
    fsc_status s = driver_load();
    if (s == FSC_OK) s = CU(NULL, cuDeviceGetCount, &count);
    if (s != FSC_OK) return s;
    if (count == 0) return status_fail(NULL, FSC_NO_DEVICE, "the CUDA driver sees no device");
    if (wanted >= count)
        return status_fail(NULL, FSC_NO_DEVICE, "there is no device cuda:%lld; the driver sees %d, from cuda:0 on",
                           (long long)wanted, count);
    fsc_device *d = device_create();
    if (!d) return status_memory(NULL);
    s = take_context(d, &ordinal);
    if (s == FSC_OK) s = read_props(d, ordinal);
    if (s != FSC_OK) {
        fsc_device_close(d);
        return s;
    }
    *out = d;
    return FSC_OK;
}

/* The number behind "cuda:" or "cpu:", -1 where there is no colon. False if it is none or out of range. */
static bool read_ordinal(const char *rest, int64_t least, int64_t most, int64_t *out) {
    *out = -1;
    if (*rest == '\0') return true;
    return *rest == ':' && number_read_int(rest + 1, strlen(rest + 1), out) && *out >= least && *out <= most;
}

fsc_status fsc_device_open(const char *name, fsc_device **out) {
    int64_t n = -1;
    if (!out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_open: no place for the result");
    if (!name || strcmp(name, "auto") == 0) return open_cuda(-1, out) == FSC_OK ? FSC_OK : open_host(FSC_CPU, -1, out);
    if (strncmp(name, "cuda", 4) == 0 && read_ordinal(name + 4, 0, 1 << 16, &n)) return open_cuda(n, out);
    if (strncmp(name, "cpu", 3) == 0 && read_ordinal(name + 3, 1, 4096, &n)) return open_host(FSC_CPU, n, out);
    if (strncmp(name, "emu", 3) == 0 && read_ordinal(name + 3, 1, 4096, &n)) return open_host(FSC_EMU, n, out);
    return status_fail(NULL, FSC_ERROR_USAGE,
                       "'%.80s' is no device; one is auto, cuda, cuda:N, cpu, cpu:THREADS, emu or emu:THREADS",
                       name);
}

void fsc_device_close(fsc_device *d) {
    if (!d) return;
    if (d->retained) CU_QUIET(d, cuDevicePrimaryCtxRelease, d->cu);
    pool_destroy(d->pool);
    emulator_destroy(d->emulator);
    findings_destroy(d->findings);
    counts_destroy(d->counts);
    memory_forget(d);
    pthread_mutex_destroy(&d->turn);
    pthread_mutex_destroy(&d->loading);
    pthread_mutex_destroy(&d->counting);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- Checked launches -------------------------------------------------------------------------------------------- */

fsc_status fsc_device_check(fsc_device *d, bool on) {
    if (!d) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_check: no device");
    if (!device_is_host(d))
        return status_fail(
            d, FSC_ERROR_USAGE,
            "launches are checked on devices emu and cpu; on a GPU, NVIDIA's compute-sanitizer does that");
    atomic_store(&d->checked, on);
    return FSC_OK;
}

bool fsc_device_checks(const fsc_device *d) {
    return d && atomic_load(&d->checked);
}

size_t fsc_device_findings(const fsc_device *d) {
    return d && d->findings ? findings_count(d->findings) : 0;
}

fsc_status fsc_device_finding(const fsc_device *d, size_t index, FscFinding *out) {
    size_t n = fsc_device_findings(d);
    if (!out || index >= n)
        return status_fail(d, FSC_ERROR_USAGE, "there is no finding %zu: the last checked launch had %zu", index, n);
    findings_at(d->findings, index, out);
    return FSC_OK;
}
