/* words.c - words between the blocks of a program of scope grid.
 *
 * In: stores, waits and the leaving of blocks. Out: values; findings where a word is overwritten that a block has yet
 * to read, is waited for too late, or is touched by a block that has left: on a GPU each is a hang or a wrong result.
 * Method: a table of words in the team; who waits spins.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

void words_begin(Team *t) {
    if (t->words) memset(t->words, 0, t->num_words * sizeof *t->words);
    t->turns = 0;
    for (uint32_t i = 0; i < t->num_blocks; i++) t->blocks[i].has_left = false;
}

static void complain(Thread *t, uint32_t word, int32_t site, const char *text, uint32_t number) {
    Spot spot = thread_spot(t, site, word);
    finding_add(t->block->team->launch->findings, FINDING_WORDS, &spot, text, word, number);
}

/* NULL: no memory, or the block must not ask. */
static Word *find(Thread *t, uint32_t word, int32_t site) {
    Team *team = t->block->team;
    if (t->block->has_left) {
        complain(t, word, site, "touches word %u of its program's, which its block, number %u, has left",
                 t->block->rank);
        return NULL;
    }
    if (word < team->num_words) return &team->words[word];
    uint32_t n = word + 64;
    Word *more = realloc(team->words, n * sizeof *more);
    if (!more) {
        atomic_store(&team->launch->out_of_memory, true);
        return NULL;
    }
    memset(more + team->num_words, 0, (n - team->num_words) * sizeof *more);
    team->words = more;
    team->num_words = n;
    return &more[word];
}

static void word_write(Thread *t, uint32_t word, uint32_t value, uint32_t round, int32_t site) {
    const Team *team = t->block->team;
    Word *w = find(t, word, site);
    if (!w) return;
    if (w->round && w->readers < team->num_blocks)
        complain(t, word, site, "overwrites word %u of its program's, which %u blocks have yet to read",
                 team->num_blocks - w->readers);
    *w = (Word){.round = round, .value = value};
    team_progress(t->block->team);
}

static uint32_t word_read(Thread *t, uint32_t word, uint32_t round, int32_t site) {
    t->site = site;
    for (;;) {
        Word *w = find(t, word, site); /* anew: the table may have grown */
        if (!w) return 0;
        if (w->round == round) {
            w->readers++;
            return w->value;
        }
        if (w->round > round) {
            complain(t, word, site, "waits for word %u of its program's, which is of a later round already, %u",
                     w->round);
            return 0;
        }
        thread_spin(t);
    }
}

void emu_grid_store(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t value, uint32_t round, int32_t site) {
    if (predicate) word_write((Thread *)t, word, value, round, site); /* its first member */
}

uint32_t emu_grid_wait(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t round, int32_t site) {
    return predicate ? word_read((Thread *)t, word, round, site) : 0;
}

void emu_grid_leave(EmuThread *t, uint32_t tid, int32_t site) {
    (void)site;
    if (tid == 0) ((Thread *)t)->block->has_left = true;
}
