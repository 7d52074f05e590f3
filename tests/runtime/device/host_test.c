/* host_test.c - the CPU device: memory, the pool of threads, launches of host code. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "hostfix.h"
#include "runtime/cpu/pool.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static int destroyed;
static pthread_barrier_t places_met;
static cpu_set_t places_seen;

static void destroy(void *owner) {
    destroyed += *(int *)owner;
}

/* ---- Devices and memory ------------------------------------------------------------------------------------------ */

static void devices(void **state) {
    (void)state;
    fsc_device *d = NULL;
    fsc_props p;
    int n = 0;
    assert_int_equal(fsc_device_count(FSC_CPU, &n), FSC_OK);
    assert_int_equal(n, 1);
    d = open_cpu("cpu:3");
    assert_int_equal(fsc_device_props(d, &p), FSC_OK);
    assert_int_equal(p.sms, 3);
    assert_string_equal(p.arch, "cpu");
    fsc_device_close(d);
    static const char *const wrong[] = {"", "gpu", "cpu:", "cpu:0", "cpu:-1", "cpu:99999", "cuda:x", "cuda:-1", "cpux"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(fsc_device_open(wrong[i], &d), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "'cpux' is no device"));
    assert_int_equal(fsc_device_open("cpu", NULL), FSC_ERROR_USAGE);
    assert_int_equal(fsc_device_props(NULL, &p), FSC_ERROR_USAGE);
    fsc_device_close(NULL);
}

static void memory(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu");
    void *p = (void *)1;
    char text[4] = "";
    assert_int_equal(fsc_memory_alloc(d, 0, &p), FSC_OK);
    assert_null(p);
    assert_int_equal(fsc_memory_alloc(d, 4, &p), FSC_OK);
    assert_int_equal((uintptr_t)p % 256, 0);
    assert_int_equal(fsc_memory_fill(d, p, 'x', 4), FSC_OK);
    assert_int_equal(fsc_memory_write(d, p, "ab", 2), FSC_OK);
    assert_int_equal(fsc_memory_read(d, text, p, 3), FSC_OK);
    assert_string_equal(text, "abx");
    assert_int_equal(fsc_memory_read(d, NULL, NULL, 0), FSC_OK);
    assert_int_equal(fsc_memory_read(d, NULL, p, 1), FSC_ERROR_USAGE);
    assert_int_equal(fsc_memory_free(d, p), FSC_OK);
    assert_int_equal(fsc_memory_free(d, NULL), FSC_OK);
    assert_int_equal(fsc_memory_alloc(d, UINT64_MAX, &p), FSC_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(fsc_device_message(d), "18446744073709551615 bytes"));
    assert_int_equal(fsc_memory_alloc(NULL, 4, &p), FSC_ERROR_USAGE);
    fsc_device_close(d);
}

static void time_passes(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu");
    fsc_event *a = NULL, *b = NULL;
    void *stream = (void *)1;
    double ms = -1;
    assert_int_equal(fsc_stream_create(d, &stream), FSC_OK);
    assert_null(stream);
    assert_int_equal(fsc_event_create(d, &a), FSC_OK);
    assert_int_equal(fsc_event_create(d, &b), FSC_OK);
    assert_int_equal(fsc_event_record(a, stream), FSC_OK);
    assert_int_equal(fsc_event_elapsed(a, b, &ms), FSC_ERROR_USAGE); /* b was never recorded */
    assert_int_equal(fsc_event_record(b, stream), FSC_OK);
    assert_int_equal(fsc_event_elapsed(a, b, &ms), FSC_OK);
    assert_true(ms >= 0 && ms < 10000);
    assert_int_equal(fsc_stream_wait(d, stream), FSC_OK);
    assert_int_equal(fsc_device_wait(d), FSC_OK);
    assert_int_equal(fsc_stream_destroy(d, stream), FSC_OK);
    fsc_event_destroy(a);
    fsc_event_destroy(b);
    fsc_device_close(d);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void softmax_is_right(void **state) {
    (void)state;
    enum { ROWS = 37, COLS = 19, XS = 23, YS = 21 };
    static _Alignas(16) float x[ROWS * XS], y[ROWS * YS + 1];
    for (int i = 0; i < ROWS * XS; i++) x[i] = (float)(i * 7919 % 1000) / 100;
    for (int i = 0; i <= ROWS * YS; i++) y[i] = -1;
    fsc_device *d = open_cpu("cpu:4");
    Record *r = sample_record("cpu", "32", RECORD_RULE, 16);
    fsc_kernel *k = host_kernel(d, r, softmax_entry, COLS * sizeof(float));
    fsc_arg args[] = {fsc_pointer(y, sizeof y, FSC_FP32),
                      fsc_pointer(x, sizeof x, FSC_FP32),
                      fsc_int(YS),
                      fsc_int(XS),
                      fsc_int(ROWS),
                      fsc_int(COLS)};
    int64_t grid[3] = {0};
    size_t variant = 9;
    assert_int_equal(fsc_launch_grid(k, args, 6, grid, &variant), FSC_OK);
    assert_true(grid[0] == ROWS && grid[1] == 1 && grid[2] == 1 && variant == 0);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    for (int i = 0; i < ROWS; i++) {
        double most = -INFINITY, sum = 0;
        for (int j = 0; j < COLS; j++) most = fmax(most, (double)x[i * XS + j]);
        for (int j = 0; j < COLS; j++) sum += exp((double)x[i * XS + j] - most);
        for (int j = 0; j < COLS; j++)
            assert_true(fabs((double)y[i * YS + j] - exp((double)x[i * XS + j] - most) / sum) < 1e-6);
        for (int j = COLS; j < YS; j++) assert_true(y[i * YS + j] == -1);
    }
    assert_true(y[ROWS * YS] == -1);
    fsc_kernel_report report;
    assert_int_equal(fsc_kernel_warmup(k, 0, &report), FSC_OK);
    assert_int_equal(report.resident_programs, 4);
    assert_int_equal(fsc_kernel_warmup(k, 1, &report), FSC_ERROR_USAGE);
    fsc_kernel_destroy(k);
    record_free(r);
    fsc_device_close(d);
}

static void every_program_runs_once(void **state) {
    (void)state;
    static const int64_t grids[][3] = {{1, 1, 1},     {2, 1, 1}, {1, 7, 1}, {3, 5, 7}, {1000, 1, 3},
                                       {65537, 1, 1}, {0, 5, 5}, {5, 0, 1}, {5, 5, 0}};
    Record *r = count_record();
    for (int threads = 1; threads <= 8; threads += 7) {
        fsc_device *d = open_cpu(threads == 1 ? "cpu:1" : "cpu:8");
        fsc_kernel *k = host_kernel(d, r, count_entry, 200);
        for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
            size_t total = (size_t)(grids[i][0] * grids[i][1] * grids[i][2]);
            atomic_uint *counts = calloc(total + 1, sizeof *counts);
            fsc_arg a = fsc_pointer(counts, 0, FSC_DTYPE_NONE);
            assert_int_equal(fsc_launch(k, grids[i], &a, 1, NULL), FSC_OK);
            for (size_t n = 0; n < total; n++) assert_int_equal(counts[n], 1);
            assert_int_equal(counts[total], 0);
            free(counts);
        }
        fsc_kernel_destroy(k);
        fsc_device_close(d);
    }
    record_free(r);
}

typedef struct Caller {
    fsc_kernel *kernel;
    unsigned wrong;
} Caller;

static void *call_many(void *context) {
    Caller *c = context;
    atomic_uint counts[100] = {0};
    fsc_arg a = fsc_pointer((void *)counts, sizeof counts, FSC_U32), odd = fsc_int(1);
    int64_t grid[3] = {100, 1, 1};
    for (int i = 0; i < 50; i++) {
        if (fsc_launch(c->kernel, grid, &a, 1, NULL) != FSC_OK) c->wrong++;
        if (fsc_launch(c->kernel, grid, &odd, 1, NULL) != FSC_ERROR_ARGUMENT) c->wrong++;
        if (!strstr(fsc_last_message(), "is a pointer, not a number")) c->wrong++;
        if (!strstr(fsc_device_message(fsc_kernel_device(c->kernel)), "is a pointer")) c->wrong++;
    }
    for (int i = 0; i < 100; i++) c->wrong += counts[i] != 50;
    return NULL;
}

static void many_callers(void **state) {
    (void)state;
    Record *r = count_record();
    fsc_device *d = open_cpu("cpu:3");
    fsc_kernel *k = host_kernel(d, r, count_entry, 200);
    pthread_t threads[4];
    Caller callers[4];
    for (int i = 0; i < 4; i++) {
        callers[i] = (Caller){k, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    fsc_kernel_destroy(k);
    fsc_device_close(d);
    record_free(r);
}

/* ---- Threads of the application ---------------------------------------------------------------------------------- */

enum { EXECUTOR_PROGRAMS = 2000 };

typedef struct Executor {
    unsigned calls, tasks, wrong;
} Executor;

typedef struct Task {
    fsc_work *work;
    void *task;
    uint32_t i;
} Task;

static void *run_task(void *context) {
    Task *t = context;
    fesetround(FE_UPWARD); /* a state of its own, which the programs must not see, and which must come back */
    t->work(t->task, t->i);
    return fegetround() == FE_UPWARD ? NULL : t;
}

/* The last half of the work at once, on threads of its own; then the first half, one after the other. */
static void execute(void *context, uint32_t n, fsc_work *work, void *task) {
    Executor *e = context;
    pthread_t threads[8];
    Task tasks[8];
    e->calls++;
    e->tasks += n;
    for (uint32_t i = n / 2; i < n; i++) {
        tasks[i] = (Task){work, task, i};
        if (pthread_create(&threads[i], NULL, run_task, &tasks[i]) != 0) e->wrong++;
    }
    for (uint32_t i = n / 2; i < n; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        if (result) e->wrong++;
    }
    for (uint32_t i = 0; i < n / 2; i++) work(task, i);
}

static void round_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)nprog, (void)scratch;
    atomic_uint *counts = *(atomic_uint *const *)args[0];
    struct timespec t = {.tv_nsec = 20000};
    nanosleep(&t, NULL); /* no grid is quick */
    if (fegetround() == FE_TONEAREST) atomic_fetch_add(&counts[pid[0]], 1);
}

static void executor_runs_programs(void **state) {
    (void)state;
    static atomic_uint counts[EXECUTOR_PROGRAMS];
    Executor e = {0};
    Record *r = count_record();
    fsc_device *d = open_cpu("cpu:4"), *emu = open_cpu("emu:2");
    fsc_kernel *k = host_kernel(d, r, round_entry, 0);
    fsc_arg a = fsc_pointer((void *)counts, sizeof counts, FSC_U32);
    int64_t grid[3] = {EXECUTOR_PROGRAMS, 1, 1}, one[3] = {1, 1, 1};
    assert_int_equal(fsc_device_set_executor(d, execute, &e), FSC_OK);
    assert_int_equal(fsc_launch(k, grid, &a, 1, NULL), FSC_OK);
    assert_int_equal(e.calls, 1);
    assert_int_equal(e.tasks, 4);
    assert_int_equal(fsc_launch(k, one, &a, 1, NULL), FSC_OK); /* nothing to share */
    assert_int_equal(e.calls, 1);
    assert_int_equal(fsc_device_set_executor(d, NULL, NULL), FSC_OK);
    assert_int_equal(fsc_launch(k, grid, &a, 1, NULL), FSC_OK);
    assert_int_equal(e.calls, 1);
    assert_int_equal(e.wrong, 0);
    for (int i = 0; i < EXECUTOR_PROGRAMS; i++) assert_int_equal(counts[i], i == 0 ? 3 : 2);
    assert_int_equal(fsc_device_set_executor(NULL, execute, &e), FSC_ERROR_USAGE);
    assert_int_equal(fsc_device_set_executor(emu, execute, &e), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_device_message(emu), "'emu' run on no threads of the application"));
    fsc_kernel_destroy(k);
    record_free(r);
    fsc_device_close(emu);
    fsc_device_close(d);
}

/* ---- Threads of ours --------------------------------------------------------------------------------------------- */

typedef struct Where {
    pthread_t caller;
    atomic_uint elsewhere; /* programs that another thread ran */
    atomic_uint joined;    /* the caller's program goes on when another thread has one */
    bool meets;
} Where;

static void where_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)pid, (void)nprog, (void)scratch;
    Where *w = *(Where *const *)args[0];
    bool is_caller = pthread_equal(w->caller, pthread_self());
    if (!is_caller) atomic_fetch_add(&w->elsewhere, 1);
    if (!w->meets) return;
    atomic_fetch_add(&w->joined, 1);
    while (atomic_load(&w->joined) < 2) {}
}

static void quick_grids_stay_on_the_caller(void **state) {
    (void)state;
    Record *r = count_record();
    fsc_device *d = open_cpu("cpu:2");
    fsc_kernel *k = host_kernel(d, r, where_entry, 0);
    Where w = {.caller = pthread_self(), .meets = true};
    fsc_arg a = fsc_pointer(&w, sizeof w, FSC_DTYPE_NONE);
    int64_t grid[3] = {2, 1, 1};
    assert_int_equal(fsc_launch(k, grid, &a, 1, NULL), FSC_OK); /* two programs that wait for each other */
    assert_int_equal(w.elsewhere, 1);
    w.meets = false;
    for (int i = 0; i < 100; i++) assert_int_equal(fsc_launch(k, grid, &a, 1, NULL), FSC_OK);
    unsigned before = w.elsewhere;
    for (int i = 0; i < 1000; i++) assert_int_equal(fsc_launch(k, grid, &a, 1, NULL), FSC_OK);
    assert_true(w.elsewhere - before < 500); /* a few where the machine stopped the caller within a grid */
    fsc_kernel_destroy(k);
    record_free(r);
    fsc_device_close(d);
}

static void write_text(const char *folder, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The least quota of a control group and of those above it, rounded up. */
static void quotas(void **state) {
    (void)state;
    char root[] = "/tmp/fsc-quota-XXXXXX", inner[64], command[128];
    assert_non_null(mkdtemp(root));
    snprintf(inner, sizeof inner, "%s/a", root);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(cores_quota(root, "/a"), UINT32_MAX); /* no file */
    write_text(inner, "cpu.max", "max 100000\n");
    assert_int_equal(cores_quota(root, "/a"), UINT32_MAX);
    write_text(root, "cpu.max", "350000 100000\n");
    assert_int_equal(cores_quota(root, "/a"), 4);
    assert_int_equal(cores_quota(root, "/"), 4);
    write_text(inner, "cpu.max", "200000 100000\n");
    assert_int_equal(cores_quota(root, "/a"), 2);
    write_text(inner, "cpu.max", "1000 100000\n");
    assert_int_equal(cores_quota(root, "/a"), 1);
    write_text(inner, "cpu.max", "what\n");
    assert_int_equal(cores_quota(root, "/a"), 4);
    assert_true(cores_count() >= 1);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

/* A thread that may use one core gets a pool of one. */
static void affinity_counts(void **state) {
    (void)state;
    cpu_set_t before, one;
    fsc_props p;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    fsc_device *d = open_cpu("cpu");
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(fsc_device_props(d, &p), FSC_OK);
    assert_int_equal(p.sms, 1);
    fsc_device_close(d);
}

/* A thread that sleeps wakes where it was placed, and may run everywhere again when it says so. */
static void *wait_in_place(void *context) {
    CorePlace **place = context;
    *place = cores_place_new();
    pthread_barrier_wait(&places_met);
    pthread_barrier_wait(&places_met);
    assert_int_equal(sched_getaffinity(0, sizeof places_seen, &places_seen), 0);
    cores_unplace(*place);
    return NULL;
}

static void places(void **state) {
    (void)state;
    cpu_set_t own;
    pthread_t thread;
    CorePlace *place = NULL;
    assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
    pthread_barrier_init(&places_met, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_in_place, &place), 0);
    pthread_barrier_wait(&places_met);
    cores_place(place, 0);
    cores_place(place, 0); /* it is */
    pthread_barrier_wait(&places_met);
    pthread_join(thread, NULL);
    if (place && CPU_COUNT(&own) > 1) assert_int_equal(CPU_COUNT(&places_seen), 1);
    else assert_true(CPU_EQUAL(&places_seen, &own)); /* there is no other core, or it need not be */
    cores_place(NULL, 0);
    cores_unplace(NULL);
    pthread_barrier_destroy(&places_met);
    free(place);
}

static void owners_end_once(void **state) {
    (void)state;
    int one = 1;
    Record *r = count_record();
    fsc_device *d = open_cpu("cpu");
    fsc_module *m = NULL;
    fsc_kernel *a = NULL, *b = NULL;
    fsc_host_code code = {.entry = count_entry, .owner = &one, .destroy = destroy};
    destroyed = 0;
    assert_int_equal(fsc_module_host(d, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_module_kernels(m), 1);
    assert_string_equal(fsc_module_kernel_name(m, 0), "count");
    assert_null(fsc_module_kernel_name(m, 1));
    assert_non_null(fsc_module_record(m, 0));
    assert_int_equal(fsc_kernel_create(m, "count", &a), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &b), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, "other", &b), FSC_ERROR_USAGE);
    fsc_kernel_destroy(a);
    fsc_module_unload(m);
    assert_int_equal(destroyed, 0);
    fsc_kernel_destroy(b);
    assert_int_equal(destroyed, 1);

    record_set_target(r, "sm_80", "0.1.0", "count.dsl");
    assert_int_equal(fsc_module_host(d, r, &code, &m), FSC_ERROR_ARCH);
    record_set_target(r, "cpu", "0.1.0", "count.dsl");
    record_add_grid(r, "1 +");
    assert_int_equal(fsc_module_host(d, r, &code, &m), FSC_ERROR_RECORD);
    assert_int_equal(destroyed, 1);
    fsc_device_close(d);
    record_free(r);
}

static void versions(void **state) {
    (void)state;
    assert_int_equal(fsc_version_number(), FSC_VERSION_NUMBER);
    assert_int_equal(FSC_VERSION_NUMBER, FSC_VERSION_MAJOR * 10000 + FSC_VERSION_MINOR * 100 + FSC_VERSION_PATCH);
    assert_string_equal(FSC_VERSION_STRING, FSC_VERSION); /* what CMake read from the header */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(devices),
        cmocka_unit_test(memory),
        cmocka_unit_test(time_passes),
        cmocka_unit_test(softmax_is_right),
        cmocka_unit_test(every_program_runs_once),
        cmocka_unit_test(many_callers),
        cmocka_unit_test(executor_runs_programs),
        cmocka_unit_test(quick_grids_stay_on_the_caller),
        cmocka_unit_test(quotas),
        cmocka_unit_test(affinity_counts),
        cmocka_unit_test(places),
        cmocka_unit_test(owners_end_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
