/* driver.h - the CUDA driver's functions, found once a process, and its errors as statuses; what a device "cuda" is. */
#ifndef FSC_CUDA_DRIVER_H
#define FSC_CUDA_DRIVER_H

#include "runtime/cuda/cuda_abi.h"
#include "runtime/device/code.h"

typedef struct DriverTable {
#define CUDA(name, symbol, need, parameters) CUresult(*name) parameters;
#include "runtime/cuda/cuda_api.def"
#undef CUDA
} DriverTable;

extern DriverTable cuda; /* filled after driver_load() gave FSC_OK */

/* Loads the driver on the first call; later ones give the same answer. FSC_NO_DRIVER, FSC_ERROR_DRIVER_OLD. */
fsc_status driver_load(void);
fsc_status driver_state(void); /* the same without a message */
bool driver_is_loaded(void);   /* whether one of the two was called, and found it: starts nothing */
/* Whether this process was forked from the one that loaded the driver: no call of the driver may be made then. */
bool driver_is_parents(void);
/* A call of the driver, which in a forked process is CUDA_ERROR_NOT_INITIALIZED. */
#define CU_CALL(name, ...) (driver_is_parents() ? (CUresult)CUDA_ERROR_NOT_INITIALIZED : cuda.name(__VA_ARGS__))
/* FSC_OK for CUDA_SUCCESS; else the status for r, with a message that names the call and the driver's error. An error
 * that kills the context is kept in d. */
fsc_status driver_check(fsc_device *d, CUresult r, const char *call);
/* cuda.name(…) checked. */
#define CU(d, name, ...) driver_check((d), CU_CALL(name, __VA_ARGS__), #name)
/* The same, about a kernel, whose name (NULL: none) the message tells. */
fsc_status driver_check_for(fsc_device *d, CUresult r, const char *call, const char *kernel);
#define CU_FOR(d, kernel, name, ...) driver_check_for((d), CU_CALL(name, __VA_ARGS__), #name, (kernel))
/* Of a call whose failure is nobody's to hear, as in a release:
 * an error that kills the context is kept in d all the same. */
void driver_note(fsc_device *d, CUresult r, const char *call);
#define CU_QUIET(d, name, ...) driver_note((d), CU_CALL(name, __VA_ARGS__), #name)
enum { ERROR_SIZE = 256 };
/* "CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed)". Returns out. */
char *driver_error(CUresult r, char *out, size_t size);
fsc_status driver_status(CUresult r); /* without a message */
const char *driver_advice(CUresult r); /* what the user can do: a clause */

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* What fsc_device.own is. */
typedef struct CudaDevice {
    CUdevice cu;
    CUcontext context;
    bool is_retained; /* the primary context is ours to release */
    atomic_int fault; /* the CUresult that killed the context, or 0 */
    char fault_message[512]; /* under the device's lock */
} CudaDevice;

static inline CudaDevice *cuda_of(const fsc_device *d) {
    return d->own;
}

/* ptx.c: "the PTX is of version 8.7, and the driver supports CUDA 12.4, which takes PTX up to 8.4: install …" */
void ptx_explain(const char *text, uint32_t version, char *out, size_t size);

/* Rows of device_cuda: memory.c, */
fsc_status cuda_alloc(fsc_device *d, uint64_t bytes, void **out);
fsc_status cuda_free(fsc_device *d, void *buffer);
fsc_status cuda_write(fsc_device *d, void *buffer, const void *host, size_t bytes);
fsc_status cuda_read(fsc_device *d, void *host, const void *buffer, size_t bytes);
fsc_status cuda_fill(fsc_device *d, void *buffer, uint8_t byte, size_t bytes);
fsc_status cuda_sees(fsc_device *d, uint64_t at, const char *kernel, bool *sees);
fsc_status cuda_stream_create(fsc_device *d, void **out);
fsc_status cuda_stream_destroy(fsc_device *d, void *stream);
fsc_status cuda_stream_wait(fsc_device *d, void *stream);
fsc_status cuda_wait(fsc_device *d);
fsc_status cuda_capturing(fsc_device *d, void *stream, bool *is_capturing);
fsc_status cuda_event_create(fsc_event *e);
void cuda_event_destroy(fsc_event *e);
fsc_status cuda_event_record(fsc_event *e, void *stream);
fsc_status cuda_event_elapsed(fsc_event *start, fsc_event *end, double *milliseconds);
/* code.c, */
fsc_status cuda_load(fsc_module *m, const void *image, size_t size);
void cuda_unload(fsc_module *m);
fsc_status cuda_ready(Variant *v);
fsc_status cuda_blocks_per_sm(Variant *v, uint32_t launch, int *blocks);
fsc_status cuda_report(Variant *v, fsc_kernel_report *o);
/* and launch.c. */
fsc_status cuda_launch(Call *c, void *stream);
fsc_status cuda_encode_map(const Call *c, uint32_t map, const MapSizes *sizes, TensorMap *out);

#endif
