/* vocabulary.c - softmax and cross-entropy of rows whose columns are shared out to several devices, in one process.
 *
 * In:  vocabulary.dsl [rows=N] [columns=N] [rounds=N] DEVICE…: "cuda:0 cuda:1", "cuda:0", or "cpu cpu cpu" to try it.
 * Out: how far losses and probabilities of some rows are from float64, and the time of a round; exit status 0 if near.
 *
 * Several GPUs exchange three numbers a row through NCCL (libnccl.so.2, found at run time), all else through the host.
 * One thread queues all of it: a launch goes to the device that its kernel was opened for.
 */
#define _DEFAULT_SOURCE
#include "fsc.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, SUMS = 3, CHECKED = 64 /* rows */, NCCL_FLOAT = 7 };
static const char *const kernels[] = {"slice_sums", "whole_rows", "slice_softmax"};

typedef struct Slice {
    fsc_device *device;
    void *stream, *comm;
    fsc_jit *jit[3];
    int64_t first, columns; /* of the rows: x[:, first : first + columns] */
    float *x, *y, *sums, *all, *whole, *loss;
    int32_t *target;
} Slice;

/* What is used of NCCL; a status of 0 is none. */
static struct {
    int (*init)(void **comms, int n, const int *devices), (*start)(void), (*end)(void), (*destroy)(void *comm);
    int (*gather)(const void *from, void *to, size_t count, int type, void *comm, void *stream);
} nccl;

static void must(fsc_status s, const char *message) {
    if (s == FSC_OK) return;
    fprintf(stderr, "vocabulary: %s: %s\n", fsc_status_name(s), message);
    exit(fsc_status_exit_code(s));
}

static void stop(const char *message, const char *what) {
    fprintf(stderr, "vocabulary: %s%s\n", message, what);
    exit(2);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static float value_at(int64_t row, int64_t column) {
    uint64_t h = ((uint64_t)row << 32 | (uint64_t)column) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (float)(h >> 44) / 65536.0f - 8.0f; /* -8 … 8 */
}

static int32_t target_of(int64_t row, int64_t columns) {
    return (int32_t)(row * 7919 % columns);
}

static void *buffer(Slice *p, int64_t elements) {
    void *b = NULL;
    must(fsc_memory_alloc(p->device, (uint64_t)elements * sizeof(float), &b), fsc_last_message());
    return b;
}

static void fill(Slice *p, int64_t rows, int64_t columns) {
    float *row = malloc((size_t)p->columns * sizeof *row);
    int32_t *target = malloc((size_t)rows * sizeof *target);
    if (!row || !target) stop("no memory for a row", "");
    for (int64_t i = 0; i < rows; i++) {
        target[i] = target_of(i, columns);
        for (int64_t k = 0; k < p->columns; k++) row[k] = value_at(i, p->first + k);
        must(fsc_memory_write(p->device, p->x + i * p->columns, row, (uint64_t)p->columns * sizeof *row),
             fsc_last_message());
    }
    must(fsc_memory_write(p->device, p->target, target, (uint64_t)rows * sizeof *target), fsc_last_message());
    free(row);
    free(target);
}

static void open_slice(Slice *p, const char *name, const char *file, const char *source, int64_t rows, int n) {
    must(fsc_device_open(name, &p->device), fsc_last_message());
    must(fsc_stream_create(p->device, &p->stream), fsc_last_message());
    for (int k = 0; k < 3; k++) {
        fsc_status s = fsc_jit_open(p->device, file, source, strlen(source), kernels[k], NULL, 0, &p->jit[k]);
        must(s, p->jit[k] ? fsc_jit_message(p->jit[k]) : fsc_last_message());
    }
    p->x = buffer(p, rows * p->columns);
    p->y = buffer(p, rows * p->columns);
    p->target = buffer(p, rows);
    p->sums = buffer(p, SUMS * rows);
    p->all = n == 1 ? p->sums : buffer(p, n * SUMS * rows);
    p->whole = buffer(p, 2 * rows);
    p->loss = buffer(p, rows);
}

static void close_slice(Slice *p) {
    void *buffers[] = {p->x, p->y, p->target, p->sums, p->all == p->sums ? NULL : p->all, p->whole, p->loss};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) fsc_memory_free(p->device, buffers[i]);
    for (int k = 0; k < 3; k++) fsc_jit_destroy(p->jit[k]);
    if (p->comm) nccl.destroy(p->comm);
    fsc_stream_destroy(p->device, p->stream);
    fsc_device_close(p->device);
}

/* ---- The exchange ------------------------------------------------------------------------------------------------ */

/* Opens NCCL for GPUs that differ; false: through the host. */
static bool open_nccl(Slice *slices, char **names, int n) {
    int gpus[MOST];
    void *comms[MOST], *library;
    for (int i = 0; i < n; i++) {
        if (sscanf(names[i], "cuda:%d", &gpus[i]) != 1) return false;
        for (int k = 0; k < i; k++)
            if (gpus[k] == gpus[i]) return false;
    }
    if (n == 1) return false;
    library = dlopen("libnccl.so.2", RTLD_NOW);
    if (!library) {
        printf("no libnccl.so.2: the numbers go through the host\n");
        return false;
    }
    *(void **)&nccl.init = dlsym(library, "ncclCommInitAll");
    *(void **)&nccl.start = dlsym(library, "ncclGroupStart");
    *(void **)&nccl.end = dlsym(library, "ncclGroupEnd");
    *(void **)&nccl.destroy = dlsym(library, "ncclCommDestroy");
    *(void **)&nccl.gather = dlsym(library, "ncclAllGather");
    if (!nccl.init || !nccl.start || !nccl.end || !nccl.destroy || !nccl.gather) stop("libnccl.so.2 is too old", "");
    if (nccl.init(comms, n, gpus) != 0) stop("ncclCommInitAll failed; NCCL_DEBUG=WARN says why", "");
    for (int i = 0; i < n; i++) slices[i].comm = comms[i];
    return true;
}

/* Each slice's sums to all of them, in the order of the slices. */
static void exchange(Slice *slices, int n, int64_t rows) {
    size_t count = (size_t)(SUMS * rows);
    if (n == 1) return;
    if (slices[0].comm) {
        int failed = nccl.start();
        for (int i = 0; i < n; i++)
            failed |= nccl.gather(slices[i].sums, slices[i].all, count, NCCL_FLOAT, slices[i].comm, slices[i].stream);
        if (failed | nccl.end()) stop("ncclAllGather failed; NCCL_DEBUG=WARN says why", "");
        return;
    }
    float *all = malloc((size_t)n * count * sizeof *all);
    if (!all) stop("no memory for the sums", "");
    for (int i = 0; i < n; i++) {
        must(fsc_stream_wait(slices[i].device, slices[i].stream), fsc_last_message());
        must(fsc_memory_read(slices[i].device, all + (size_t)i * count, slices[i].sums, count * sizeof *all),
             fsc_last_message());
    }
    for (int i = 0; i < n; i++)
        must(fsc_memory_write(slices[i].device, slices[i].all, all, (size_t)n * count * sizeof *all),
             fsc_last_message());
    free(all);
}

/* ---- A round ----------------------------------------------------------------------------------------------------- */

static fsc_value matrices(const float *p, int64_t n, int64_t rows, int64_t columns) {
    fsc_value v = {fsc_pointer(p, 0, FSC_FP32), {3, {n, rows, columns}, {rows * columns, columns, 1}}};
    return v;
}

static fsc_value matrix(const float *p, int64_t rows, int64_t columns) {
    fsc_value v = {fsc_pointer(p, 0, FSC_FP32), {2, {rows, columns}, {columns, 1}}};
    return v;
}

static fsc_value row(const void *p, fsc_dtype type, int64_t rows) {
    fsc_value v = {fsc_pointer(p, 0, type), {1, {rows}, {1}}};
    return v;
}

static void call(Slice *p, int kernel, const fsc_value *values, size_t n) {
    must(fsc_jit_call(p->jit[kernel], NULL, values, n, p->stream), fsc_jit_message(p->jit[kernel]));
}

static void do_round(Slice *slices, int n, int64_t rows) {
    const fsc_value said = {.arg = {.kind = FSC_ARG_MISSING}}; /* by the arrays: strides, n_rows, n_cols */
    for (int i = 0; i < n; i++) {
        Slice *p = &slices[i];
        const fsc_value values[] = {matrix(p->sums, SUMS, rows), matrix(p->x, rows, p->columns),
                                    row(p->target, FSC_I32, rows), {.arg = fsc_int(p->first)}, said, said, said};
        call(p, 0, values, 7);
    }
    exchange(slices, n, rows);
    for (int i = 0; i < n; i++) {
        Slice *p = &slices[i];
        const fsc_value values[] = {row(p->loss, FSC_FP32, rows), matrix(p->whole, 2, rows),
                                    matrices(p->all, n, SUMS, rows), said, said};
        const fsc_value more[] = {matrix(p->y, rows, p->columns), matrix(p->x, rows, p->columns),
                                  matrix(p->whole, 2, rows), said, said, said, said};
        call(p, 1, values, 5);
        call(p, 2, more, 7);
    }
}

static void wait_for(Slice *slices, int n) {
    for (int i = 0; i < n; i++) must(fsc_stream_wait(slices[i].device, slices[i].stream), fsc_last_message());
}

/* ---- Judgement --------------------------------------------------------------------------------------------------- */

/* The largest relative distance of a row's loss, as each slice has it, and of its probabilities from float64. */
static double distance_of(Slice *slices, int n, int64_t i, int64_t columns) {
    double m = -INFINITY, s = 0, worst = 0;
    for (int64_t j = 0; j < columns; j++) m = fmax(m, (double)value_at(i, j));
    for (int64_t j = 0; j < columns; j++) s += exp((double)value_at(i, j) - m);
    double loss = log(s) + m - (double)value_at(i, target_of(i, columns));
    for (int r = 0; r < n; r++) {
        Slice *p = &slices[r];
        float got = 0, *y = malloc((size_t)p->columns * sizeof *y);
        if (!y) stop("no memory for a row", "");
        must(fsc_memory_read(p->device, &got, p->loss + i, sizeof got), fsc_last_message());
        must(fsc_memory_read(p->device, y, p->y + i * p->columns, (uint64_t)p->columns * sizeof *y),
             fsc_last_message());
        worst = fmax(worst, fabs((double)got - loss) / loss);
        for (int64_t k = 0; k < p->columns; k++) {
            double want = exp((double)value_at(i, p->first + k) - m) / s;
            double far = fabs((double)y[k] - want) / want;
            worst = far <= worst ? worst : far; /* NaN, too */
        }
        free(y);
    }
    return worst;
}

static char *read_file(const char *path) {
    char *text = calloc(1, 65536);
    FILE *f = fopen(path, "rb");
    if (!f || !text) stop("cannot read ", path);
    if (fread(text, 1, 65535, f) == 65535) stop("is longer than this program expects: ", path);
    fclose(f);
    return text;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    static Slice slices[MOST];
    char *names[MOST];
    long long rows = 61, columns = 1003, rounds = 1;
    int n = 0;
    for (int i = 2; i < argc; i++) {
        bool is_size = sscanf(argv[i], "rows=%lld", &rows) == 1 || sscanf(argv[i], "columns=%lld", &columns) == 1 ||
                       sscanf(argv[i], "rounds=%lld", &rounds) == 1;
        if (!is_size && n < MOST) names[n++] = argv[i];
    }
    if (argc < 3 || n == 0) stop("usage: vocabulary vocabulary.dsl [rows=N] [columns=N] [rounds=N] DEVICE...", "");
    if (rows < 1 || rounds < 1 || columns < n) stop("a slice has a column at least, and there is a row", "");
    char *source = read_file(argv[1]);
    for (int i = 0; i < n; i++) {
        slices[i].first = columns * i / n;
        slices[i].columns = columns * (i + 1) / n - slices[i].first;
        open_slice(&slices[i], names[i], argv[1], source, rows, n);
        fill(&slices[i], rows, columns);
    }
    bool through_nccl = open_nccl(slices, names, n);

    do_round(slices, n, rows); /* compiles */
    wait_for(slices, n);
    double start = seconds();
    for (long long i = 0; i < rounds; i++) do_round(slices, n, rows);
    wait_for(slices, n);
    double each = (seconds() - start) / (double)rounds;

    double worst = 0;
    for (int64_t k = 0; k < CHECKED && k < rows; k++) {
        double far = distance_of(slices, n, rows <= CHECKED ? k : k * (rows - 1) / (CHECKED - 1), columns);
        worst = far <= worst ? worst : far;
    }
    printf("%lld x %lld on %d device%s%s: within %.1e of float64\n", rows, columns, n, n == 1 ? "" : "s",
           through_nccl ? ", through NCCL" : "", worst);
    if (rounds > 1)
        printf("%.3f ms a round, %.0f GB/s a device\n", each * 1e3,
               12e-9 * (double)rows * (double)columns / (double)n / each);
    for (int i = 0; i < n; i++) close_slice(&slices[i]);
    free(source);
    return worst < 1e-5 ? 0 : 1;
}
