/* cache_test.c - the cache's folder and entries: what is written is read, and nothing else is.
 *
 * In: a folder made for each test. Out: entries damaged at every byte, foreign, of others, evicted; folders that are
 * open to others, links, full, read-only; 32 processes and 8 threads on one folder, writers that are killed.
 */
#define _DEFAULT_SOURCE
#include "cachefix.h"

#include "runtime/cache/cache.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

static char why[CACHE_WHY];

/* ---- Entries of the tests ---------------------------------------------------------------------------------------- */

static const char *key_of(unsigned n) {
    static _Thread_local char key[DIGEST_HEX + 1];
    Digest d;
    digest_begin(&d);
    digest_add(&d, &n, sizeof n);
    digest_end(&d, key);
    return key;
}

/* An entry whose content follows from n and the version, so that a reader can tell whether it is whole. */
static CacheEntry entry_of(unsigned n, unsigned char version, char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) bytes[i] = (char)(n + version * 31u + i * 7u);
    if (size) bytes[0] = (char)version;
    CacheEntry e = {.parts[CACHE_LABEL] = {"a label", 7}, .parts[CACHE_CODE] = {bytes, size}};
    return e;
}

static bool is_entry_of(unsigned n, const CacheEntry *e) {
    const unsigned char *at = (const unsigned char *)e->parts[CACHE_CODE].at;
    size_t size = e->parts[CACHE_CODE].size;
    if (e->parts[CACHE_LABEL].size != 7 || strcmp(e->parts[CACHE_LABEL].at, "a label") != 0 || size == 0) return false;
    for (size_t i = 1; i < size; i++)
        if (at[i] != (unsigned char)(n + at[0] * 31u + i * 7u)) return false;
    return true;
}

static bool put(const Cache *c, unsigned n, size_t size) {
    char bytes[20000];
    CacheEntry e = entry_of(n, 1, bytes, size);
    return cache_write(c, key_of(n), &e);
}

static bool is_there(const Cache *c, unsigned n) {
    CacheEntry e;
    bool found = cache_read(c, key_of(n), true, &e);
    if (found) assert_true(is_entry_of(n, &e));
    if (found) cache_entry_free(&e);
    return found;
}

static Cache open_cache(void) {
    Cache c;
    if (!cache_open(&c, true, why)) fail_msg("%s", why);
    return c;
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* FIPS 180-4's own examples, and lengths around a block. */
static void digests_are_sha256(void **state) {
    static const struct {
        const char *text, *sum;
    } known[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                 {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    char hex[DIGEST_HEX + 1], parts[DIGEST_HEX + 1], block[200];
    Digest d;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        digest_begin(&d);
        digest_add(&d, known[i].text, strlen(known[i].text));
        digest_end(&d, hex);
        assert_string_equal(hex, known[i].sum);
    }
    for (size_t n = 50; n < 140; n++) { /* all at once, and byte by byte */
        memset(block, 'x', n);
        digest_begin(&d);
        digest_add(&d, block, n);
        digest_end(&d, hex);
        digest_begin(&d);
        for (size_t i = 0; i < n; i++) digest_add(&d, block + i, 1);
        digest_end(&d, parts);
        assert_string_equal(hex, parts);
    }
}

static void fields_do_not_run_together(void **state) {
    char one[DIGEST_HEX + 1], two[DIGEST_HEX + 1], none[DIGEST_HEX + 1];
    Digest d;
    (void)state;
    digest_begin(&d);
    digest_text(&d, "ab");
    digest_text(&d, "c");
    digest_end(&d, one);
    digest_begin(&d);
    digest_text(&d, "a");
    digest_text(&d, "bc");
    digest_end(&d, two);
    assert_string_not_equal(one, two);
    digest_begin(&d);
    digest_text(&d, NULL);
    digest_end(&d, none);
    digest_begin(&d);
    digest_text(&d, "");
    digest_end(&d, two);
    assert_string_not_equal(none, two);
}

/* ---- Where the folder is ----------------------------------------------------------------------------------------- */

static void folder_follows_the_environment(void **state) {
    char path[CACHE_PATH];
    const char *home = getenv("HOME");
    char *kept = home ? strdup(home) : NULL;
    (void)state;
    setenv("XDG_CACHE_HOME", "/x", 1);
    setenv("HOME", "/h", 1);
    assert_true(cache_path(path, why));
    assert_string_equal(path, folder);
    unsetenv("FSC_CACHE_DIR");
    assert_true(cache_path(path, why));
    assert_string_equal(path, "/x/fsc");
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_true(cache_path(path, why));
    assert_string_equal(path, "/h/.cache/fsc");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(cache_path(path, why));
    assert_non_null(strstr(why, "neither FSC_CACHE_DIR nor XDG_CACHE_HOME nor HOME"));
    setenv("HOME", "/h", 1);
    static const char *const off[] = {"", "off"};
    for (int i = 0; i < 2; i++) {
        Cache c;
        setenv("FSC_CACHE_DIR", off[i], 1);
        assert_false(cache_open(&c, true, why));
        assert_non_null(strstr(why, "switched off"));
        assert_false(put(&c, 1, 10));
    }
    if (kept) setenv("HOME", kept, 1);
    free(kept);
}

static void folders_are_made_private(void **state) {
    char path[300], deep[600];
    struct stat s;
    (void)state;
    snprintf(path, sizeof path, "%s/a/b", folder);
    setenv("FSC_CACHE_DIR", path, 1);
    Cache c;
    assert_false(cache_open(&c, false, why)); /* not made by those who only look */
    c = open_cache();
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    assert_true(put(&c, 1, 100));
    snprintf(deep, sizeof deep, "%s/%s.fsc", path, key_of(1));
    assert_int_equal(stat(deep, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    cache_close(&c);
}

static void folders_of_others_are_refused(void **state) {
    Cache c;
    char link[300], slash[320];
    (void)state;
    for (mode_t bit = 01; bit < 0100; bit <<= 1) {
        assert_int_equal(chmod(folder, 0700 | bit), 0);
        assert_false(cache_open(&c, true, why));
        assert_non_null(strstr(why, "chmod 700"));
    }
    assert_int_equal(chmod(folder, 0700), 0);
    snprintf(link, sizeof link, "%s-link", folder);
    assert_int_equal(symlink(folder, link), 0);
    setenv("FSC_CACHE_DIR", link, 1);
    assert_false(cache_open(&c, true, why));
    assert_non_null(strstr(why, "symbolic link"));
    snprintf(slash, sizeof slash, "%s//", link);
    setenv("FSC_CACHE_DIR", slash, 1);
    assert_false(cache_open(&c, true, why));
    unlink(link);
    setenv("FSC_CACHE_DIR", "/dev/null", 1);
    assert_false(cache_open(&c, true, why));
    setenv("FSC_CACHE_DIR", geteuid() ? "/" : folder, 1);
    if (geteuid() == 0) assert_int_equal(chown(folder, 4711, 4711), 0);
    assert_false(cache_open(&c, true, why));
    assert_non_null(strstr(why, "belongs to user"));
    if (geteuid() == 0) assert_int_equal(chown(folder, 0, 0), 0);
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

static void entries_come_back(void **state) {
    Cache c = open_cache();
    char bytes[5000];
    CacheEntry e, got;
    (void)state;
    for (unsigned n = 0; n < 40; n++) {
        e = entry_of(n, 2, bytes, n * n + 1);
        assert_false(cache_read(&c, key_of(n), true, &got));
        assert_true(cache_write(&c, key_of(n), &e));
        assert_true(cache_read(&c, key_of(n), true, &got));
        assert_true(is_entry_of(n, &got));
        assert_int_equal(got.parts[CACHE_CODE].size, n * n + 1);
        assert_int_equal(got.parts[CACHE_CODE].at[n * n + 1], '\0');
        assert_int_equal(got.parts[CACHE_PTX].size, 0);
        cache_entry_free(&got);
    }
    assert_int_equal(files_of("tmp-", "", NULL), 0);
    cache_close(&c);
}

static void damage_is_seen_at_every_byte(void **state) {
    Cache c = open_cache();
    char path[600];
    (void)state;
    assert_true(put(&c, 7, 300));
    assert_int_equal(files_of("", ".fsc", path), 1);
    for (size_t i = 0, n = file_size(path); i < n; i++) {
        file_damage(path, i);
        if (is_there(&c, 7)) fail_msg("byte %zu was changed and nobody saw it", i);
        file_damage(path, i);
        assert_true(is_there(&c, 7));
    }
    for (size_t n = file_size(path); n-- > 0;) {
        assert_int_equal(truncate(path, (off_t)n), 0);
        if (is_there(&c, 7)) fail_msg("cut off at %zu, and nobody saw it", n);
    }
    assert_true(put(&c, 7, 300)); /* replaced */
    assert_true(is_there(&c, 7));
    assert_int_equal(truncate(path, (off_t)file_size(path) + 1), 0);
    assert_false(is_there(&c, 7));
    cache_close(&c);
}

static void foreign_files_are_not_read(void **state) {
    Cache c = open_cache();
    char path[600], other[600];
    struct stat s;
    (void)state;
    assert_true(put(&c, 1, 100));
    files_of("", ".fsc", path);
    snprintf(other, sizeof other, "%s/%s.fsc", folder, key_of(2));
    assert_int_equal(symlink(path, other), 0); /* an entry that is a link, then one under another's name */
    assert_false(is_there(&c, 2));
    assert_int_equal(unlink(other), 0);
    assert_int_equal(link(path, other), 0);
    assert_false(is_there(&c, 2));
    assert_true(is_there(&c, 1));
    assert_true(put(&c, 2, 100)); /* replaces the name, not what the name stood for */
    assert_true(is_there(&c, 1) && is_there(&c, 2));
    assert_int_equal(chmod(path, 0620), 0); /* others could have written it */
    assert_false(is_there(&c, 1));
    assert_true(put(&c, 1, 100));
    assert_true(is_there(&c, 1) && stat(path, &s) == 0 && (s.st_mode & 0777) == 0600);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* does not hang either */
    assert_false(is_there(&c, 1));
    cache_close(&c);
}

static void set_age(unsigned n, int seconds) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s.fsc", folder, key_of(n));
    const struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_longest_unused_goes_first(void **state) {
    (void)state;
    setenv("FSC_CACHE_SIZE", "4k", 1);
    Cache c = open_cache();
    assert_int_equal(c.limit, 4096);
    for (unsigned n = 0; n < 3; n++) {
        assert_true(put(&c, n, 1000));
        set_age(n, (int)(100 - n));
    }
    assert_true(is_there(&c, 0)); /* the oldest is used: now it is the youngest */
    assert_true(put(&c, 3, 1000));
    assert_true(is_there(&c, 0) && !is_there(&c, 1) && is_there(&c, 2) && is_there(&c, 3));
    assert_false(put(&c, 4, 5000)); /* larger than the limit: nothing goes for it */
    assert_true(is_there(&c, 0) && is_there(&c, 2) && is_there(&c, 3));
    cache_close(&c);
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"1048576", 1048576}, {"3M", 3 << 20}, {"2g", (uint64_t)2 << 30}, {"0", 0}, {"", 512 << 20},
                 {"much", 512 << 20}, {"-1", 512 << 20}, {"9999999999999G", 512 << 20}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        setenv("FSC_CACHE_SIZE", sizes[i].text, 1);
        c = open_cache();
        assert_int_equal(c.limit, sizes[i].bytes);
        cache_close(&c);
    }
}

static void clearing_leaves_what_is_not_ours(void **state) {
    Cache c = open_cache();
    char path[600];
    (void)state;
    for (unsigned n = 0; n < 5; n++) assert_true(put(&c, n, 100));
    snprintf(path, sizeof path, "%s/notes.txt", folder);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    snprintf(path, sizeof path, "%s/tmp-%ld-0-0", folder, (long)getpid()); /* of a writer that lives */
    close(open(path, O_CREAT | O_WRONLY, 0600));
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    snprintf(path, sizeof path, "%s/tmp-%ld-0-0", folder, (long)child); /* of one that does not */
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CacheItem *items;
    size_t n;
    assert_true(cache_list(&c, &items, &n));
    assert_int_equal(n, 5);
    free(items);
    assert_int_equal(cache_clear(&c), 5);
    assert_int_equal(files_of("", ".fsc", NULL), 0);
    assert_int_equal(files_of("tmp-", "", NULL), 1);
    assert_int_equal(files_of("notes", "", NULL), 1);
    cache_close(&c);
}

/* ---- What a system may refuse ------------------------------------------------------------------------------------ */

static int write_read_only(void) {
    Cache c;
    be_nobody();
    if (!cache_open(&c, true, why)) return 1;
    if (!put(&c, 1, 100)) return 2;
    if (chmod(folder, 0500) != 0) return 3;
    if (put(&c, 2, 100)) return 4;
    return is_there(&c, 1) && !is_there(&c, 2) ? 0 : 5;
}

static void a_folder_that_is_read_only(void **state) {
    (void)state;
    assert_int_equal(in_process(write_read_only), 0);
    if (geteuid() == 0) assert_int_equal(chown(folder, 0, 0), 0);
    chmod(folder, 0700);
    assert_int_equal(files_of("tmp-", "", NULL), 0);
}

static int write_full(void) {
    Cache c = open_cache();
    const struct rlimit small = {600, 600};
    sigset_t waiting;
    if (!put(&c, 1, 2000) || setrlimit(RLIMIT_FSIZE, &small) != 0) return 1;
    if (put(&c, 2, 2000) || put(&c, 1, 3000)) return 2;
    if (!is_there(&c, 1) || is_there(&c, 2)) return 3;
    sigpending(&waiting);
    if (sigismember(&waiting, SIGXFSZ)) return 4;
    return put(&c, 3, 100) && is_there(&c, 3) ? 0 : 5;
}

/* The signal of the limit would end the process; the entry that was there stays. */
static void a_disk_that_is_full(void **state) {
    (void)state;
    assert_int_equal(in_process(write_full), 0);
    assert_int_equal(files_of("tmp-", "", NULL), 0);
}

/* ---- Many at once ------------------------------------------------------------------------------------------------ */

enum { KEYS = 12, WRITERS = 32, ROUNDS = 150, THREADS = 8 };

/* Reads and writes random entries; the number of those that were not whole. */
static int hammer(const Cache *c, unsigned seed, int rounds) {
    char bytes[9000];
    int wrong = 0;
    for (int i = 0; i < rounds; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned n = seed >> 16 & 1023, key = n % KEYS;
        CacheEntry e;
        if (n & 512) {
            e = entry_of(key, (unsigned char)seed, bytes, 1 + n * 8);
            (void)cache_write(c, key_of(key), &e);
        } else if (cache_read(c, key_of(key), true, &e)) {
            wrong += !is_entry_of(key, &e);
            cache_entry_free(&e);
        }
    }
    return wrong;
}

static int hammer_process(int rounds) {
    Cache c;
    if (!cache_open(&c, true, why)) return 9;
    int wrong = hammer(&c, (unsigned)getpid() * 77u, rounds);
    cache_close(&c);
    return wrong != 0;
}

/* Half of the processes are killed while they write: the others see whole entries only, and nothing stays behind. */
static void processes_that_are_killed(void **state) {
    pid_t child[WRITERS];
    (void)state;
    setenv("FSC_CACHE_SIZE", "40k", 1); /* so that they evict as well */
    for (int i = 0; i < WRITERS; i++) {
        child[i] = fork();
        if (child[i] == 0) _exit(hammer_process(i % 2 ? 1000000 : ROUNDS));
        assert_true(child[i] > 0);
    }
    for (int i = 1; i < WRITERS; i += 2) {
        const struct timespec moment = {0, 5000000 + i * 300000};
        nanosleep(&moment, NULL);
        kill(child[i], SIGKILL);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        if (i % 2 == 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
            fail_msg("process %d saw an entry that was not whole", i);
    }
    Cache c = open_cache();
    uint64_t bytes = 0;
    CacheItem *items;
    size_t n;
    assert_int_equal(hammer(&c, 1, 50), 0);
    assert_true(cache_list(&c, &items, &n));
    for (size_t i = 0; i < n; i++) bytes += items[i].bytes;
    assert_true(n > 0 && bytes <= c.limit);
    free(items);
    assert_int_equal(cache_clear(&c), n);
    assert_int_equal(files_of("", "", NULL), 2); /* . and .. */
    cache_close(&c);
}

static void *hammer_thread(void *context) {
    return (void *)(intptr_t)hammer(context, (unsigned)(uintptr_t)&context >> 4, 2 * ROUNDS);
}

static void threads_on_one_folder(void **state) {
    pthread_t thread[THREADS];
    (void)state;
    setenv("FSC_CACHE_SIZE", "40k", 1);
    Cache c = open_cache();
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, hammer_thread, &c), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    cache_close(&c);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_open, folder_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_sha256),
        cmocka_unit_test(fields_do_not_run_together),
        IN_FOLDER(folder_follows_the_environment),
        IN_FOLDER(folders_are_made_private),
        IN_FOLDER(folders_of_others_are_refused),
        IN_FOLDER(entries_come_back),
        IN_FOLDER(damage_is_seen_at_every_byte),
        IN_FOLDER(foreign_files_are_not_read),
        IN_FOLDER(the_longest_unused_goes_first),
        IN_FOLDER(clearing_leaves_what_is_not_ours),
        IN_FOLDER(a_folder_that_is_read_only),
        IN_FOLDER(a_disk_that_is_full),
        IN_FOLDER(processes_that_are_killed),
        IN_FOLDER(threads_on_one_folder),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
