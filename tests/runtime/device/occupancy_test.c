/* occupancy_test.c - blocks per multiprocessor from properties, the table of cards, statuses,
 * numbers of small types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/base/number.h"
#include "runtime/fsc_runtime.h"

#include <locale.h>
#include <math.h>
#include <string.h>

/* 64 registers, 8 warps, no shared memory on an A100: 4 blocks per multiprocessor, 432 programs,
 * 10 waves of 4096 rows. */
static void worked_example(void **state) {
    (void)state;
    const fsc_props *p = fsc_gpu_find("A100");
    fsc_residency o;
    assert_int_equal(fsc_occupancy(p, 64, 8 * 32, 0, &o), FSC_OK);
    assert_int_equal(o.blocks_per_sm, 4);
    assert_int_equal(o.limit, FSC_LIMIT_REGISTERS);
    assert_int_equal(o.resident_blocks, 432);
    assert_true(o.fill == 0.5);
    uint64_t waves;
    double fill;
    fsc_waves(4096, o.resident_blocks, &waves, &fill);
    assert_int_equal(waves, 10);
    assert_true(fabs(fill - (4096 - 9 * 432) / 432.0) < 1e-12);
}

static void each_limit(void **state) {
    (void)state;
    static const struct {
        const char *card;
        uint32_t registers, threads, shared, blocks;
        fsc_limit limit;
    } cases[] = {
        {"a100", 32, 1024, 0, 2, FSC_LIMIT_REGISTERS}, /* threads allow 2 as well: the first named */
        {"a100", 16, 1024, 0, 2, FSC_LIMIT_THREADS},
        {"a100", 16, 32, 0, 32, FSC_LIMIT_BLOCKS},
        {"a100", 16, 128, 49152, 3, FSC_LIMIT_SHARED},
        {"a100", 16, 128, 166912, 1, FSC_LIMIT_SHARED},
        {"a100", 16, 128, 166913, 0, FSC_LIMIT_SHARED},
        {"a100", 255, 256, 0, 1, FSC_LIMIT_REGISTERS},
        {"a100", 255, 1024, 0, 0, FSC_LIMIT_REGISTERS},
        {"a100", 33, 96, 0, 16, FSC_LIMIT_REGISTERS}, /* 33 counts as 40: 12 warps a quarter, 48 in all, 3 a block */
        {"a100", 0, 64, 0, 32, FSC_LIMIT_THREADS},
        {"h200", 64, 256, 116736 - 1024, 2, FSC_LIMIT_SHARED},
        {"h200", 64, 256, 116736 - 1023, 1, FSC_LIMIT_SHARED},
        {"rtx4090", 16, 1024, 0, 1, FSC_LIMIT_THREADS},
        {"t4", 16, 512, 0, 2, FSC_LIMIT_THREADS},
        {"t4", 16, 32, 4097, 15, FSC_LIMIT_SHARED}, /* 4352 each: units of 256, nothing reserved */
        {"a100", 16, 1025, 0, 0, FSC_LIMIT_THREADS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fsc_residency o;
        assert_int_equal(
            fsc_occupancy(fsc_gpu_find(cases[i].card), cases[i].registers, cases[i].threads, cases[i].shared, &o),
            FSC_OK);
        if (o.blocks_per_sm != cases[i].blocks || o.limit != cases[i].limit)
            fail_msg("case %zu: %u blocks, %s", i, o.blocks_per_sm, fsc_limit_name(o.limit));
    }
}

static void wrong_calls(void **state) {
    (void)state;
    fsc_residency o;
    fsc_props none = {0};
    assert_int_equal(fsc_occupancy(fsc_gpu_find("a100"), 64, 0, 0, &o), FSC_ERROR_USAGE);
    assert_int_equal(fsc_occupancy(&none, 64, 32, 0, &o), FSC_ERROR_USAGE);
    assert_int_equal(fsc_occupancy(NULL, 64, 32, 0, &o), FSC_ERROR_USAGE);
    uint64_t waves = 5;
    double fill = 5;
    fsc_waves(0, 432, &waves, &fill);
    assert_true(waves == 0 && fill == 0);
    fsc_waves(5, 0, &waves, &fill);
    assert_true(waves == 0 && fill == 0);
    fsc_waves(864, 432, &waves, &fill);
    assert_true(waves == 2 && fill == 1);
}

static void cards(void **state) {
    (void)state;
    const char *key = NULL;
    size_t n = 0;
    for (const fsc_props *p; (p = fsc_gpu_at(n, &key)); n++) {
        assert_ptr_equal(fsc_gpu_find(key), p);
        assert_ptr_equal(fsc_gpu_find(p->name), p);
        assert_memory_equal(p->arch, "sm_", 3);
        assert_true(p->sms && p->registers_per_sm == 65536 && p->bandwidth > 100000000000u && p->memory_bytes);
        assert_true(p->shared_per_block_optin <= p->shared_per_sm);
    }
    assert_true(n >= 14);
    assert_int_equal(fsc_gpu_find("h100")->sms, 132);
    assert_int_equal(fsc_gpu_find("h200")->shared_per_block_optin, 232448);
    assert_null(fsc_gpu_find("v0"));
    assert_null(fsc_gpu_find(NULL));
    assert_null(fsc_gpu_find("a1"));
}

static void statuses(void **state) {
    (void)state;
    assert_string_equal(fsc_status_name(FSC_NO_DRIVER), "FSC_NO_DRIVER");
    assert_int_equal(fsc_status_exit_code(FSC_OK), 0);
    assert_int_equal(fsc_status_exit_code(FSC_ERROR_SOURCE), 1);
    assert_int_equal(fsc_status_exit_code(FSC_ERROR_USAGE), 2);
    assert_int_equal(fsc_status_exit_code(FSC_NO_DRIVER), 3);
    assert_int_equal(fsc_status_exit_code(FSC_ERROR_INTERNAL), 70);
    assert_int_equal(fsc_status_exit_code((fsc_status)999), 70);
    assert_non_null(fsc_status_text((fsc_status)999));
    assert_non_null(fsc_status_name((fsc_status)-1));
}

/* The value of the bits of a small float type, by its definition. */
static double decode(uint64_t bits, int e, int m, bool has_infinity) {
    int bias = (1 << (e - 1)) - 1, exponent = (int)(bits >> m & ((1u << e) - 1));
    double mantissa = (double)(bits & ((1u << m) - 1)), sign = bits >> (e + m) & 1 ? -1 : 1;
    bool top = exponent == (1 << e) - 1;
    if (top && has_infinity) return mantissa != 0 ? (double)NAN : sign * (double)INFINITY;
    if (top && mantissa == (1 << m) - 1) return (double)NAN;
    if (exponent == 0) return sign * ldexp(mantissa, 1 - bias - m);
    return sign * ldexp(1 + ldexp(mantissa, -m), exponent - bias);
}

static void small_floats(void **state) {
    (void)state;
    static const struct {
        fsc_dtype t;
        int e, m;
        bool has_infinity;
    } types[] = {{FSC_FP16, 5, 10, true}, {FSC_BF16, 8, 7, true}, {FSC_FP8E5, 5, 2, true}, {FSC_FP8E4NV, 4, 3, false}};
    for (size_t k = 0; k < 4; k++) {
        uint64_t count = (uint64_t)1 << (types[k].e + types[k].m);
        for (uint64_t i = 0; i < count; i++) {
            double x = decode(i, types[k].e, types[k].m, types[k].has_infinity);
            double next = decode(i + 1, types[k].e, types[k].m, types[k].has_infinity);
            if (isnan(x)) {
                assert_true(
                    isnan(decode(number_float_bits(x, types[k].t), types[k].e, types[k].m, types[k].has_infinity)));
                continue;
            }
            assert_int_equal(number_float_bits(x, types[k].t), i);
            assert_int_equal(number_float_bits(-x, types[k].t), i | count);
            if (isinf(x) || isinf(next) || isnan(next)) continue;
            double middle = x + (next - x) / 2; /* ties go to the even one, anything off the middle to the nearer */
            assert_int_equal(number_float_bits(middle, types[k].t), i + (i & 1));
            assert_int_equal(number_float_bits(nextafter(middle, 0), types[k].t), i);
            assert_int_equal(number_float_bits(nextafter(middle, (double)INFINITY), types[k].t), i + 1);
        }
    }
    assert_int_equal(number_float_bits(65519.999, FSC_FP16), 0x7bff);
    assert_int_equal(number_float_bits(65520, FSC_FP16), 0x7c00);
    assert_int_equal(number_float_bits(1e300, FSC_FP16), 0x7c00);
    assert_int_equal(number_float_bits(1e-300, FSC_FP16), 0);
    assert_int_equal(number_float_bits(-5e-324, FSC_BF16), 0x8000);
    assert_int_equal(number_float_bits(464, FSC_FP8E4NV), 0x7e);
    assert_int_equal(number_float_bits(465, FSC_FP8E4NV), 0x7f);
    assert_int_equal(number_float_bits((double)INFINITY, FSC_FP8E4NV), 0x7f);
    assert_int_equal(number_float_bits(1, FSC_FP32), 0x3f800000);
    assert_int_equal(number_float_bits(1, FSC_FP64), 0x3ff0000000000000);
}

static void integers_fit(void **state) {
    (void)state;
    assert_true(number_int_fits(127, FSC_I8) && !number_int_fits(128, FSC_I8) && number_int_fits(-128, FSC_I8));
    assert_true(number_int_fits(255, FSC_U8) && !number_int_fits(256, FSC_U8) && !number_int_fits(-1, FSC_U8));
    assert_true(number_int_fits(4294967295, FSC_U32) && !number_int_fits(4294967295, FSC_I32));
    assert_true(number_int_fits(INT64_MIN, FSC_I64) && !number_int_fits(-1, FSC_U64) &&
                number_int_fits(INT64_MAX, FSC_U64));
    assert_true(number_int_fits(1, FSC_I1) && !number_int_fits(2, FSC_I1) && !number_int_fits(-1, FSC_I1));
    assert_false(number_int_fits(1, FSC_FP32));
    assert_int_equal(fsc_dtype_find("bf16"), FSC_BF16);
    assert_int_equal(fsc_dtype_find("nothing"), FSC_DTYPE_NONE);
    assert_int_equal(fsc_dtype_find(""), FSC_DTYPE_NONE);
    assert_int_equal(fsc_dtype_find(NULL), FSC_DTYPE_NONE);
    for (int t = FSC_I1; t <= FSC_FP64; t++) assert_int_equal(fsc_dtype_find(fsc_dtype_name((fsc_dtype)t)), t);
    assert_int_equal(fsc_dtype_size(FSC_FP8E5), 1);
    assert_int_equal(fsc_dtype_size((fsc_dtype)99), 0);
}

static void numbers_as_text(void **state) {
    (void)state;
    double x;
    int64_t i;
    char text[40];
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed: a comma must not matter */
    assert_true(number_read("0.5", 3, &x) && x == 0.5);
    assert_string_equal(number_print(0.5, text, sizeof text), "0.5");
    assert_string_equal(number_print((double)NAN, text, sizeof text), "nan");
    (void)setlocale(LC_ALL, "C");
    assert_false(number_read("0.5x", 4, &x) || number_read("", 0, &x) || number_read(" 1", 2, &x) ||
                 number_read("1,5", 3, &x));
    assert_true(number_read_int("-9223372036854775808", 20, &i) && i == INT64_MIN);
    assert_false(number_read_int("9223372036854775808", 19, &i) || number_read_int("1.0", 3, &i) ||
                 number_read_int("-", 1, &i));
    assert_false(number_read_int(" 1", 2, &i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example), cmocka_unit_test(each_limit),      cmocka_unit_test(wrong_calls),
        cmocka_unit_test(cards),          cmocka_unit_test(statuses),        cmocka_unit_test(small_floats),
        cmocka_unit_test(integers_fit),   cmocka_unit_test(numbers_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
