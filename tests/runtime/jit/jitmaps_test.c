/* jitmaps_test.c - launches through the JIT of variants that read tensor maps, and of those without.
 *
 * In: a kernel whose first variant is replaced by one with a map of x, n * ld elements long, on the fake GPU.
 * Out: which variant a launch takes, the short way and the long one, and how many are compiled.
 */
#define _DEFAULT_SOURCE
#include "fakecuda.h"
#include "jitfix.h"
#include "sample.h"

#include "runtime/device/code.h"

static const char copy[] = "@kernel(grid=(1,))\n"
                           "def copy(y: *fp32, x: *fp32, n: i32, ld: i64):\n"
                           "    i = arange(0, 64)\n"
                           "    store(y + i, load(x + i, mask=i < n), mask=i < ld)\n";

static void launch(fsc_jit *j, int64_t n, int64_t ld, const char *entry, bool is_quick) {
    const fsc_arg args[] = {fsc_pointer((void *)0x10000, 0, FSC_FP32), fsc_pointer((void *)0x20000, 0, FSC_FP32),
                            fsc_int(n), fsc_int(ld)};
    fsc_status s = FSC_OK;
    bool was_quick = jit_quick_launch(j, NULL, args, 4, NULL, &s);
    if (was_quick != is_quick) fail_msg("n = %lld: the short way %d", (long long)n, was_quick);
    if (s == FSC_OK) s = fsc_jit_launch(j, NULL, args, 4, NULL);
    FakeLaunch l = fake_launch((fake.launches - 1) % 64);
    if (s != FSC_OK || strcmp(l.entry, entry) != 0) fail_msg("n = %lld: %s", (long long)n, l.entry);
}

/* In the place of the one variant that there is. */
static void replace_variant(fsc_jit *j) {
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    Record *r = record_copy(fsc_kernel_record(j->variants[0].kernel, 0));
    r->launches[0].entry = "mapped";
    record_add_map(r, 1, 128);
    record_add_box(r, 32, "$2 $3 *", NULL);
    char *ptx = sample_ptx(r, "8.0");
    assert_int_equal(fsc_module_load(j->device, ptx, strlen(ptx), &m), FSC_OK);
    m->maps = true;
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_module_unload(m);
    free(ptx);
    record_free(r);
    fsc_kernel_destroy(j->variants[0].kernel);
    fsc_kernel_destroy(j->all);
    j->all = NULL;
    j->last = NULL;
    j->variants[0].kernel = k;
    jit_quick_add(j, k);
}

static void what_no_map_can_say_is_compiled_without(void **state) {
    (void)state;
    enum { HUGE = 1 << 20 /* HUGE * HUGE elements are beyond any map */ };
    fsc_device *d = device_of("cuda");
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    fsc_jit *j = jit_with(d, copy, &o);
    launch(j, 1000, 1000, "copy", false);
    assert_true(j->variants[0].kernel && strstr(j->variants[0].key, "maps "));
    replace_variant(j);
    launch(j, 1000, 1000, "mapped", true);
    expect(j->counts, 1, 0);
    launch(j, HUGE, HUGE, "copy", false);
    expect(j->counts, 2, 0);
    launch(j, HUGE, HUGE, "copy", true);
    launch(j, 1000, 2000, "mapped", true);
    launch(j, 1000, 0, "copy", true); /* the same key as the last without */
    launch(j, 1000, -16, "copy", true);
    launch(j, 1000, 1000, "mapped", true);
    expect(j->counts, 2, 0);
    assert_int_equal(j->num_variants, 2);
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

int main(void) {
    setenv("FSC_CUDA_LIBRARY", FAKE_DRIVER, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_no_map_can_say_is_compiled_without, folder_open, folder_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
