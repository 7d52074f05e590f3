/* jitnamed_test.c - launches of the JIT with named arguments: what is wrong is told before anything is compiled. */
#define _DEFAULT_SOURCE
#include "jitfix.h"

static const char open_types[] = "@kernel(grid=(cdiv(n, B),), B=min(next_power_of_2(n), 1024))\n"
                                 "def add(y: *T, x: *T, n, B: constexpr, T: dtype):\n"
                                 "    i = program_id(0) * B + arange(0, B)\n"
                                 "    store(y + i, load(y + i, mask=i < n) + load(x + i, mask=i < n), mask=i < n)\n";

static uint32_t compiled(const fsc_jit *j) {
    fsc_variant_counts c;
    fsc_jit_counts(j, &c);
    return c.compiled;
}

static void wrong_calls_compile_nothing(void **state) {
    (void)state;
    _Alignas(16) float y[200], x[200];
    fsc_device *d = device_of("cpu:1");
    fsc_jit *j = jit_with(d, scale, NULL);
    for (int i = 0; i < 200; i++) x[i] = (float)i;
    fsc_named_arg args[] = {fsc_named("y", fsc_pointer(y, 800, FSC_FP32)),
                            fsc_named("x", fsc_pointer(x, 800, FSC_FP32)), fsc_named("f", fsc_float(3)),
                            fsc_named("n", fsc_int(200))};
    args[2].name = "n";
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 4, NULL), FSC_ERROR_ARGUMENT);
    assert_string_equal(fsc_jit_message(j), "argument 3 is named n, which is parameter 4; parameter 3 is f: "
                                            "scale(y: *fp32[n], x: *fp32[n], f: fp32, n: i32)");
    assert_string_equal(fsc_last_message(), fsc_jit_message(j));
    args[2].name = "f";
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 3, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_jit_message(j), "3 arguments for a kernel of 4; n is missing: scale("));
    args[3].arg.kind = FSC_ARG_MISSING;
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 4, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_jit_message(j), "argument 4, n, is missing, and the parameter is of type i32: scale("));
    args[3].arg.kind = FSC_ARG_INT;
    args[1].arg.dtype = FSC_FP64;
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 4, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_jit_message(j), "argument 2, x, is *fp64, and the parameter is *fp32: scale("));
    args[1].arg.dtype = FSC_FP32;
    assert_int_equal(compiled(j), 0);
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 4, NULL), FSC_OK);
    assert_true(compiled(j) == 1 && y[199] == 597.0f);
    args[0].arg = fsc_pointer(NULL, 0, FSC_FP32);
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 4, NULL), FSC_ERROR_CONTRACT);
    assert_non_null(
        strstr(fsc_jit_message(j), "buffer y is NULL, and its contract fp32[n:1] wants 800 bytes (n = 200): scale("));
    assert_int_equal(fsc_jit_launch_checked(NULL, NULL, args, 4, NULL), FSC_ERROR_USAGE);
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

/* Types that the source leaves to the call are no mistake;
 * a pointer without a contract is looked at by its accesses. */
static void open_parameters(void **state) {
    (void)state;
    _Alignas(16) float y[100] = {0}, x[100] = {1};
    fsc_device *d = device_of("cpu:1");
    fsc_jit *j = jit_with(d, open_types, NULL);
    fsc_named_arg args[] = {fsc_named("y", fsc_pointer(y, 400, FSC_FP32)),
                            fsc_named("x", fsc_pointer(x, 400, FSC_FP32)), fsc_named("n", fsc_int(100))};
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 3, NULL), FSC_OK);
    assert_true(y[0] == 1.0f);
    args[1].arg = fsc_pointer(NULL, 0, FSC_FP32);
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 3, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_jit_message(j), ":4 loads through it: add(y: *fp32, x: *fp32, n: i32)"));
    args[1] = fsc_named("z", fsc_pointer(x, 400, FSC_FP32));
    assert_int_equal(fsc_jit_launch_checked(j, NULL, args, 3, NULL), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_jit_message(j), "argument 2 is named z, and the kernel has no such parameter; parameter "
                                               "2 is x: add(y: *T, x: *T, n: any type)"));
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_calls_compile_nothing),
                                       cmocka_unit_test(open_parameters)};
    return cmocka_run_group_tests_name("jitnamed", tests, NULL, NULL);
}
