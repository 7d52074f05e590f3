/* jitquick_test.c - launches through the JIT by the short way: of the variant that the long way takes,
 * without memory or locks.
 *
 * In: kernels whose launches specialise in several ways, a fake GPU and the CPU. Out: the variants of a handle with the
 * short way beside those of one without, over random arguments; allocations and locks of a second launch.
 */
#define _DEFAULT_SOURCE
#include "fakecuda.h"
#include "jitfix.h"
#include "wrapped.h"

static const char rows[] =
    "@kernel(grid=(m,), B=next_power_of_2(n))\n"
    "def rows(y: *T, x: *T, stride: i32, m: i32, n: i32, f, B: constexpr = 64, T: dtype = fp32):\n"
    "    i = arange(0, B)\n"
    "    store(y + program_id(0) * stride + i, load(x + i, mask=i < n) * f.to(T), mask=i < n)\n";
static const char capped[] =
    "@kernel(grid=(m,), B=min(next_power_of_2(n), 1024), num_warps=(4 if m > 100 else 2))\n"
    "def rows(y: *T, x: *T, stride: i64, m: i32, n: i32, f: fp32, B: constexpr = 64, T: dtype = fp32):\n"
    "    i = arange(0, B)\n"
    "    store(y + program_id(0) * stride + i, load(x + i, mask=i < n) * f.to(T), mask=i < n)\n";
static const char unruled[] =
    "@kernel(grid=(m,), B=min(next_power_of_2(n), 1024))\n"
    "def rows(y: *T, x: *T, stride, m: i32, n: i32, f: fp32, B: constexpr = 64, T: dtype = fp32):\n"
    "    i = arange(0, B)\n"
    "    store(y + program_id(0) * stride + i, load(x + i, mask=i < n) * f.to(T), mask=i < n)\n";

/* Every launch as if it were the first: the variants that a handle makes with the short way are those that it makes
 * without. */
static void short_way_of(const char *device, const char *source) {
    static const int64_t lengths[] = {1,    2,    16,   17,   100,  512,  513,  700,  720,
                                      1000, 1008, 1009, 1024, 1025, 1040, 3000, 5000, 16384};
    static const fsc_dtype types[] = {FSC_FP32, FSC_FP16}; /* one that is left out would be fp32 under another key */
    static const int64_t none[3] = {0, 1, 1};
    fsc_device *d = device_of(device);
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    o.opt_level = 0;
    fsc_jit *quick = jit_with(d, source, &o), *slow = jit_with(d, source, &o);
    slow->is_steady = false;
    uint32_t random = 7;
    int taken = 0;
    for (int i = 0; i < 200; i++) {
        random = random * 1103515245u + 12345u;
        uint32_t r = random >> 8;
        fsc_dtype t = types[r % 7 == 0];
        int64_t n = lengths[r / 31 % 18], stride = r / 600 % 3 ? n : r / 1800 % 2 ? 1 : ((int64_t)1 << 33) + 16;
        uintptr_t y = 0x10000 + (r / 3600 % 8 == 0 ? 4 : 0);
        const fsc_arg args[] = {fsc_pointer((void *)y, 0, t),
                                fsc_pointer((void *)0x20000, 0, t),
                                fsc_int(strstr(source, "stride: i32") ? n : stride),
                                fsc_int(r / 30000 % 2 ? 50 : 160),
                                fsc_int(n),
                                r % 5 ? fsc_float(0.5) : fsc_int(3)};
        fsc_status s, a = fsc_jit_launch(quick, none, args, 6, NULL), b = fsc_jit_launch(slow, none, args, 6, NULL);
        if (a != b || a != FSC_OK)
            fail_msg("launch %d: %s and %s: %s", i, fsc_status_name(a), fsc_status_name(b), fsc_last_message());
        if (quick->num_variants != slow->num_variants)
            fail_msg("launch %d, n = %lld: %zu variants with the short way, %zu without", i, (long long)n,
                     quick->num_variants, slow->num_variants);
        taken += jit_quick_launch(quick, none, args, 6, NULL, &s) && s == FSC_OK;
        assert_false(jit_quick_launch(slow, none, args, 6, NULL, &s));
    }
    for (int i = 0; i < 4; i++) { /* many long rows, few of them, and again */
        const fsc_arg args[] = {fsc_pointer((void *)0x10000, 0, FSC_FP32),
                                fsc_pointer((void *)0x20000, 0, FSC_FP32),
                                fsc_int(16384),
                                fsc_int(i % 2 ? 48 : 160),
                                fsc_int(16384),
                                fsc_float(0.5)};
        assert_int_equal(fsc_jit_launch(quick, none, args, 6, NULL), FSC_OK);
        assert_int_equal(fsc_jit_launch(slow, none, args, 6, NULL), FSC_OK);
        if (quick->num_variants != slow->num_variants)
            fail_msg("%zu variants of long rows, not %zu", quick->num_variants, slow->num_variants);
    }
    for (int i = 0; i < 40; i++) { /* so few that each power of two is a range */
        const fsc_arg args[] = {fsc_pointer((void *)0x10000, 0, FSC_FP32),
                                fsc_pointer((void *)0x20000, 0, FSC_FP32),
                                fsc_int(65536),
                                fsc_int(i % 10 + 1),
                                fsc_int(65536),
                                fsc_float(0.5)};
        assert_int_equal(fsc_jit_launch(quick, none, args, 6, NULL), FSC_OK);
        assert_int_equal(fsc_jit_launch(slow, none, args, 6, NULL), FSC_OK);
        if (quick->num_variants != slow->num_variants)
            fail_msg("%zu variants of few rows, not %zu", quick->num_variants, slow->num_variants);
    }
    assert_true(quick->is_steady == (source != capped));
    if (quick->is_steady) assert_true(taken > 120);
    assert_true(slow->num_variants > 20);
    fsc_jit_destroy(quick);
    fsc_jit_destroy(slow);
    fsc_device_close(d);
}

/* The second launch of a variant takes neither memory nor locks. */
static void known_launches_are_free(void **state) {
    (void)state;
    fake_reset();
    fsc_device *d = device_of("cuda");
    fsc_jit *j = jit_with(d, scale, NULL);
    for (int i = 0; i < 100; i++) {
        const fsc_arg args[] = {fsc_pointer((void *)0x7000000000, 4000, FSC_FP32),
                                fsc_pointer((void *)0x7100000000, 4000, FSC_FP32), fsc_float(1),
                                fsc_int(i % 2 ? 998 : 999)};
        const fsc_array row = {1, {i % 2 ? 998 : 999}, {1}};
        const fsc_value values[] = {
            {args[0], row}, {args[1], row}, {.arg = args[2]}, {.arg = {.kind = FSC_ARG_MISSING}}};
        long allocations = wrapped_allocations, locks = wrapped_locks;
        assert_int_equal(fsc_jit_launch(j, NULL, args, 4, NULL), FSC_OK);
        assert_int_equal(fsc_jit_call(j, NULL, values, 4, NULL), FSC_OK);
        if (i == 0) continue;
        assert_int_equal(wrapped_allocations, allocations);
        assert_int_equal(wrapped_locks, locks);
    }
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

static void the_short_way_takes_the_very_variant(void **state) {
    static const char *const sources[] = {rows, capped, unruled};
    (void)state;
    fake_reset();
    for (int i = 0; i < 3; i++) {
        short_way_of("cuda", sources[i]);
        short_way_of("cpu:1", sources[i]);
    }
}

/* Few programs whose blocks wait for each other, and an explicit grid beyond them: another variant,
 * found again by the short way. */
static void a_grid_beyond_few_programs(void **state) {
    static const char shares[] = "@kernel(grid=(m,), B=next_power_of_2(n))\n"
                                 "def shares(y: *fp32, x: *fp32, m: i32, n: i32, B: constexpr = 64):\n"
                                 "    i = program_id(0) * n + arange(0, B)\n"
                                 "    a = load(x + i, mask=arange(0, B) < n, other=0.0)\n"
                                 "    store(y + i, a / sum(a, axis=0), mask=arange(0, B) < n)\n";
    static const int64_t beyond[3] = {5, 1, 1}, within[3] = {1, 1, 1};
    const int64_t *const grids[] = {NULL, beyond, within, beyond, NULL};
    const fsc_arg args[] = {fsc_pointer((void *)0x10000, 0, FSC_FP32), fsc_pointer((void *)0x20000, 0, FSC_FP32),
                            fsc_int(1), fsc_int(1 << 18)};
    (void)state;
    fake_reset();
    fsc_device *d = device_of("cuda");
    fsc_jit *j = jit_with(d, shares, NULL);
    for (int i = 0; i < 5; i++) {
        fsc_status s = fsc_jit_launch(j, grids[i], args, 4, NULL), again = FSC_OK;
        if (s != FSC_OK) fail_msg("grid %d: %s", i, fsc_last_message());
        assert_true((fake_launch(fake.launches - 1).cluster == 1) == (grids[i] != beyond));
        assert_true(jit_quick_launch(j, grids[i], args, 4, NULL, &again) && again == FSC_OK);
        assert_true((fake_launch(fake.launches - 1).cluster == 1) == (grids[i] != beyond));
    }
    assert_int_equal(j->num_variants, 2);
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_launches_are_free, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(a_grid_beyond_few_programs, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(the_short_way_takes_the_very_variant, folder_open, folder_close),
    };
    return cmocka_run_group_tests_name("jitquick", tests, NULL, NULL);
}
