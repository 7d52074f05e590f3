/* objects.c - softmax from an object over many shapes, what a call costs, and launches that it refuses.
 *
 *     objects cuda|cpu           launches, each result against float64
 *     objects cuda MODULE        whether the device takes this image: the status and the message
 *
 * In: a device. Out: lines that tests/objects.py reads; 1 where a result is wrong. Method: rows lie apart by more than
 * they are long and begin at odd addresses, so that each of the alignments compiled for is taken; what lies between
 * rows has to stay as it was.
 */
#define _DEFAULT_SOURCE
#include "softmax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 37, COLS = 4096, PLACES = ROWS * (COLS + 16) + 16, CALLS = 20000, BETWEEN_WAITS = 64 };
static float in[PLACES], out[PLACES];
static double nanoseconds[CALLS];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void say(const char *what, fsc_status s) {
    printf("%s: %s: %s\n", what, fsc_status_name(s), s == FSC_OK ? "" : fsc_last_message());
}

/* How far a row is from softmax in float64; places beyond it that are not 42 as before: infinitely far. */
static double row_error(const float *x, const float *y, int cols, int stride) {
    double top = -INFINITY, sum = 0, worst = 0;
    for (int c = 0; c < cols; c++) top = fmax(top, (double)x[c]);
    for (int c = 0; c < cols; c++) sum += exp((double)x[c] - top);
    for (int c = 0; c < cols; c++) {
        double want = exp((double)x[c] - top) / sum, error = fabs((double)y[c] - want) / fmax(want, 1e-30);
        worst = error <= worst ? worst : error; /* a NaN is taken */
    }
    for (int c = cols; c < stride; c++) worst = y[c] == 42 ? worst : INFINITY;
    return worst;
}

typedef struct Run {
    fsc_device *device;
    fsc_stream stream;
    float *x, *y; /* of the device */
    int launches, wrong;
    double worst;
} Run;

static fsc_status launch(Run *r, int rows, int cols, int stride, int offset) {
    const int places = offset + rows * stride;
    const uint64_t bytes = (uint64_t)places * sizeof(float);
    for (int i = 0; i < places; i++) out[i] = 42;
    fsc_status s = fsc_memory_write(r->device, r->y, out, bytes);
    if (s == FSC_OK) s = softmax(r->stream, r->y + offset, r->x + offset, stride, stride, rows, cols);
    if (s == FSC_OK) s = fsc_memory_read(r->device, out, r->y, bytes);
    if (s != FSC_OK) return s;
    double worst = 0;
    for (int i = 0; i < rows; i++) {
        double error = row_error(in + offset + i * stride, out + offset + i * stride, cols, stride);
        worst = error <= worst ? worst : error;
    }
    r->launches++;
    r->wrong += !(worst < 1e-5);
    r->worst = worst <= r->worst ? r->worst : worst;
    return s;
}

static fsc_status launch_all(Run *r) {
    static const int rows[] = {1, 37}, cols[] = {129, 255, 256, 257, 512, 513, 781, 1000, 1024, 2047, 2048, 4095, 4096};
    fsc_status s = FSC_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t j = 0; s == FSC_OK && j < 4 * sizeof cols / sizeof *cols; j++) {
            int n = cols[j / 4], stride = j & 1 ? n + 3 : (n + 15) / 16 * 16;
            s = launch(r, rows[i], n, stride, j & 2 ? 1 : 0);
        }
    }
    return s;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static fsc_status time_calls(Run *r) {
    fsc_status s = FSC_OK;
    int calls = r->stream == FSC_STREAM_CPU ? CALLS / 20 : CALLS; /* which compute while they are timed */
    for (int i = 0; s == FSC_OK && i < calls; i++) {
        double begin = now();
        s = softmax(r->stream, r->y, r->x, 1000, 1000, 8, 1000);
        nanoseconds[i] = now() - begin;
        if (s == FSC_OK && i % BETWEEN_WAITS == 0) s = fsc_stream_wait(r->device, r->stream);
    }
    qsort(nanoseconds, (size_t)calls, sizeof *nanoseconds, by_size);
    if (s == FSC_OK) printf("a call: %.0f ns, the median of %d\n", nanoseconds[calls / 2], calls);
    return s;
}

static void refusals(Run *r) {
    say("too long", softmax(r->stream, r->y, r->x, 5000, 5000, 4, 5000));
    say("too short", softmax(r->stream, r->y, r->x, 100, 100, 4, 100));
    say("no y", softmax(r->stream, NULL, r->x, 1000, 1000, 4, 1000));
    say("y between elements", softmax(r->stream, (float *)(void *)((char *)r->y + 2), r->x, 1000, 1000, 4, 1000));
    say("no rows", softmax(r->stream, r->y, r->x, 1000, 1000, 0, 1000));
    say("another object", fsc_object_launch(&(fsc_object){.abi = FSC_OBJECT_ABI + 1}, r->stream, NULL, NULL));
}

static int one_module(const char *device, const char *path) {
    static char image[1 << 22];
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(image, 1, sizeof image, f) : 0;
    fsc_device *d = NULL;
    fsc_module *m = NULL;
    if (f) fclose(f);
    fsc_status s = fsc_device_open(device, &d);
    if (s == FSC_OK) s = fsc_module_load(d, image, size, &m);
    say("module", s);
    fsc_module_unload(m);
    fsc_device_close(d);
    return 0;
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "cpu";
    if (argc > 2) return one_module(device, argv[2]);
    Run r = {.stream = strcmp(device, "cpu") == 0 ? FSC_STREAM_CPU : NULL};
    void *x = NULL, *y = NULL;
    for (int i = 0; i < PLACES; i++) in[i] = (float)rand() / (float)RAND_MAX * 20.0f - 10.0f;
    fsc_status s = fsc_device_open(device, &r.device);
    if (s == FSC_OK) s = fsc_memory_alloc(r.device, sizeof in, &x);
    if (s == FSC_OK) s = fsc_memory_alloc(r.device, sizeof out, &y);
    if (s == FSC_OK) s = fsc_memory_write(r.device, x, in, sizeof in);
    r.x = x, r.y = y;
    double begin = now();
    fsc_status loaded = s == FSC_OK ? fsc_object_load(&softmax_object, r.stream) : s;
    say("load", loaded);
    printf("all variants loaded in %.2f ms\n", (now() - begin) * 1e-6);
    if (loaded != FSC_OK) s = softmax(r.stream, r.y, r.x, 1000, 1000, 4, 1000), say("launch", s);
    if (s == FSC_OK) s = launch_all(&r), say("launches", s);
    printf("%d launches, %d wrong, worst relative error %.1e\n", r.launches, r.wrong, r.worst);
    if (s == FSC_OK) refusals(&r), s = time_calls(&r);
    fsc_object_unload(&softmax_object);
    fsc_memory_free(r.device, x);
    fsc_memory_free(r.device, y);
    fsc_device_close(r.device);
    return s != FSC_OK || r.wrong != 0;
}
