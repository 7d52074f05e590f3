/* bucket_test.c - the ranges of a row's length: each holds its value, together they hold every value once,
 * and they are few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/record/bucket.h"

enum { LONGEST = 1 << 16, MOST_VARIANTS = 64, COUNTED = 16384 };

static uint32_t next_power(uint32_t x) {
    uint32_t p = 1;
    while (p < x) p *= 2;
    return p;
}

static const uint32_t units[] = {2, 4, 8, 16}; /* of elements of 8, 4, 2 and 1 bytes */

/* Within the upper half of the tile; values of one kind (whole vectors, others) that lie in it have this very range. */
static void check_range(uint32_t n, uint32_t unit) {
    Bucket b = bucket_of(n, unit);
    uint32_t tile = next_power(n);
    assert_in_range(n, b.least, b.most);
    assert_true(b.least > tile / 2 && b.most <= tile);
    for (uint32_t other = b.least; other <= b.most; other += b.most - b.least ? b.most - b.least : 1) {
        Bucket c = bucket_of(other, unit);
        if (bucket_is_whole(other, unit) == bucket_is_whole(n, unit))
            assert_true(c.least == b.least && c.most == b.most);
    }
}

static void ranges_partition(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= LONGEST; n++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) check_range(n, units[u]);
}

/* What specialises a contiguous row: the tile, length 1, divisibility, the range. */
static uint32_t count_variants(uint32_t unit) {
    uint32_t count = 0;
    uint64_t last[2] = {0, 0}; /* of whole vectors, of others: ranges follow each other */
    for (uint32_t n = 1; n <= COUNTED; n++) {
        Bucket b = n > 1 ? bucket_of(n, unit) : (Bucket){0, 0};
        uint64_t key = (uint64_t)next_power(n) << 40 | (uint64_t)b.least << 20 | b.most;
        int kind = !bucket_is_whole(n, unit);
        count += key != last[kind];
        last[kind] = key;
    }
    return count;
}

static void variants_are_few(void **state) {
    (void)state;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        assert_in_range(count_variants(units[u]), 60, MOST_VARIANTS);
    assert_int_equal(count_variants(16), 64);
}

/* Registers of a tile beyond the range's end: less than an eighth of the row in vain (a quarter where it is no
 * multiple). */
static void waste_is_bounded(void **state) {
    (void)state;
    for (uint32_t n = 4096; n <= LONGEST; n++) {
        uint32_t waste = bucket_of(n, 8).most - n;
        assert_true(waste < next_power(n) / (n % 8 ? 4 : 8));
    }
}

/* What 16 bytes hold of an array's elements; nothing below 16 is marked but 0. */
static void whole_vectors(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{0, 16}, {1, 16}, {2, 8}, {4, 4}, {8, 2}}; /* 0: not known */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(bucket_unit(sizes[i][0]), sizes[i][1]);
    assert_true(bucket_is_whole(1000, 8) && bucket_is_whole(0, 8) && bucket_is_whole(-24, 8) && bucket_is_whole(16, 8));
    assert_false(bucket_is_whole(1004, 8) || bucket_is_whole(8, 8) || bucket_is_whole(-8, 8) ||
                 bucket_is_whole(-20, 8));
    assert_true(bucket_is_whole(1004, 4));
}

/* No more programs than multiprocessors, and long rows. */
static void few_programs(void **state) {
    (void)state;
    Bucket b;
    assert_true(bucket_of_rows(131, 132, 32768, &b));
    assert_true(b.least == 1 && b.most == 132);
    assert_false(bucket_of_rows(131, 132, 8192, &b)); /* rows of one block */
    static const uint32_t ranges[][3] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 4},   {4, 3, 4},
                                         {5, 5, 7}, {7, 5, 7}, {8, 8, 8},   {9, 9, 132},
                                         {132, 9, 132}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) { /* rows that more blocks than a cluster's may share */
        assert_true(bucket_of_rows(ranges[i][0], 132, 65536, &b));
        assert_true(b.least == ranges[i][1] && b.most == ranges[i][2]);
    }
    for (int64_t sms = 1; sms < 20; sms++)
        for (int64_t rows = 1; rows <= sms; rows++)
            assert_true(bucket_of_rows(rows, (uint32_t)sms, 65536, &b) && b.least <= rows && rows <= b.most &&
                        b.most <= sms);
    static const int64_t many[] = {INT64_MIN, -1, 0, 133, 4096, INT64_MAX};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) assert_false(bucket_of_rows(many[i], 132, 32768, &b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_partition),
        cmocka_unit_test(variants_are_few),
        cmocka_unit_test(waste_is_bounded),
        cmocka_unit_test(whole_vectors),
        cmocka_unit_test(few_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
