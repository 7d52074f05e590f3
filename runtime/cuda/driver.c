/* driver.c - the CUDA driver: found once with dlopen, its functions in one table, its errors as statuses.
 *
 * In: libcuda.so.1, or what FSC_CUDA_LIBRARY names. Out: the table `cuda`; statuses with the driver's own words.
 * Method: one pthread_once; the rows of cuda_api.def and cuda_error.def. The library is never closed.
 */
#include "runtime/cuda/driver.h"

#include "runtime/base/process.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_LEAST "11.4" /* all that cuda_api.def calls REQUIRED is there */

DriverTable cuda;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static fsc_status load_status;
static bool is_loaded; /* read without the once */
static unsigned loaded_forks; /* process_forks then */
static char load_message[512];

enum { OPTIONAL, REQUIRED };

static const struct {
    const char *symbol;
    int need;
    size_t offset;
} rows[] = {
#define CUDA(name, symbol, need, parameters) {symbol, need, offsetof(DriverTable, name)},
#include "runtime/cuda/cuda_api.def"
#undef CUDA
};

typedef enum Advice {
#define ADVICE(name, sentence) ADVICE_##name,
#include "runtime/cuda/cuda_error.def"
#undef ADVICE
} Advice;

static const char *const advice_text[] = {
#define ADVICE(name, sentence) sentence,
#include "runtime/cuda/cuda_error.def"
#undef ADVICE
};

enum { KEPT, LOST };

typedef struct ErrorRow {
    CUresult error;
    const char *name;
    fsc_status status;
    int fate;
    Advice advice;
} ErrorRow;

static const ErrorRow errors[] = {
#define CUDA_ERROR(name, number, status, fate, advice) {number, "CUDA_ERROR_" #name, status, fate, ADVICE_##advice},
#include "runtime/cuda/cuda_error.def"
#undef CUDA_ERROR
};

static const ErrorRow no_row = {0, NULL, FSC_ERROR_DRIVER, KEPT, ADVICE_OTHER}; /* of a newer driver */

static const ErrorRow *row_of(CUresult r) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].error == r) return &errors[i];
    }
    return &no_row;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* Its own version, and what is wanted. */
static fsc_status fail_symbol(void *library, const char *path, const char *missing) {
    void *symbol = dlsym(library, "cuDriverGetVersion");
    CUresult (*get_version)(int *) = NULL;
    int version = 0;
    char has[40] = "of an unknown version";
    memcpy(&get_version, &symbol, sizeof symbol);
    if (symbol && get_version(&version) == CUDA_SUCCESS)
        snprintf(has, sizeof has, "of CUDA %d.%d", version / 1000, version / 10 % 100);
    snprintf(load_message, sizeof load_message,
             "the CUDA driver (%s) is %s, too old or not whole: it has no %s; install one of CUDA %s or newer", path,
             has, missing, CUDA_LEAST);
    return FSC_ERROR_DRIVER_OLD;
}

static fsc_status find_symbols(void *library, const char *path) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].symbol);
        if (!symbol && rows[i].need == REQUIRED) return fail_symbol(library, path, rows[i].symbol);
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
    snprintf(load_message, sizeof load_message, "the CUDA driver does not start: cuInit gives %s; %s",
             driver_error(r, error, sizeof error), driver_advice(r));
    return s == FSC_NO_DEVICE || s == FSC_ERROR_DRIVER_OLD || s == FSC_ERROR_ENVIRONMENT ? s : FSC_NO_DRIVER;
}

static void load_it(void) {
    load_status = load();
    loaded_forks = process_forks;
    __atomic_store_n(&is_loaded, load_status == FSC_OK, __ATOMIC_RELEASE);
}

bool driver_is_loaded(void) {
    return __atomic_load_n(&is_loaded, __ATOMIC_ACQUIRE);
}

bool driver_is_parents(void) {
    return process_forks != loaded_forks;
}

fsc_status driver_state(void) {
    HOLD_FORKS;
    pthread_once(&load_once, load_it);
    return load_status;
}

fsc_status driver_load(void) {
    (void)driver_state();
    return load_status == FSC_OK ? FSC_OK : status_fail(NULL, load_status, "%s", load_message);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

fsc_status driver_status(CUresult r) {
    return r == CUDA_SUCCESS ? FSC_OK : row_of(r)->status;
}

const char *driver_advice(CUresult r) {
    return advice_text[row_of(r)->advice];
}

char *driver_error(CUresult r, char *out, size_t size) {
    const char *name = NULL, *text = NULL;
    if (CU_CALL(cuGetErrorName, r, &name) != CUDA_SUCCESS || !name) name = row_of(r)->name;
    if (CU_CALL(cuGetErrorString, r, &text) != CUDA_SUCCESS || !text) text = "no text";
    if (name)
        snprintf(out, size, "%s (%s)", name, text);
    else
        snprintf(out, size, "error %d", r);
    return out;
}

void driver_note(fsc_device *d, CUresult r, const char *call) {
    char error[ERROR_SIZE];
    if (r == CUDA_SUCCESS || row_of(r)->fate == KEPT) return;
    HOLD_FORKS;
    CudaDevice *own = cuda_of(d);
    driver_error(r, error, sizeof error);
    pthread_mutex_lock(&d->lock);
    if (atomic_load(&own->fault) == 0) {
        snprintf(own->fault_message, sizeof own->fault_message, "%s, seen by %s; %s", error, call, driver_advice(r));
        atomic_store(&own->fault, r);
    }
    pthread_mutex_unlock(&d->lock);
}

fsc_status driver_check_for(fsc_device *d, CUresult r, const char *call, const char *kernel) {
    if (r == CUDA_SUCCESS) return FSC_OK;
    char error[ERROR_SIZE];
    fsc_status s = driver_status(r);
    driver_error(r, error, sizeof error);
    if (d) driver_note(d, r, call);
    return status_fail(d, s, "%s: %s gives %s%s%s; %s", fsc_status_text(s), call, error, kernel ? " for kernel " : "",
                       kernel ? kernel : "", driver_advice(r));
}

fsc_status driver_check(fsc_device *d, CUresult r, const char *call) {
    return driver_check_for(d, r, call, NULL);
}
