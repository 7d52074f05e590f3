/* object_test.c - kernels compiled ahead of time: which variant is taken and loaded, where, and how often;
 * what is refused. */
#include "objectfix.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Architectures ----------------------------------------------------------------------------------------------- */

static void architectures(void **state) {
    (void)state;
    static const struct {
        const char *have[4]; /* "sm_90 c" */
        const char *entry;
    } cases[] = {{{"sm_80 c", "sm_80 p", "sm_90 p", "sm_90 c"}, "sm_90_c_1_1024"},
                 {{"sm_90 p", "sm_80 c", "sm_90 c", "sm_90a c"}, "sm_90a_c_1_1024"},
                 /* no cubin fits: the newest PTX that does */
                 {{"sm_80 c", "sm_75 p", "sm_80 p", "sm_100 p"}, "sm_80_p_1_1024"},
                 {{"sm_75 p", "sm_100 c"}, "sm_75_p_1_1024"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Made m;
        char archs[4][8];
        begin(&m);
        for (size_t k = 0; k < 4 && cases[i].have[k]; k++) {
            snprintf(archs[k], sizeof archs[k], "%.*s", (int)strcspn(cases[i].have[k], " "), cases[i].have[k]);
            add(&m, archs[k], strstr(cases[i].have[k], " c") != NULL, 1, "1024", 0);
        }
        takes(&m, 700, false, cases[i].entry);
        assert_int_equal(fake_calls("cuModuleLoadDataEx"), i + 1);
        end(&m);
    }
}

static void no_architecture(void **state) {
    (void)state;
    Made m;
    begin(&m);
    add(&m, "sm_80", true, 1, "1024", 0);
    add(&m, "sm_100", true, 1, "1024", 0);
    assert_int_equal(launch(&m, NULL, 700, false), FSC_ERROR_ARCH);
    assert_non_null(strstr(fsc_last_message(),
                           "compiled for sm_80, sm_100, and Fake H100 0 is sm_90: compile it with --arch=sm_90"));
    assert_int_equal(launch(&m, FSC_STREAM_CPU, 700, false), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "has no CPU version: compile it with cpu among the --arch"));
    end(&m);
}

/* ---- Variants ---------------------------------------------------------------------------------------------------- */

static void make_usual(Made *m) {
    begin(m);
    add(m, "sm_90", true, 16, "512", 0);
    add(m, "sm_90", true, 16, "1024", 1);
    add(m, "sm_90", true, 1, "512", 2);
    add(m, "sm_90", true, 1, "1024", 3);
}

static void variants(void **state) {
    (void)state;
    Made m;
    make_usual(&m);
    takes(&m, 700, false, "sm_90_c_16_1024");
    takes(&m, 1024, false, "sm_90_c_16_1024");
    assert_int_equal(fake.modules, 1); /* the others are not loaded */
    takes(&m, 512, false, "sm_90_c_16_512");
    takes(&m, 400, true, "sm_90_c_1_512");
    takes(&m, 700, true, "sm_90_c_1_1024");
    assert_int_equal(fake.modules, 4);
    takes(&m, 700, true, "sm_90_c_1_1024");
    takes(&m, 700, false, "sm_90_c_16_1024"); /* which the last one would fit, too */
    assert_int_equal(fake_calls("cuModuleLoadDataEx"), 4);
    assert_int_equal(fake_launch(0).grid[0], 3); /* by the launch rule */

    assert_int_equal(launch(&m, NULL, 1025, false), FSC_NO_VARIANT);
    assert_non_null(strstr(fsc_last_message(),
                           "the launch rule BLOCK = next_power_of_2(n_cols) gives 2048, and the object has "
                           "variants for 512, 1024: --variants BLOCK=512..2048 would cover it"));
    assert_int_equal(launch(&m, NULL, 16, false), FSC_NO_VARIANT);
    assert_non_null(strstr(fsc_last_message(), "--variants BLOCK=16..1024 would cover it"));
    end(&m);
}

/* What no --variants would cover has the sentence of every launch. */
static void assumptions(void **state) {
    (void)state;
    Made m;
    begin(&m);
    add(&m, "sm_90", true, 16, "1024", 0);
    assert_int_equal(launch(&m, NULL, 700, true), FSC_NO_VARIANT);
    assert_non_null(strstr(fsc_last_message(), "argument x is at 0x7000000004, which is not a multiple of 16 bytes"));
    end(&m);
}

static void load_all(void **state) {
    (void)state;
    Made m;
    make_usual(&m);
    assert_int_equal(fsc_object_load(&m.object, NULL), FSC_OK);
    assert_int_equal(fake.modules, 4);
    takes(&m, 400, true, "sm_90_c_1_512");
    assert_int_equal(fake_calls("cuModuleLoadDataEx"), 4);
    fsc_object_unload(&m.object);
    assert_true(fake.modules == 0 && fake.retained == 0);
    takes(&m, 400, true, "sm_90_c_1_512"); /* and again */
    end(&m);
}

/* Of four variants the second needs more than the device has: the others are loaded. */
static void load_what_fits(void **state) {
    (void)state;
    Made m;
    make_usual(&m);
    fake_fail("cuModuleGetFunction", 2, 2);
    assert_int_equal(fsc_object_load(&m.object, NULL), FSC_ERROR_DEVICE_MEMORY);
    assert_int_equal(fake.modules, 4);
    assert_int_equal(fsc_object_load(&m.object, NULL), FSC_OK);
    assert_int_equal(fake_calls("cuModuleLoadDataEx"), 4);
    end(&m);
}

static void failures(void **state) {
    (void)state;
    Made m;
    make_usual(&m);
    fake_fail("cuDevicePrimaryCtxRetain", 1, 2);
    assert_int_equal(launch(&m, NULL, 700, false), FSC_ERROR_DEVICE_MEMORY);
    fake_fail("cuModuleLoadDataEx", 1, 2);
    assert_int_equal(launch(&m, NULL, 700, false), FSC_ERROR_DEVICE_MEMORY);
    fake_fail("cuModuleGetFunction", 1, 2);
    assert_int_equal(launch(&m, NULL, 700, false), FSC_ERROR_DEVICE_MEMORY);
    takes(&m, 700, false, "sm_90_c_16_1024"); /* the next one tries again */
    assert_int_equal(fake.modules, 1);
    m.object.abi = 99;
    assert_int_equal(launch(&m, NULL, 700, false), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "another version of fsc"));
    m.object.abi = FSC_OBJECT_ABI;
    assert_int_equal(fsc_object_launch(NULL, NULL, NULL, NULL), FSC_ERROR_USAGE);
    assert_int_equal(fsc_object_launch(&m.object, NULL, NULL, NULL), FSC_ERROR_USAGE);
    fsc_object_unload(NULL);
    end(&m);
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static void contexts(void **state) {
    (void)state;
    Made m;
    make_usual(&m);
    takes(&m, 700, false, "sm_90_c_16_1024"); /* no context: the primary one */
    assert_int_equal(fake.retained, 1);
    fake_set_current(1); /* the caller's */
    takes(&m, 700, false, "sm_90_c_16_1024");
    takes(&m, 700, false, "sm_90_c_16_1024");
    assert_true(fake.retained == 1 && fake.modules == 2 && fake_current_is_own());
    fake.generation++; /* another context at that address */
    takes(&m, 700, false, "sm_90_c_16_1024");
    assert_int_equal(fake.modules, 3);
    fake_set_current(-1);
    takes(&m, 700, false, "sm_90_c_16_1024");
    assert_int_equal(fake.modules, 3);
    end(&m);
}

static void two_objects(void **state) {
    (void)state;
    Made a, b;
    make_usual(&a);
    make_usual(&b);
    takes(&a, 700, false, "sm_90_c_16_1024");
    takes(&b, 700, false, "sm_90_c_16_1024");
    assert_true(fake.retained == 1 && fake.modules == 2); /* one device for both */
    end(&a);
    assert_int_equal(fake.retained, 1);
    takes(&b, 700, false, "sm_90_c_16_1024");
    end(&b);
    assert_int_equal(fake.retained, 0);
}

static void cpu_version(void **state) {
    (void)state;
    Made m;
    make_usual(&m);
    add_cpu(&m, "1024", 3);
    atomic_store(&programs, 0);
    assert_int_equal(launch(&m, FSC_STREAM_CPU, 700, false), FSC_OK);
    assert_true(atomic_load(&programs) == 3 && seen == 42.0f && fake.launches == 0 && fake.modules == 0);
    assert_int_equal(launch(&m, FSC_STREAM_CPU, 300, false), FSC_NO_VARIANT);
    takes(&m, 700, false, "sm_90_c_16_1024"); /* there is a GPU */
    fsc_object_unload(&m.object);

    fake.devices = 0; /* and now there is none */
    assert_int_equal(launch(&m, NULL, 700, true), FSC_OK);
    assert_int_equal(launch(&m, NULL, 700, true), FSC_OK);
    assert_int_equal(atomic_load(&programs), 9);
    m.object.num_variants--;
    fsc_object_unload(&m.object);
    assert_int_equal(launch(&m, NULL, 700, false), FSC_NO_DEVICE);
    m.object.num_variants++;
    end(&m);
}

/* The processor would fault at a GPU's address. */
static void cpu_version_of_gpu_memory(void **state) {
    (void)state;
    Made m;
    begin(&m);
    add_cpu(&m, "1024", 3);
    fsc_device *d = NULL;
    void *memory = NULL;
    float own[4] = {42.0f};
    int32_t stride = 4096, rows = 3, n_cols = 700;
    assert_int_equal(fsc_device_open("cuda", &d), FSC_OK);
    assert_int_equal(fsc_memory_alloc(d, 4096, &memory), FSC_OK);
    const void *y = own, *x = memory;
    const void *const values[] = {&y, &x, &stride, &stride, &rows, &n_cols};
    atomic_store(&programs, 0);
    assert_int_equal(fsc_object_launch(&m.object, NULL, NULL, values), FSC_ERROR_ARCH);
    assert_non_null(
        strstr(fsc_last_message(), "argument 2 of kernel softmax is memory of a GPU, and this is its CPU version"));
    x = own;
    assert_int_equal(fsc_object_launch(&m.object, NULL, NULL, values), FSC_OK);
    assert_int_equal(atomic_load(&programs), 3);
    assert_int_equal(fsc_memory_free(d, memory), FSC_OK);
    fsc_object_unload(&m.object);
    fsc_device_close(d);
    end(&m);
}

/* A fault is told until the object is unloaded, which gives the lost context back: then a new one works. */
static void faults_end_with_the_context(void **state) {
    (void)state;
    Made m;
    make_usual(&m);
    takes(&m, 700, false, "sm_90_c_16_1024");
    fake_fail("cuLaunchKernel", 1, 719);
    assert_int_equal(launch(&m, NULL, 700, false), FSC_ERROR_FAULT);
    int before = fake_calls("cuLaunchKernel");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(launch(&m, NULL, 700, false), FSC_ERROR_FAULT);
        assert_non_null(strstr(fsc_last_message(), "an earlier kernel faulted: CUDA_ERROR_LAUNCH_FAILED"));
        assert_int_equal(fsc_object_load(&m.object, NULL), FSC_ERROR_FAULT); /* variants that were not loaded yet */
    }
    assert_int_equal(fake_calls("cuLaunchKernel"), before);
    fsc_object_unload(&m.object);
    assert_int_equal(fake.retained, 0);
    takes(&m, 700, false, "sm_90_c_16_1024");
    end(&m);
    assert_int_equal(fake.retained, 0);
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphLaunch(void *graph, void *stream);
int cuGraphDestroy(void *graph);

/* A capture takes launches; code that is not loaded yet it may refuse. */
static void graphs(void **state) {
    (void)state;
    Made m;
    fsc_device *d = open_cuda();
    void *stream = NULL, *graph = NULL;
    make_usual(&m);
    fake_set_current(0);
    assert_int_equal(fsc_stream_create(d, &stream), FSC_OK);
    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    assert_int_equal(launch(&m, stream, 700, false), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "load kernels before (fsc_kernel_warmup, fsc_object_load)"));
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);

    assert_int_equal(fsc_object_load(&m.object, stream), FSC_OK);
    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    assert_int_equal(launch(&m, stream, 700, false), FSC_OK);
    assert_int_equal(launch(&m, stream, 400, true), FSC_OK);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(fake.launches, 0);
    for (int i = 0; i < 3; i++) assert_int_equal(cuGraphLaunch(graph, stream), 0);
    assert_int_equal(fake.launches, 6);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(fsc_stream_destroy(d, stream), FSC_OK);
    fake_set_current(-1);
    fsc_device_close(d);
    end(&m);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static char given[64];

static void values_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)pid, (void)scratch;
    snprintf(given, sizeof given, "%g %g %d %d %u %lld %llu %lld", (double)*(const float *)args[0],
             *(const double *)args[1], *(const uint8_t *)args[2], *(const int8_t *)args[3], *(const uint16_t *)args[4],
             (long long)*(const int64_t *)args[5], (unsigned long long)*(const uint64_t *)args[6], (long long)nprog[0]);
}

static void value_types(void **state) {
    (void)state;
    static const char *const types[] = {"fp32", "fp64", "i1", "i8", "u16", "i64", "u64"};
    Record *r = record_create("k");
    record_set_target(r, "cpu", "0.1.0", "k.dsl");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) record_add_param(r, RECORD_SCALAR, types[i], types[i]);
    size_t size = 0;
    char *text = record_write(r, &size);
    const fsc_object_variant v = {.arch = "cpu", .code = text, .size = size, .entry = values_entry};
    fsc_object o = {FSC_OBJECT_ABI, "k", &v, 1, NULL};
    float f = 0.5f;
    double d = 0.1;
    uint8_t truth = 1;
    int8_t i8 = -5;
    uint16_t u16 = 65535;
    int64_t i64 = INT64_MIN, grid[3] = {1, 1, 1};
    uint64_t u64 = UINT64_MAX;
    const void *const values[] = {&f, &d, &truth, &i8, &u16, &i64, &u64};
    assert_int_equal(fsc_object_launch(&o, NULL, grid, values), FSC_OK);
    assert_string_equal(given, "0.5 0.1 1 -5 65535 -9223372036854775808 18446744073709551615 1");
    assert_int_equal(fsc_object_launch(&o, NULL, NULL, values), FSC_ERROR_USAGE); /* no launch rule */
    assert_int_equal(fake_calls("cuDevicePrimaryCtxRetain"), 0); /* of the CPU alone: no driver is asked */
    fsc_object_unload(&o);
    free(text);
    record_free(r);
}

enum { MANY_ARGS = 300 }; /* more than a launch keeps on the stack */
static int64_t sum;

static void many_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)pid, (void)nprog, (void)scratch;
    sum = 0;
    for (int i = 0; i < MANY_ARGS; i++) sum += *(const int32_t *)args[i];
}

static void many_values(void **state) {
    (void)state;
    static int32_t numbers[MANY_ARGS];
    const void *values[MANY_ARGS];
    Record *r = record_create("k");
    record_set_target(r, "cpu", "0.1.0", "k.dsl");
    for (int i = 0; i < MANY_ARGS; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        record_add_param(r, RECORD_SCALAR, name, "i32");
        numbers[i] = i;
        values[i] = &numbers[i];
    }
    size_t size = 0;
    char *text = record_write(r, &size);
    const fsc_object_variant v = {.arch = "cpu", .code = text, .size = size, .entry = many_entry};
    fsc_object o = {FSC_OBJECT_ABI, "k", &v, 1, NULL};
    assert_int_equal(fsc_object_launch(&o, NULL, (const int64_t[3]){1, 1, 1}, values), FSC_OK);
    assert_int_equal(sum, MANY_ARGS * (MANY_ARGS - 1) / 2);
    fsc_object_unload(&o);
    free(text);
    record_free(r);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 50 };

static void *many(void *made) {
    for (int i = 0; i < ROUNDS; i++) {
        if (launch(made, NULL, i % 2 ? 700 : 400, false) != FSC_OK) return made;
    }
    return NULL;
}

static void concurrent(void **state) {
    (void)state;
    Made m;
    pthread_t threads[THREADS];
    make_usual(&m);
    fake.delay = 20;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, many, &m);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(fake.launches, THREADS * ROUNDS);
    assert_int_equal(fake_calls("cuModuleLoadDataEx"), 2);
    assert_int_equal(fake_calls("cuModuleGetFunction"), 2);
    assert_int_equal(fake_calls("cuDevicePrimaryCtxRetain"), 1);
    end(&m);
}

/* Code of 3 to 4 programs, each shared by so many blocks that are all on the device at once. */
static void add_few(Made *m, uint32_t blocks, uint64_t number) {
    Record *r = variant_record("sm_90", "few", 16, "1024");
    size_t n = m->object.num_variants++, size = 0;
    r->params[P_ROWS].least = 3;
    r->launches[0].scope = SCOPE_GRID;
    r->params[P_ROWS].most = r->launches[0].most_programs = 4;
    r->launches[0].blocks_per_program = blocks;
    m->codes[n] = fake_cubin(r, &size);
    m->variants[n] = (fsc_object_variant){.arch = "sm_90", .code = m->codes[n], .size = size, .number = number};
    record_free(r);
}

/* Taken where the programs are few, unless the grid by hand is not, or the device has too few multiprocessors (132). */
static void few_programs(void **state) {
    (void)state;
    static const int64_t beyond[3] = {5, 1, 1}, within[3] = {4, 1, 1};
    const void *at = (const char *)NULL + 0x7000000000;
    int32_t stride = 4096, rows = 3, cols = 700;
    const void *const values[] = {&at, &at, &stride, &stride, &rows, &cols};
    for (uint32_t blocks = 32; blocks <= 64; blocks *= 2) {
        Made m;
        begin(&m);
        add_few(&m, blocks, 1);
        add(&m, "sm_90", true, 16, "1024", 0);
        const char *few = blocks == 32 ? "few" : "sm_90_c_16_1024";
        takes(&m, 700, false, few);
        assert_int_equal(fsc_object_launch(&m.object, NULL, within, values), FSC_OK);
        assert_string_equal(last_entry(), few);
        assert_int_equal(fsc_object_launch(&m.object, NULL, beyond, values), FSC_OK);
        assert_string_equal(last_entry(), "sm_90_c_16_1024");
        end(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(architectures, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(no_architecture, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(variants, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(assumptions, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(few_programs, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(load_all, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(load_what_fits, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(failures, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(contexts, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(two_objects, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(cpu_version, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(cpu_version_of_gpu_memory, fresh, nothing_left),
        cmocka_unit_test_setup(faults_end_with_the_context, fresh),
        cmocka_unit_test_setup_teardown(graphs, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(value_types, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(many_values, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(concurrent, fresh, nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
