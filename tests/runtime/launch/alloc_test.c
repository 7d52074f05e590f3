/* alloc_test.c - memory that runs out at the n-th allocation, for every n, of whole runs; and launches that take none.
 *
 * In: runs over the fake driver, the CPU, the emulator, records, the cache. Out: success or FSC_ERROR_MEMORY (of the
 * device) with nothing left over (the debug preset's leak checker agrees); a launch that is right allocates nothing and
 * takes no lock.
 */
#define _DEFAULT_SOURCE
#include "cachefix.h"
#include "fakefix.h"
#include "wrapped.h"

#include "runtime/cache/cache.h"
#include "runtime/emu/emu.h"

enum { MANY = 200 };

/* Made before memory runs short. */
static char *ptx[2];
static Record *host[2], *emulated, *many;
static float *data;

static void program(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)args, (void)pid, (void)nprog, (void)scratch;
}

static void thread(EmuThread *t, const void *const *args) {
    (void)t, (void)args;
}

static int make_inputs(void **state) {
    static const uint32_t divisible[] = {1, 16};
    (void)state;
    for (int i = 0; i < 2; i++) {
        Record *r = sample_record("sm_90", "1024", RECORD_RULE, divisible[i]);
        ptx[i] = sample_ptx(r, "7.0");
        record_free(r);
        host[i] = sample_record("cpu", "1024", RECORD_RULE, divisible[i]);
    }
    emulated = sample_record("emu", "1024", RECORD_RULE, 16);
    many = record_create("many");
    record_set_target(many, "sm_90", "0.1.0", "many.dsl");
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        record_add_param(many, RECORD_SCALAR, name, "i32");
    }
    record_add_grid(many, "$3");
    record_add_launch(many, "many", 128, 1, 1, 0);
    data = aligned_alloc(64, 1 << 20);
    return folder_open(state);
}

static int free_inputs(void **state) {
    for (int i = 0; i < 2; i++) {
        free(ptx[i]);
        record_free(host[i]);
    }
    record_free(emulated);
    record_free(many);
    free(data);
    return folder_close(state);
}

static void arguments(const void *y, const void *x, fsc_arg args[6]) {
    const fsc_arg good[] = {fsc_pointer(y, 0, 0), fsc_pointer(x, 0, 0), fsc_int(1024),
                            fsc_int(800),         fsc_int(64),          fsc_int(781)};
    memcpy(args, good, sizeof good);
}

/* ---- Whole runs -------------------------------------------------------------------------------------------------- */

/* Adds the module's variant; the module is given up in any case. */
static fsc_status add(fsc_kernel **k, fsc_module *m) {
    fsc_status s = *k ? fsc_kernel_add_variant(*k, m, NULL) : fsc_kernel_create(m, NULL, k);
    fsc_module_unload(m);
    return s;
}

static fsc_status run_gpu(void) {
    fsc_device *d = NULL;
    fsc_kernel *k = NULL;
    fsc_event *e = NULL;
    fsc_arg args[6];
    fsc_kernel_report report;
    fsc_status s = fsc_device_open("cuda", &d);
    for (int i = 0; s == FSC_OK && i < 2; i++) {
        fsc_module *m = NULL;
        s = fsc_module_load(d, ptx[i], strlen(ptx[i]), &m);
        if (s == FSC_OK) s = add(&k, m);
    }
    arguments((void *)0x7000000000, (void *)0x7100000004, args);
    if (s == FSC_OK) s = fsc_kernel_warmup(k, 0, &report);
    if (s == FSC_OK) s = fsc_launch(k, NULL, args, 6, NULL);
    if (s == FSC_OK) s = fsc_event_create(d, &e);
    fsc_event_destroy(e);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
    return s;
}

/* A launch by names, with pointers that are the device's. */
static fsc_status run_named(void) {
    fsc_device *d = NULL;
    fsc_kernel *k = NULL;
    fsc_module *m = NULL;
    void *p = NULL;
    fsc_status s = fsc_device_open("cuda", &d);
    if (s == FSC_OK) s = fsc_memory_alloc(d, 64, &p);
    if (s == FSC_OK) s = fsc_module_load(d, ptx[1], strlen(ptx[1]), &m);
    if (s == FSC_OK) s = add(&k, m);
    const fsc_named_arg args[] = {fsc_named("y", fsc_pointer(p, 0, 0)), fsc_named("x", fsc_pointer(p, 0, 0)),
                                  fsc_named("y_stride", fsc_int(1024)), fsc_named("x_stride", fsc_int(800)),
                                  fsc_named("n_rows", fsc_int(64)),     fsc_named("n_cols", fsc_int(781))};
    if (s == FSC_OK) s = fsc_launch_checked(k, NULL, args, 6, NULL);
    if (p) (void)fsc_memory_free(d, p);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
    return s;
}

static fsc_status run_object(void) {
    const fsc_object_variant variants[] = {{.arch = "sm_90", .code = ptx[0], .size = strlen(ptx[0])},
                                           {.arch = "sm_90", .code = ptx[1], .size = strlen(ptx[1]), .number = 1}};
    fsc_object o = {.abi = FSC_OBJECT_ABI, .kernel = "softmax", .variants = variants, .num_variants = 2};
    const void *y = (const void *)0x7000000000, *x = (const void *)0x7100000004;
    int32_t stride = 1024, rows = 64, cols = 781;
    const void *const values[] = {&y, &x, &stride, &stride, &rows, &cols};
    fsc_status s = fsc_object_launch(&o, NULL, NULL, values);
    if (s == FSC_OK) s = fsc_object_load(&o, NULL);
    fsc_object_unload(&o);
    return s;
}

static fsc_status run_host(const char *name, const Record *r, fsc_host_code code, bool checked) {
    fsc_device *d = NULL;
    fsc_kernel *k = NULL;
    fsc_module *m = NULL;
    void *p = NULL;
    fsc_arg args[6];
    fsc_status s = fsc_device_open(name, &d);
    if (s == FSC_OK) s = fsc_device_check(d, checked);
    if (s == FSC_OK) s = fsc_memory_alloc(d, 4096, &p);
    if (s == FSC_OK) s = fsc_module_host(d, r, &code, &m);
    if (s == FSC_OK) s = add(&k, m);
    arguments(data, data, args);
    if (checked) args[0].bytes = args[1].bytes = 1 << 20;
    if (s == FSC_OK) s = fsc_launch(k, NULL, args, 6, NULL);
    if (p) (void)fsc_memory_free(d, p);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
    return s;
}

static fsc_status run_cpu(void) {
    return run_host("cpu:2", host[1], (fsc_host_code){.entry = program, .scratch_bytes = 4096}, false);
}

static fsc_status run_cpu_checked(void) {
    return run_host("cpu:1", host[1], (fsc_host_code){.entry = program, .checked = true}, true);
}

static fsc_status run_emu(void) {
    return run_host("emu:1", emulated, (fsc_host_code){.thread = thread}, false);
}

/* The cache has no status: what it cannot do is not done. An entry that was read is right. */
static fsc_status run_cache(void) {
    static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const CacheEntry e = {.parts[CACHE_CODE] = {"some code", 9}};
    char why[CACHE_WHY];
    Cache c;
    CacheEntry got;
    CacheItem *items = NULL;
    size_t n = 0;
    if (!cache_open(&c, true, why)) return FSC_ERROR_ENVIRONMENT;
    bool ok = cache_write(&c, key, &e);
    bool found = cache_read(&c, key, true, &got);
    bool right = !found || strcmp(got.parts[CACHE_CODE].at, "some code") == 0;
    if (found) cache_entry_free(&got);
    ok = cache_list(&c, &items, &n) && ok && found && right;
    free(items);
    (void)cache_clear(&c);
    cache_close(&c);
    return !right ? FSC_ERROR_INTERNAL : ok ? FSC_OK : FSC_ERROR_MEMORY;
}

static fsc_status run_record(void) {
    size_t n = 0, offset = 0;
    char *text = record_write(host[0], &n), *found = NULL;
    Record *r = text ? record_parse(text, n, NULL, 0) : NULL, *copy = r ? record_copy(r) : NULL;
    if (copy) found = record_find(ptx[0], strlen(ptx[0]), &offset, &n);
    fsc_status s = found ? FSC_OK : FSC_ERROR_MEMORY;
    free(text);
    free(found);
    record_free(r);
    record_free(copy);
    return s;
}

/* ---- The n-th allocation ----------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state) {
    static const struct {
        const char *name;
        fsc_status (*run)(void);
    } runs[] = {{"gpu", run_gpu},
                {"named", run_named},
                {"object", run_object},
                {"cpu", run_cpu},
                {"checked cpu", run_cpu_checked},
                {"emu", run_emu},
                {"cache", run_cache},
                {"record", run_record}};
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        int n = 1, failed = 0;
        for (bool was_reached = true; was_reached; n++) {
            fake_reset();
            wrapped_fail_at = n;
            fsc_status s = runs[i].run();
            was_reached = wrapped_fail_at <= 0;
            wrapped_fail_at = 0;
            if (s != FSC_OK && s != FSC_ERROR_MEMORY && s != FSC_ERROR_DEVICE_MEMORY)
                fail_msg("%s, allocation %d: %s: %s", runs[i].name, n, fsc_status_name(s), fsc_last_message());
            if (s != FSC_OK && !was_reached) fail_msg("%s fails without cause: %s", runs[i].name, fsc_last_message());
            if (fake.retained || fake.modules || fake.allocated)
                fail_msg("%s, allocation %d leaves something", runs[i].name, n);
            failed += s != FSC_OK;
            assert_true(n < 100000);
        }
        if (failed < 2) fail_msg("%s: %d of %d allocations were missed", runs[i].name, failed, n);
    }
}

/* ---- None -------------------------------------------------------------------------------------------------------- */

static void count_launches(fsc_kernel *k, const int64_t *grid, const fsc_arg *args, size_t nargs) {
    assert_int_equal(fsc_launch(k, grid, args, nargs, NULL), FSC_OK);
    long allocations = wrapped_allocations, locks = wrapped_locks;
    for (int i = 0; i < 100; i++) assert_int_equal(fsc_launch(k, grid, args, nargs, NULL), FSC_OK);
    assert_int_equal(wrapped_allocations, allocations);
    assert_int_equal(wrapped_locks, locks);
}

static void right_launches_take_neither_memory_nor_locks(void **state) {
    static const int64_t grid[3] = {7, 2, 1};
    fsc_arg args[MANY];
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    (void)state;
    fake_reset();
    fsc_device *d = open_cuda();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fsc_module_load(d, ptx[i], strlen(ptx[i]), &m), FSC_OK);
        assert_int_equal(add(&k, m), FSC_OK);
    }
    for (int misplaced = 0; misplaced < 2; misplaced++) { /* each variant, without and with sizes */
        arguments((void *)0x7000000000, (void *)(uintptr_t)(0x7100000000 + 4 * (uint64_t)misplaced), args);
        count_launches(k, NULL, args, 6);
        args[0].bytes = args[1].bytes = 1 << 20;
        count_launches(k, grid, args, 6);
    }
    args[4] = fsc_int(0); /* an empty grid */
    count_launches(k, NULL, args, 6);
    fsc_kernel_destroy(k);
    char *text = sample_ptx(many, "7.0");
    assert_int_equal(fsc_module_load(d, text, strlen(text), &m), FSC_OK);
    free(text);
    k = NULL;
    assert_int_equal(add(&k, m), FSC_OK);
    for (int i = 0; i < MANY; i++) args[i] = fsc_int(i);
    count_launches(k, NULL, args, MANY);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_launches_take_neither_memory_nor_locks),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests_name("alloc", tests, make_inputs, free_inputs);
}
