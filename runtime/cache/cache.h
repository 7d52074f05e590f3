/* cache.h - compiled variants on disk: a private folder of entries, each a file named after the key of its content.
 *
 * Nothing here knows what a key is made of (jit/disk.c does). There is no lock: an entry is written under a temporary
 * name and renamed, so that readers see all of it or nothing; who finds it damaged compiles again and replaces it. No
 * function prints. Different threads and processes may use one folder.
 */
#ifndef FSC_CACHE_H
#define FSC_CACHE_H

#include "runtime/base/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CachePartKind {
#define PART(name, text, what) CACHE_##name,
#include "runtime/cache/cache.def"
#undef PART
    CACHE_PARTS
} CachePartKind;

typedef struct CachePart {
    const char *at; /* of an entry that was read: a NUL follows */
    size_t size;    /* 0: not there */
} CachePart;

typedef struct CacheEntry {
    CachePart parts[CACHE_PARTS];
    void *memory; /* of an entry that was read: what the parts point into */
} CacheEntry;

enum { CACHE_PATH = 4096, CACHE_WHY = CACHE_PATH + 256 };

typedef struct Cache {
    int folder;     /* -1: closed */
    uint64_t limit; /* bytes that the entries may take */
    char path[CACHE_PATH];
} Cache;

/* $FSC_CACHE_DIR, $XDG_CACHE_HOME/fsc or ~/.cache/fsc. False with a sentence in why (CACHE_WHY bytes) where there is to
 * be no cache (the first is empty or `off`, or no variable is set) or its path is too long. */
bool cache_path(char path[CACHE_PATH], char *why);
/* Opens the folder, and makes it first with `make`. False with a sentence in why: none wanted, or none that is private
 * (a folder, no link, ours, mode 0700); errno is ENOENT where it is only not there. cache_close in any case. */
bool cache_open(Cache *c, bool make, char *why);
void cache_close(Cache *c);

/* The entry of this key; with `use` it is marked as used now. False: none, or one that is damaged,
 * foreign or not ours. The caller frees. */
bool cache_read(const Cache *c, const char *key, bool use, CacheEntry *e);
void cache_entry_free(CacheEntry *e);
/* Writes or replaces the entry; parts[CACHE_KEY] is filled in here. Then the longest unused entries beyond the limit
 * are removed. False: nothing was written (no room, a folder that cannot be written to, an entry larger than the
 * limit). */
bool cache_write(const Cache *c, const char *key, const CacheEntry *e);

typedef struct CacheItem {
    char key[DIGEST_HEX + 1];
    uint64_t bytes;
    int64_t used; /* nanoseconds since 1970 */
} CacheItem;

/* Every entry, the longest unused first; malloc'd, the caller frees. False: out of memory,
 * or the folder cannot be read. */
bool cache_list(const Cache *c, CacheItem **items, size_t *n);
/* Removes every entry, and what writers that died left. How many entries. */
size_t cache_clear(const Cache *c);

#endif
