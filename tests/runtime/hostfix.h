/* hostfix.h - what the tests on the CPU share: two kernels in C, opening the device, making a kernel handle. */
#ifndef HOSTFIX_H
#define HOSTFIX_H

#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/fsc_runtime.h"

#include <math.h>
#include <stdatomic.h>

/* ---- Kernels of the tests ---------------------------------------------------------------------------------------- */

static inline float load_float(const void *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* softmax, one row a program, through scratch. */
static inline void softmax_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    float *y = *(float *const *)args[0], *row = scratch;
    const float *x = *(const float *const *)args[1];
    int32_t y_stride = *(const int32_t *)args[2], x_stride = *(const int32_t *)args[3], n = *(const int32_t *)args[5];
    float most = -(float)INFINITY, sum = 0;
    (void)nprog;
    for (int32_t i = 0; i < n; i++) most = fmaxf(most, row[i] = load_float(x + pid[0] * x_stride + i));
    for (int32_t i = 0; i < n; i++) sum += row[i] = expf(row[i] - most);
    for (int32_t i = 0; i < n; i++) y[pid[0] * y_stride + i] = row[i] / sum;
}

/* Counts its own program once, and checks that scratch is its alone and aligned. */
static inline void count_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    atomic_uint *counts = *(atomic_uint *const *)args[0];
    int64_t i = pid[0] + nprog[0] * (pid[1] + nprog[1] * pid[2]);
    volatile int64_t *mine = scratch;
    mine[0] = mine[24] = i;
    for (int k = 0; k < 50; k++) {
        if (mine[0] != i || mine[24] != i) return;
    }
    if ((uintptr_t)scratch % 64 == 0) atomic_fetch_add(&counts[i], 1);
}

static inline fsc_device *open_cpu(const char *name) {
    fsc_device *d = NULL;
    assert_int_equal(fsc_device_open(name, &d), FSC_OK);
    return d;
}

static inline fsc_kernel *host_kernel(fsc_device *d, const Record *r, fsc_host_entry *entry, size_t scratch) {
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    fsc_host_code code = {.entry = entry, .scratch_bytes = scratch};
    assert_int_equal(fsc_module_host(d, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_module_unload(m); /* the kernel keeps it */
    return k;
}

static inline Record *count_record(void) {
    Record *r = record_create("count");
    record_set_target(r, "cpu", "0.1.0", "count.dsl");
    record_add_param(r, RECORD_POINTER, "out", "u32");
    return r;
}

#endif
