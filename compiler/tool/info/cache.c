/* cache.c - `fsc cache path|list|stat|clear`: the variants on disk.
 *
 * In: one word. Out: text, or JSON of list and stat. A folder that nobody has made yet is an empty cache; one that is
 * not private is exit status 3 with what to do.
 */
#include "base/schema.h"
#include "tool/tool.h"

#include "runtime/cache/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void print_string(const char *s, size_t n) {
    putchar('"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < ' ') printf("\\u%04x", c);
        else putchar(c);
    }
    putchar('"');
}

/* The entries, the youngest first, and how many there are; exit status after printing why not. */
static bool open_entries(Cache *c, CacheItem **items, size_t *n) {
    char why[CACHE_WHY];
    *items = NULL;
    *n = 0;
    bool ok = cache_open(c, false, why);
    if (!ok && errno == ENOENT) return true;
    if (!ok) fprintf(stderr, "fsc cache: %s\n", why);
    else if (!cache_list(c, items, n)) fprintf(stderr, "fsc cache: %s: %s\n", c->path, strerror(errno));
    else return true;
    return false;
}

static ExitCode print_path(void) {
    char path[CACHE_PATH], why[CACHE_WHY];
    if (cache_path(path, why)) {
        printf("%s\n", path);
        return EXIT_DONE;
    }
    fprintf(stderr, "fsc cache: %s\n", why);
    return EXIT_ENVIRONMENT;
}

static void print_entry(const CacheItem *item, const CacheEntry *e, bool json, bool first) {
    const CachePart *label = &e->parts[CACHE_LABEL];
    const char *text = e->memory ? label->at : "(damaged)";
    size_t length = e->memory ? label->size : strlen(text);
    char date[32] = "";
    time_t seconds = (time_t)(item->used / 1000000000);
    struct tm at;
    if (gmtime_r(&seconds, &at)) strftime(date, sizeof date, json ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M", &at);
    if (!json) {
        printf("%.12s  %9" PRIu64 "  %s  %.*s\n", item->key, item->bytes, date, (int)length, text);
        return;
    }
    printf("%s\n  {\"key\": \"%s\", \"bytes\": %" PRIu64 ", \"used\": \"%s\", \"damaged\": %s, \"label\": ",
           first ? "" : ",", item->key, item->bytes, date, e->memory ? "false" : "true");
    print_string(text, e->memory ? length : 0);
    printf("}");
}

static ExitCode print_list(bool json) {
    Cache c;
    CacheItem *items;
    size_t n;
    bool ok = open_entries(&c, &items, &n);
    if (ok && json) printf("{\"schema_version\": %d, \"entries\": [", SCHEMA_CACHE_LIST);
    for (size_t i = n; i-- > 0;) {
        CacheEntry e;
        (void)cache_read(&c, items[i].key, false, &e);
        print_entry(&items[i], &e, json, i + 1 == n);
        cache_entry_free(&e);
    }
    if (ok && json) printf("\n]}\n");
    free(items);
    cache_close(&c);
    return ok ? EXIT_DONE : EXIT_ENVIRONMENT;
}

static ExitCode print_stat(bool json) {
    Cache c;
    CacheItem *items;
    size_t n, damaged = 0;
    uint64_t bytes = 0;
    bool ok = open_entries(&c, &items, &n);
    for (size_t i = 0; i < n; i++) {
        CacheEntry e;
        bytes += items[i].bytes;
        damaged += !cache_read(&c, items[i].key, false, &e);
        cache_entry_free(&e);
    }
    if (ok && json) {
        printf("{\"schema_version\": %d, \"folder\": ", SCHEMA_CACHE_STAT);
        print_string(c.path, strlen(c.path));
        printf(", \"entries\": %zu, \"damaged\": %zu, \"bytes\": %" PRIu64 ", \"limit\": %" PRIu64 "}\n", n, damaged,
               bytes, c.limit);
    } else if (ok) {
        printf("folder   %s\nentries  %zu, %zu of them damaged\nbytes    %" PRIu64 " of %" PRIu64 "\n", c.path, n,
               damaged, bytes, c.limit);
    }
    free(items);
    cache_close(&c);
    return ok ? EXIT_DONE : EXIT_ENVIRONMENT;
}

static ExitCode clear(void) {
    Cache c;
    CacheItem *items;
    size_t n;
    bool ok = open_entries(&c, &items, &n);
    free(items);
    size_t removed = ok ? cache_clear(&c) : 0;
    if (ok) printf("removed %zu of %zu\n", removed, n);
    cache_close(&c);
    return ok && removed == n ? EXIT_DONE : EXIT_ENVIRONMENT;
}

ExitCode command_cache(ToolOptions *o) {
    const char *what = o->words.len ? o->words.at[0] : "";
    if (o->words.len > 1) {
        fprintf(stderr, "fsc cache: takes one word; '%s' is too much\n", o->words.at[1]);
        return EXIT_CALL;
    }
    bool is_list = strcmp(what, "list") == 0, is_stat = strcmp(what, "stat") == 0;
    if (o->json && !is_list && !is_stat) {
        fprintf(stderr, "fsc cache: --json is for list and stat\n");
        return EXIT_CALL;
    }
    if (is_list) return print_list(o->json);
    if (is_stat) return print_stat(o->json);
    if (strcmp(what, "path") == 0) return print_path();
    if (strcmp(what, "clear") == 0) return clear();
    if (*what) fprintf(stderr, "fsc cache: '%s' is none of path, list, stat and clear\n", what);
    else fprintf(stderr, "fsc cache: say what: path, list, stat or clear\n");
    return EXIT_CALL;
}
