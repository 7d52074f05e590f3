/* jitints_test.c - integers as arguments, up to the last of 64 bits, for parameters of every type.
 *
 * In: numbers of either kind, fsc_int and fsc_uint. Out: what a kernel stores of them is the number, or the launch is
 * refused with a sentence that names it: there is no third.
 */
#define _DEFAULT_SOURCE
#include "jitfix.h"

typedef struct Number {
    bool is_negative;
    uint64_t magnitude;
} Number;

static const Number numbers[] = {
    {false, 0},          {false, 1},         {false, 2},          {false, 127},          {false, 128},
    {false, 255},        {false, 256},       {false, 32767},      {false, 65535},        {false, 65536},
    {false, INT32_MAX},  {false, 1u << 31},  {false, UINT32_MAX}, {false, 1ull << 32},   {false, INT64_MAX},
    {false, 1ull << 63}, {false, UINT64_MAX}, {false, UINT64_MAX - 15}, {false, (1ull << 63) + 16}, {true, 1},
    {true, 128},         {true, 129},        {true, 32769},       {true, 1u << 31},      {true, (1ull << 31) + 1},
    {true, 1ull << 63},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static const struct {
    const char *name;
    int bits;
    bool is_signed, is_float;
} types[] = {{"i1", 1, false, false},  {"i8", 8, true, false},   {"u8", 8, false, false},  {"i16", 16, true, false},
             {"u16", 16, false, false}, {"i32", 32, true, false}, {"u32", 32, false, false}, {"i64", 64, true, false},
             {"u64", 64, false, false}, {"fp32", 32, true, true}, {"fp64", 64, true, true}};
enum { TYPES = sizeof types / sizeof types[0] };

static bool type_holds(size_t t, Number n) {
    int bits = types[t].bits;
    if (types[t].is_float) return true;
    if (types[t].is_signed) return n.magnitude <= (1ull << (bits - 1)) - !n.is_negative;
    return (!n.is_negative || n.magnitude == 0) && (bits == 64 || n.magnitude < 1ull << bits);
}

static uint64_t bits_of(size_t t, Number n) {
    uint64_t bits = n.is_negative ? 0 - n.magnitude : n.magnitude;
    double d = n.is_negative ? -(double)n.magnitude : (double)n.magnitude;
    float f = n.is_negative ? -(float)n.magnitude : (float)n.magnitude;
    if (types[t].is_float && types[t].bits == 64) memcpy(&bits, &d, sizeof d);
    if (types[t].is_float && types[t].bits == 32) bits = 0, memcpy(&bits, &f, sizeof f);
    return types[t].bits == 64 ? bits : bits & ((1ull << types[t].bits) - 1);
}

/* Each way that a C program has to say the number. */
static size_t arguments_of(Number n, fsc_arg out[3]) {
    size_t count = 0;
    if (!n.is_negative) out[count++] = fsc_uint(n.magnitude);
    if (!n.is_negative) out[count++] = (fsc_arg){.kind = FSC_ARG_UNSIGNED, .u.natural = n.magnitude};
    if (n.is_negative || n.magnitude <= INT64_MAX)
        out[count++] = fsc_int((int64_t)(n.is_negative ? 0 - n.magnitude : n.magnitude));
    return count;
}

static void expect_call(fsc_jit *j, size_t t, Number n, fsc_arg value, bool checked) {
    uint64_t y = 0;
    char text[40];
    const fsc_arg args[] = {fsc_pointer(&y, sizeof y, FSC_DTYPE_NONE), value};
    const fsc_named_arg named[] = {{"y", args[0]}, {"v", args[1]}};
    fsc_status s = checked ? fsc_jit_launch_checked(j, NULL, named, 2, NULL) : fsc_jit_launch(j, NULL, args, 2, NULL);
    snprintf(text, sizeof text, "argument v is %s%llu", n.is_negative ? "-" : "", (unsigned long long)n.magnitude);
    const char *said = fsc_last_message(), *at = s ? strstr(said, text) : NULL;
    if (!type_holds(t, n) && (s != FSC_ERROR_ARGUMENT || !at || !strstr(at, "does not fit")))
        fail_msg("%s for %s: %s: %s", text, types[t].name, fsc_status_name(s), s ? said : "");
    if (type_holds(t, n) && (s != FSC_OK || y != bits_of(t, n)))
        fail_msg("%s for %s: %s, %#llx: %s", text, types[t].name, fsc_status_name(s), (unsigned long long)y,
                 s ? said : "");
}

static void test_every_type(void **state) {
    (void)state;
    fsc_device *d = device_of("cpu:1");
    for (size_t t = 0; t < TYPES; t++) {
        char source[200];
        snprintf(source, sizeof source, "@kernel(grid=(1,))\ndef keep(y: *%s, v: %s):\n    store(y, v)\n",
                 types[t].name, types[t].name);
        fsc_jit *j = jit_with(d, source, NULL);
        for (int round = 0; round < 2; round++) /* in the second all variants are there */
            for (size_t i = 0; i < NUMBERS; i++) {
                fsc_arg ways[3];
                size_t count = arguments_of(numbers[i], ways);
                for (size_t k = 0; k < count; k++) expect_call(j, t, numbers[i], ways[k], round && k == 0);
            }
        fsc_jit_destroy(j);
    }
    fsc_device_close(d);
}

/* A parameter without a type is a pointer to what the argument points to, or has the first of i32, i64,
 * u64 that holds the number. */
static void test_open_type(void **state) {
    (void)state;
    fsc_device *d = device_of("cpu:1");
    fsc_jit *j = jit_with(d, "@kernel(grid=(1,))\ndef keep(y, v):\n    store(y, v.to(fp64))\n", NULL);
    for (size_t i = 0; i < NUMBERS; i++) {
        fsc_arg ways[3];
        size_t count = arguments_of(numbers[i], ways);
        for (size_t k = 0; k < count; k++) {
            double y = 0, is = (double)numbers[i].magnitude;
            const fsc_arg args[] = {fsc_pointer(&y, sizeof y, FSC_FP64), ways[k]};
            if (fsc_jit_launch(j, NULL, args, 2, NULL) != FSC_OK) fail_msg("%s", fsc_last_message());
            assert_true(y == (numbers[i].is_negative ? -is : is));
        }
    }
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

/* A launch rule has 64 bits with sign: it says that it does not know the number, and takes no other one for it. */
static void test_rules(void **state) {
    (void)state;
    fsc_device *d = device_of("cpu:1");
    fsc_jit *j = jit_with(
        d, "@kernel(grid=(min(v, 3),))\ndef keep(y: *u64[3], v: u64):\n    store(y + program_id(0), v)\n", NULL);
    uint64_t y[3] = {0};
    fsc_arg args[] = {fsc_pointer(y, sizeof y, FSC_U64), fsc_uint(UINT64_MAX)};
    assert_int_equal(fsc_jit_launch(j, NULL, args, 2, NULL), FSC_ERROR_RULE);
    assert_non_null(strstr(fsc_last_message(), "v"));
    assert_int_equal(fsc_jit_launch(j, (const int64_t[]){3, 1, 1}, args, 2, NULL), FSC_OK);
    assert_true(y[0] == UINT64_MAX && y[2] == UINT64_MAX);
    args[1] = fsc_int(-1);
    assert_int_not_equal(fsc_jit_launch(j, NULL, args, 2, NULL), FSC_OK);
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_type), cmocka_unit_test(test_open_type),
                                       cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, folder_open, folder_close);
}
