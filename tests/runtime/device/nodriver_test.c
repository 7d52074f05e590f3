/* nodriver_test.c - machines whose driver is missing, broken or old: each is a child process,
 * as a driver is sought once.
 *
 * The build wraps dlsym, and names the fake drivers: FAKE_DRIVER is whole, FAKE_DRIVER_OLD has no cuLaunchKernel, and
 * FAKE_DRIVER_NO_CLUSTERS no cuLaunchKernelEx.
 */
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/fsc_runtime.h"

#include <sys/wait.h>
#include <unistd.h>

/* A driver without one symbol: the build wraps dlsym. */
static const char *hidden = "";

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);

void *__wrap_dlsym(void *library, const char *name) {
    return strcmp(name, hidden) == 0 ? NULL : __real_dlsym(library, name);
}

/* What opening gives in a child with that library: the status, 100 where the message lacks `says`. */
static int open_in_child(const char *library, const char *init, const char *says) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fsc_device *d = NULL, *cpu = NULL;
        int n = 7;
        setenv("FSC_CUDA_LIBRARY", library, 1);
        if (init) setenv("FAKE_CUDA_INIT", init, 1);
        fsc_status s = fsc_device_open("cuda", &d);
        bool told = strstr(fsc_last_message(), says) != NULL;
        bool same = fsc_device_count(FSC_CUDA, &n) == s && (s == FSC_OK || n == 0);
        bool automatic = fsc_device_open("auto", &cpu) == FSC_OK;
        fsc_device_close(cpu);
        fsc_device_close(d);
        _exit(told && same && automatic ? (int)s : 100);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void no_driver(void **state) {
    (void)state;
    assert_int_equal(open_in_child("libcuda-that-is-not-there.so.1", NULL, "there is no CUDA driver"), FSC_NO_DRIVER);
}

static void drivers_that_do_not_start(void **state) {
    (void)state;
    const char *fake = FAKE_DRIVER;
    assert_int_equal(open_in_child(fake, NULL, ""), FSC_OK);
    assert_int_equal(open_in_child(fake, "100", "cuInit gives CUDA_ERROR_NO_DEVICE"), FSC_NO_DEVICE);
    assert_int_equal(open_in_child(fake, "803", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"), FSC_ERROR_ENVIRONMENT);
    assert_int_equal(open_in_child(fake, "34", "does not start"), FSC_NO_DRIVER);
    assert_int_equal(open_in_child(fake, "999", "does not start"), FSC_NO_DRIVER);
    assert_int_equal(open_in_child(fake, "12345", "cuInit gives error 12345; the runtime does not expect this"),
                     FSC_NO_DRIVER);
}

/* Every error there is: the machine has no such device, or its driver is not there, old, or not set up;
 * each says what to do. */
static void every_error_of_the_start(void **state) {
    static const struct {
        int error;
        const char *text, *advice;
        fsc_status status;
    } rows[] = {
#define CUDA_ERROR(name, number, status, fate, advice) {number, #number, #advice, status},
#include "runtime/cuda/cuda_error.def"
#undef CUDA_ERROR
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fsc_status s = rows[i].status;
        bool is_told = s == FSC_NO_DEVICE || s == FSC_ERROR_DRIVER_OLD || s == FSC_ERROR_ENVIRONMENT;
        char says[64];
        snprintf(says, sizeof says, "(text of the fake driver); %s",
                 strcmp(rows[i].advice, "STUB") == 0 ? "this is a toolkit's stub" : "");
        assert_int_equal(open_in_child(FAKE_DRIVER, rows[i].text, says), is_told ? s : FSC_NO_DRIVER);
    }
}

static void old_driver(void **state) {
    (void)state;
    assert_int_equal(
        open_in_child(
            FAKE_DRIVER_OLD, NULL,
            "is of CUDA 13.0, too old or not whole: it has no cuLaunchKernel; install one of CUDA 11.4 or newer"),
        FSC_ERROR_DRIVER_OLD);
}

/* Of each symbol: what must be there is named, with the driver's version;
 * without the others kernels run all the same. */
static int open_and_launch(void) {
    fsc_device *d = NULL;
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    void *p = NULL;
    setenv("FSC_CUDA_LIBRARY", FAKE_DRIVER, 1);
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    char *ptx = sample_ptx(r, "8.0");
    fsc_status s = fsc_device_open("cuda", &d);
    if (s == FSC_OK) s = fsc_memory_alloc(d, 64, &p);
    if (s == FSC_OK) s = fsc_module_load(d, ptx, strlen(ptx), &m);
    if (s == FSC_OK) s = fsc_kernel_create(m, NULL, &k);
    const fsc_named_arg args[] = {{"y", fsc_pointer(p, 0, 0)}, {"x", fsc_pointer(p, 0, 0)}, {"y_stride", fsc_int(1024)},
                                  {"x_stride", fsc_int(800)},  {"n_rows", fsc_int(64)},     {"n_cols", fsc_int(781)}};
    if (s == FSC_OK) s = fsc_launch_checked(k, NULL, args, 6, NULL);
    char says[120];
    snprintf(says, sizeof says, "too old or not whole: it has no %s; install one of CUDA 11.4 or newer", hidden);
    if (s == FSC_ERROR_DRIVER_OLD && !strstr(fsc_last_message(), says)) s = FSC_ERROR_INTERNAL;
    if (p) (void)fsc_memory_free(d, p);
    fsc_kernel_destroy(k);
    fsc_module_unload(m);
    fsc_device_close(d);
    free(ptx);
    record_free(r);
    return (int)s;
}

static void every_symbol_may_be_missing(void **state) {
    enum { OPTIONAL, REQUIRED };
    static const struct {
        const char *symbol;
        int need;
    } rows[] = {
#define CUDA(name, symbol, need, parameters) {symbol, need},
#include "runtime/cuda/cuda_api.def"
#undef CUDA
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hidden = rows[i].symbol;
        int status = 0, wanted = rows[i].need == REQUIRED ? FSC_ERROR_DRIVER_OLD : FSC_OK;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) _exit(open_and_launch());
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted) fail_msg("without %s: %d", hidden, status);
    }
    hidden = "";
}

/* In a process of its own, on this driver: what loading and launching the record gives, if the message has the words */
static void expect_of(const char *driver, Record *r, fsc_status wanted, const char *words) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        fsc_device *d = NULL;
        fsc_module *m = NULL;
        fsc_kernel *k = NULL;
        setenv("FSC_CUDA_LIBRARY", driver, 1);
        fsc_status s = fsc_device_open("cuda", &d);
        char *ptx = sample_ptx(r, "8.0");
        void *y = (void *)0x7000000000;
        const fsc_arg args[] = {fsc_pointer(y, 0, 0), fsc_pointer(y, 0, 0), fsc_int(1024), fsc_int(800),
                                fsc_int(4096),        fsc_int(781)};
        if (s == FSC_OK) s = fsc_module_load(d, ptx, strlen(ptx), &m);
        if (s == FSC_OK) s = fsc_kernel_create(m, NULL, &k);
        if (s == FSC_OK) s = fsc_launch(k, NULL, args, 6, NULL);
        free(ptx);
        record_free(r);
        bool is_said = strstr(fsc_last_message(), words);
        fsc_kernel_destroy(k);
        fsc_module_unload(m);
        fsc_device_close(d);
        _exit(is_said ? (int)s : 100);
    }
    int status = 0;
    record_free(r);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), wanted);
}

static void no_clusters(void **state) {
    (void)state;
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    r->launches[0].blocks_per_program = 2;
    expect_of(FAKE_DRIVER_NO_CLUSTERS, r, FSC_ERROR_DRIVER_OLD, "has no cuLaunchKernelEx");
}

/* A driver that makes no tensor maps: the sentence where there is no other variant. */
static void no_maps(void **state) {
    (void)state;
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    record_add_map(r, P_X, 128);
    record_add_box(r, 32, "$5", NULL);
    hidden = "cuTensorMapEncodeTiled";
    expect_of(FAKE_DRIVER, r, FSC_NO_VARIANT, "reads x through a tensor map, which this device or its driver does");
    hidden = "";
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_driver),
        cmocka_unit_test(drivers_that_do_not_start),
        cmocka_unit_test(every_error_of_the_start),
        cmocka_unit_test(old_driver),
        cmocka_unit_test(every_symbol_may_be_missing),
        cmocka_unit_test(no_clusters),
        cmocka_unit_test(no_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
