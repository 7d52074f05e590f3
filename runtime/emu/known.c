/* known.c - what programs know of each other: of whom, up to which of its accesses.
 *
 * In: stores and releases, acquires and volatile loads of cells of global memory. Out: the knowledge of a program,
 * against which races are judged. Method: a list sorted by program, a vector clock. A cell that is written keeps what
 * its writer knew as a snapshot, which all cells that a program writes meanwhile share; who acquires from the cell adds
 * it to its own, so that knowledge is handed on. An atomic that does not release hands on what it found: it continues
 * the release before it.
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

struct Snapshot {
    atomic_uint refs;
    Knowledge k;
};

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* The first entry whose owner is not below. */
static uint32_t place_of(const Knowledge *k, uint64_t owner) {
    uint32_t lo = 0, hi = k->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (k->at[mid].owner < owner) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

uint32_t knowledge_of(const Knowledge *k, uint64_t owner) {
    uint32_t i = place_of(k, owner);
    return i < k->n && k->at[i].owner == owner ? k->at[i].clock : 0;
}

static bool grow(Knowledge *k) {
    if (k->n < k->cap) return true;
    uint32_t cap = k->cap ? 2 * k->cap : 16;
    Known *more = realloc(k->at, cap * sizeof *more);
    if (!more) return false;
    k->at = more;
    k->cap = cap;
    return true;
}

/* False: out of memory. *changed where it was news. */
static bool add(Knowledge *k, uint64_t owner, uint32_t clock, bool *changed) {
    if (clock <= knowledge_of(k, owner)) return true;
    uint32_t i = place_of(k, owner);
    *changed = true;
    if (i < k->n && k->at[i].owner == owner) {
        k->at[i].clock = clock;
        return true;
    }
    if (!grow(k)) return false;
    memmove(&k->at[i + 1], &k->at[i], (k->n - i) * sizeof *k->at);
    k->at[i] = (Known){owner, clock};
    k->n++;
    return true;
}

static bool add_all(Knowledge *k, const Snapshot *s, bool *changed) {
    bool ok = true;
    for (uint32_t i = 0; s && i < s->k.n && ok; i++) ok = add(k, s->k.at[i].owner, s->k.at[i].clock, changed);
    return ok;
}

/* ---- Snapshots --------------------------------------------------------------------------------------------------- */

static Snapshot *snapshot_create(void) {
    Snapshot *s = calloc(1, sizeof *s);
    if (s) atomic_init(&s->refs, 1);
    return s;
}

static Snapshot *snapshot_keep(Snapshot *s) {
    if (s) atomic_fetch_add(&s->refs, 1);
    return s;
}

void snapshot_drop(Snapshot *s) {
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1) return;
    free(s->k.at);
    free(s);
}

static void no_memory(Team *t) {
    atomic_store(&t->launch->out_of_memory, true);
}

/* What the team knows now; NULL: nothing. */
static Snapshot *team_snapshot(Team *t) {
    bool changed;
    if (t->shown || !t->known.n) return t->shown;
    Snapshot *s = t->shown = snapshot_create();
    for (uint32_t i = 0; s && i < t->known.n; i++)
        if (!add(&s->k, t->known.at[i].owner, t->known.at[i].clock, &changed)) no_memory(t);
    if (!s) no_memory(t);
    return s;
}

void team_forget(Team *t) {
    t->known.n = 0;
    snapshot_drop(t->shown);
    t->shown = NULL;
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static void cell_set(Cell *cell, Snapshot *s) { /* takes the reference */
    snapshot_drop(cell->shown);
    cell->shown = s;
}

void cell_learn(const Cell *cell, Team *t, uint64_t owner) {
    bool changed = false, ok = add_all(&t->known, cell->shown, &changed);
    const Touch *w = &cell->writer;
    if (ok && w->publishes && w->owner && w->owner != owner) ok = add(&t->known, w->owner, w->clock, &changed);
    if (!ok) no_memory(t);
    if (!changed) return;
    snapshot_drop(t->shown);
    t->shown = NULL;
}

void cell_publish(Cell *cell, Team *t, const Touch *old, const Touch *now) {
    if (now->atomic == TOUCH_PLAIN) {
        cell_set(cell, snapshot_keep(team_snapshot(t)));
        return;
    }
    /* Continue what the cell shows: with the writer before, and where it releases with what this program knows. */
    Snapshot *s = snapshot_create();
    bool changed = false, ok = s && add_all(&s->k, cell->shown, &changed);
    if (ok && old->owner && old->publishes) ok = add(&s->k, old->owner, old->clock, &changed);
    for (uint32_t i = 0; ok && now->publishes && i < t->known.n; i++)
        ok = add(&s->k, t->known.at[i].owner, t->known.at[i].clock, &changed);
    if (!ok) no_memory(t);
    cell_set(cell, s);
}
