/* cudafail_test.c - every call of the driver fails once, at each of its places, on the fake driver. */
#include "fakefix.h"

/* One run through everything; the statuses of its steps. Releases what it got. */
static fsc_status whole_run(void) {
    fsc_device *d = NULL;
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    fsc_event *a = NULL;
    void *p = NULL, *stream = NULL;
    char byte = 0;
    FscArg args[6];
    FscKernelReport o;
    double ms;
    good_args(args);
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    r->num_grid = 0;
    record_add_grid(r, "$4 num_sms occupancy * min");
    r->launches[0].shared_dynamic = 100000;
    record_add_launch(r, "softmax_rest", 512, 1, 16, 1000);
    fsc_status s = fsc_device_open("cuda", &d), closing;
    if (s == FSC_OK) s = fsc_memory_alloc(d, 64, &p);
    if (s == FSC_OK) s = fsc_memory_fill(d, p, 1, 64);
    if (s == FSC_OK) s = fsc_memory_write(d, p, &byte, 1);
    if (s == FSC_OK) s = fsc_memory_read(d, &byte, p, 1);
    if (s == FSC_OK) s = fsc_stream_create(d, &stream);
    if (s == FSC_OK) s = fsc_event_create(d, &a);
    if (s == FSC_OK) s = load(d, r, "7.0", &m);
    if (s == FSC_OK) s = fsc_kernel_create(m, NULL, &k);
    if (s == FSC_OK) s = fsc_kernel_warmup(k, 0, &o);
    if (s == FSC_OK) s = fsc_launch(k, NULL, args, 6, stream);
    if (s == FSC_OK) s = fsc_event_record(a, stream);
    if (s == FSC_OK) s = fsc_event_elapsed(a, a, &ms);
    if (s == FSC_OK) s = fsc_stream_wait(d, stream);
    if (s == FSC_OK) s = fsc_device_wait(d);
    fsc_event_destroy(a);
    fsc_kernel_destroy(k);
    fsc_module_unload(m);
    if (stream && (closing = fsc_stream_destroy(d, stream)) != FSC_OK) s = closing;
    if (p && (closing = fsc_memory_free(d, p)) != FSC_OK) s = closing;
    fsc_device_close(d);
    record_free(r);
    return s;
}

/* Each call of the driver fails once, at each of its places: a status, a message with its name, and nothing left over. */
static void every_call_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {
        "cuDeviceGetCount",    "cuDeviceGet",        "cuDeviceGetName",
        "cuDeviceTotalMem_v2", "cuDriverGetVersion", "cuDevicePrimaryCtxRetain",
        "cuCtxPushCurrent_v2", "cuMemAlloc_v2",      "cuMemsetD8_v2",
        "cuMemcpyHtoD_v2",     "cuMemcpyDtoH_v2",    "cuStreamCreate",
        "cuStreamSynchronize", "cuEventCreate",      "cuEventRecord",
        "cuEventSynchronize",  "cuEventElapsedTime", "cuModuleLoadDataEx",
        "cuModuleGetFunction", "cuFuncSetAttribute", "cuFuncGetAttribute",
        "cuLaunchKernel",      "cuLaunchKernelEx",   "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        "cuCtxSynchronize",    "cuStreamDestroy_v2", "cuMemFree_v2",
    };
    int total = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fake_reset();
        assert_int_equal(whole_run(), FSC_OK);
        int count = fake_calls(names[i]);
        if (count == 0) fail_msg("%s is never called", names[i]);
        for (int n = 1; n <= count; n++, total++) {
            fake_reset();
            fake_fail(names[i], n, 12345);
            fsc_status s = whole_run();
            bool quiet = strcmp(names[i], "cuCtxPushCurrent_v2") == 0; /* also where a release cannot report */
            if (s == FSC_OK && !quiet) fail_msg("%s, call %d: no error", names[i], n);
            if (s != FSC_OK && !strstr(fsc_last_message(), "error 12345"))
                fail_msg("%s, call %d: %s", names[i], n, fsc_last_message());
            assert_int_equal(fake.retained, 0);
            bool release =
                quiet || strcmp(names[i], "cuMemFree_v2") == 0 || strcmp(names[i], "cuStreamDestroy_v2") == 0;
            if (!release && (fake.allocated || fake.modules)) fail_msg("%s, call %d leaves something", names[i], n);
        }
    }
    assert_true(total > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(every_call_may_fail, fresh)};
    return cmocka_run_group_tests(tests, NULL, fresh);
}
