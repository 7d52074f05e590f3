/* nodriver_test.c - machines whose driver is missing, broken or old: each is a child process, as a driver is sought once.
 *
 * The build names the fake drivers: FAKE_DRIVER is whole, FAKE_DRIVER_OLD has no cuLaunchKernel, and
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
    assert_int_equal(open_in_child(fake, "12345", "cuInit gives error 12345; the runtime does not expect this"), FSC_NO_DRIVER);
}

/* Every error there is: the machine has no such device, or its driver is not there, old, or not set up; each says what to do. */
static void every_error_of_the_start(void **state) {
    static const struct {
        int error;
        const char *text, *advice;
        fsc_status status;
    } rows[] = {
#define CUDA_ERROR(name, number, status, fate, advice) {number, #number, #advice, status},
#include "runtime/cuda_error.def"
#undef CUDA_ERROR
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fsc_status s = rows[i].status;
        bool is_told = s == FSC_NO_DEVICE || s == FSC_ERROR_DRIVER_OLD || s == FSC_ERROR_ENVIRONMENT;
        char says[64];
        snprintf(says, sizeof says, "(text of the fake driver); %s", strcmp(rows[i].advice, "STUB") == 0 ? "this is a toolkit's stub" : "");
        assert_int_equal(open_in_child(FAKE_DRIVER, rows[i].text, says), is_told ? s : FSC_NO_DRIVER);
    }
}

static void old_driver(void **state) {
    (void)state;
    assert_int_equal(open_in_child(FAKE_DRIVER_OLD, NULL, "is of CUDA 13.0, too old or not whole: it has no cuLaunchKernel; install one of CUDA 11.4 or newer"),
                     FSC_ERROR_DRIVER_OLD);
}

static void no_clusters(void **state) {
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        fsc_device *d = NULL;
        fsc_module *m = NULL;
        fsc_kernel *k = NULL;
        setenv("FSC_CUDA_LIBRARY", FAKE_DRIVER_NO_CLUSTERS, 1);
        fsc_status s = fsc_device_open("cuda", &d);
        Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
        r->launches[0].blocks_per_program = 2;
        char *ptx = sample_ptx(r, "8.0");
        if (s == FSC_OK) s = fsc_module_load(d, ptx, strlen(ptx), &m);
        if (s == FSC_OK) s = fsc_kernel_create(m, NULL, &k);
        free(ptx);
        record_free(r);
        fsc_module_unload(m);
        fsc_device_close(d);
        _exit(strstr(fsc_last_message(), "has no cuLaunchKernelEx") ? (int)s : 100);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), FSC_ERROR_DRIVER_OLD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_driver),
        cmocka_unit_test(drivers_that_do_not_start),
        cmocka_unit_test(every_error_of_the_start),
        cmocka_unit_test(old_driver),
        cmocka_unit_test(no_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
