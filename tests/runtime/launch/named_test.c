/* named_test.c - launches for those who debug: what is refused by name, kind, type and address,
 * and what a fault says. */
#include "fakefix.h"

#define SIGNATURE                                                                                                      \
    "softmax(y: *fp32[n_rows:y_stride, n_cols], x: *fp32[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32, "     \
    "n_rows: i32, n_cols: i32)"

static _Alignas(64) float buffer[4096];

static void entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)nprog, (void)scratch;
    (*(float *const *)args[0])[pid[0]] += 1;
}

static fsc_kernel *host_kernel(fsc_device *d, Record *r) {
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    fsc_host_code code = {.entry = entry};
    assert_int_equal(fsc_module_host(d, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_module_unload(m);
    record_free(r);
    return k;
}

static void good_named(fsc_named_arg args[6], void *y, void *x) {
    const fsc_named_arg good[] = {fsc_named("y", fsc_pointer(y, 0, FSC_FP32)),
                                  fsc_named("x", fsc_pointer(x, 0, FSC_FP32)),
                                  fsc_named("y_stride", fsc_int(64)),
                                  fsc_named("x_stride", fsc_int(64)),
                                  fsc_named("n_rows", fsc_int(8)),
                                  fsc_named("n_cols", fsc_int(64))};
    memcpy(args, good, sizeof good);
}

static fsc_arg typed_int(int64_t i, fsc_dtype t) {
    fsc_arg a = fsc_int(i);
    a.dtype = t;
    return a;
}

/* One argument is another one; the message begins with the words and ends in the signature. */
static void wrong_arguments(void **state) {
    (void)state;
    fsc_device *d = NULL;
    assert_int_equal(fsc_device_open("cpu:1", &d), FSC_OK);
    fsc_kernel *k = host_kernel(d, sample_record("cpu", "64", RECORD_RULE, 16));
    const struct {
        size_t index;
        fsc_named_arg arg;
        fsc_status status;
        const char *says;
    } cases[] = {
        {0, fsc_named("x", fsc_pointer(buffer, 0, FSC_FP32)), FSC_ERROR_ARGUMENT,
         "argument 1 is named x, which is parameter 2; parameter 1 is y: "},
        {4, fsc_named("n_cols", fsc_int(8)), FSC_ERROR_ARGUMENT,
         "argument 5 is named n_cols, which is parameter 6; parameter 5 is n_rows: "},
        {5, fsc_named("cols", fsc_int(8)), FSC_ERROR_ARGUMENT,
         "argument 6 is named cols, and the kernel has no such parameter; parameter 6 is n_cols: "},
        {1, fsc_named("x", fsc_int(8)), FSC_ERROR_ARGUMENT,
         "argument 2, x, is an integer, and the parameter is a pointer to fp32: "},
        {4, fsc_named("n_rows", fsc_pointer(buffer, 0, 0)), FSC_ERROR_ARGUMENT,
         "argument 5, n_rows, is a pointer, and the parameter is of type i32: "},
        {4, fsc_named("n_rows", fsc_float(8)), FSC_ERROR_ARGUMENT,
         "argument 5, n_rows, is a float, and the parameter is of type i32: "},
        {1, fsc_named("x", fsc_pointer(buffer, 0, FSC_FP16)), FSC_ERROR_ARGUMENT,
         "argument 2, x, is *fp16, and the parameter is *fp32: "},
        {4, fsc_named("n_rows", typed_int(8, FSC_I64)), FSC_ERROR_ARGUMENT,
         "argument 5, n_rows, is i64, and the parameter is i32: "},
        {0, fsc_named("y", fsc_pointer(NULL, 0, FSC_FP32)), FSC_ERROR_CONTRACT,
         "buffer y is NULL, and its contract fp32[n_rows:y_stride, n_cols:1] wants 2048 bytes (y_stride = 64, n_rows = "
         "8, n_cols = 64): "},
        {1, fsc_named("x", fsc_pointer((char *)buffer + 2, 0, FSC_FP32)), FSC_NO_VARIANT,
         "which is not a multiple of 16 bytes as the kernel was compiled for: "},
        {4, fsc_named("n_rows", fsc_int(-1)), FSC_ERROR_CONTRACT, "neither may be negative: "},
        {0, fsc_named(NULL, fsc_pointer(buffer, 0, FSC_DTYPE_NONE)), FSC_OK, ""},
        {4, fsc_named("n_rows", typed_int(8, FSC_I32)), FSC_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fsc_named_arg args[6];
        good_named(args, buffer, buffer);
        args[cases[i].index] = cases[i].arg;
        float before = buffer[0];
        fsc_status s = fsc_launch_checked(k, NULL, args, 6, NULL);
        const char *said = strstr(fsc_device_message(d), cases[i].says);
        if (s != cases[i].status) fail_msg("case %zu: %s, '%s'", i, fsc_status_name(s), fsc_device_message(d));
        if (s != FSC_OK && (!said || strcmp(said + strlen(cases[i].says), SIGNATURE) != 0))
            fail_msg("case %zu: '%s'", i, fsc_device_message(d));
        assert_true(buffer[0] == (s == FSC_OK ? before + 1 : before)); /* nothing ran */
    }
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

static void wrong_counts(void **state) {
    (void)state;
    fsc_device *d = NULL;
    fsc_named_arg args[7];
    assert_int_equal(fsc_device_open("cpu:1", &d), FSC_OK);
    fsc_kernel *k = host_kernel(d, sample_record("cpu", "64", RECORD_RULE, 16));
    good_named(args, buffer, buffer);
    args[6] = args[5];
    assert_int_equal(fsc_launch_checked(k, NULL, args, 7, NULL), FSC_ERROR_ARGUMENT);
    assert_string_equal(fsc_last_message(), "7 arguments for a kernel of 6: " SIGNATURE);
    for (int i = 2; i < 5; i++) args[i] = args[i + 1]; /* y_stride was forgotten */
    assert_int_equal(fsc_launch_checked(k, NULL, args, 5, NULL), FSC_ERROR_ARGUMENT);
    assert_string_equal(fsc_last_message(), "5 arguments for a kernel of 6; y_stride is missing: " SIGNATURE);
    args[0].name = NULL;
    assert_int_equal(fsc_launch_checked(k, NULL, args, 5, NULL), FSC_ERROR_ARGUMENT);
    assert_string_equal(fsc_last_message(), "5 arguments for a kernel of 6: " SIGNATURE);
    assert_int_equal(fsc_launch_checked(k, NULL, NULL, 0, NULL), FSC_ERROR_ARGUMENT);
    assert_int_equal(fsc_launch_checked(NULL, NULL, args, 6, NULL), FSC_ERROR_USAGE);
    assert_int_equal(fsc_launch_checked(k, NULL, NULL, 6, NULL), FSC_ERROR_USAGE);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* Without a contract only the accesses tell that a pointer is used; with one every launch looks. */
static void null_pointers(void **state) {
    (void)state;
    fsc_device *d = NULL;
    fsc_named_arg args[6];
    assert_int_equal(fsc_device_open("cpu:1", &d), FSC_OK);
    Record *r = sample_record("cpu", "64", RECORD_RULE, 16);
    r->params[P_Y].num_dims = r->params[P_X].num_dims = 0;
    fsc_kernel *bare = host_kernel(d, r), *k = host_kernel(d, sample_record("cpu", "64", RECORD_RULE, 16));
    good_named(args, NULL, buffer);
    assert_int_equal(fsc_launch_checked(bare, NULL, args, 6, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_last_message(),
                           "argument 1, y, is NULL, and dir/soft max.dsl:11 stores through it: softmax(y: *fp32, x: "));
    good_named(args, buffer, NULL);
    assert_int_equal(fsc_launch_checked(bare, NULL, args, 6, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_last_message(), "argument 2, x, is NULL, and dir/soft max.dsl:9 loads through it"));
    const fsc_arg plain[] = {
        fsc_pointer(NULL, 0, 0), fsc_pointer(buffer, 0, 0), fsc_int(64), fsc_int(64), fsc_int(8), fsc_int(64)};
    assert_int_equal(fsc_launch(k, NULL, plain, 6, NULL), FSC_ERROR_CONTRACT);
    assert_non_null(strstr(fsc_last_message(), "buffer y is NULL"));
    args[4].arg = fsc_int(0); /* nothing is launched, and the contract is empty */
    args[0].arg = fsc_pointer(NULL, 0, 0);
    assert_int_equal(fsc_launch_checked(bare, NULL, args, 6, NULL), FSC_OK);
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, NULL), FSC_OK);
    fsc_kernel_destroy(bare);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

static void addresses_of_the_gpu(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    void *p = NULL;
    fsc_named_arg args[6];
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "64", RECORD_RULE, 16));
    assert_int_equal(fsc_memory_alloc(d, 4096, &p), FSC_OK);
    good_named(args, p, p);
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, NULL), FSC_OK);
    assert_int_equal(fake.launches, 1);
    assert_int_equal(fake_calls("cuStreamSynchronize"), 1);
    good_named(args, p, buffer);
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_last_message(),
                           ", which is no memory that Fake H100 0 sees: copy it there (fsc_memory_write): " SIGNATURE));
    assert_non_null(strstr(fsc_last_message(), "argument 2, x, is at 0x"));
    assert_int_equal(fake.launches, 1);
    fake.pageable = 1; /* a GPU that reaches the host's pages */
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, NULL), FSC_OK);
    assert_int_equal(fsc_memory_free(d, p), FSC_OK);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* The launch waits, so that a fault is its own: which kernel, which grid, which arguments. */
static void faults_are_told(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    void *p = NULL;
    fsc_named_arg args[6];
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "64", RECORD_RULE, 16));
    assert_int_equal(fsc_memory_alloc(d, 4096, &p), FSC_OK);
    good_named(args, p, p);
    fake_fail("cuStreamSynchronize", 1, 716);
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, NULL), FSC_ERROR_FAULT);
    assert_non_null(strstr(fsc_last_message(), "kernel softmax of dir/soft max.dsl, grid 8 x 1 x 1, y = 0x"));
    assert_non_null(
        strstr(fsc_last_message(), ", y_stride = 64, x_stride = 64, n_rows = 8, n_cols = 64: a kernel faulted"));
    assert_non_null(strstr(fsc_last_message(), "cuStreamSynchronize gives CUDA_ERROR_MISALIGNED_ADDRESS"));
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphDestroy(void *graph);

/* A capture goes on: nothing was launched into it, and nobody waited for it. */
static void captures_are_left_alone(void **state) {
    (void)state;
    void *p = NULL, *stream = NULL, *graph = NULL;
    fsc_named_arg args[6];
    fake_set_current(0);
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "64", RECORD_RULE, 16));
    assert_int_equal(fsc_memory_alloc(d, 4096, &p), FSC_OK);
    assert_int_equal(fsc_stream_create(d, &stream), FSC_OK);
    good_named(args, p, p);
    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, stream), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "the stream is being captured"));
    assert_int_equal(fake_calls("cuStreamSynchronize") + fake_calls("cuLaunchKernel"), 0);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, stream), FSC_OK);
    assert_int_equal(fsc_stream_destroy(d, stream), FSC_OK);
    assert_int_equal(fsc_memory_free(d, p), FSC_OK);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* Of variants for several types one must take what the caller has. */
static void types_of_variants(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    void *p = NULL;
    fsc_module *m = NULL;
    fsc_named_arg args[6];
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "64", RECORD_RULE, 16));
    Record *r = sample_record("sm_80", "64", RECORD_RULE, 16);
    r->params[P_X].dtype = "fp16";
    assert_int_equal(load(d, r, "7.0", &m), FSC_OK);
    assert_int_equal(fsc_kernel_add_variant(k, m, NULL), FSC_OK);
    fsc_module_unload(m);
    record_free(r);
    assert_int_equal(fsc_memory_alloc(d, 4096, &p), FSC_OK);
    good_named(args, p, p);
    args[1].arg.dtype = FSC_FP16;
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, NULL), FSC_OK);
    args[1].arg.dtype = FSC_BF16;
    assert_int_equal(fsc_launch_checked(k, NULL, args, 6, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_last_message(), "argument 2, x, is *bf16, and the parameter is *fp32: "));
    assert_int_equal(fsc_memory_free(d, p), FSC_OK);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_arguments, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(wrong_counts, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(null_pointers, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(addresses_of_the_gpu, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(types_of_variants, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(captures_are_left_alone, fresh, nothing_left),
        cmocka_unit_test_setup(faults_are_told, fresh),
    };
    return cmocka_run_group_tests_name("named", tests, fresh, NULL);
}
