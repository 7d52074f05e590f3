/* embed.c - softmax from an object, on the GPU where there is one, else on the CPU. Out: how wrong it is,
 * or a message. */
#include "softmax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 257, COLS = 781, BYTES = ROWS * COLS * sizeof(float) };
static float in[ROWS][COLS], out[ROWS][COLS];

static double row_error(const float *x, const float *y) {
    double sum = 0, worst = 0;
    for (int c = 0; c < COLS; c++) sum += exp(x[c]);
    for (int c = 0; c < COLS; c++) worst = fmax(worst, fabs(y[c] - exp(x[c]) / sum));
    return worst;
}

int main(void) {
    fsc_device *d = NULL;
    void *x = NULL, *y = NULL;
    double worst = 0;
    for (int i = 0; i < ROWS * COLS; i++) in[i / COLS][i % COLS] = (float)rand() / (float)RAND_MAX * 20.0f - 10.0f;
    fsc_status s = fsc_device_open("auto", &d);
    if (s == FSC_OK) s = fsc_memory_alloc(d, BYTES, &x);
    if (s == FSC_OK) s = fsc_memory_alloc(d, BYTES, &y);
    if (s == FSC_OK) s = fsc_memory_write(d, x, in, BYTES);
    if (s == FSC_OK) s = softmax(NULL, y, x, COLS, COLS, ROWS, COLS);
    if (s == FSC_OK) s = fsc_memory_read(d, out, y, BYTES);
    if (s != FSC_OK) fprintf(stderr, "%s: %s\n", fsc_status_name(s), fsc_last_message());
    for (int r = 0; r < ROWS; r++) worst = fmax(worst, row_error(in[r], out[r]));
    if (s == FSC_OK) printf("softmax of %d x %d: off by %.0e at most\n", ROWS, COLS, worst);
    fsc_memory_free(d, x);
    fsc_memory_free(d, y);
    fsc_object_unload(&softmax_object);
    fsc_device_close(d);
    return s != FSC_OK || worst > 1e-6;
}
