/* launch_test.c - everything a launch checks, which variant it takes, and how values arrive; on the CPU. */
#include "hostfix.h"

static _Alignas(64) float buffer[4096];

/* What one launch of the sample with one thing wrong says. */
typedef struct Wrong {
    int index; /* of the argument to change, -1: none */
    fsc_arg arg;
    fsc_status status;
    const char *says;
} Wrong;

static void checks(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:2");
    Record *r = sample_record("cpu", "64", RECORD_DEFAULT, 16);
    fsc_kernel *k = host_kernel(d, r, softmax_entry, 4096);
    const Wrong cases[] = {
        {0, fsc_int(5), FSC_ERROR_ARGUMENT, "argument y of kernel softmax is a pointer, not a number"},
        {4, fsc_pointer(buffer, 0, 0), FSC_ERROR_ARGUMENT,
         "argument n_rows of kernel softmax is a number, not a pointer"},
        {4, fsc_float(2), FSC_ERROR_ARGUMENT, "argument n_rows is 2.0, and the kernel takes an integer (i32)"},
        {2, fsc_int((int64_t)1 << 31), FSC_ERROR_ARGUMENT, "argument y_stride is 2147483648, which does not fit i32"},
        {1, fsc_pointer(buffer + 1, 0, FSC_FP32), FSC_NO_VARIANT, "which is not a multiple of 16 bytes"},
        {1, fsc_pointer(buffer, 0, FSC_FP16), FSC_NO_VARIANT,
         "argument x points to fp16, and the kernel is compiled for fp32"},
        {5, fsc_int(65), FSC_NO_VARIANT,
         "compiled with BLOCK = 64, from its default, and the launch rule next_power_of_2(n_cols) gives 128 (n_cols = "
         "65): "
         "compile it with -D BLOCK=128"},
        {1, fsc_pointer(buffer, 8 * 64 * 4 - 1, FSC_FP32), FSC_ERROR_CONTRACT,
         "buffer x holds 2047 bytes, and its contract fp32[n_rows:x_stride, n_cols:1] wants 2048 (x_stride = 64, "
         "n_rows = 8, n_cols = 64)"},
        {1, fsc_pointer(buffer, 8 * 64 * 4, FSC_FP32), FSC_OK, ""},
        {4, fsc_int(-1), FSC_ERROR_CONTRACT, "neither may be negative"},
        {4, fsc_int(0), FSC_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fsc_arg args[] = {fsc_pointer(buffer, sizeof buffer, FSC_FP32),
                          fsc_pointer(buffer, sizeof buffer, FSC_FP32),
                          fsc_int(64),
                          fsc_int(64),
                          fsc_int(8),
                          fsc_int(64)};
        args[cases[i].index] = cases[i].arg;
        fsc_status s = fsc_launch(k, NULL, args, 6, NULL);
        if (s != cases[i].status || (s != FSC_OK && !strstr(fsc_device_message(d), cases[i].says)))
            fail_msg("case %zu: %s, '%s'", i, fsc_status_name(s), fsc_device_message(d));
    }
    fsc_arg args[6] = {
        fsc_pointer(buffer, 0, 0), fsc_pointer(buffer, 0, 0), fsc_int(64), fsc_int(64), fsc_int(8), fsc_int(64)};
    assert_int_equal(fsc_launch(k, NULL, args, 5, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(
        strstr(fsc_last_message(), "takes 6 run-time arguments (y, x, y_stride, x_stride, n_rows, n_cols), not 5"));
    assert_int_equal(fsc_launch(NULL, NULL, args, 6, NULL), FSC_ERROR_USAGE);
    static const int64_t grids[][3] = {{(int64_t)1 << 31, 1, 1},  {1, 65536, 1},    {1, 1, 65536}, {-1, 1, 1},
                                       {INT64_MAX, INT64_MAX, 2}, {1, 1, INT64_MIN}};
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++)
        assert_int_equal(fsc_launch(k, grids[i], args, 6, NULL), FSC_ERROR_GRID);
    fsc_kernel_destroy(k);
    record_free(r);
    fsc_device_close(d);
}

static void conditions(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:2");
    Record *r = sample_record("cpu", "64", RECORD_OPTION, 1); /* the user's own BLOCK: only `require` guards it */
    record_add_require(r, "$4 $5 //", "n_rows // n_cols");
    fsc_kernel *k = host_kernel(d, r, softmax_entry, 4096);
    fsc_arg args[6] = {
        fsc_pointer(buffer, 0, 0), fsc_pointer(buffer, 0, 0), fsc_int(64), fsc_int(64), fsc_int(8), fsc_int(65)};
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_REQUIRE);
    assert_non_null(
        strstr(fsc_last_message(), "requires BLOCK >= n_cols, which does not hold (n_cols = 65, BLOCK = 64)"));
    args[5] = fsc_int(0);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_RULE);
    assert_non_null(strstr(fsc_last_message(), "8 // 0 divides by zero"));
    args[5] = fsc_int(8);
    args[0] = fsc_pointer((char *)buffer + 2, 0, FSC_FP32);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_last_message(), "between two elements"));
    fsc_kernel_destroy(k);
    record_free(r);

    Record *bare = count_record();
    k = host_kernel(d, bare, count_entry, 200);
    assert_int_equal(fsc_launch(k, NULL, args, 1, NULL), FSC_NO_VARIANT); /* fp32 is not u32 */
    args[0] = fsc_pointer(buffer, 0, FSC_U32);
    assert_int_equal(fsc_launch(k, NULL, args, 1, NULL), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "has no launch rule: give it a grid"));
    fsc_kernel_destroy(k);
    record_free(bare);
    fsc_device_close(d);
}

/* Contracts whose size leaves 64 bits are refused, not wrapped. */
static void huge_contracts(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu");
    Record *r = record_create("huge");
    record_set_target(r, "cpu", "0.1.0", "huge.dsl");
    record_add_param(r, RECORD_POINTER, "p", "fp64");
    record_add_param(r, RECORD_SCALAR, "n", "i64");
    record_add_dim(r, 0, "$1", "$1");
    record_add_dim(r, 0, "$1", "1");
    record_add_grid(r, "1");
    fsc_kernel *k = host_kernel(d, r, count_entry, 200);
    static const int64_t sizes[] = {(int64_t)1 << 32, INT64_MAX, (int64_t)1 << 30, 3037000500};
    for (int i = 0; i < 4; i++) {
        fsc_arg args[2] = {fsc_pointer(buffer, sizeof buffer, FSC_FP64), fsc_int(sizes[i])};
        assert_int_equal(fsc_launch(k, NULL, args, 2, NULL), FSC_ERROR_CONTRACT);
    }
    fsc_kernel_destroy(k);
    record_free(r);
    fsc_device_close(d);
}

static int ran; /* the variant that ran: each entry writes its number */

static void entry1(const void *const *a, const int64_t *p, const int64_t *n, void *s) {
    (void)a, (void)p, (void)n, (void)s, ran = 1;
}
static void entry2(const void *const *a, const int64_t *p, const int64_t *n, void *s) {
    (void)a, (void)p, (void)n, (void)s, ran = 2;
}
static void entry3(const void *const *a, const int64_t *p, const int64_t *n, void *s) {
    (void)a, (void)p, (void)n, (void)s, ran = 3;
}
static void entry4(const void *const *a, const int64_t *p, const int64_t *n, void *s) {
    (void)a, (void)p, (void)n, (void)s, ran = 4;
}

static void add(fsc_kernel *k, Record *r, fsc_host_entry *entry) {
    fsc_module *m = NULL;
    assert_int_equal(fsc_module_host(fsc_kernel_device(k), r, &(fsc_host_code){.entry = entry}, &m), FSC_OK);
    assert_int_equal(fsc_kernel_add_variant(k, m, NULL), FSC_OK);
    fsc_module_unload(m);
    record_free(r);
}

static void the_closest_variant_runs(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:1");
    Record *general = sample_record("cpu", "64", RECORD_RULE, 1), *rows1 = sample_record("cpu", "64", RECORD_RULE, 16);
    rows1->params[P_ROWS].equals_one = true;
    fsc_kernel *k = host_kernel(d, general, entry1, 0);
    record_free(general);
    add(k, sample_record("cpu", "64", RECORD_RULE, 16), entry2);
    add(k, rows1, entry3);
    add(k, sample_record("cpu", "128", RECORD_RULE, 1), entry4);
    assert_int_equal(fsc_kernel_variants(k), 4);
    const struct {
        float *x;
        int64_t rows, cols;
        int variant;
    } cases[] = {{buffer, 8, 64, 2}, {buffer + 1, 8, 64, 1}, {buffer, 1, 64, 3}, {buffer + 1, 1, 64, 1},
                 {buffer, 1, 65, 4}, {buffer, 8, 128, 4},    {buffer, 8, 129, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fsc_arg args[6] = {fsc_pointer(buffer, 0, 0), fsc_pointer(cases[i].x, 0, 0), fsc_int(64), fsc_int(64),
                           fsc_int(cases[i].rows),    fsc_int(cases[i].cols)};
        int64_t grid[3];
        size_t variant = 99;
        ran = 0;
        assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), cases[i].variant ? FSC_OK : FSC_NO_VARIANT);
        assert_int_equal(ran, cases[i].variant);
        if (!cases[i].variant) break;
        assert_int_equal(fsc_launch_grid(k, args, 6, grid, &variant), FSC_OK);
        assert_int_equal(variant, cases[i].variant - 1);
    }
    assert_non_null(strstr(fsc_last_message(),
                           "none of 4 compiled variants fits; the first: the kernel is compiled with BLOCK = 64"));
    fsc_module *m = NULL;
    Record *other = count_record();
    assert_int_equal(fsc_module_host(d, other, &(fsc_host_code){.entry = count_entry}, &m), FSC_OK);
    assert_int_equal(fsc_kernel_add_variant(k, m, NULL), FSC_ERROR_USAGE);
    fsc_module_unload(m);
    record_free(other);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

static uint64_t seen[80];

static void read_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    static const uint32_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8};
    (void)pid, (void)nprog, (void)scratch;
    for (int i = 0; i < 80; i++) {
        seen[i] = 0;
        memcpy(&seen[i], args[i], i < 15 ? sizes[i] : 8);
    }
}

/* Every scalar type arrives in its own bytes; more than 64 arguments take the long way. */
static void values_arrive(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:1");
    Record *r = record_create("values");
    fsc_arg args[80];
    static const uint64_t wanted[] = {1,    0xff,   0xfffe,      0xfffffffd, (uint64_t)-4,
                                      200,  40000,  4000000000u, UINT64_MAX, 0x38,
                                      0x3c, 0x3c00, 0x3f80,      0x3f800000, 0x3ff0000000000000};
    static const int64_t ints[] = {1, -1, -2, -3, -4, 200, 40000, 4000000000, -1};
    record_set_target(r, "cpu", "0.1.0", "values.dsl");
    record_add_grid(r, "$79");
    for (int i = 0; i < 80; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        record_add_param(r, RECORD_SCALAR, name, i < 15 ? fsc_dtype_name((fsc_dtype)(FSC_I1 + i)) : "i64");
        args[i] = i < 9 ? fsc_int(ints[i]) : i < 15 ? fsc_float(1) : fsc_int(i == 79 ? 1 : i);
    }
    args[8] = fsc_uint(UINT64_MAX);
    args[13] = fsc_int(1); /* an integer for a float parameter is fine */
    fsc_kernel *k = host_kernel(d, r, read_entry, 0);
    assert_int_equal(fsc_launch(k, NULL, args, 80, NULL), FSC_OK);
    for (int i = 0; i < 80; i++) assert_int_equal(seen[i], i < 15 ? wanted[i] : i == 79 ? 1 : (uint64_t)i);
    fsc_kernel_destroy(k);
    record_free(r);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks),         cmocka_unit_test(conditions),
        cmocka_unit_test(huge_contracts), cmocka_unit_test(the_closest_variant_runs),
        cmocka_unit_test(values_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
