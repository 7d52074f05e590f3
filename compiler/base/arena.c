/* arena.c - memory with one lifetime: blocks that are filled from front to back and dropped together.
 *
 * Blocks double from 64 KB to 4 MB; a request larger than a block gets one of its own. Fresh blocks come zeroed.
 * Under ASan what was not handed out is poisoned, and a gap stays behind each piece: it sees an overflow of one.
 */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

enum { FIRST_BLOCK = 1 << 16, LAST_BLOCK = 1 << 22, ALIGN = 16 };

typedef struct Chunk {
    struct Chunk *next;
    size_t used, size; /* of the bytes after this header */
    char pad[ALIGN - (2 * sizeof(size_t) + sizeof(void *)) % ALIGN];
} Chunk;

struct Arena {
    Chunk *chunks; /* the first is the one being filled */
    size_t next_size;
};

Arena *arena_create(void) {
    Arena *a = calloc(1, sizeof *a);
    if (!a) bug("out of memory");
    a->next_size = FIRST_BLOCK;
    return a;
}

void arena_destroy(Arena *a) {
    if (!a) return;
    for (Chunk *c = a->chunks; c;) {
        Chunk *next = c->next;
        free(c);
        c = next;
    }
    free(a);
}

static Chunk *add_chunk(size_t size) {
    Chunk *c = calloc(1, sizeof *c + size);
    if (!c) bug("out of memory: %zu bytes", size);
    c->size = size;
    ASAN_POISON_MEMORY_REGION(c + 1, size);
    return c;
}

void *arena_alloc(Arena *a, size_t size) {
    if (size > SIZE_MAX / 2) bug("out of memory: %zu bytes", size);
    size_t wanted = size;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    size += GAP;
    Chunk *c = a->chunks;
    if (!c || c->size - c->used < size) {
        bool own = size > a->next_size / 4; /* a big one does not waste the rest of the block */
        c = add_chunk(own ? size : a->next_size);
        if (own && a->chunks) { /* behind the block being filled */
            c->next = a->chunks->next;
            a->chunks->next = c;
        } else {
            c->next = a->chunks;
            a->chunks = c;
        }
        if (!own && a->next_size < LAST_BLOCK) a->next_size *= 2;
    }
    void *p = (char *)(c + 1) + c->used;
    c->used += size;
    ASAN_UNPOISON_MEMORY_REGION(p, wanted);
    return p;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
    char *to = arena_alloc(a, n + 1);
    if (n) memcpy(to, s, n);
    return to;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    size_t size = n < 0 ? 1 : (size_t)n + 1;
    char *to = arena_alloc(a, size);
    vsnprintf(to, size, fmt, again);
    va_end(again);
    return to;
}

void *vec_grow(Arena *a, void *at, uint32_t *cap, size_t size) {
    uint32_t old = *cap;
    if (old > UINT32_MAX / 2) bug("a vector of more than 2^31 elements");
    *cap = old ? old * 2 : 8;
    void *to = arena_alloc(a, *cap * size);
    if (old) memcpy(to, at, old * size);
    return to;
}
