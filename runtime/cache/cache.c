/* cache.c - entries of the cache: reading, writing, listing, making room.
 *
 * In: a key and parts. Out: a file KEY.fsc in the folder, or its parts. Method: little-endian words (magic, sum of what
 * follows, size of the file, sizes of the parts), then the parts, each with a NUL behind it. Written under tmp-PID-…
 * and renamed. The time of the file is that of its last use; the oldest go first.
 */
#define _DEFAULT_SOURCE
#include "runtime/cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[16] = "fsc-cache 1\n"; /* the format's version; another one is a foreign file */
static const char ending[] = ".fsc", temporary[] = "tmp-";

enum { AT_SUM = 16, AT_SIZE = 24, AT_PARTS = 32, HEAD = AT_PARTS + 8 * CACHE_PARTS, NAME = DIGEST_HEX + 8 };
enum { STALE_SECONDS = 3600 }; /* a writer of another machine that has not finished by then is dead */
static const uint64_t largest = (uint64_t)1 << 30;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static uint64_t word_at(const char *at) {
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--) x = x << 8 | (unsigned char)at[i];
    return x;
}

static void set_word(char *at, uint64_t x) {
    for (int i = 0; i < 8; i++) at[i] = (char)(x >> 8 * i & 255);
}

static bool read_all(int file, char *at, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t got = read(file, at + done, n - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

/* A file that nobody else could have written. */
static bool is_ours(int file, size_t *size) {
    struct stat s;
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & 0022)) return false;
    if (s.st_size < HEAD || (uint64_t)s.st_size > largest) return false;
    *size = (size_t)s.st_size;
    return true;
}

/* Finds the parts in the file's bytes. */
static bool take_apart(const char *at, size_t size, const char *key, CacheEntry *e) {
    if (memcmp(at, magic, sizeof magic) != 0 || word_at(at + AT_SIZE) != size) return false;
    if (damage_sum(at + AT_SIZE, size - AT_SIZE) != word_at(at + AT_SUM)) return false;
    size_t next = HEAD;
    for (int i = 0; i < CACHE_PARTS; i++) {
        uint64_t bytes = word_at(at + AT_PARTS + 8 * i);
        if (bytes >= size - next || at[next + bytes] != '\0') return false;
        e->parts[i] = (CachePart){at + next, (size_t)bytes};
        next += (size_t)bytes + 1;
    }
    return next == size && strcmp(e->parts[CACHE_KEY].at, key) == 0;
}

static bool read_entry(int file, const char *key, CacheEntry *e) {
    size_t size = 0;
    if (!is_ours(file, &size)) return false;
    char *at = malloc(size);
    e->memory = at;
    return at && read_all(file, at, size) && take_apart(at, size, key, e);
}

bool cache_read(const Cache *c, const char *key, bool use, CacheEntry *e) {
    char name[NAME];
    memset(e, 0, sizeof *e);
    if (c->folder < 0 || strlen(key) != DIGEST_HEX) return false;
    snprintf(name, sizeof name, "%s%s", key, ending);
    int file = openat(c->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return false;
    bool ok = read_entry(file, key, e);
    if (ok && use) (void)futimens(file, NULL); /* a file system that is read-only keeps its order */
    (void)close(file);
    if (!ok) cache_entry_free(e);
    return ok;
}

void cache_entry_free(CacheEntry *e) {
    free(e->memory);
    memset(e, 0, sizeof *e);
}

/* ---- The folder's files ------------------------------------------------------------------------------------------ */

static bool is_entry(const char *name) {
    return strspn(name, "0123456789abcdef") == DIGEST_HEX && strcmp(name + DIGEST_HEX, ending) == 0;
}

/* What a writer left that is not alive: on this machine its process, elsewhere its file's age tells. */
static bool is_left_over(const Cache *c, const char *name) {
    struct stat s;
    if (strncmp(name, temporary, sizeof temporary - 1) != 0) return false;
    long process = strtol(name + sizeof temporary - 1, NULL, 10);
    if (process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH) return true;
    return fstatat(c->folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_mtime < time(NULL) - STALE_SECONDS;
}

/* The folder as a stream of its own position; NULL on failure. */
static DIR *walk(const Cache *c) {
    int again = c->folder < 0 ? -1 : openat(c->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    if (!d && again >= 0) (void)close(again);
    return d;
}

static int longest_unused(const void *a, const void *b) {
    const CacheItem *x = a, *y = b;
    return x->used != y->used ? (x->used > y->used) - (x->used < y->used) : strcmp(x->key, y->key);
}

bool cache_list(const Cache *c, CacheItem **items, size_t *n) {
    DIR *d = walk(c);
    size_t cap = 0;
    bool ok = d != NULL;
    *items = NULL;
    *n = 0;
    for (struct dirent *at; ok && (at = readdir(d)) != NULL;) {
        struct stat s;
        if (!is_entry(at->d_name) || fstatat(c->folder, at->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (*n == cap) {
            cap = cap ? cap * 2 : 64;
            CacheItem *more = realloc(*items, cap * sizeof *more);
            ok = more != NULL;
            if (!ok) break;
            *items = more;
        }
        CacheItem *item = &(*items)[(*n)++];
        memcpy(item->key, at->d_name, DIGEST_HEX);
        item->key[DIGEST_HEX] = '\0';
        item->bytes = (uint64_t)s.st_size;
        item->used = (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec;
    }
    if (d) closedir(d);
    if (ok && *n) qsort(*items, *n, sizeof **items, longest_unused);
    if (ok) return true;
    free(*items);
    *items = NULL;
    return false;
}

static bool remove_entry(const Cache *c, const char *key) {
    char name[NAME];
    snprintf(name, sizeof name, "%s%s", key, ending);
    return unlinkat(c->folder, name, 0) == 0;
}

static void remove_left_overs(const Cache *c) {
    DIR *d = walk(c);
    for (struct dirent *at; d && (at = readdir(d)) != NULL;) {
        if (is_left_over(c, at->d_name)) (void)unlinkat(c->folder, at->d_name, 0);
    }
    if (d) closedir(d);
}

size_t cache_clear(const Cache *c) {
    CacheItem *items = NULL;
    size_t n = 0, removed = 0;
    if (cache_list(c, &items, &n)) remove_left_overs(c);
    for (size_t i = 0; i < n; i++) removed += remove_entry(c, items[i].key);
    free(items);
    return removed;
}

/* Removes the longest unused entries until the rest fits the limit. Others may do the same at once. */
static void make_room(const Cache *c) {
    CacheItem *items = NULL;
    size_t n = 0;
    uint64_t bytes = 0;
    if (!cache_list(c, &items, &n)) return;
    for (size_t i = 0; i < n; i++) bytes += items[i].bytes;
    if (bytes > c->limit) remove_left_overs(c);
    for (size_t i = 0; i < n && bytes > c->limit; i++) {
        (void)remove_entry(c, items[i].key);
        bytes -= items[i].bytes;
    }
    free(items);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The whole file in memory; NULL: out of memory, or it would be beyond what is read again. */
static char *put_together(const char *key, const CacheEntry *e, size_t *size) {
    CachePart parts[CACHE_PARTS];
    uint64_t all = HEAD;
    memcpy(parts, e->parts, sizeof parts);
    parts[CACHE_KEY] = (CachePart){key, DIGEST_HEX};
    for (int i = 0; i < CACHE_PARTS; i++) all += parts[i].size + 1;
    char *at = all <= largest ? calloc(1, (size_t)all) : NULL;
    if (!at) return NULL;
    memcpy(at, magic, sizeof magic);
    set_word(at + AT_SIZE, all);
    size_t next = HEAD;
    for (int i = 0; i < CACHE_PARTS; i++) {
        set_word(at + AT_PARTS + 8 * i, parts[i].size);
        if (parts[i].size) memcpy(at + next, parts[i].at, parts[i].size);
        next += parts[i].size + 1;
    }
    set_word(at + AT_SUM, damage_sum(at + AT_SIZE, (size_t)all - AT_SIZE));
    *size = (size_t)all;
    return at;
}

/* write() where a limit of the process makes the file too large is a signal that would end it: here it is an error. */
static bool write_all(int file, const char *at, size_t n) {
    sigset_t limit, before, waiting;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    bool ok = true;
    for (size_t done = 0; ok && done < n;) {
        ssize_t put = write(file, at + done, n - done);
        if (put < 0 && errno == EINTR) continue;
        ok = put > 0;
        if (ok) done += (size_t)put;
    }
    static const struct timespec at_once = {0, 0};
    if (!ok && errno == EFBIG && !sigismember(&waiting, SIGXFSZ)) (void)sigtimedwait(&limit, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static bool write_file(const Cache *c, const char *name, const char *at, size_t size) {
    static atomic_uint counter;
    char own[96];
    struct timespec now = {0, 0}; /* keeps processes of one number on several machines apart */
    (void)clock_gettime(CLOCK_REALTIME, &now);
    snprintf(own, sizeof own, "%s%ld-%u-%lld%09ld", temporary, (long)getpid(), atomic_fetch_add(&counter, 1),
             (long long)now.tv_sec, now.tv_nsec);
    int file = openat(c->folder, own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return false;
    bool ok = write_all(file, at, size);
    ok = close(file) == 0 && ok;
    ok = ok && renameat(c->folder, own, c->folder, name) == 0;
    if (!ok) (void)unlinkat(c->folder, own, 0);
    return ok;
}

bool cache_write(const Cache *c, const char *key, const CacheEntry *e) {
    char name[NAME];
    size_t size = 0;
    if (c->folder < 0 || strlen(key) != DIGEST_HEX) return false;
    snprintf(name, sizeof name, "%s%s", key, ending);
    char *at = put_together(key, e, &size);
    bool ok = at && size <= c->limit && write_file(c, name, at, size);
    free(at);
    if (ok) make_room(c);
    return ok;
}
