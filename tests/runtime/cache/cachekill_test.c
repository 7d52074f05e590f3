/* cachekill_test.c - 32 processes on one cache, killed at any moment and replaced: no wrong entry,
 * none that waits for ever.
 *
 * In: processes that write and read entries of eight keys without end, with and without eviction. Out: what is read is
 * what one writer wrote, all of it, under that key; after some 460 kills, of which many hit a write, a new process
 * writes and reads at once, and what the dead left behind goes.
 */
#define _DEFAULT_SOURCE
#include "cachefix.h"

#include "runtime/cache/cache.h"

#include <signal.h>

enum { PROCESSES = 32, KEYS = 8, KILLS = 200, LARGEST = 300000 };

static void key_of(unsigned k, char key[DIGEST_HEX + 1]) {
    memset(key, '0', DIGEST_HEX);
    key[0] = (char)('0' + k);
    key[DIGEST_HEX] = '\0';
}

static unsigned next_random(unsigned *seed) {
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

/* Bytes that follow from the seed alone. */
static void fill(char *at, size_t n, unsigned seed) {
    for (size_t i = 0; i < n; i++) at[i] = (char)(seed * 31 + i * (seed | 1) + (i >> 8));
}

static bool write_one(const Cache *c, unsigned k, unsigned seed) {
    char key[DIGEST_HEX + 1], label[64], *code = malloc(LARGEST);
    size_t n = seed % LARGEST;
    key_of(k, key);
    fill(code, n, seed);
    int length = snprintf(label, sizeof label, "%u %u %zu", k, seed, n);
    const CacheEntry e = {.parts = {[CACHE_LABEL] = {label, (size_t)length}, [CACHE_CODE] = {code, n}}};
    bool ok = cache_write(c, key, &e);
    free(code);
    return ok;
}

/* 1: right, 0: none there, -1: wrong. */
static int read_one(const Cache *c, unsigned k) {
    char key[DIGEST_HEX + 1], *wanted = NULL;
    unsigned of = 0, seed = 0;
    size_t n = 0;
    CacheEntry e;
    key_of(k, key);
    if (!cache_read(c, key, true, &e)) return 0;
    const CachePart *code = &e.parts[CACHE_CODE];
    bool right = sscanf(e.parts[CACHE_LABEL].at, "%u %u %zu", &of, &seed, &n) == 3 && of == k && n == code->size;
    if (right) {
        wanted = malloc(n + 1);
        fill(wanted, n, seed);
        right = memcmp(wanted, code->at, n) == 0;
    }
    free(wanted);
    cache_entry_free(&e);
    return right ? 1 : -1;
}

/* Until it is killed; a byte into the pipe for each entry that is wrong. */
static void work(int wrong, unsigned seed) {
    char why[CACHE_WHY];
    Cache c;
    if (!cache_open(&c, true, why)) _exit(1);
    for (;;) {
        unsigned k = next_random(&seed) % KEYS;
        if (next_random(&seed) % 3)
            (void)write_one(&c, k, next_random(&seed));
        else if (read_one(&c, k) < 0 && write(wrong, "w", 1) != 1)
            _exit(2);
    }
}

static pid_t start(int wrong, unsigned seed) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) work(wrong, seed);
    assert_true(child > 0);
    return child;
}

static void end(pid_t child) {
    int status = 0;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) fail_msg("a process ended by itself: %d", status);
}

/* A process that comes afterwards: nothing makes it wait, and what it writes it reads. */
static int newcomer(void) {
    char why[CACHE_WHY];
    Cache c;
    alarm(30);
    if (!cache_open(&c, true, why)) return 1;
    for (unsigned i = 0; i < 40; i++) {
        if (read_one(&c, i % KEYS) < 0) return 2;
        if (!write_one(&c, i % KEYS, i + 1)) return 3;
        if (read_one(&c, i % KEYS) != 1) return 4;
    }
    cache_close(&c);
    return 0;
}

static void kill_writers(const char *size, bool has_rests) {
    pid_t child[PROCESSES];
    int wrong[2], rests = 0;
    unsigned seed = 4711;
    char byte;
    assert_int_equal(setenv("FSC_CACHE_SIZE", size, 1), 0);
    assert_int_equal(pipe(wrong), 0);
    for (unsigned i = 0; i < PROCESSES; i++) child[i] = start(wrong[1], i + 1);
    for (unsigned i = 0; i < KILLS; i++) {
        unsigned at = next_random(&seed) % PROCESSES;
        usleep(next_random(&seed) % 3000);
        end(child[at]);
        rests += files_of("tmp-", "", NULL) > PROCESSES; /* more than the living can be writing */
        child[at] = start(wrong[1], i + 1000);
    }
    for (unsigned i = 0; i < PROCESSES; i++) end(child[i]);
    int left = files_of("tmp-", "", NULL);
    print_message("%d unfinished files after %d kills\n", left, KILLS + PROCESSES);
    if (has_rests && !left && !rests) fail_msg("no kill has hit a write");
    close(wrong[1]);
    assert_int_equal(read(wrong[0], &byte, 1), 0);
    close(wrong[0]);
    assert_int_equal(in_process(newcomer), 0);
    char why[CACHE_WHY];
    Cache c;
    assert_true(cache_open(&c, true, why));
    for (unsigned k = 0; k < KEYS; k++) assert_true(read_one(&c, k) >= 0);
    (void)cache_clear(&c);
    cache_close(&c);
    assert_int_equal(files_of("", "", NULL), 2); /* . and .. */
    unsetenv("FSC_CACHE_SIZE");
}

static void large_cache(void **state) {
    (void)state;
    kill_writers("512M", true);
}

/* Room for a few entries: every write makes room, and takes away what others are reading. */
static void small_cache(void **state) {
    (void)state;
    kill_writers("1M", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(large_cache, folder_open, folder_close),
                                       cmocka_unit_test_setup_teardown(small_cache, folder_open, folder_close)};
    return cmocka_run_group_tests_name("cachekill", tests, NULL, NULL);
}
