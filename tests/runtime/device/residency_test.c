/* residency_test.c - one more block on a multiprocessor is asked of the driver's assembler, where it pays, on the fake
 * driver.
 */
#include "fakefix.h"

/* Softmax in blocks of 512 threads, and the registers of what is loaded of it. */
static uint32_t registers_loaded(fsc_device *d, uint32_t resident, const char *bound) {
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    r->launches[0].threads_per_block = 512;
    r->launches[0].resident = resident;
    char *ptx = sample_ptx(r, "7.0"), *entry = strstr(ptx, " { ret;"), text[16384];
    snprintf(text, sizeof text, "%.*s%s%s", (int)(entry - ptx), ptx, bound, entry);
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    fsc_kernel_report report;
    assert_int_equal(fsc_module_load(d, text, strlen(text), &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    assert_int_equal(fsc_kernel_warmup(k, 0, &report), FSC_OK);
    assert_int_equal(fake.modules, 1);
    fsc_kernel_destroy(k);
    fsc_module_unload(m);
    assert_int_equal(fake.modules, 0);
    free(ptx);
    record_free(r);
    return report.registers;
}

/* 72 registers let one block of 512 threads onto a multiprocessor, 64 let two. */
static void one_more_block_is_asked_for(void **state) {
    (void)state;
    static const char bound[] = "\n.reqntid 512\n";
    static const struct {
        int registers, asked, spills;
        uint32_t resident;
        const char *bound;
        int loads;
        uint32_t got;
    } cases[] = {
        {72, 64, 8, 1280, bound, 2, 64},   /* no more spills than before: kept */
        {72, 64, 24, 1280, bound, 2, 64},  /* hardly more, of twice the blocks */
        {72, 64, 28, 1280, bound, 2, 72},  /* more spills */
        {72, 64, 8, 0, bound, 1, 72},      /* nobody wants more threads */
        {72, 64, 8, 1023, bound, 1, 72},   /* not so many */
        {64, 56, 8, 1280, bound, 1, 64},   /* two blocks are there */
        {96, 64, 8, 1280, bound, 1, 96},   /* too far from 64 */
        {72, 64, 8, 1280, "\n", 1, 72},    /* PTX that bounds no threads */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_reset();
        fake.registers = cases[i].registers;
        fake.asked = cases[i].asked;
        fake.spills = cases[i].spills;
        fsc_device *d = open_cuda();
        assert_int_equal(registers_loaded(d, cases[i].resident, cases[i].bound), cases[i].got);
        assert_int_equal(fake_calls("cuModuleLoadDataEx"), cases[i].loads);
        fsc_device_close(d);
    }
    fake_reset(); /* a driver that fails at it: what was loaded first stays */
    fake.registers = 72;
    fake.asked = 64;
    fake_fail("cuModuleLoadDataEx", 2, 218);
    fsc_device *d = open_cuda();
    assert_int_equal(registers_loaded(d, 1280, bound), 72);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_more_block_is_asked_for, fresh, nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
