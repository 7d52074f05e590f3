/* launch.c - compile a kernel from its source and launch it, through libfsc: softmax over a matrix of random numbers.
 *
 * In:  the path of softmax.dsl, and a device ("auto", "cuda", "cpu"; "auto" if left out).
 * Out: one line for each shape, with the largest distance of a row's sum from 1; exit status 0, or a message.
 */
#include "fsc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* All of a file, or NULL; the caller frees. */
static char *file_read(const char *path, size_t *length) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = NULL, *more;
    size_t room = 0;
    *length = 0;
    do { /* room for more than has come so far */
        more = realloc(text, room += 65536);
        if (!more) free(text);
        text = more;
        if (text) *length += fread(text + *length, 1, room - *length, f);
    } while (text && *length == room);
    fclose(f);
    return text;
}

/* One softmax of rows x cols. The same call compiles a variant the first time and finds it from then on. */
static fsc_status softmax_run(fsc_device *d, fsc_jit *j, int rows, int cols) {
    size_t n = (size_t)rows * (size_t)cols, bytes = n * sizeof(float);
    float *host = malloc(bytes);
    void *x = NULL, *y = NULL;
    if (!host) return FSC_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++) host[i] = (float)rand() / (float)RAND_MAX * 20.0f - 10.0f;

    fsc_status s = fsc_memory_alloc(d, bytes, &x);
    if (s == FSC_OK) s = fsc_memory_alloc(d, bytes, &y);
    if (s == FSC_OK) s = fsc_memory_write(d, x, host, bytes);
    /* The run-time parameters in the kernel's order: y, x, y_stride, x_stride, n_rows, n_cols. BLOCK and the grid come
     * from the launch rule; each buffer's size is compared with its shape contract. */
    const fsc_arg args[] = {fsc_pointer(y, bytes, FSC_FP32),
                            fsc_pointer(x, bytes, FSC_FP32),
                            fsc_int(cols),
                            fsc_int(cols),
                            fsc_int(rows),
                            fsc_int(cols)};
    if (s == FSC_OK) s = fsc_jit_launch(j, NULL, args, sizeof args / sizeof *args, NULL);
    if (s == FSC_OK) s = fsc_stream_wait(d, NULL);
    if (s == FSC_OK) s = fsc_memory_read(d, host, y, bytes);

    double worst = 0;
    for (int r = 0; s == FSC_OK && r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < cols; c++) sum += (double)host[(size_t)r * (size_t)cols + (size_t)c];
        worst = fmax(worst, fabs(sum - 1));
    }
    if (s == FSC_OK) printf("%5d x %-5d  |sum of a row - 1| <= %.1e\n", rows, cols, worst);
    fsc_memory_free(d, x);
    fsc_memory_free(d, y);
    free(host);
    return s;
}

int main(int argc, char **argv) {
    size_t length;
    char *source = argc > 1 ? file_read(argv[1], &length) : NULL;
    if (!source) {
        fprintf(stderr, "usage: launch softmax.dsl [auto|cuda|cpu]\n");
        return 2;
    }

    fsc_device *d = NULL;
    fsc_jit *j = NULL;
    fsc_props p;
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    o.file = argv[1];
    fsc_status s = fsc_device_open(argc > 2 ? argv[2] : "auto", &d);
    if (s == FSC_OK) s = fsc_device_props(d, &p);
    if (s == FSC_OK) printf("%s on %s\n", fsc_version(), p.name);
    if (s == FSC_OK) s = fsc_jit_create(d, source, length, &o, &j);
    if (s == FSC_OK) s = softmax_run(d, j, 1823, 781);
    if (s == FSC_OK) s = softmax_run(d, j, 64, 4096);
    if (s == FSC_ERROR_SOURCE)
        fputs(fsc_jit_message(j), stderr); /* errors with their places, as the tool shows them */
    else if (s != FSC_OK)
        fprintf(stderr, "%s: %s\n", fsc_status_name(s), fsc_last_message());

    fsc_jit_destroy(j);
    fsc_device_close(d);
    free(source);
    return fsc_status_exit_code(s);
}
