/* cudafail_test.c - every call of the driver gives every error of the driver, at each of its places,
 * on the fake driver.
 *
 * In: one script of opening, memory, loading, warming up, launching, waiting, an object; the rows of cuda_api.def and
 * cuda_error.def. Out: of each run the status of the error's row, a message with the error, the call and what to do;
 * nothing left on the device, no context left on the thread's stack; where the context is lost, every later call says
 * so.
 */
#include "fakefix.h"

#include "runtime/cuda/driver.h"

/* One run, with what it has got hold of. */
typedef struct Run {
    fsc_device *d;
    fsc_module *m;
    fsc_kernel *k;
    fsc_event *e;
    void *p, *stream;
    fsc_object object;
} Run;

/* Of the failure that is tried. */
typedef struct Fault {
    const char *symbol, *name; /* "cuMemAlloc_v2", "CUDA_ERROR_…" */
    int nth, error;
    bool is_fatal;
} Fault;

static char *ptx, *object_ptx;
static fsc_object_variant variant;

static int make_inputs(void **state) {
    (void)state;
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    object_ptx = sample_ptx(r, "7.0");
    record_add_map(r, P_X, 128);
    record_add_box(r, 32, "$5", NULL);
    record_add_box(r, 64, "$4", "$3");
    r->num_grid = 0;
    record_add_grid(r, "$4 num_sms occupancy * min");
    r->launches[0].shared_dynamic = 100000;
    record_add_launch(r, "softmax_rest", 512, 1, 16, 1000);
    ptx = sample_ptx(r, "7.0");
    record_free(r);
    variant = (fsc_object_variant){.arch = "sm_90", .code = object_ptx, .size = strlen(object_ptx)};
    return 0;
}

static int free_inputs(void **state) {
    (void)state;
    free(ptx);
    free(object_ptx);
    return 0;
}

static fsc_status launch_object(Run *r) {
    const void *y = (const void *)0x7000000000, *x = (const void *)0x7100000000;
    int32_t stride = 1024, rows = 64, cols = 781;
    const void *const values[] = {&y, &x, &stride, &stride, &rows, &cols};
    return fsc_object_launch(&r->object, NULL, NULL, values);
}

/* With the pointers that a checked launch wants: the driver's own. */
static fsc_status launch_checked(Run *r) {
    const fsc_named_arg args[] = {fsc_named("y", fsc_pointer(r->p, 0, 0)), fsc_named("x", fsc_pointer(r->p, 0, 0)),
                                  fsc_named("y_stride", fsc_int(1024)),    fsc_named("x_stride", fsc_int(800)),
                                  fsc_named("n_rows", fsc_int(64)),        fsc_named("n_cols", fsc_int(781))};
    return fsc_launch_checked(r->k, NULL, args, 6, r->stream);
}

/* To the first step that fails. */
static fsc_status run_steps(Run *r) {
    char byte = 0;
    fsc_arg args[6];
    fsc_kernel_report o;
    double ms;
    int count = 0;
    good_args(args);
    *r = (Run){.object = {.abi = FSC_OBJECT_ABI, .kernel = "softmax", .variants = &variant, .num_variants = 1}};
    fsc_status s = fsc_device_count(FSC_CUDA, &count);
    if (s == FSC_OK) s = fsc_device_open("cuda:0", &r->d);
    if (s == FSC_OK) s = fsc_memory_alloc(r->d, 64, &r->p);
    if (s == FSC_OK) s = fsc_memory_fill(r->d, r->p, 1, 64);
    if (s == FSC_OK) s = fsc_memory_write(r->d, r->p, &byte, 1);
    if (s == FSC_OK) s = fsc_memory_read(r->d, &byte, r->p, 1);
    if (s == FSC_OK) s = fsc_stream_create(r->d, &r->stream);
    if (s == FSC_OK) s = fsc_event_create(r->d, &r->e);
    if (s == FSC_OK) s = fsc_module_load(r->d, ptx, strlen(ptx), &r->m);
    if (s == FSC_OK) s = fsc_kernel_create(r->m, NULL, &r->k);
    if (s == FSC_OK) s = fsc_kernel_warmup(r->k, 0, &o);
    if (s == FSC_OK) s = fsc_launch(r->k, NULL, args, 6, r->stream);
    if (s == FSC_OK) s = launch_checked(r);
    if (s == FSC_OK) s = fsc_event_record(r->e, r->stream);
    if (s == FSC_OK) s = fsc_event_elapsed(r->e, r->e, &ms);
    if (s == FSC_OK) s = fsc_stream_wait(r->d, r->stream);
    if (s == FSC_OK) s = launch_object(r);
    if (s == FSC_OK) s = fsc_device_wait(r->d);
    return s;
}

static fsc_status release(Run *r) {
    fsc_status s = FSC_OK, closing;
    fsc_event_destroy(r->e);
    fsc_kernel_destroy(r->k);
    fsc_module_unload(r->m);
    fsc_object_unload(&r->object);
    if (r->stream && (closing = fsc_stream_destroy(r->d, r->stream)) != FSC_OK) s = closing;
    if (r->p && (closing = fsc_memory_free(r->d, r->p)) != FSC_OK) s = closing;
    fsc_device_close(r->d);
    return s;
}

static bool is_one_of(const char *symbol, const char *const *names) {
    while (*names && strcmp(symbol, *names) != 0) names++;
    return *names != NULL;
}

/* The context is lost: no call reaches the driver any more. */
static void later_calls_say_so(Run *r, const Fault *f) {
    fsc_arg args[6];
    void *p = NULL;
    fsc_event *e = NULL;
    fsc_module *m = NULL;
    good_args(args);
    int before = fake_calls("cuCtxGetCurrent");
    const fsc_status got[] = {fsc_memory_alloc(r->d, 16, &p),
                              fsc_stream_wait(r->d, NULL),
                              fsc_stream_create(r->d, &p),
                              fsc_event_create(r->d, &e),
                              fsc_device_wait(r->d),
                              fsc_module_load(r->d, ptx, strlen(ptx), &m),
                              r->k ? fsc_launch(r->k, NULL, args, 6, NULL) : FSC_ERROR_FAULT};
    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++) {
        if (got[i] != FSC_ERROR_FAULT)
            fail_msg("%s, call %d, gives %s: later call %zu gives %s", f->symbol, f->nth, f->name, i,
                     fsc_status_name(got[i]));
    }
    if (!strstr(fsc_device_message(r->d), f->name))
        fail_msg("%s, call %d, gives %s: later %s", f->symbol, f->nth, f->name, fsc_device_message(r->d));
    assert_int_equal(fake_calls("cuCtxGetCurrent"), before);
}

/* What the first failing call said. */
static void check_message(const Fault *f, fsc_status s) {
    const char *message = fsc_last_message();
    char call[64];
    snprintf(call, sizeof call, "%s", f->symbol);
    if (strstr(call, "_v2")) *strstr(call, "_v2") = '\0';
    bool was_kept = f->is_fatal && s == FSC_ERROR_FAULT &&
                    strstr(message, "an earlier kernel faulted"); /* seen by a call that has no status */
    bool told = strstr(message, f->name) && strstr(message, driver_advice(f->error));
    told = told && (f->is_fatal || strstr(message, call)); /* a lost context: another call may be the first to tell */
    if (!told) fail_msg("%s, call %d, gives %s: %s", f->symbol, f->nth, f->name, message);
    if (s != driver_status(f->error) && !was_kept)
        fail_msg("%s, call %d, gives %s: %s", f->symbol, f->nth, f->name, fsc_status_name(s));
}

static void try_fault(const Fault *f, bool has_context) {
    static const char *const quiet[] = {"cuCtxPopCurrent_v2", "cuModuleUnload", "cuEventDestroy_v2",
                                        "cuDevicePrimaryCtxRelease_v2", NULL};
    static const char *const releasing[] = {"cuModuleUnload",
                                            "cuEventDestroy_v2",
                                            "cuMemFree_v2",
                                            "cuStreamDestroy_v2",
                                            "cuCtxPushCurrent_v2",
                                            "cuCtxGetCurrent",
                                            NULL};
    Run r;
    if (strcmp(f->symbol, "cuPointerGetAttribute") == 0 && f->error == CUDA_ERROR_INVALID_VALUE)
        return; /* no error: an address that it does not know */
    fake_reset();
    if (has_context) fake_set_current(1);
    int depth = fake_depth();
    fake_fail(f->symbol, f->nth, f->error);
    fsc_status s = run_steps(&r);
    if (s != FSC_OK) check_message(f, s);
    if (r.d && fake.lost && atomic_load(&cuda_of(r.d)->fault)) later_calls_say_so(&r, f);
    bool was_reached = fake_calls(f->symbol) >= f->nth;
    fsc_status closing = release(&r);
    bool newer = strcmp(f->symbol, "cuDeviceGetAttribute") == 0 && f->error == CUDA_ERROR_INVALID_VALUE;
    bool is_release = is_one_of(f->symbol, releasing) && s == FSC_OK;
    if (was_reached && s == FSC_OK && !is_one_of(f->symbol, quiet) && !newer)
        fail_msg("%s, call %d, gives %s: no status", f->symbol, f->nth, f->name);
    bool may_pass = is_one_of(f->symbol, quiet) || newer || strcmp(f->symbol, "cuCtxPushCurrent_v2") == 0 ||
                    strcmp(f->symbol, "cuCtxGetCurrent") == 0;
    if (s == FSC_OK && closing == FSC_OK && !may_pass)
        fail_msg("%s, call %d, gives %s: no status at the end", f->symbol, f->nth, f->name);
    if (fake.live && !fake.lost && !is_release)
        fail_msg("%s, call %d, gives %s: %d things left", f->symbol, f->nth, f->name, fake.live);
    if (fake.retained || fake_depth() != depth || (has_context && !fake_current_is_own()))
        fail_msg("%s, call %d, gives %s: contexts are not as they were", f->symbol, f->nth, f->name);
}

/* How often a run without a failure calls each symbol. */
static int count_calls(const char *symbol, bool has_context) {
    Run r;
    fake_reset();
    if (has_context) fake_set_current(1);
    if (run_steps(&r) != FSC_OK || release(&r) != FSC_OK) fail_msg("%s", fsc_last_message());
    assert_int_equal(fake.live + fake.retained, 0);
    return fake_calls(symbol);
}

static const char *const symbols[] = {
#define CUDA(name, symbol, need, parameters) symbol,
#include "runtime/cuda/cuda_api.def"
#undef CUDA
};

/* Every error, with the caller's thread as it comes; of each fate and status one,
 * where a context of the caller's is current. */
static void every_call_gives_every_error(void **state) {
    static const char *const elsewhere[] = {"cuInit",
                                            "cuGetErrorName",
                                            "cuGetErrorString", /* nodriver_test.c; below */
                                            NULL};
    (void)state;
    int runs = 0;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        if (is_one_of(symbols[i], elsewhere)) continue;
        int called = 0;
        for (int has_context = 0; has_context < 2; has_context++) {
            Fault f = {.symbol = symbols[i]};
            int count = count_calls(symbols[i], has_context), seen = 0, errors = 0;
            called += count;
            for (f.nth = 1; f.nth <= count; f.nth++) {
                seen = 0;
                for (int row = 0; fake_error_at(row, &f.error, &f.name, &f.is_fatal); row++, errors++) {
                    int class = 1 << driver_status(f.error);
                    if (has_context && seen & class) continue;
                    seen |= class;
                    try_fault(&f, has_context);
                    runs++;
                }
            }
            assert_true(count == 0 || errors > 100 * count - 1);
        }
        if (called == 0) fail_msg("%s is never called", symbols[i]);
    }
    print_message("%d runs\n", runs);
    assert_true(runs > 10000);
}

/* What a row says is what the user gets: some of them by hand. */
static void some_errors_by_hand(void **state) {
    static const struct {
        const char *symbol;
        int error;
        fsc_status status;
        const char *says[2];
    } cases[] = {
        {"cuMemAlloc_v2",
         2,
         FSC_ERROR_DEVICE_MEMORY,
         {"no memory on Fake H100 0 for a buffer of 64 bytes", "take smaller ones"}},
        {"cuDevicePrimaryCtxRetain",
         46,
         FSC_ERROR_ENVIRONMENT,
         {"CUDA_ERROR_DEVICE_UNAVAILABLE", "another process holds the device alone"}},
        {"cuModuleLoadDataEx",
         209,
         FSC_ERROR_ARCH,
         {"cuModuleLoadDataEx gives CUDA_ERROR_NO_BINARY_FOR_GPU", "for kernel softmax; compile the kernel for this"}},
        {"cuModuleLoadDataEx",
         221,
         FSC_ERROR_ENVIRONMENT,
         {"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "libnvidia-ptxjitcompiler.so.1 is missing"}},
        {"cuLaunchKernel", 701, FSC_ERROR_RESOURCE, {"for kernel softmax", "take fewer warps"}},
        {"cuLaunchKernelEx", 912, FSC_ERROR_RESOURCE, {"CUDA_ERROR_INVALID_CLUSTER_SIZE", "fewer blocks a cluster"}},
        {"cuStreamSynchronize", 710, FSC_ERROR_ASSERT, {"CUDA_ERROR_ASSERT", "standard error output"}},
        {"cuStreamSynchronize", 716, FSC_ERROR_FAULT, {"CUDA_ERROR_MISALIGNED_ADDRESS", "fsc run --check"}},
        {"cuCtxGetCurrent",
         3,
         FSC_ERROR_DRIVER,
         {"CUDA_ERROR_NOT_INITIALIZED", "fork before the first device is opened"}},
        {"cuStreamSynchronize", 900, FSC_ERROR_USAGE, {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "fsc_kernel_warmup"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Run r;
        fake_reset();
        fake_fail(cases[i].symbol, 1, cases[i].error);
        assert_int_equal(run_steps(&r), cases[i].status);
        for (int k = 0; k < 2; k++)
            if (!strstr(fsc_last_message(), cases[i].says[k])) fail_msg("case %zu: %s", i, fsc_last_message());
        (void)release(&r);
    }
}

/* A driver that does not even tell an error's name: the runtime knows it; and a number that nobody knows. */
static void errors_without_a_name(void **state) {
    Run r;
    (void)state;
    fake_reset();
    fake_fail("cuMemsetD8_v2", 1, 201);
    fake_fail("cuGetErrorName", 1, 1);
    fake_fail("cuGetErrorString", 1, 1);
    assert_int_equal(run_steps(&r), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "cuMemsetD8 gives CUDA_ERROR_INVALID_CONTEXT (no text)"));
    assert_int_equal(release(&r), FSC_OK);
    fake_fail("cuMemsetD8_v2", 1, 12345);
    assert_int_equal(run_steps(&r), FSC_ERROR_DRIVER);
    assert_non_null(strstr(fsc_last_message(), "cuMemsetD8 gives error 12345; the runtime does not expect this"));
    assert_int_equal(release(&r), FSC_OK);
}

/* The first error that kills the context stays the one that is told. */
static void the_first_fault_is_kept(void **state) {
    Run r;
    (void)state;
    fake_reset();
    fake_fail("cuModuleUnload", 1, 719); /* nobody hears of it there */
    assert_int_equal(run_steps(&r), FSC_OK);
    fsc_kernel_destroy(r.k);
    fsc_module_unload(r.m);
    r.k = NULL;
    r.m = NULL;
    assert_int_equal(fsc_device_wait(r.d), FSC_ERROR_FAULT);
    assert_non_null(
        strstr(fsc_last_message(), "CUDA_ERROR_LAUNCH_FAILED (text of the fake driver), seen by cuModuleUnload"));
    fake_fail("cuCtxSynchronize", 1, 700);
    assert_int_equal(fsc_device_wait(r.d), FSC_ERROR_FAULT);
    assert_non_null(strstr(fsc_last_message(), "CUDA_ERROR_LAUNCH_FAILED"));
    (void)release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(some_errors_by_hand), cmocka_unit_test(errors_without_a_name),
                                       cmocka_unit_test(the_first_fault_is_kept),
                                       cmocka_unit_test(every_call_gives_every_error)};
    return cmocka_run_group_tests_name("cudafail", tests, make_inputs, free_inputs);
}
