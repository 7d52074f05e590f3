/* jitfail_test.c - every call of the driver on the JIT's way fails, at each of its places: compiling,
 * loading, launching, the cache.
 *
 * In: one error of each kind. Out: a launch that works or the error's status; nothing left on the device; the next
 * handle works, and so does the cache.
 */
#define _DEFAULT_SOURCE
#include "fakecuda.h"
#include "jitfix.h"

#include "runtime/cuda/driver.h"

static const char *const symbols[] = {
#define CUDA(name, symbol, need, parameters) symbol,
#include "runtime/cuda/cuda_api.def"
#undef CUDA
};

/* Opens, launches once, waits, closes. */
static fsc_status run(fsc_variant_counts *counts) {
    fsc_device *d = NULL;
    fsc_jit *j = NULL;
    const fsc_arg args[] = {fsc_pointer((void *)0x7000000000, 0, FSC_FP32),
                            fsc_pointer((void *)0x7100000000, 0, FSC_FP32), fsc_float(1), fsc_int(1000)};
    *counts = (fsc_variant_counts){0};
    fsc_status s = fsc_device_open("cuda", &d);
    if (s == FSC_OK) s = fsc_jit_create(d, scale, strlen(scale), NULL, &j);
    if (s == FSC_OK) s = fsc_jit_launch(j, NULL, args, 4, NULL);
    if (s == FSC_OK) s = fsc_device_wait(d);
    if (j) fsc_jit_counts(j, counts);
    fsc_jit_destroy(j);
    fsc_device_close(d);
    return s;
}

static void empty_folder(void) {
    char path[600];
    while (files_of("", ".fsc", path)) unlink(path);
}

static bool is_one_of(const char *symbol, const char *const *names) {
    while (*names && strcmp(symbol, *names) != 0) names++;
    return *names != NULL;
}

static void try_fault(const char *symbol, int nth, int error) {
    /* where a release or the way back cannot tell; where the report stays empty, and launches go the long way */
    static const char *const quiet[] = {"cuCtxPopCurrent_v2", "cuCtxPushCurrent_v2",          "cuCtxGetCurrent",
                                        "cuModuleUnload",     "cuDevicePrimaryCtxRelease_v2", NULL};
    static const char *const tried_again[] = {"cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetAttribute",
                                              "cuOccupancyMaxActiveBlocksPerMultiprocessor", NULL};
    fsc_variant_counts c;
    empty_folder();
    fake_reset();
    fake_fail(symbol, nth, error);
    fsc_status s = run(&c), wanted = driver_status(error);
    bool is_quiet = is_one_of(symbol, quiet), is_tried_again = is_one_of(symbol, tried_again);
    bool newer = strcmp(symbol, "cuDeviceGetAttribute") == 0 && error == CUDA_ERROR_INVALID_VALUE;
    if (s == FSC_OK && !is_quiet && !is_tried_again && !newer)
        fail_msg("%s, call %d, gives %d: no status", symbol, nth, error);
    if (s != FSC_OK && s != wanted && s != FSC_ERROR_FAULT)
        fail_msg("%s, call %d, gives %d: %s: %s", symbol, nth, error, fsc_status_name(s), fsc_last_message());
    bool is_release = s == FSC_OK && is_quiet;
    if (fake.live && !fake.lost && !is_release)
        fail_msg("%s, call %d, gives %d: %d things left", symbol, nth, error, fake.live);
    if (fake.retained || fake_depth())
        fail_msg("%s, call %d, gives %d: contexts are not as they were", symbol, nth, error);
    fake_reset();
    if (run(&c) != FSC_OK || c.compiled + c.from_disk != 1)
        fail_msg("%s, call %d, gives %d: then %s", symbol, nth, error, fsc_last_message());
}

static void every_call_may_fail(void **state) {
    static const int errors[] = {2, 222, 700, 999};
    int sites = 0;
    (void)state;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        fsc_variant_counts c;
        empty_folder();
        fake_reset();
        assert_int_equal(run(&c), FSC_OK);
        int count = fake_calls(symbols[i]);
        if (strncmp(symbols[i], "cuDevice", 8) == 0 || strcmp(symbols[i], "cuInit") == 0)
            continue; /* cudafail_test.c */
        for (int n = 1; n <= count; n++, sites++)
            for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) try_fault(symbols[i], n, errors[e]);
    }
    assert_true(sites > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_call_may_fail, folder_open, folder_close)};
    return cmocka_run_group_tests_name("jitfail", tests, NULL, NULL);
}
