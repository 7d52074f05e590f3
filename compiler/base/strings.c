/* strings.c - interning: equal texts become one pointer. An open hash table that doubles; texts live in the arena. */
#include "base/base.h"

#include <string.h>

typedef struct Entry {
    const char *text; /* NULL: free */
    size_t length;
    uint64_t hash;
} Entry;

struct Strings {
    Arena *arena;
    Entry *table;
    uint32_t size, used; /* size is a power of two */
};

Strings *strings_create(Arena *a) {
    Strings *s = NEW(a, Strings);
    s->arena = a;
    s->size = 256;
    s->table = NEW_ARRAY(a, Entry, s->size);
    return s;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *text, size_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h;
}

static Entry *slot_of(const Strings *s, const char *text, size_t n, uint64_t hash) {
    for (uint32_t i = (uint32_t)hash & (s->size - 1);; i = (i + 1) & (s->size - 1)) {
        Entry *e = &s->table[i];
        if (!e->text || (e->hash == hash && e->length == n && memcmp(e->text, text, n) == 0)) return e;
    }
}

static void grow(Strings *s) {
    Entry *old = s->table;
    uint32_t size = s->size;
    s->size *= 2;
    s->table = NEW_ARRAY(s->arena, Entry, s->size);
    for (uint32_t i = 0; i < size; i++) {
        if (old[i].text) *slot_of(s, old[i].text, old[i].length, old[i].hash) = old[i];
    }
}

const char *str_intern(Strings *s, const char *text, size_t n) {
    uint64_t hash = hash_of(text, n);
    Entry *e = slot_of(s, text, n, hash);
    if (e->text) return e->text;
    if (s->used * 2 >= s->size) {
        grow(s);
        e = slot_of(s, text, n, hash);
    }
    s->used++;
    *e = (Entry){arena_strndup(s->arena, text, n), n, hash};
    return e->text;
}

const char *str_intern0(Strings *s, const char *text) {
    return str_intern(s, text, strlen(text));
}
