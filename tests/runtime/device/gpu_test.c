/* gpu_test.c - the runtime against the real driver and a real GPU; skipped where there is none.
 *
 * The kernels are PTX written by hand, so that nothing of the compiler is needed. The last test kills the context.
 */
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/fsc_runtime.h"

#include <time.h>

static fsc_device *device; /* NULL: no GPU */
static fsc_props props;

static int open_device(void **state) {
    (void)state;
    unsetenv("FSC_CUDA_LIBRARY"); /* no fake one here */
    if (fsc_device_open("cuda", &device) != FSC_OK) return 0;
    return fsc_device_props(device, &props) != FSC_OK;
}

static int close_device(void **state) {
    (void)state;
    fsc_device_close(device);
    return 0;
}

static const char scale_body[] =
    ".visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %d<6>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r1, %r3, %r2;\n"
    "  ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;\n"
    "  ld.param.u64 %d1, [y]; ld.param.u64 %d2, [x]; ld.param.f32 %f1, [a];\n"
    "  cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2; mul.wide.u32 %d3, %r4, 4;\n"
    "  add.s64 %d4, %d2, %d3; ld.global.f32 %f2, [%d4]; mul.rn.f32 %f3, %f1, %f2;\n"
    "  add.s64 %d5, %d1, %d3; st.global.f32 [%d5], %f3; ret;\n"
    "}\n";

/* y[block] is what thread 0 wrote to the end of 100,000 bytes of dynamic shared memory, and read back. */
static const char shared_body[] =
    ".extern .shared .align 16 .b8 room[];\n"
    ".visible .entry shared(.param .u64 y)\n"
    "{\n"
    "  .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
    "  mov.u32 %r1, %ctaid.x; add.s32 %r2, %r1, 77; st.shared.u32 [room+99996], %r2; ld.volatile.shared.u32 %r3, "
    "[room+99996];\n"
    "  ld.param.u64 %d1, [y]; cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
    "  st.global.u32 [%d3], %r3; ret;\n"
    "}\n";

/* y[block] = 1000 × rank in the cluster + blocks of the grid. */
static const char cluster_body[] =
    ".visible .entry cluster(.param .u64 y)\n"
    "{\n"
    "  .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %nctaid.x; mad.lo.s32 %r4, %r2, 1000, %r3;\n"
    "  ld.param.u64 %d1, [y]; cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
    "  st.global.u32 [%d3], %r4; ret;\n"
    "}\n";

static const char fault_body[] = ".visible .entry fault(.param .u64 y)\n"
                                 "{\n"
                                 "  .reg .b64 %d<2>; ld.param.u64 %d1, [y]; st.global.u32 [%d1], 1; ret;\n"
                                 "}\n";

/* The record's PTX with a body in place of the sample's empty entries. */
static fsc_kernel *load(Record *r, const char *version, const char *body) {
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    char *ptx = sample_ptx(r, version), *array = strstr(ptx, ".visible .global");
    size_t size = strlen(ptx) + strlen(body) + 200;
    char *whole = malloc(size);
    assert_true(array && whole);
    snprintf(whole, size, ".version %s\n.target %s\n.address_size 64\n%s%s", version, r->target, array, body);
    fsc_status s = fsc_module_load(device, whole, strlen(whole), &m);
    if (s == FSC_OK) s = fsc_kernel_create(m, NULL, &k);
    if (s != FSC_OK) fail_msg("%s: %s", fsc_status_name(s), fsc_device_message(device));
    fsc_module_unload(m);
    record_free(r);
    free(ptx);
    free(whole);
    return k;
}

static Record *record_of(const char *kernel, const char *target, uint32_t threads, uint32_t cluster, uint32_t shared) {
    Record *r = record_create(kernel);
    record_set_target(r, target, "0.1.0", "gpu_test.c");
    record_add_param(r, RECORD_POINTER, "y", "u32");
    record_add_launch(r, kernel, threads, 1, cluster, shared);
    return r;
}

static fsc_kernel *load_scale(void) {
    Record *r = record_create("scale");
    record_set_target(r, "sm_75", "0.1.0", "gpu_test.c");
    record_add_param(r, RECORD_POINTER, "y", "fp32");
    record_add_param(r, RECORD_POINTER, "x", "fp32");
    record_add_param(r, RECORD_SCALAR, "a", "fp32");
    record_add_param(r, RECORD_SCALAR, "n", "u32");
    record_add_dim(r, 0, "$3", "1");
    record_add_dim(r, 1, "$3", "1");
    record_add_grid(r, "$3 256 cdiv");
    record_add_launch(r, "scale", 256, 1, 1, 0);
    return load(r, "6.3", scale_body);
}

static void scales(void **state) {
    (void)state;
    if (!device) skip();
    enum { N = 1000003 };
    float *host = malloc(N * sizeof *host);
    void *x = NULL, *y = NULL, *stream = NULL;
    fsc_kernel *k = load_scale();
    for (int i = 0; i < N; i++) host[i] = (float)i;
    assert_int_equal(fsc_memory_alloc(device, N * 4, &x), FSC_OK);
    assert_int_equal(fsc_memory_alloc(device, N * 4 + 4, &y), FSC_OK);
    assert_int_equal(fsc_memory_write(device, x, host, N * 4), FSC_OK);
    assert_int_equal(fsc_memory_fill(device, y, 0xff, N * 4 + 4), FSC_OK);
    assert_int_equal(fsc_stream_create(device, &stream), FSC_OK);
    fsc_arg args[] = {fsc_pointer(y, N * 4 + 4, FSC_FP32), fsc_pointer(x, N * 4, FSC_FP32), fsc_float(0.5), fsc_int(N)};
    assert_int_equal(fsc_launch(k, NULL, args, 4, stream), FSC_OK);
    assert_int_equal(fsc_stream_wait(device, stream), FSC_OK);
    assert_int_equal(fsc_memory_read(device, host, y, N * 4), FSC_OK);
    for (int i = 0; i < N; i++) assert_true(host[i] == (float)i * 0.5f);
    uint32_t guard = 0;
    assert_int_equal(fsc_memory_read(device, &guard, (char *)y + N * 4, 4), FSC_OK);
    assert_int_equal(guard, UINT32_MAX);
    args[3] = fsc_int(N + 1);
    assert_int_equal(fsc_launch(k, NULL, args, 4, stream), FSC_ERROR_CONTRACT);
    assert_int_equal(fsc_stream_destroy(device, stream), FSC_OK);
    assert_int_equal(fsc_memory_free(device, x), FSC_OK);
    assert_int_equal(fsc_memory_free(device, y), FSC_OK);
    fsc_kernel_destroy(k);
    free(host);
}

/* Our count from properties agrees with the driver's occupancy call. */
static void occupancy_agrees(void **state) {
    (void)state;
    if (!device) skip();
    fsc_kernel *k = load_scale();
    fsc_kernel_report o;
    fsc_residency own;
    assert_int_equal(fsc_kernel_warmup(k, 0, &o), FSC_OK);
    assert_int_equal(fsc_occupancy(&props, o.registers, o.threads_per_block, o.shared_static, &own), FSC_OK);
    print_message("%s (%s): %u registers, %u blocks a multiprocessor, limited by %s\n", props.name, props.arch,
                  o.registers, o.blocks_per_sm, fsc_limit_name(o.limit));
    assert_int_equal(own.blocks_per_sm, o.blocks_per_sm);
    assert_true(o.resident_programs == (uint64_t)o.blocks_per_sm * props.sms);
    const fsc_props *card = fsc_gpu_find(props.name);
    if (card) {
        assert_int_equal(card->sms, props.sms);
        assert_int_equal(card->shared_per_sm, props.shared_per_sm);
        assert_int_equal(card->shared_per_block_optin, props.shared_per_block_optin);
        assert_int_equal(card->shared_reserved_per_block, props.shared_reserved_per_block);
        assert_int_equal(card->max_blocks_per_sm, props.max_blocks_per_sm);
        assert_int_equal(card->max_threads_per_sm, props.max_threads_per_sm);
        assert_int_equal(card->registers_per_sm, props.registers_per_sm);
        assert_int_equal(card->clock_khz, props.clock_khz);
        assert_string_equal(card->arch, props.arch);
    }
    fsc_kernel_destroy(k);
}

static void run_and_read(fsc_kernel *k, int64_t programs, uint32_t *out, size_t count) {
    void *y = NULL;
    const int64_t grid[3] = {programs, 1, 1};
    assert_int_equal(fsc_memory_alloc(device, count * 4, &y), FSC_OK);
    fsc_arg a = fsc_pointer(y, count * 4, FSC_U32);
    fsc_status s = fsc_launch(k, grid, &a, 1, NULL);
    if (s != FSC_OK) fail_msg("%s: %s", fsc_status_name(s), fsc_device_message(device));
    assert_int_equal(fsc_memory_read(device, out, y, count * 4), FSC_OK);
    assert_int_equal(fsc_memory_free(device, y), FSC_OK);
    fsc_kernel_destroy(k);
}

static void much_shared_memory(void **state) {
    (void)state;
    if (!device || props.shared_per_block_optin < 100000) skip();
    uint32_t out[8];
    run_and_read(load(record_of("shared", "sm_75", 32, 1, 100000), "6.3", shared_body), 8, out, 8);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(out[i], i + 77);
}

static void clusters(void **state) {
    (void)state;
    if (!device || atoi(props.arch + 3) < 90) skip();
    for (uint32_t size = 2; size <= 16; size *= 2) {
        uint32_t out[48];
        run_and_read(load(record_of("cluster", "sm_90", 32, size, 0), "7.8", cluster_body), 3, out, 3 * size);
        for (uint32_t i = 0; i < 3 * size; i++) assert_int_equal(out[i], i % size * 1000 + 3 * size);
    }
}

static void wrong_ptx_has_the_drivers_log(void **state) {
    (void)state;
    if (!device) skip();
    fsc_module *m = NULL;
    Record *r = record_of("scale", "sm_75", 32, 1, 0);
    char *ptx = sample_ptx(r, "6.3");
    char *ret = strstr(ptx, "ret;");
    memcpy(ret, "rat;", 4);
    assert_int_equal(fsc_module_load(device, ptx, strlen(ptx), &m), FSC_ERROR_IMAGE);
    assert_non_null(strstr(fsc_device_message(device), "rat"));
    memcpy(ret, "ret;", 4);
    memcpy(strstr(ptx, ".version 6.3"), ".version 9.9", 12); /* a version of the future */
    assert_int_equal(fsc_module_load(device, ptx, strlen(ptx), &m), FSC_ERROR_DRIVER_OLD);
    free(ptx);
    record_free(r);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void launches_are_cheap(void **state) {
    (void)state;
    if (!device) skip();
    enum { COUNT = 10000 };
    void *x = NULL;
    fsc_event *a = NULL, *b = NULL;
    double ms = 0;
    fsc_kernel *k = load_scale();
    assert_int_equal(fsc_memory_alloc(device, 1024, &x), FSC_OK);
    assert_int_equal(fsc_event_create(device, &a), FSC_OK);
    assert_int_equal(fsc_event_create(device, &b), FSC_OK);
    fsc_arg args[] = {fsc_pointer(x, 1024, FSC_FP32), fsc_pointer(x, 1024, FSC_FP32), fsc_float(1), fsc_int(256)};
    double start = 0;
    for (int i = -100; i < COUNT; i++) {
        if (i == 0) {
            assert_int_equal(fsc_device_wait(device), FSC_OK);
            assert_int_equal(fsc_event_record(a, NULL), FSC_OK);
            start = seconds();
        }
        assert_int_equal(fsc_launch(k, NULL, args, 4, NULL), FSC_OK);
    }
    double each = (seconds() - start) / COUNT;
    assert_int_equal(fsc_event_record(b, NULL), FSC_OK);
    assert_int_equal(fsc_event_elapsed(a, b, &ms), FSC_OK);
    start = seconds();
    int64_t grid[3];
    for (int i = 0; i < COUNT; i++) assert_int_equal(fsc_launch_grid(k, args, 4, grid, NULL), FSC_OK);
    double checks = (seconds() - start) / COUNT;
    print_message("a launch takes %.2f us of host time, %.2f of them our checks; %.2f us on the device's clock\n",
                  each * 1e6, checks * 1e6, ms * 1e3 / COUNT);
    assert_true(each < 50e-6 && ms > 0);
    fsc_event_destroy(a);
    fsc_event_destroy(b);
    assert_int_equal(fsc_memory_free(device, x), FSC_OK);
    fsc_kernel_destroy(k);
}

/* Last: after it the context is lost. */
static void faults_are_reported(void **state) {
    (void)state;
    if (!device) skip();
    fsc_kernel *k = load(record_of("fault", "sm_75", 32, 1, 0), "6.3", fault_body);
    fsc_arg a = fsc_pointer((void *)16, 0, FSC_U32);
    const int64_t grid[3] = {1, 1, 1};
    assert_int_equal(fsc_launch(k, grid, &a, 1, NULL), FSC_OK);
    assert_int_equal(fsc_device_wait(device), FSC_ERROR_FAULT);
    assert_non_null(strstr(fsc_device_message(device), "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_int_equal(fsc_launch(k, grid, &a, 1, NULL), FSC_ERROR_FAULT);
    fsc_kernel_destroy(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales),
        cmocka_unit_test(occupancy_agrees),
        cmocka_unit_test(much_shared_memory),
        cmocka_unit_test(clusters),
        cmocka_unit_test(wrong_ptx_has_the_drivers_log),
        cmocka_unit_test(launches_are_cheap),
        cmocka_unit_test(faults_are_reported),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
