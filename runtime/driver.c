/* driver.c - the CUDA driver: found once with dlopen, its functions in one table, its errors as statuses.
 *
 * In: libcuda.so.1, or what FSC_CUDA_LIBRARY names. Out: the table `cuda`; statuses with the driver's own words.
 * Method: one pthread_once; the rows of cuda_api.def; the table of errors below. The library is never closed.
 */
#include "runtime/internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DriverTable cuda;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static fsc_status load_status;
static char load_message[512];

enum { OPTIONAL, REQUIRED };

static const struct {
    const char *symbol;
    int need;
    size_t offset;
} rows[] = {
#define CUDA(name, symbol, need, parameters) {symbol, need, offsetof(DriverTable, name)},
#include "runtime/cuda_api.def"
#undef CUDA
};

static const struct {
    CUresult error;
    fsc_status status;
} errors[] = {
    {CUDA_ERROR_INVALID_VALUE, FSC_ERROR_USAGE},
    {CUDA_ERROR_OUT_OF_MEMORY, FSC_ERROR_DEVICE_MEMORY},
    {CUDA_ERROR_STUB_LIBRARY, FSC_NO_DRIVER},
    {CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, FSC_ERROR_DRIVER_OLD},
    {CUDA_ERROR_NO_DEVICE, FSC_NO_DEVICE},
    {CUDA_ERROR_INVALID_DEVICE, FSC_NO_DEVICE},
    {CUDA_ERROR_INVALID_IMAGE, FSC_ERROR_IMAGE},
    {CUDA_ERROR_INVALID_SOURCE, FSC_ERROR_IMAGE},
    {CUDA_ERROR_INVALID_PTX, FSC_ERROR_IMAGE},
    {CUDA_ERROR_NOT_FOUND, FSC_ERROR_IMAGE},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, FSC_ERROR_ARCH},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, FSC_ERROR_DRIVER_OLD},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, FSC_ERROR_ENVIRONMENT},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, FSC_ERROR_ENVIRONMENT},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, FSC_ERROR_DRIVER_OLD},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, FSC_ERROR_RESOURCE},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE, FSC_ERROR_RESOURCE},
    {CUDA_ERROR_ECC_UNCORRECTABLE, FSC_ERROR_FAULT}, /* from here: the context is lost */
    {CUDA_ERROR_ILLEGAL_ADDRESS, FSC_ERROR_FAULT},
    {CUDA_ERROR_LAUNCH_TIMEOUT, FSC_ERROR_FAULT},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, FSC_ERROR_FAULT},
    {CUDA_ERROR_ASSERT, FSC_ERROR_ASSERT},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, FSC_ERROR_FAULT},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, FSC_ERROR_FAULT},
    {CUDA_ERROR_MISALIGNED_ADDRESS, FSC_ERROR_FAULT},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, FSC_ERROR_FAULT},
    {CUDA_ERROR_INVALID_PC, FSC_ERROR_FAULT},
    {CUDA_ERROR_LAUNCH_FAILED, FSC_ERROR_FAULT},
};

/* ---- Loading ------------------------------------------------------------------------------------------------------ */

static fsc_status find_symbols(void *library, const char *path) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].symbol);
        if (!symbol && rows[i].need == REQUIRED) {
            snprintf(load_message, sizeof load_message, "the CUDA driver (%s) is too old: it has no %s", path,
                     rows[i].symbol);
            return FSC_ERROR_DRIVER_OLD;
        }
        memcpy((char *)&cuda + rows[i].offset, &symbol, sizeof symbol); /* POSIX: functions and objects are one size */
    }
    return FSC_OK;
}

static fsc_status load(void) {
    const char *path = getenv("FSC_CUDA_LIBRARY");
    if (!path || !*path) path = "libcuda.so.1";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(load_message, sizeof load_message, "there is no CUDA driver: %s", why ? why : path);
        return FSC_NO_DRIVER;
    }
    fsc_status s = find_symbols(library, path);
    if (s != FSC_OK) return s;
    CUresult r = cuda.cuInit(0);
    if (r == CUDA_SUCCESS) return FSC_OK;
    char error[256];
    s = driver_status(r);
    snprintf(load_message, sizeof load_message, "the CUDA driver does not start: cuInit gives %s",
             driver_error(r, error, sizeof error));
    return s == FSC_NO_DEVICE || s == FSC_ERROR_DRIVER_OLD || s == FSC_ERROR_ENVIRONMENT ? s : FSC_NO_DRIVER;
}

static void load_it(void) {
    load_status = load();
}

fsc_status driver_state(void) {
    pthread_once(&load_once, load_it);
    return load_status;
}

fsc_status driver_load(void) {
    pthread_once(&load_once, load_it);
    return load_status == FSC_OK ? FSC_OK : status_fail(NULL, load_status, "%s", load_message);
}

/* ---- Errors --------------------------------------------------------------------------------------------------------- */

fsc_status driver_status(CUresult r) {
    if (r == CUDA_SUCCESS) return FSC_OK;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].error == r) return errors[i].status;
    }
    return FSC_ERROR_DRIVER;
}

char *driver_error(CUresult r, char *out, size_t size) {
    const char *name = NULL, *text = NULL;
    if (cuda.cuGetErrorName(r, &name) != CUDA_SUCCESS) name = NULL;
    if (cuda.cuGetErrorString(r, &text) != CUDA_SUCCESS) text = NULL;
    if (name)
        snprintf(out, size, "%s (%s)", name, text ? text : "no text");
    else
        snprintf(out, size, "error %d", r);
    return out;
}

static void keep_fault(fsc_device *d, CUresult r, const char *call, const char *error) {
    pthread_mutex_lock(&d->lock);
    if (atomic_load(&d->fault) == 0) {
        snprintf(d->fault_message, sizeof d->fault_message, "%s, seen by %s", error, call);
        atomic_store(&d->fault, r);
    }
    pthread_mutex_unlock(&d->lock);
}

fsc_status driver_check(fsc_device *d, CUresult r, const char *call) {
    if (r == CUDA_SUCCESS) return FSC_OK;
    char error[200];
    fsc_status s = driver_status(r);
    driver_error(r, error, sizeof error);
    if ((s == FSC_ERROR_FAULT || s == FSC_ERROR_ASSERT) && d) keep_fault(d, r, call, error);
    return status_fail(d, s, "%s: %s gives %s", fsc_status_text(s), call, error);
}
