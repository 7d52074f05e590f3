/* shadow.c - whether two accesses of one cell of memory are ordered.
 *
 * In: a cell, a new access. Out: an earlier access that conflicts with it, if one does. Method: threads of a program
 * are ordered by the barriers that both passed, counted per warp, block and cluster; programs by what one has learnt of
 * the other through volatile loads and acquiring atomics. The rules are those of docs/explanation/emulator.md, "Order".
 */
#include "runtime/emu/emu.h"

static bool knows(const Team *t, const Touch *of) {
    return of->clock <= knowledge_of(&t->known, of->owner);
}

/* Of one program: did both threads pass a barrier in between, or one of them wait for what the other counts? */
static bool is_ordered(const Team *t, const Touch *a, const Touch *b) {
    uint32_t threads_per_block = t->threads_per_block;
    if ((a->is_async || a->deed == DEED_READS) && mbarriers_know(t, a, b)) return true;
    if (a->is_async) return false;
    if (a->thread == b->thread || a->cluster_time != b->cluster_time) return true;
    if (a->thread / threads_per_block != b->thread / threads_per_block) return false;
    if (a->block_time != b->block_time) return true;
    return a->thread / WARP == b->thread / WARP && a->warp_time != b->warp_time;
}

/* Two atomics do not conflict where both are atomic for both. */
static bool are_atomic(const Touch *old, const Touch *now) {
    if (old->atomic == TOUCH_PLAIN || now->atomic == TOUCH_PLAIN) return false;
    return old->owner == now->owner || (old->atomic == TOUCH_ATOMIC && now->atomic == TOUCH_ATOMIC);
}

/* Two stores of one op by one thread: in one turn of the loops? */
static bool is_one_turn(const Thread *t, const Touch *old, const Touch *now) {
    return old->thread == now->thread && now->site == t->store_site && old->clock >= t->store_begins;
}

/* `old` and `now` touch one cell and at least one of them stores. Several elements, or copies of one, may be stored by
 * one op to one address if they are the same. */
static Conflict conflict(const Thread *t, const Touch *old, const Touch *now, bool both_store) {
    const Team *team = t->block->team;
    if (old->owner == 0 || are_atomic(old, now)) return CONFLICT_NONE;
    if (old->owner != now->owner) return knows(team, old) ? CONFLICT_NONE : CONFLICT_PROGRAMS;
    bool is_one_op = both_store && old->site == now->site;
    if (is_one_op && !now->is_other) return CONFLICT_NONE;
    if (is_one_op && is_one_turn(t, old, now)) return CONFLICT_ELEMENTS;
    if (is_ordered(team, old, now)) return CONFLICT_NONE;
    return is_one_op ? CONFLICT_ELEMENTS : CONFLICT_THREADS;
}

static void note_reader(Cell *cell, const Touch *now) {
    Touch *last = &cell->reader, *other = &cell->other_reader;
    bool is_same = last->owner == now->owner && last->thread == now->thread;
    if (!is_same && (last->owner != now->owner || other->owner == now->owner || other->owner == 0)) *other = *last;
    *last = *now;
}

Conflict cell_touch(Cell *cell, const Thread *t, const Touch *now, bool is_store, bool is_volatile, Touch *with) {
    const Touch *touches[] = {&cell->writer, &cell->reader, &cell->other_reader};
    bool is_foreign = cell->writer.owner != now->owner && cell->writer.owner != 0;
    Conflict c = CONFLICT_NONE;
    if (is_volatile && !is_store && is_foreign) return CONFLICT_NONE;
    for (uint32_t i = 0; i < (is_store ? 3u : 1u) && c == CONFLICT_NONE; i++) {
        c = conflict(t, touches[i], now, is_store && i == 0);
        *with = *touches[i];
    }
    if (is_store)
        cell->writer = *now;
    if (!is_volatile && (now->atomic != TOUCH_PLAIN || !is_store))
        note_reader(cell, now);
    return c;
}
