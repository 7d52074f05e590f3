/* folder.c - the cache's folder: where it is, that it is private, how large it may become.
 *
 * In: the environment. Out: an open folder, or a sentence that says why there is none. Method: the last name of the
 * path is opened without following a link and all else is asked of the open folder, so nobody can exchange it in
 * between.
 */
#define _DEFAULT_SOURCE
#include "runtime/base/number.h"
#include "runtime/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t default_limit = (uint64_t)512 << 20;

static bool refuse(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char *why, const char *fmt, ...) {
    va_list args;
    errno = EPERM;
    va_start(args, fmt);
    vsnprintf(why, CACHE_WHY, fmt, args);
    va_end(args);
    return false;
}

static bool join(char path[CACHE_PATH], const char *base, const char *rest, char *why) {
    int n = snprintf(path, CACHE_PATH, "%s%s", base, rest);
    return (n > 0 && n < CACHE_PATH) || refuse(why, "the cache folder's path is longer than %d bytes", CACHE_PATH - 1);
}

bool cache_path(char path[CACHE_PATH], char *why) {
    const char *own = getenv("FSC_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && (*own == '\0' || strcmp(own, "off") == 0))
        return refuse(why, "the cache is switched off: FSC_CACHE_DIR is '%s'", own);
    if (own) return join(path, own, "", why);
    if (xdg && *xdg == '/') return join(path, xdg, "/fsc", why); /* a relative one counts as not set: the XDG rules */
    if (home && *home == '/') return join(path, home, "/.cache/fsc", why);
    return refuse(why,
                  "there is no place for a cache: neither FSC_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder");
}

/* 512M, 2G, 1048576; the default for what is no size. */
static uint64_t read_limit(const char *text) {
    int64_t n = 0;
    size_t length = text ? strlen(text) : 0;
    int shift = 0;
    if (length && strchr("kK", text[length - 1])) shift = 10;
    if (length && strchr("mM", text[length - 1])) shift = 20;
    if (length && strchr("gG", text[length - 1])) shift = 30;
    if (!length || !number_read_int(text, length - (shift != 0), &n) || n < 0 || n > INT64_MAX >> shift)
        return default_limit;
    return (uint64_t)n << shift;
}

/* Every folder of the path that is not there, as ours alone. */
static void make_folders(const char *path) {
    char part[CACHE_PATH];
    size_t n = strlen(path);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != '\0') continue;
        part[i] = '\0';
        (void)mkdir(part, 0700); /* what failed shows when the folder is opened */
        part[i] = path[i];
    }
}

static bool is_private(const Cache *c, char *why) {
    struct stat s;
    if (fstat(c->folder, &s) != 0) return refuse(why, "%s: %s", c->path, strerror(errno));
    if (s.st_uid != geteuid())
        return refuse(why, "%s belongs to user %u, and the cache must belong to user %u, who runs this", c->path,
                      (unsigned)s.st_uid, (unsigned)geteuid());
    if ((s.st_mode & 0077) == 0) return true;
    return refuse(why, "%s is open to other users (mode %03o), and a cache holds code that will run: chmod 700 it",
                  c->path, (unsigned)s.st_mode & 0777);
}

bool cache_open(Cache *c, bool make, char *why) {
    c->folder = -1;
    c->limit = read_limit(getenv("FSC_CACHE_SIZE"));
    if (!cache_path(c->path, why)) return false;
    size_t n = strlen(c->path);
    while (n > 1 && c->path[n - 1] == '/') c->path[--n] = '\0'; /* with a slash behind it, a link would be followed */
    if (make) make_folders(c->path);
    c->folder = open(c->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (c->folder < 0) {
        int error = errno;
        struct stat s;
        bool is_link = lstat(c->path, &s) == 0 && S_ISLNK(s.st_mode);
        if (is_link)
            return refuse(why, "%s is a symbolic link, which the cache does not follow: name the folder itself",
                          c->path);
        refuse(why, "%s: %s", c->path, strerror(error));
        errno = error;
        return false;
    }
    if (is_private(c, why)) return true;
    cache_close(c);
    return false;
}

void cache_close(Cache *c) {
    if (c->folder >= 0) (void)close(c->folder);
    c->folder = -1;
}
