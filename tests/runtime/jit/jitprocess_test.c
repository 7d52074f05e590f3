/* jitprocess_test.c - what a host program does to its process around our calls: it forks, and rounds in its own way.
 *
 * In: kernels on the CPU, the emulator and the fake driver. Out: launches, compiles and closed devices in children that
 * were forked while no thread, or several, were in the middle of calls; results and the caller's state under each
 * rounding mode.
 */
#define _DEFAULT_SOURCE
#include "fakecuda.h"
#include "jitfix.h"

#include <dirent.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* ThreadSanitizer knows no threads of a child: under it none are started there. */
#if defined __SANITIZE_THREAD__
#define CPU "cpu:1"
#define EMU "emu:1"
#else
#define CPU "cpu:4"
#define EMU "emu:3"
#endif

/* ASan's allocator does not wait for fork() before GCC 15. A child hangs where a thread of its parent was in malloc(),
 * or had only begun to start. Threads allocate in calls, for which forks wait; under ASan forks wait for those that
 * start, too. */
#if defined __SANITIZE_ADDRESS__
enum { WAITS_FOR_STARTS = 1 };
#else
enum { WAITS_FOR_STARTS = 0 };
#endif

/* ---- fork() ------------------------------------------------------------------------------------------------------ */

enum { CHILD_SECONDS = 30 };

typedef struct Handles {
    fsc_device *cpu, *emu;
    fsc_jit *on_cpu, *on_emu;
} Handles;

static void handles_open(Handles *h) {
    h->cpu = device_of(CPU);
    h->emu = device_of(EMU);
    h->on_cpu = jit_with(h->cpu, scale, NULL);
    h->on_emu = jit_with(h->emu, scale, NULL);
}

static void handles_close(Handles *h) {
    fsc_jit_destroy(h->on_cpu);
    fsc_jit_destroy(h->on_emu);
    fsc_device_close(h->cpu);
    fsc_device_close(h->emu);
}

/* Of the threads of this process but the one that asks. */
static bool all_sleep(void) {
    bool ok = true;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e = NULL; ok && (e = readdir(d));) {
        char path[300], line[300] = "";
        if (e->d_name[0] == '.' || atoi(e->d_name) == (int)getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
        FILE *f = fopen(path, "r");
        if (!f) continue; /* it has ended */
        const char *name_end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        fclose(f);
        ok = !name_end || name_end[2] == 'S';
    }
    closedir(d);
    return ok;
}

static void let_threads_start(void) {
    for (int calm = 0; WAITS_FOR_STARTS && calm < 3; usleep(1000)) calm = all_sleep() ? calm + 1 : 0;
}

/* The child's exit status is 0 if `run` is true in it; one that hangs is ended by its alarm. */
static void in_child(bool (*run)(Handles *h), Handles *h) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(run(h) ? 0 : 1);
    }
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child ended by signal %d%s", WTERMSIG(status), WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Variants that are there, one that is new, and all the handles' ends. */
static bool use_all(Handles *h) {
    bool ok = scale_is_right(h->on_cpu, 3000, 2) && scale_is_right(h->on_emu, 3000, 3);
    ok = ok && scale_is_right(h->on_cpu, 17, 4) && scale_is_right(h->on_emu, 17, 5);
    fsc_jit *fresh = jit_with(h->cpu, scale, NULL);
    ok = ok && scale_is_right(fresh, 500, 6);
    fsc_jit_destroy(fresh);
    handles_close(h);
    return ok;
}

static bool use_in_grandchild(Handles *h) {
    bool ok = scale_is_right(h->on_cpu, 3000, 2) && scale_is_right(h->on_emu, 3000, 3);
    let_threads_start();
    in_child(use_all, h);
    return ok && use_all(h);
}

static bool close_only(Handles *h) {
    handles_close(h);
    return true;
}

static void test_child_launches(void **state) {
    (void)state;
    Handles h;
    handles_open(&h);
    in_child(use_all, &h); /* before anything ran */
    assert_true(scale_is_right(h.on_cpu, 3000, 2) && scale_is_right(h.on_emu, 3000, 2));
    let_threads_start();
    in_child(close_only, &h);
    in_child(use_all, &h);
    in_child(use_in_grandchild, &h);
    assert_true(use_all(&h)); /* and the parent goes on */
}

static Handles shared; /* of threads that a failed test leaves behind, too */
static atomic_bool is_over;
static atomic_int begun, wrong;

/* Each launches once before the first fork, which starts what there is to start. */
static void *launch_again(fsc_jit *j) {
    for (int i = 0; !atomic_load(&is_over); i++) {
        if (!scale_is_right(j, 3000, 2)) atomic_fetch_add(&wrong, 1);
        if (i == 0) atomic_fetch_add(&begun, 1);
    }
    return NULL;
}

static void *launch_on_cpu(void *context) {
    (void)context;
    return launch_again(shared.on_cpu);
}

static void *launch_on_emu(void *context) {
    (void)context;
    return launch_again(shared.on_emu);
}

static void *compile_and_fail(void *context) {
    (void)context;
    for (int i = 0; !atomic_load(&is_over); i++) {
        fsc_jit *fresh = jit_with(shared.cpu, scale, NULL);
        if (!scale_is_right(fresh, 100, 2)) atomic_fetch_add(&wrong, 1);
        if (fsc_jit_launch(fresh, NULL, NULL, 0, NULL) == FSC_OK) atomic_fetch_add(&wrong, 1);
        fsc_jit_destroy(fresh);
        if (i == 0) atomic_fetch_add(&begun, 1);
    }
    return NULL;
}

static void test_fork_amid_calls(void **state) {
    static void *(*const calls[])(void *) = {launch_on_cpu, launch_on_cpu, launch_on_emu, compile_and_fail};
    enum { THREADS = sizeof calls / sizeof calls[0], FORKS = 40 };
    pthread_t threads[THREADS];
    (void)state;
    handles_open(&shared);
    assert_true(scale_is_right(shared.on_cpu, 3000, 2) && scale_is_right(shared.on_emu, 3000, 2));
    let_threads_start();
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, calls[i], NULL), 0);
    while (atomic_load(&begun) < THREADS) usleep(1000);
    for (int i = 0; i < FORKS; i++) in_child(use_all, &shared);
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    handles_close(&shared);
}

static fsc_device *gpu;

static int driver_calls(void) {
    int n = 0;
#define CUDA(name, symbol, need, parameters) n += fake_calls(#name);
#include "runtime/cuda/cuda_api.def"
#undef CUDA
    return n;
}

/* No call reaches the driver, whatever it would have done. */
static bool is_refused(Handles *h) {
    fsc_device *d = NULL;
    void *p = NULL;
    (void)h;
    fake_reset();
    const fsc_status s[] = {fsc_device_open("cuda", &d), fsc_memory_alloc(gpu, 64, &p), fsc_device_wait(gpu)};
    bool is_said = strstr(fsc_last_message(), "a forked process cannot use CUDA once its parent has") != NULL;
    fsc_device_close(gpu);
    for (int i = 0; i < 3; i++) is_said &= s[i] == FSC_ERROR_DRIVER;
    if (!is_said)
        print_error("%s %s %s: %s\n", fsc_status_name(s[0]), fsc_status_name(s[1]), fsc_status_name(s[2]),
                    fsc_last_message());
    return is_said && !d && !p && driver_calls() == 0;
}

static void test_cuda_in_child(void **state) {
    (void)state;
    gpu = device_of("cuda");
    in_child(is_refused, NULL);
    void *p = NULL;
    assert_int_equal(fsc_memory_alloc(gpu, 64, &p), FSC_OK);
    assert_int_equal(fsc_memory_free(gpu, p), FSC_OK);
    fsc_device_close(gpu);
}

/* ---- Floating point ---------------------------------------------------------------------------------------------- */

static const char floats[] = "@kernel(grid=(n,))\n"
                             "def floats(y: *fp32[n, 5], x: *fp32[n], f: fp32, h: fp16, n: i32):\n"
                             "    i = program_id(0)\n"
                             "    v = load(x + i)\n"
                             "    store(y + 5 * i, div_rn(v, 3.0))\n"
                             "    store(y + 5 * i + 1, v * f)\n"
                             "    store(y + 5 * i + 2, h.to(fp32))\n"
                             "    store(y + 5 * i + 3, 0.7)\n"
                             "    store(y + 5 * i + 4, v * 1e-39)\n";

enum { FLOATS = 400 };

static float x[FLOATS], want[FLOATS][5];

static void make_want(void) {
    volatile float third = 3.0f, f = 0.1f, tiny = 1e-39f;
    for (int i = 0; i < FLOATS; i++) {
        x[i] = 1.0f + (float)i / 7.0f;
        const float row[5] = {x[i] / third, x[i] * f, 0x1.998p-4f, 0.7f, x[i] * tiny};
        memcpy(want[i], row, sizeof row);
    }
}

/* Compiled and launched as the thread is set, on as many threads as the device has. */
static void expect_floats(const char *device) {
    static float y[FLOATS][5];
    fsc_device *d = device_of(device);
    fsc_jit *j = jit_with(d, floats, NULL);
    const fsc_arg args[] = {fsc_pointer(y, sizeof y, FSC_FP32), fsc_pointer(x, sizeof x, FSC_FP32), fsc_float(0.1),
                            fsc_float(0.1), fsc_int(FLOATS)};
    for (int round = 0; round < 3; round++) {
        memset(y, 0x7f, sizeof y);
        if (fsc_jit_launch(j, NULL, args, 5, NULL) != FSC_OK) fail_msg("%s", fsc_last_message());
        for (int i = 0; i < FLOATS; i++)
            for (int k = 0; k < 5; k++)
                if (memcmp(&y[i][k], &want[i][k], sizeof(float)) != 0)
                    fail_msg("%s, program %d, result %d: %a, not %a", device, i, k, (double)y[i][k],
                             (double)want[i][k]);
    }
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

static void test_rounding(void **state) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    (void)state;
    make_want();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        fesetround(modes[i]);
        expect_floats("cpu:4");
        expect_floats("emu:2");
        assert_int_equal(fegetround(), modes[i]);
    }
    fesetround(FE_TONEAREST);
}

static void test_flushing(void **state) {
    (void)state;
#if defined __x86_64__
    enum { FLUSH_AND_DENORMALS_ARE_ZERO = 0x8040 };
    unsigned before = __builtin_ia32_stmxcsr(), after = 0;
    make_want();
    __builtin_ia32_ldmxcsr(before | FLUSH_AND_DENORMALS_ARE_ZERO);
    expect_floats("cpu:4");
    expect_floats("emu:2");
    after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before);
    assert_int_equal(after & FLUSH_AND_DENORMALS_ARE_ZERO, FLUSH_AND_DENORMALS_ARE_ZERO);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_launches), cmocka_unit_test(test_fork_amid_calls),
        cmocka_unit_test(test_cuda_in_child),  cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_flushing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
