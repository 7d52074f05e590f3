/* fakefix.h - what the tests on the fake driver share: opening it, loading the sample, arguments, a clean end. */
#ifndef FAKEFIX_H
#define FAKEFIX_H

#include "fakecuda.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/fsc_runtime.h"

static inline fsc_device *open_cuda(void) {
    fsc_device *d = NULL;
    assert_int_equal(fsc_device_open("cuda", &d), FSC_OK);
    return d;
}

static inline int fresh(void **state) {
    (void)state;
    fake_reset();
    return 0;
}

/* Nothing of ours is left on the device, whatever failed. */
static inline int nothing_left(void **state) {
    (void)state;
    return fake.retained || fake.allocated || fake.modules;
}

static inline fsc_status load(fsc_device *d, const Record *r, const char *version, fsc_module **m) {
    char *ptx = sample_ptx(r, version);
    fsc_status s = fsc_module_load(d, ptx, strlen(ptx), m);
    free(ptx);
    return s;
}

static inline fsc_kernel *load_kernel(fsc_device *d, Record *r) {
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    assert_int_equal(load(d, r, "7.0", &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_module_unload(m);
    record_free(r);
    return k;
}

static inline void good_args(fsc_arg args[6]) {
    const void *y = (const void *)0x7000000000, *x = (const void *)0x7100000000;
    const fsc_arg good[] = {fsc_pointer(y, 0, 0), fsc_pointer(x, 0, 0), fsc_int(1024),
                            fsc_int(800),         fsc_int(4096),        fsc_int(781)};
    memcpy(args, good, sizeof good);
}

#endif
