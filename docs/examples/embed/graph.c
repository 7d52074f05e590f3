/* graph.c - softmax, captured once and launched a hundred times as a CUDA graph. Links with libcuda, too. */
#include "softmax.h"

#include <stdio.h>
#include <stdlib.h>

/* What cuda.h has, for machines without it. */
int cuInit(unsigned flags), cuDeviceGet(int *device, int ordinal), cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context), cuStreamBeginCapture_v2(void *stream, int mode),
    cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long flags),
    cuGraphLaunch(void *ready, void *stream);
int cuGraphExecDestroy(void *ready), cuGraphDestroy(void *graph);

enum { ROWS = 64, COLS = 1000, BYTES = ROWS * COLS * sizeof(float) };
static float values[ROWS * COLS]; /* equal ones: each becomes 1 / COLS */

static void cu(int error) {
    if (error) exit((fprintf(stderr, "CUDA error %d\n", error), 3));
}

static void ok(fsc_status s) {
    if (s != FSC_OK) exit((fprintf(stderr, "%s: %s\n", fsc_status_name(s), fsc_last_message()), 3));
}

int main(void) {
    fsc_device *d;
    void *x, *y, *context, *stream, *graph, *ready;
    int device;
    cu(cuInit(0)), cu(cuDeviceGet(&device, 0)), cu(cuDevicePrimaryCtxRetain(&context, device)),
        cu(cuCtxSetCurrent(context));
    ok(fsc_device_open("cuda", &d)), ok(fsc_stream_create(d, &stream));
    ok(fsc_memory_alloc(d, BYTES, &x)), ok(fsc_memory_alloc(d, BYTES, &y)), ok(fsc_memory_write(d, x, values, BYTES));

    ok(fsc_object_load(&softmax_object, stream)); /* before the capture: it takes launches only */
    cu(cuStreamBeginCapture_v2(stream, 0));
    ok(softmax(stream, y, x, COLS, COLS, ROWS, COLS));
    cu(cuStreamEndCapture(stream, &graph));
    cu(cuGraphInstantiateWithFlags(&ready, graph, 0));
    for (int i = 0; i < 100; i++) cu(cuGraphLaunch(ready, stream));
    ok(fsc_stream_wait(d, stream)), ok(fsc_memory_read(d, values, y, BYTES));
    printf("softmax of %d equal values: %g\n", COLS, (double)values[ROWS * COLS - 1]);

    cu(cuGraphExecDestroy(ready)), cu(cuGraphDestroy(graph));
    fsc_object_unload(&softmax_object);
    fsc_memory_free(d, x), fsc_memory_free(d, y), fsc_stream_destroy(d, stream), fsc_device_close(d);
    return values[0] < 0.000999f || values[0] > 0.001001f;
}
