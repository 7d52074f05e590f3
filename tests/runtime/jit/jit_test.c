/* jit_test.c - variants of the JIT: made once, kept on disk, loaded without a compile; on the CPU, the emulator,
 * a fake GPU.
 *
 * In: small kernels, a cache folder for each test. Out: who compiled and who loaded (fsc_jit_counts), and what the
 * kernels computed, compared with the formula; after damage, under other options, from many threads and processes.
 */
#define _DEFAULT_SOURCE
#include "fakecuda.h"
#include "jitfix.h"

#include <pthread.h>
#include <signal.h>

/* Stores beyond n, and is warned of it. */
static const char unchecked[] = "@kernel(grid=(cdiv(n, 64),))\n"
                                "def past(y: *fp32[n], n: i32):\n"
                                "    i = program_id(0) * 64 + arange(0, 64)\n"
                                "    store(y + i, i.to(fp32))\n";

/* Counting switched on between launches, off and on: each launch takes code of its kind,
 * and what counts is not kept on disk. */
static void counting_is_of_the_launch(void **state) {
    (void)state;
    static const char *const names[] = {"cpu:1", "emu:1"};
    for (int i = 0; i < 2; i++) {
        fsc_counts c;
        fsc_device *d = device_of(names[i]);
        fsc_jit *j = jit_with(d, scale, NULL);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(fsc_device_count_lines(d, k % 2 != 0), FSC_OK);
            for (int again = 0; again < 2; again++) assert_true(scale_is_right(j, 200, 0.5f));
            assert_int_equal(fsc_device_counts(d, &c), k ? FSC_OK : FSC_ERROR_USAGE);
            if (k) assert_int_equal(c.lines[c.num_lines - 1].line, 4);
            if (k) assert_true(c.lines[c.num_lines - 1].runs > 0);
        }
        fsc_variant_counts made;
        fsc_jit_counts(j, &made);
        assert_int_equal(made.compiled, 2);
        fsc_jit_destroy(j);
        assert_int_equal(fsc_device_count_lines(d, true), FSC_OK);
        j = jit_with(d, scale, NULL);
        assert_true(scale_is_right(j, 200, 0.5f));
        fsc_jit_counts(j, &made);
        assert_int_equal(made.from_disk, 0);
        fsc_jit_destroy(j);
        fsc_device_close(d);
    }
}

/* A handle of its own, as a new process would have, launched with n. */
static fsc_variant_counts once(fsc_device *d, const char *source, const fsc_compile_options *o, int n) {
    fsc_variant_counts counts;
    fsc_jit *j = jit_with(d, source, o);
    assert_true(scale_is_right(j, n, 0.5f));
    fsc_jit_counts(j, &counts);
    fsc_jit_destroy(j);
    return counts;
}

/* ---- Host code --------------------------------------------------------------------------------------------------- */

static void host_code_comes_back(void **state) {
    static const char *const names[] = {"cpu:2", "emu:2"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        fsc_device *d = device_of(names[i]);
        expect(once(d, scale, NULL, 1000), 1, 0);
        expect(once(d, scale, NULL, 1000), 0, 1);
        expect(once(d, scale, NULL, 500), 1, 0); /* B is another */
        expect(once(d, scale, NULL, 500), 0, 1);
        fsc_device_close(d);
    }
    assert_int_equal(files_of("", ".fsc", NULL), 4);
}

/* A rule that asks for T sees what the arrays are made of; from the source, from disk,
 * by the long way and the short one. */
static void rules_ask_for_types(void **state) {
    static const char told[] =
        "@kernel(grid=(cdiv(n, 16 if T == fp32 else 64),), B=1024 // T.primitive_bitwidth, num_warps=2 if T == bf16 "
        "else 1)\n"
        "def told(y: *i32[n], x: *T[n], n: i32, B: constexpr = 8, T: dtype = i8):\n"
        "    i = program_id(0) * B + arange(0, B)\n"
        "    store(y + i, 100 * B + num_programs(0) + load(x + i, mask=i < n).to(i32), mask=i < n)\n";
    static const struct {
        fsc_dtype type;
        int32_t value;
    } cases[] = {{FSC_FP32, 3207}, {FSC_BF16, 6402}, {FSC_FP16, 6402}, {FSC_I8, 12802}, {FSC_DTYPE_NONE, 12802}};
    static const char *const names[] = {"cpu:1", "emu:1"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        fsc_device *d = device_of(names[k / 2]);
        fsc_jit *j = jit_with(d, told, NULL);
        for (int i = 0; i < 15; i++) {
            _Alignas(16) static const float x[100];
            _Alignas(16) int32_t y[100] = {0};
            fsc_dtype t = cases[i % 5].type;
            const fsc_arg args[] = {fsc_pointer(y, sizeof y, FSC_I32),
                                    fsc_pointer((void *)(uintptr_t)x, 100 * (t ? fsc_dtype_size(t) : 1), t),
                                    fsc_int(100)};
            if (fsc_jit_launch(j, NULL, args, 3, NULL) != FSC_OK) fail_msg("%s", fsc_last_message());
            for (int at = 0; at < 100; at++) assert_int_equal(y[at], cases[i % 5].value);
        }
        fsc_variant_counts made;
        fsc_jit_counts(j, &made);
        expect(made, k % 2 ? 0 : 5, k % 2 ? 5 : 0);
        fsc_jit_destroy(j);
        fsc_device_close(d);
    }
}

/* Whatever the code hangs on makes another entry. */
static void keys_tell_options_apart(void **state) {
    fsc_compile_options o[14];
    const fsc_name_value define = {"B", "256"}, type = {"y", "*fp32"};
    fsc_device *d = device_of("cpu:1");
    (void)state;
    for (size_t i = 0; i < sizeof o / sizeof o[0]; i++) fsc_compile_options_init(&o[i]);
    o[1].file = "other.dsl";
    o[2].opt_level = 0;
    o[3].fast_math = true;
    o[4].device_debug = true;
    o[5].defines = &define;
    o[5].num_defines = 1;
    o[6].types = &type;
    o[6].num_types = 1;
    o[7].remarks = true;
    o[8].debug = true;
    o[9].kernel = "scale";
    o[12].passes = "-licm";
    o[13].overlap = true;
    o[10].verify_each = !o[10].verify_each;
#if defined __x86_64__
    o[11].cpu = "x86-64";
#else
    o[11].color = true;
#endif
    for (size_t i = 0; i < sizeof o / sizeof o[0]; i++) expect(once(d, scale, &o[i], 1000), 1, 0);
    for (size_t i = 0; i < sizeof o / sizeof o[0]; i++) expect(once(d, scale, &o[i], 1000), 0, 1);
    char changed[sizeof scale + 8]; /* one byte of the source */
    snprintf(changed, sizeof changed, "%s\n", scale);
    expect(once(d, changed, &o[0], 1000), 1, 0);
    o[0].no_cache = true;
    expect(once(d, scale, &o[0], 1000), 1, 0);
    o[0].no_cache = false;
    o[0].print_after = "fold"; /* dumps come from a compile */
    expect(once(d, scale, &o[0], 1000), 1, 0);
    fsc_device_close(d);
}

/* A long file's interface is kept as well: the next handle parses nothing. */
static void long_files_are_not_parsed_again(void **state) {
    fsc_device *d = device_of("cpu:1");
    char *text = malloc(20000), path[600];
    (void)state;
    memset(text, '#', 12000);
    strcpy(text + 12000, "\n");
    strcat(text, scale);
    expect(once(d, text, NULL, 1000), 1, 0);
    assert_int_equal(files_of("", ".fsc", NULL), 2);
    expect(once(d, text, NULL, 1000), 0, 1);
    fsc_jit *j = jit_with(d, text, NULL);
    assert_null(j->front);
    fsc_jit_destroy(j);
    while (files_of("", ".fsc", path)) unlink(path);
    strcat(text, "def scale(");
    assert_int_equal(fsc_jit_create(d, text, strlen(text), NULL, &j), FSC_ERROR_SOURCE);
    assert_int_equal(files_of("", ".fsc", NULL), 0); /* nothing is kept of a file with errors */
    fsc_jit_destroy(j);
    free(text);
    fsc_device_close(d);
}

/* Every example's interface is the same after it was written and read. */
static void interfaces_survive(void **state) {
    DIR *dir = opendir("dsl_examples");
    fsc_device *d = device_of("cpu:1");
    char path[600], *text = malloc(65536);
    int files = 0;
    (void)state;
    for (struct dirent *at; dir && (at = readdir(dir)) != NULL;) {
        size_t n = strlen(at->d_name), m = 0;
        if (n < 4 || strcmp(at->d_name + n - 4, ".dsl") != 0) continue;
        snprintf(path, sizeof path, "dsl_examples/%.255s", at->d_name);
        FILE *f = fopen(path, "rb");
        size_t length = f ? fread(text, 1, 65535, f) : 0;
        if (f) fclose(f);
        text[length] = '\0';
        fsc_jit *j = jit_with(d, text, NULL);
        char *written = record_write(fsc_jit_interface(j), &n);
        assert_non_null(written);
        Record *r = record_parse_interface(written, n);
        if (!r) fail_msg("%s: %s", path, written);
        char *again = record_write(r, &m);
        assert_string_equal(written, again);
        free(written);
        free(again);
        record_free(r);
        fsc_jit_destroy(j);
        files++;
    }
    if (dir) closedir(dir);
    free(text);
    fsc_device_close(d);
    assert_true(files > 20);
}

static void off_means_off(void **state) {
    fsc_device *d = device_of("cpu:1");
    (void)state;
    setenv("FSC_CACHE_DIR", "off", 1);
    expect(once(d, scale, NULL, 100), 1, 0);
    expect(once(d, scale, NULL, 100), 1, 0);
    assert_int_equal(access("off", F_OK), -1);
    setenv("FSC_CACHE_DIR", folder, 1);
    assert_int_equal(chmod(folder, 0755), 0); /* open to others: not used */
    expect(once(d, scale, NULL, 100), 1, 0);
    assert_int_equal(files_of("", ".fsc", NULL), 0);
    fsc_device_close(d);
}

static void damage_is_compiled_again(void **state) {
    fsc_device *d = device_of("cpu:1");
    char path[600], other[600];
    unsigned random = 12345;
    (void)state;
    expect(once(d, scale, NULL, 1000), 1, 0);
    assert_int_equal(files_of("", ".fsc", path), 1);
    for (int i = 0; i < 24; i++) {
        size_t size = file_size(path);
        random = random * 1103515245u + 12345u;
        if (i % 4 == 3) assert_int_equal(truncate(path, (off_t)(random >> 8) % (off_t)size), 0);
        else file_damage(path, (random >> 8) % size);
        expect(once(d, scale, NULL, 1000), 1, 0);
        expect(once(d, scale, NULL, 1000), 0, 1); /* replaced */
    }
    snprintf(other, sizeof other, "%.500s/kept", folder); /* another variant's entry under this one's name */
    assert_int_equal(rename(path, other), 0);
    expect(once(d, scale, NULL, 500), 1, 0);
    char foreign[600];
    assert_int_equal(files_of("", ".fsc", foreign), 1);
    assert_int_equal(rename(foreign, path), 0);
    expect(once(d, scale, NULL, 1000), 1, 0);
    expect(once(d, scale, NULL, 1000), 0, 1);
    fsc_device_close(d);
}

/* What a compile says besides its code is kept as well: places for the checks, warnings. */
static void places_and_warnings_come_back(void **state) {
    float y[128] = {0};
    char first[4096] = "";
    (void)state;
    for (int i = 0; i < 2; i++) {
        fsc_device *d = device_of("cpu:1");
        fsc_compile_options o;
        fsc_variant_counts counts;
        fsc_finding f;
        fsc_compile_options_init(&o);
        o.file = "past.dsl";
        assert_int_equal(fsc_device_check(d, true), FSC_OK);
        fsc_jit *j = jit_with(d, unchecked, &o);
        const fsc_arg args[] = {fsc_pointer(y, 100 * 4, FSC_FP32), fsc_int(100)};
        assert_int_equal(fsc_jit_launch(j, NULL, args, 2, NULL), FSC_ERROR_CHECK);
        assert_int_equal(fsc_device_finding(d, 0, &f), FSC_OK);
        assert_string_equal(f.file, "past.dsl");
        assert_int_equal(f.line, 4);
        fsc_jit_counts(j, &counts);
        expect(counts, i == 0, i == 1);
        const char *log = fsc_jit_log(j), *times = strstr(log, "parse   "); /* only a compile has times */
        size_t warnings = times ? (size_t)(times - log) : strlen(log);
        assert_true(strstr(log, "[W0401]") && warnings < sizeof first);
        if (i == 0) memcpy(first, log, warnings);
        else assert_memory_equal(first, log, warnings);
        fsc_jit_destroy(j);
        fsc_device_close(d);
    }
}

/* ---- Threads and processes --------------------------------------------------------------------------------------- */

enum { THREADS = 12, PROCESSES = 32 };

typedef struct Crowd {
    fsc_jit *j;
    pthread_barrier_t start;
} Crowd;

static void *call_first(void *context) {
    Crowd *c = context;
    bool ok = true;
    pthread_barrier_wait(&c->start);
    static const int sizes[] = {200, 602, 1008};
    for (int i = 0; i < 3; i++) ok = ok && scale_is_right(c->j, sizes[i], 3.0f);
    return (void *)(intptr_t)!ok;
}

/* Twelve threads want the same three variants (B is 256, or 1024 with n whole vectors and not):
 * each is compiled once. */
static void threads_compile_once(void **state) {
    fsc_device *d = device_of("cpu:2");
    (void)state;
    for (int round = 0; round < 2; round++) {
        Crowd c = {.j = jit_with(d, scale, NULL)};
        pthread_t thread[THREADS];
        fsc_variant_counts counts;
        pthread_barrier_init(&c.start, NULL, THREADS);
        for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, call_first, &c), 0);
        for (int i = 0; i < THREADS; i++) {
            void *failed = NULL;
            pthread_join(thread[i], &failed);
            assert_null(failed);
        }
        fsc_jit_counts(c.j, &counts);
        expect(counts, round ? 0 : 3, round ? 3 : 0);
        pthread_barrier_destroy(&c.start);
        fsc_jit_destroy(c.j);
    }
    fsc_device_close(d);
}

static const char narrow[] = "@kernel(grid=(cdiv(n, B),), B=min(next_power_of_2(n), 1024))\n"
                             "def scale(y: *fp32[n], x: *fp32[n], f: fp32, n: i32, B: constexpr = 256):\n"
                             "    static_assert(B <= 256, 'too wide')\n"
                             "    i = program_id(0) * B + arange(0, B)\n"
                             "    store(y + i, load(x + i, mask=i < n) * f, mask=i < n)\n";

static void *call_wrong(void *context) {
    Crowd *c = context;
    const fsc_arg args[] = {fsc_pointer((void *)0x10000, 0, FSC_FP32), fsc_pointer((void *)0x20000, 0, FSC_FP32),
                            fsc_float(1), fsc_int(1000)};
    fsc_kernel *k = NULL;
    pthread_barrier_wait(&c->start);
    bool ok = fsc_jit_prepare(c->j, args, 4, &k) == FSC_ERROR_SOURCE && strstr(fsc_last_message(), "too wide") && !k;
    return (void *)(intptr_t)!(ok && scale_is_right(c->j, 200, 3.0f));
}

/* A variant that cannot be compiled: every thread is told why, nobody waits for ever, others are compiled beside it. */
static void failures_wake_everybody(void **state) {
    fsc_device *d = device_of("cpu:1");
    Crowd c = {.j = jit_with(d, narrow, NULL)};
    pthread_t thread[THREADS];
    (void)state;
    pthread_barrier_init(&c.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, call_wrong, &c), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(c.j->num_variants, 1);
    pthread_barrier_destroy(&c.start);
    fsc_jit_destroy(c.j);
    fsc_device_close(d);
}

/* Every thread with a handle of its own, all on one folder. */
static void *own_handle(void *context) {
    fsc_jit *j = NULL;
    bool ok = fsc_jit_create(context, scale, strlen(scale), NULL, &j) == FSC_OK;
    for (int i = 0; i < 4 && ok; i++) ok = scale_is_right(j, 200 + 400 * (i % 3), 2.0f);
    fsc_jit_destroy(j);
    return (void *)(intptr_t)!ok;
}

static void handles_share_a_folder(void **state) {
    fsc_device *d = device_of("cpu:1");
    pthread_t thread[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, own_handle, d), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    fsc_device_close(d);
}

static int run_variants(void) {
    fsc_device *d = NULL;
    if (fsc_device_open("cpu:1", &d) != FSC_OK) return 1;
    for (int i = 0; i < 3; i++) {
        fsc_jit *j = NULL;
        if (fsc_jit_create(d, scale, strlen(scale), NULL, &j) != FSC_OK || !scale_is_right(j, 200 + 400 * i, 2.0f))
            return 2;
        fsc_jit_destroy(j);
    }
    fsc_device_close(d);
    return 0;
}

/* 32 processes with an empty cache, some of them killed: the rest compute what is right, and so does the next. */
static void processes_share_a_folder(void **state) {
    pid_t child[PROCESSES];
    (void)state;
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0) _exit(run_variants());
        assert_true(child[i] > 0);
    }
    for (int i = 0; i < PROCESSES; i += 4) {
        usleep(3000);
        kill(child[i], SIGKILL);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        if (i % 4 && (!WIFEXITED(status) || WEXITSTATUS(status))) fail_msg("process %d: status %d", i, status);
    }
    fsc_device *d = device_of("cpu:1");
    for (int n = 200; n <= 1000; n += 400) expect(once(d, scale, NULL, n), 0, 1);
    fsc_device_close(d);
}

/* ---- A GPU ------------------------------------------------------------------------------------------------------- */

/* Prepares scale(n) in a handle of its own; the status, and the counts. */
static fsc_status prepare(fsc_device *d, int64_t n, fsc_variant_counts *counts) {
    fsc_jit *j = NULL;
    fsc_kernel *k = NULL;
    const fsc_arg args[] = {fsc_pointer((void *)0x7000000000, 0, FSC_FP32),
                            fsc_pointer((void *)0x7100000000, 0, FSC_FP32), fsc_float(1), fsc_int(n)};
    fsc_status s = fsc_jit_create(d, scale, strlen(scale), NULL, &j);
    if (s == FSC_OK) s = fsc_jit_prepare(j, args, 4, &k);
    fsc_jit_counts(j, counts);
    fsc_jit_destroy(j);
    return s;
}

static void prepared(fsc_device *d, int64_t n, uint32_t compiled, uint32_t from_disk) {
    fsc_variant_counts c;
    if (prepare(d, n, &c) != FSC_OK) fail_msg("%s", fsc_last_message());
    expect(c, compiled, from_disk);
}

/* The driver gets the same PTX from a compile and from disk, so both have the same machine code. */
static void ptx_comes_back(void **state) {
    (void)state;
    fake_reset();
    fsc_device *d = device_of("cuda");
    prepared(d, 1001, 1, 0);
    prepared(d, 1001, 0, 1);
    prepared(d, 999, 0, 1);  /* of the same range */
    prepared(d, 1008, 1, 0); /* whole vectors */
    assert_int_equal(fake_calls("cuModuleLoadDataEx"), 4);
    assert_int_equal(fake.cubins, 0);
    fsc_device_close(d);
    fake.version = 13010; /* a newer driver */
    d = device_of("cuda");
    prepared(d, 1001, 1, 0);
    prepared(d, 1001, 0, 1);
    fsc_device_close(d);
    assert_int_equal(fake.modules + fake.retained, 0);
}

/* A driver that takes a cached PTX no more: compiled again, and the entry replaced. */
static void refused_ptx_is_replaced(void **state) {
    (void)state;
    fake_reset();
    fsc_device *d = device_of("cuda");
    prepared(d, 1000, 1, 0);
    fake_fail("cuModuleLoadDataEx", 1, 200);
    prepared(d, 1000, 1, 0);
    prepared(d, 1000, 0, 1);
    fsc_device_close(d);
    assert_int_equal(fake.modules, 0);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_open, folder_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(processes_share_a_folder), /* first: a process with threads should not fork */
        IN_FOLDER(host_code_comes_back),
        IN_FOLDER(keys_tell_options_apart),
        IN_FOLDER(rules_ask_for_types),
        IN_FOLDER(long_files_are_not_parsed_again),
        IN_FOLDER(interfaces_survive),
        IN_FOLDER(off_means_off),
        IN_FOLDER(counting_is_of_the_launch),
        IN_FOLDER(damage_is_compiled_again),
        IN_FOLDER(places_and_warnings_come_back),
        IN_FOLDER(threads_compile_once),
        IN_FOLDER(failures_wake_everybody),
        IN_FOLDER(handles_share_a_folder),
        IN_FOLDER(ptx_comes_back),
        IN_FOLDER(refused_ptx_is_replaced),
    };
    return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
