/* jitnull_test.c - wrong calls of the C interface: NULL for every pointer, counts without what they count,
 * values outside their enum.
 *
 * In: each public function. Out: a status and a sentence, never a crash; what is no error does nothing. The cases are
 * grouped by header, in the order of their functions.
 */
#define _DEFAULT_SOURCE
#include "jitfix.h"

#include "runtime/device/code.h"

static const char source[] = "@kernel(grid=(cdiv(n, 64),))\n"
                             "def k(y: *fp32[n], x: *fp32[n], n: i32):\n"
                             "    i = program_id(0) * 64 + arange(0, 64)\n"
                             "    store(y + i, load(x + i, mask=i < n) * 2, mask=i < n)\n";
enum { LENGTH = sizeof source - 1, N = 200 };

static fsc_device *d;
static fsc_jit *j;
static fsc_kernel *k;
static float x[N], y[N];
static fsc_arg good[3];

static int begin(void **state) {
    if (folder_open(state) != 0) return -1;
    d = device_of("cpu:1");
    j = jit_with(d, source, NULL);
    good[0] = fsc_pointer(y, sizeof y, FSC_FP32);
    good[1] = fsc_pointer(x, sizeof x, FSC_FP32);
    good[2] = fsc_int(N);
    return fsc_jit_prepare(j, good, 3, &k) != FSC_OK;
}

static int end(void **state) {
    fsc_jit_destroy(j);
    fsc_device_close(d);
    return folder_close(state);
}

/* Refused: with one status, or with any; and with a sentence that is this call's. */
static void expect_refusal(fsc_status got, fsc_status wanted, const char *call) {
    if (got == FSC_OK || (wanted != FSC_OK && got != wanted)) fail_msg("%s: %s", call, fsc_status_name(got));
    if (strlen(fsc_last_message()) < 10 || strcmp(fsc_last_message(), "another call's") == 0)
        fail_msg("%s: %s, and no sentence", call, fsc_status_name(got));
}
#define REFUSED_AS(status, call)                                                                                       \
    (status_fail(NULL, FSC_ERROR_USAGE, "another call's"), expect_refusal((call), (status), #call))
#define USAGE(call) REFUSED_AS(FSC_ERROR_USAGE, call)
#define REFUSED(call) REFUSED_AS(FSC_OK, call)
#define FINE(call) assert_int_equal((call), FSC_OK)
#define EMPTY(call) assert_string_equal((call), "")

/* ---- fsc_runtime.h ----------------------------------------------------------------------------------------------- */

static void test_devices(void **state) {
    static const char *const names[] = {
        "",   "cpu:", "cpu:0", "cpu:-1", "cpu:99999999", "cpu:99999999999999999999", "emu:100000", "cuda:4294967296",
        "CPU"};
    fsc_device *opened = NULL;
    fsc_props p;
    fsc_finding f;
    fsc_counts counts;
    fsc_residency o;
    uint64_t waves = 7;
    double fill = 7;
    (void)state;
    USAGE(fsc_device_count(FSC_CPU, NULL));
    USAGE(fsc_device_current(NULL));
    USAGE(fsc_device_open("cpu", NULL));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) USAGE(fsc_device_open(names[i], &opened));
    fsc_device_close(NULL);
    USAGE(fsc_device_props(NULL, &p));
    USAGE(fsc_device_props(d, NULL));
    assert_non_null(fsc_device_message(NULL));
    USAGE(fsc_device_check(NULL, true));
    assert_false(fsc_device_checks(NULL));
    assert_int_equal(fsc_device_findings(NULL), 0);
    USAGE(fsc_device_finding(NULL, 0, &f));
    USAGE(fsc_device_finding(d, 0, NULL));
    USAGE(fsc_device_finding(d, SIZE_MAX, &f));
    USAGE(fsc_device_count_lines(NULL, true));
    assert_false(fsc_device_counts_lines(NULL));
    USAGE(fsc_device_counts(NULL, &counts));
    USAGE(fsc_device_counts(d, NULL));
    (void)fsc_count_name(SIZE_MAX);
    assert_null(fsc_gpu_find(NULL));
    assert_null(fsc_gpu_at(SIZE_MAX, NULL));
    assert_non_null(fsc_limit_name((fsc_limit)99));
    USAGE(fsc_occupancy(NULL, 1, 1, 1, &o));
    USAGE(fsc_occupancy(fsc_gpu_at(0, NULL), 64, 256, 64, NULL));
    fsc_waves(5, 3, NULL, NULL);
    fsc_waves(5, 3, &waves, NULL);
    fsc_waves(5, 0, NULL, &fill);
    assert_true(waves == 2 && fill == 0);
    assert_non_null(fsc_status_name((fsc_status)-1));
    assert_non_null(fsc_status_text((fsc_status)1000000));
    EMPTY(fsc_dtype_name((fsc_dtype)-1));
    assert_int_equal(fsc_dtype_size((fsc_dtype)9999), 0);
    assert_int_equal(fsc_dtype_find(NULL), FSC_DTYPE_NONE);
}

static void test_memory_and_streams(void **state) {
    void *p = NULL;
    double ms;
    fsc_event *e = NULL;
    (void)state;
    USAGE(fsc_memory_alloc(NULL, 4, &p));
    USAGE(fsc_memory_alloc(d, 4, NULL));
    REFUSED(fsc_memory_alloc(d, UINT64_MAX, &p));
    REFUSED(fsc_memory_alloc(d, UINT64_MAX - 255, &p));
    USAGE(fsc_memory_free(NULL, x));
    USAGE(fsc_memory_write(d, NULL, x, 4));
    USAGE(fsc_memory_write(d, x, NULL, 4));
    USAGE(fsc_memory_write(NULL, x, x, 4));
    USAGE(fsc_memory_read(d, NULL, x, 4));
    USAGE(fsc_memory_read(d, x, NULL, 4));
    USAGE(fsc_memory_fill(d, NULL, 0, 4));
    FINE(fsc_memory_fill(d, NULL, 0, 0));
    FINE(fsc_memory_write(d, NULL, NULL, 0));
    USAGE(fsc_stream_create(NULL, &p));
    USAGE(fsc_stream_create(d, NULL));
    USAGE(fsc_stream_destroy(NULL, NULL));
    USAGE(fsc_stream_wait(NULL, NULL));
    USAGE(fsc_device_wait(NULL));
    USAGE(fsc_event_create(NULL, &e));
    USAGE(fsc_event_create(d, NULL));
    fsc_event_destroy(NULL);
    USAGE(fsc_event_record(NULL, NULL));
    USAGE(fsc_event_elapsed(NULL, NULL, &ms));
}

static void test_modules_and_kernels(void **state) {
    fsc_module *m = NULL;
    fsc_kernel *made = NULL;
    fsc_kernel_report report;
    (void)state;
    REFUSED(fsc_module_load(NULL, "x", 1, &m));
    REFUSED(fsc_module_load(d, "x", 1, &m));
    REFUSED(fsc_module_load(d, NULL, 0, &m));
    REFUSED(fsc_module_load(d, "x", 1, NULL));
    REFUSED(fsc_module_host(d, NULL, NULL, &m));
    REFUSED(fsc_module_host(NULL, NULL, NULL, NULL));
    fsc_module_unload(NULL);
    assert_int_equal(fsc_module_kernels(NULL), 0);
    (void)fsc_module_kernel_name(NULL, 0);
    assert_null(fsc_module_record(NULL, 0));
    assert_null(fsc_image_record(NULL, 10, 0));
    assert_null(fsc_image_record("fsc_record_", 11, 5));
    USAGE(fsc_kernel_create(NULL, NULL, &made));
    USAGE(fsc_kernel_create(NULL, NULL, NULL));
    USAGE(fsc_kernel_add_variant(NULL, NULL, NULL));
    USAGE(fsc_kernel_add_variant(k, NULL, NULL));
    fsc_kernel_destroy(NULL);
    assert_int_equal(fsc_kernel_variants(NULL), 0);
    assert_null(fsc_kernel_record(NULL, 0));
    assert_null(fsc_kernel_record(k, SIZE_MAX));
    assert_null(fsc_kernel_device(NULL));
    USAGE(fsc_kernel_warmup(NULL, 0, &report));
    USAGE(fsc_kernel_warmup(k, 99, &report));
    USAGE(fsc_kernel_warmup(k, 0, NULL));
}

static void test_launches(void **state) {
    static const int64_t grids[][3] = {
        {-1, 1, 1}, {INT64_MAX, 1, 1}, {(int64_t)1 << 31, 1, 1}, {1, 70000, 1}, {1, 1, INT64_MIN}};
    fsc_named_arg named[3] = {0};
    int64_t grid[3];
    (void)state;
    USAGE(fsc_launch(NULL, NULL, good, 3, NULL));
    USAGE(fsc_launch(k, NULL, NULL, 3, NULL));
    REFUSED(fsc_launch(k, NULL, NULL, 0, NULL));
    REFUSED(fsc_launch(k, NULL, good, 2, NULL));
    REFUSED(fsc_launch(k, NULL, good, SIZE_MAX, NULL));
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) REFUSED(fsc_launch(k, grids[i], good, 3, NULL));
    for (int kind = -1; kind < 100; kind += 33) { /* -1 32 65 98 */
        fsc_arg bad[3] = {good[0], good[1], {.kind = (fsc_arg_kind)kind}};
        REFUSED(fsc_launch(k, NULL, bad, 3, NULL));
        REFUSED(fsc_jit_launch(j, NULL, bad, 3, NULL));
    }
    for (int dtype = -1; dtype < 1000; dtype += 999) {
        fsc_arg bad[3] = {good[0], good[1], good[2]};
        bad[0].dtype = (fsc_dtype)dtype;
        REFUSED(fsc_launch(k, NULL, bad, 3, NULL));
        REFUSED(fsc_jit_launch(j, NULL, bad, 3, NULL));
    }
    USAGE(fsc_launch_checked(NULL, NULL, named, 3, NULL));
    USAGE(fsc_launch_checked(k, NULL, NULL, 3, NULL));
    REFUSED(fsc_launch_checked(k, NULL, named, 3, NULL));
    REFUSED(fsc_launch_checked(k, NULL, named, SIZE_MAX, NULL));
    REFUSED(fsc_launch_checked(k, NULL, named, 2, NULL));
    USAGE(fsc_launch_grid(NULL, good, 3, grid, NULL));
    USAGE(fsc_launch_grid(k, good, 3, NULL, NULL));
    USAGE(fsc_launch_grid(k, NULL, 3, grid, NULL));
    FINE(fsc_launch_grid(k, good, 3, grid, NULL));
}

static void test_objects(void **state) {
    fsc_object o = {0};
    fsc_object_variant v[2] = {0};
    (void)state;
    USAGE(fsc_object_launch(NULL, NULL, NULL, NULL));
    USAGE(fsc_object_load(NULL, NULL));
    fsc_object_unload(NULL);
    USAGE(fsc_object_launch(&o, NULL, NULL, NULL));
    USAGE(fsc_object_load(&o, NULL));
    o.abi = FSC_OBJECT_ABI;
    USAGE(fsc_object_launch(&o, FSC_STREAM_CPU, NULL, NULL));
    o.num_variants = 2;
    USAGE(fsc_object_launch(&o, FSC_STREAM_CPU, NULL, NULL));
    o.variants = v;
    USAGE(fsc_object_launch(&o, FSC_STREAM_CPU, NULL, NULL));
    o.kernel = "k";
    USAGE(fsc_object_launch(&o, FSC_STREAM_CPU, NULL, NULL));
    v[0].arch = "cpu";
    USAGE(fsc_object_load(&o, FSC_STREAM_CPU));
    v[1].arch = "cpu";
    USAGE(fsc_object_load(&o, FSC_STREAM_CPU));
    v[0].code = v[1].code = "";
    REFUSED(fsc_object_load(&o, FSC_STREAM_CPU));
    fsc_object_unload(&o);
}

/* ---- fsc.h: compiling -------------------------------------------------------------------------------------------- */

static void test_compilations(void **state) {
    fsc_compile_options o;
    fsc_compilation *c = NULL;
    uint32_t low = 7, high = 7;
    size_t length = 7;
    (void)state;
    fsc_compile_options_init(NULL);
    fsc_compile_options_init(&o);
    USAGE(fsc_compile(NULL, source, LENGTH, &c));
    USAGE(fsc_compile(&o, NULL, 5, &c));
    USAGE(fsc_compile(&o, source, LENGTH, NULL));
    assert_null(c);
    fsc_compilation_destroy(NULL);
    EMPTY(fsc_compilation_output(NULL, NULL));
    EMPTY(fsc_compilation_output(NULL, &length));
    EMPTY(fsc_compilation_diagnostics(NULL));
    EMPTY(fsc_compilation_dumps(NULL));
    EMPTY(fsc_compilation_times(NULL));
    EMPTY(fsc_compilation_files(NULL));
    EMPTY(fsc_compilation_record(NULL));
    fsc_compilation_registers(NULL, &low, &high);
    assert_true(length == 0 && low == 0 && high == 0);
    assert_int_not_equal(fsc_compile(&o, NULL, 0, &c), FSC_OK); /* an empty text has no kernel */
    fsc_compilation_destroy(c);
    FINE(fsc_compile(&o, source, LENGTH, &c));
    fsc_compilation_registers(c, NULL, NULL);
    fsc_compilation_registers(c, NULL, &high);
    assert_true(high > 0);
    fsc_compilation_destroy(c);
    USAGE(fsc_source_functions(NULL, source, LENGTH, &c));
    USAGE(fsc_source_kernels(NULL, source, LENGTH, &c));
    USAGE(fsc_source_kernels("a.dsl", NULL, 5, &c));
    USAGE(fsc_source_kernels("a.dsl", source, LENGTH, NULL));
    FINE(fsc_source_kernels("a.dsl", NULL, 0, &c));
    fsc_compilation_destroy(c);
}

/* `change` makes the options wrong; the JIT refuses the same ones. */
#define WRONG_OPTIONS(change)                                                                                          \
    do {                                                                                                               \
        fsc_compile_options q;                                                                                         \
        fsc_compilation *c = NULL;                                                                                     \
        fsc_jit *made = NULL;                                                                                          \
        fsc_compile_options_init(&q);                                                                                  \
        change;                                                                                                        \
        USAGE(fsc_compile(&q, source, LENGTH, &c));                                                                    \
        fsc_compilation_destroy(c);                                                                                    \
        USAGE(fsc_jit_create(d, source, LENGTH, &q, &made));                                                           \
        assert_true(strlen(fsc_jit_message(made)) > 10);                                                               \
        fsc_jit_destroy(made);                                                                                         \
    } while (0)

static void test_options(void **state) {
    static const fsc_name_value broken[] = {{"B", "1"}, {NULL, NULL}}, no_name[] = {{NULL, "1"}},
                                no_value[] = {{"n", NULL}};
    (void)state;
    WRONG_OPTIONS(q.emit = (fsc_emit)99);
    WRONG_OPTIONS(q.emit = (fsc_emit)-1);
    WRONG_OPTIONS(q.diagnostics = (fsc_diagnostics_format)99);
    WRONG_OPTIONS(q.file = NULL);
    WRONG_OPTIONS(q.arch = NULL);
    WRONG_OPTIONS(q.num_defines = 3);
    WRONG_OPTIONS(q.num_types = 3);
    WRONG_OPTIONS(q.num_divisible = SIZE_MAX);
    WRONG_OPTIONS(q.num_known = 1);
    WRONG_OPTIONS((q.defines = broken, q.num_defines = 2));
    WRONG_OPTIONS((q.types = no_name, q.num_types = 1));
    WRONG_OPTIONS((q.divisible = no_value, q.num_divisible = 1));
    WRONG_OPTIONS((q.known = broken, q.num_known = 2));
}

/* ---- fsc.h: the JIT ---------------------------------------------------------------------------------------------- */

static void test_handles(void **state) {
    static const fsc_name_value broken[] = {{NULL, NULL}, {"", ""}, {"n", NULL}};
    fsc_jit *made[10] = {NULL};
    fsc_variant_counts counts = {7, 7};
    (void)state;
    USAGE(fsc_jit_create(d, source, LENGTH, NULL, NULL));
    USAGE(fsc_jit_create(NULL, source, LENGTH, NULL, &made[0]));
    USAGE(fsc_jit_create(d, NULL, 0, NULL, &made[1]));
    USAGE(fsc_jit_create(d, NULL, 5, NULL, &made[2]));
    USAGE(fsc_jit_open(NULL, "k.dsl", source, LENGTH, NULL, NULL, 0, &made[3]));
    USAGE(fsc_jit_open(d, NULL, source, LENGTH, NULL, NULL, 0, &made[4]));
    USAGE(fsc_jit_open(d, "k.dsl", NULL, 0, NULL, NULL, 0, &made[5]));
    USAGE(fsc_jit_open(d, "k.dsl", source, LENGTH, NULL, NULL, 0, NULL));
    USAGE(fsc_jit_open(d, "k.dsl", source, LENGTH, NULL, broken, 3, &made[6]));
    USAGE(fsc_jit_open(d, "k.dsl", source, LENGTH, NULL, NULL, 3, &made[7]));
    REFUSED(fsc_jit_open(d, "k.dsl", source, LENGTH, "", NULL, 0, &made[8]));
    for (int i = 0; i < 9; i++) { /* a handle that failed takes every call */
        fsc_param p;
        bool reads, writes;
        assert_true(made[i] && strlen(fsc_jit_message(made[i])) > 10);
        USAGE(fsc_jit_launch(made[i], NULL, good, 3, NULL));
        USAGE(fsc_jit_param(made[i], 0, &p));
        USAGE(fsc_jit_access(made[i], 0, &reads, &writes));
        (void)fsc_jit_kernel(made[i]);
        (void)fsc_jit_interface(made[i]);
        fsc_jit_counts(made[i], &counts);
        EMPTY(fsc_jit_log(made[i]));
        fsc_jit_destroy(made[i]);
    }
    fsc_jit_destroy(NULL);
    EMPTY(fsc_jit_message(NULL));
    EMPTY(fsc_jit_log(NULL));
    EMPTY(fsc_jit_kernel(NULL));
    assert_null(fsc_jit_interface(NULL));
    counts.compiled = 7;
    fsc_jit_counts(NULL, &counts);
    fsc_jit_counts(j, NULL);
    assert_int_equal(counts.compiled, 0);
}

static void test_jit_launches(void **state) {
    fsc_named_arg named[3] = {0};
    fsc_kernel *made = NULL;
    fsc_param p;
    bool reads, writes;
    (void)state;
    USAGE(fsc_jit_prepare(NULL, good, 3, &made));
    USAGE(fsc_jit_prepare(j, NULL, 3, &made));
    USAGE(fsc_jit_prepare(j, good, 3, NULL));
    USAGE(fsc_jit_launch(NULL, NULL, good, 3, NULL));
    USAGE(fsc_jit_launch(j, NULL, NULL, 3, NULL));
    REFUSED(fsc_jit_launch(j, NULL, NULL, 0, NULL));
    REFUSED(fsc_jit_launch(j, NULL, good, 300, NULL));
    REFUSED(fsc_jit_launch(j, NULL, good, SIZE_MAX, NULL));
    USAGE(fsc_jit_launch_checked(NULL, NULL, named, 3, NULL));
    USAGE(fsc_jit_launch_checked(j, NULL, NULL, 3, NULL));
    REFUSED(fsc_jit_launch_checked(j, NULL, named, 3, NULL));
    REFUSED(fsc_jit_launch_checked(j, NULL, named, SIZE_MAX, NULL));
    USAGE(fsc_jit_param(NULL, 0, &p));
    USAGE(fsc_jit_param(j, 0, NULL));
    USAGE(fsc_jit_param(j, SIZE_MAX, &p));
    USAGE(fsc_jit_access(NULL, 0, &reads, &writes));
    USAGE(fsc_jit_access(j, 0, NULL, NULL));
    USAGE(fsc_jit_access(j, 0, &reads, NULL));
    USAGE(fsc_jit_access(j, 99, &reads, &writes));
}

/* A launch of arrays in which one thing is wrong. */
#define WRONG_CALL(change)                                                                                             \
    do {                                                                                                               \
        fsc_value q[3] = {{.arg = good[0]}, {.arg = good[1]}, {.arg = {.kind = FSC_ARG_MISSING}}};                     \
        for (int i = 0; i < 2; i++) q[i].arg.bytes = 0, q[i].array = (fsc_array){1, {N}, {1}};                         \
        change;                                                                                                        \
        REFUSED(fsc_jit_call(j, NULL, q, 3, NULL));                                                                    \
    } while (0)

static void test_jit_calls(void **state) {
    fsc_value v[3] = {0};
    (void)state;
    USAGE(fsc_jit_call(NULL, NULL, v, 3, NULL));
    USAGE(fsc_jit_call(j, NULL, NULL, 3, NULL));
    REFUSED(fsc_jit_call(j, NULL, v, 3, NULL));
    REFUSED(fsc_jit_call(j, NULL, v, 2, NULL));
    REFUSED(fsc_jit_call(j, NULL, v, SIZE_MAX, NULL));
    fsc_compilation *made = NULL;
    fsc_kernel_report report;
    USAGE(fsc_jit_inspect(NULL, NULL, FSC_EMIT_ASM, v, 3, &made));
    USAGE(fsc_jit_inspect(j, NULL, FSC_EMIT_ASM, NULL, 3, &made));
    USAGE(fsc_jit_inspect(j, NULL, FSC_EMIT_ASM, v, 3, NULL));
    REFUSED(fsc_jit_inspect(j, NULL, FSC_EMIT_ASM, v, 2, &made));
    USAGE(fsc_jit_report(NULL, v, 3, &report));
    USAGE(fsc_jit_report(j, NULL, 3, &report));
    USAGE(fsc_jit_report(j, v, 3, NULL));
    REFUSED(fsc_jit_report(j, v, 2, &report));
    WRONG_CALL((q[0].array.rank = UINT32_MAX, q[1].array.rank = UINT32_MAX));
    WRONG_CALL(q[0].array.rank = 0);
    WRONG_CALL((q[0].array.shape[0] = -N, q[1].array.shape[0] = -N));
    WRONG_CALL((q[0].array.shape[0] = INT64_MAX, q[1].array.shape[0] = INT64_MAX));
    WRONG_CALL((q[0].array.shape[0] = (int64_t)1 << 32, q[1].array.shape[0] = (int64_t)1 << 32));
    WRONG_CALL(q[0].array.strides[0] = INT64_MIN);
    WRONG_CALL(q[0].array.strides[0] = -1);
    WRONG_CALL(q[0].array = ((fsc_array){2, {1ll << 40, 1ll << 40}, {1ll << 62, 1ll << 62}}));
    WRONG_CALL(q[0].arg.dtype = FSC_FP16);
    WRONG_CALL(q[0].arg.dtype = (fsc_dtype)99);
    WRONG_CALL(q[0].arg.kind = FSC_ARG_MISSING);
    WRONG_CALL(q[0].arg.kind = (fsc_arg_kind)77);
    WRONG_CALL(q[2].arg.kind = FSC_ARG_POINTER);
    WRONG_CALL(q[2].arg = fsc_int(INT64_MIN));
    WRONG_CALL(q[2].arg = fsc_uint(UINT64_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_memory_and_streams),
        cmocka_unit_test(test_modules_and_kernels),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_compilations),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_jit_launches),
        cmocka_unit_test(test_jit_calls),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
