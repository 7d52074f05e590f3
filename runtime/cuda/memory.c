/* memory.c - memory, streams and events of device "cuda": the driver's own.
 *
 * In: a device that was entered, plain pointers. Out: statuses, milliseconds. Method: copies run on the default stream;
 * waiting for it makes "has ended" true for pageable memory too.
 */
#include "runtime/cuda/driver.h"

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static CUdeviceptr address(const void *buffer) {
    return (CUdeviceptr)(uintptr_t)buffer;
}

static fsc_status finish(fsc_device *d, fsc_status s) {
    return s == FSC_OK ? CU(d, cuStreamSynchronize, NULL) : s;
}

fsc_status cuda_alloc(fsc_device *d, uint64_t bytes, void **out) {
    CUdeviceptr p = 0;
    CUresult r = CU_CALL(cuMemAlloc, &p, (size_t)bytes);
    fsc_status s = driver_check(d, r, "cuMemAlloc");
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        status_fail(d, s, "no memory on %s for a buffer of %llu bytes: cuMemAlloc gives CUDA_ERROR_OUT_OF_MEMORY; %s",
                    d->props.name, (unsigned long long)bytes, driver_advice(r));
    if (s == FSC_OK) *out = (void *)(uintptr_t)p;
    return s;
}

fsc_status cuda_free(fsc_device *d, void *buffer) {
    return CU(d, cuMemFree, address(buffer));
}

fsc_status cuda_write(fsc_device *d, void *buffer, const void *host, size_t bytes) {
    return finish(d, CU(d, cuMemcpyHtoD, address(buffer), host, bytes));
}

fsc_status cuda_read(fsc_device *d, void *host, const void *buffer, size_t bytes) {
    return finish(d, CU(d, cuMemcpyDtoH, host, address(buffer), bytes));
}

fsc_status cuda_fill(fsc_device *d, void *buffer, uint8_t byte, size_t bytes) {
    return finish(d, CU(d, cuMemsetD8, address(buffer), byte, bytes));
}

/* The driver knows of the address, or the device reaches the host's pages. */
fsc_status cuda_sees(fsc_device *d, uint64_t at, const char *kernel, bool *sees) {
    int reaches = 0, type = 0;
    *sees = true;
    if (!cuda.cuPointerGetAttribute) return FSC_OK;
    fsc_status s =
        CU_FOR(d, kernel, cuDeviceGetAttribute, &reaches, CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, cuda_of(d)->cu);
    if (s != FSC_OK || reaches) return s;
    CUresult got = CU_CALL(cuPointerGetAttribute, &type, CU_POINTER_MEMORY_TYPE, at);
    *sees = got != CUDA_ERROR_INVALID_VALUE;
    return *sees ? driver_check_for(d, got, "cuPointerGetAttribute", kernel) : FSC_OK;
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

fsc_status cuda_stream_create(fsc_device *d, void **out) {
    CUstream stream = NULL;
    fsc_status s = CU(d, cuStreamCreate, &stream, 0);
    if (s == FSC_OK) *out = stream;
    return s;
}

fsc_status cuda_stream_destroy(fsc_device *d, void *stream) {
    return stream ? CU(d, cuStreamDestroy, stream) : FSC_OK;
}

fsc_status cuda_stream_wait(fsc_device *d, void *stream) {
    return CU(d, cuStreamSynchronize, stream);
}

fsc_status cuda_wait(fsc_device *d) {
    return driver_check(d, cuda.cuCtxSynchronize(), "cuCtxSynchronize");
}

fsc_status cuda_capturing(fsc_device *d, void *stream, bool *is_capturing) {
    int capturing = 0;
    fsc_status s = cuda.cuStreamIsCapturing ? CU(d, cuStreamIsCapturing, stream, &capturing) : FSC_OK;
    *is_capturing = capturing != 0;
    return s;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

fsc_status cuda_event_create(fsc_event *e) {
    CUevent event = NULL;
    fsc_status s = CU(e->device, cuEventCreate, &event, 0);
    e->own = event;
    return s;
}

void cuda_event_destroy(fsc_event *e) {
    CU_QUIET(e->device, cuEventDestroy, e->own);
}

fsc_status cuda_event_record(fsc_event *e, void *stream) {
    return CU(e->device, cuEventRecord, e->own, stream);
}

fsc_status cuda_event_elapsed(fsc_event *start, fsc_event *end, double *milliseconds) {
    fsc_device *d = end->device;
    float ms = 0;
    fsc_status s = CU(d, cuEventSynchronize, end->own);
    if (s == FSC_OK) s = CU(d, cuEventElapsedTime, &ms, start->own, end->own);
    if (s == FSC_OK) *milliseconds = (double)ms;
    return s;
}
