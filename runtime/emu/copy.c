/* copy.c - asynchronous copies from global into shared memory, as the threads of a block begin them and wait for them.
 *
 * In: a copy begun, a wait. Out: the bytes, in shared memory from the wait on; findings. Method: global memory is read
 * when the copy begins, the earliest that a GPU may do it; shared memory is written at the wait, the latest. Who
 * touches the place in between is reported (shared.c).
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

/* The bytes as accesses of the largest words that fit, at once where all are wanted. */
static void read_global(Thread *t, uint64_t address, unsigned char *data, uint32_t bytes, uint32_t all, int32_t site) {
    uint32_t word = all > 8 ? 8 : all, step = bytes == all ? all : 4;
    while (bytes % step) step /= 2;
    if (step < word) word = step;
    for (uint32_t at = 0; at < bytes; at += step) {
        uint64_t words[2] = {0, 0};
        EmuAccess a = {.words = (uint8_t)(step / word), .bytes = (uint8_t)word};
        global_access(t, address + at, words, a, false, site);
        for (uint32_t i = 0; i < a.words; i++) memcpy(data + at + i * word, &words[i], word);
    }
}

void copy_begin(Thread *t, uint32_t offset, uint64_t address, uint32_t bytes, uint32_t all, int32_t site) {
    AsyncCopies *c = &t->copies;
    AsyncCopy copy = {.offset = offset, .bytes = all, .group = c->groups, .site = site, .address = address};
    if (!shared_within(t, offset, all, true, site)) return;
    Launch *launch = t->block->team->launch;
    /* whole ones are global.c's, which names the element */
    if (launch->checked && bytes && bytes < all && address % all) {
        Spot spot = thread_spot(t, site, address);
        finding_add(launch->findings, FINDING_ALIGN, &spot, "copies %u bytes from an address that is no multiple of %u",
                    bytes, all);
        return;
    }
    if (c->n == c->cap) {
        uint32_t cap = c->cap ? 2 * c->cap : 32;
        AsyncCopy *more = realloc(c->at, cap * sizeof *more);
        if (!more) {
            atomic_store(&launch->out_of_memory, true);
            return;
        }
        c->at = more, c->cap = cap;
    }
    if (bytes) read_global(t, address, copy.data, bytes, all, site);
    c->at[c->n++] = copy;
    shared_coming(t, offset, all, true, site);
}

bool copy_arrives(const AsyncCopies *c, const AsyncCopy *copy, uint32_t pending) {
    return (uint64_t)copy->group + pending < c->groups;
}

void copy_arrive(Thread *t, uint32_t pending) {
    AsyncCopies *c = &t->copies;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const AsyncCopy *copy = &c->at[i];
        if (!copy_arrives(c, copy, pending)) {
            c->at[kept++] = *copy;
            continue;
        }
        memcpy(t->block->shared + copy->offset, copy->data, copy->bytes);
        shared_coming(t, copy->offset, copy->bytes, false, copy->site);
    }
    c->n = kept;
}
