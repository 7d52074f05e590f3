/* deferred_loads.c - deferred loads (passes/schedule/defer.c), and the stores that they are for.
 *
 * In: a load or store as a Move. Out: a tile that loads a vector when one of its slots is asked for; a store that asks
 * for its vectors one by one.
 * Method: the store begins the loads of its next vectors, as far ahead as a few registers hold, then makes and stores
 * one vector. A row with another misalignment than its tile's rotation has each vector loaded as the words that it lies
 * across, and put together. A vector that the row's end cuts is loaded by parts.
 */
#include "codegen/simt/access/move.h"

#include <string.h>

/* loads; words of them that are under way at once, but of one vector all */
enum { MOST_DEFERRED = 8, UNDER_WAY = 16 };

/* A predicate of vector v alone. */
static V *only(Simt *s, const Move *mv, V when, uint32_t v) {
    V *r = NEW_ARRAY(s->m->o->arena, V, mv->vectors);
    for (uint32_t i = 0; i < mv->vectors; i++) r[i] = i == v ? when : llvm_int(s->m->i1, 0);
    return r;
}

static bool is_dead(const Move *mv, uint32_t v) {
    return is_false(mv->all[v]) && is_false(mv->partial[v]) && is_false(mv->misaligned[v]);
}

static Begun load_begin(Simt *s, const Move *mv, uint32_t v) {
    Begun r = {.is_begun = true};
    if (!mv->beyond) {
        load_whole(s, mv, v, r.words);
        return r;
    }
    r.inside = across_inside(s, mv, v);
    begin_across(s, mv, v, mv->beyond, r.inside, r.words);
    return r;
}

/* What a mask or the row's ends cut of vector v alone, over what is there. */
static void load_rest(Simt *s, const Move *mv, uint32_t v, V partial, V *all) {
    if (!is_false(partial)) load_slow(s, mv, only(s, mv, partial, v), all);
}

/* With the vector that it lies in. */
static V deferred_slot(Simt *s, const Tile *t, uint32_t reg) {
    const Move *mv = t->demand->move;
    V x[16];
    uint32_t v = reg / mv->n, w = mv->whole.words;
    V *all = NEW_ARRAY(s->m->o->arena, V, mv->vectors * w), *words = all + v * w, rest = mv->misaligned[v];
    Begun b = mv->begun[v].is_begun ? mv->begun[v] : load_begin(s, mv, v);
    if (mv->beyond) {
        others_pack(s, mv, v, words);
        end_across(s, mv, mv->beyond, b.inside, b.words, words);
        rest = known_and(s, mv->misaligned[v], known_not(s, b.inside));
    } else memcpy(words, b.words, w * sizeof *words);
    load_rest(s, mv, v, mv->partial[v], all);
    load_rest(s, mv, v, rest, all);
    elements_unpack(s, mv->d, words, mv->whole, x, mv->n);
    for (uint32_t i = 0; i < mv->n && !s->is_aside; i++) t->at[v * mv->n + i].base = x[i];
    return x[reg % mv->n];
}

/* Where rows may begin otherwise, every vector counts as one that lies across words. */
void simt_load_deferred(Simt *s, const Op *op) {
    Move *mv = NEW(s->m->o->arena, Move);
    *mv = move_open(s, op, op->results[0], false);
    if (mv->may_be_misaligned && move_crosses(mv)) {
        V last = tile_slot(s, mv->ptr, (mv->vectors - 1) * mv->n);
        mv->beyond = LLVMBuildAnd(s->m->at, LLVMBuildTrunc(s->m->at, last, s->m->i32, ""), simt_i32(s, 15), "");
        mv->aligned = llvm_int(s->m->i1, 0);
    }
    for (uint32_t v = 0; v < mv->vectors; v++) move_masks(s, mv, v);
    mv->begun = NEW_ARRAY(s->m->o->arena, Begun, mv->vectors);
    Value *v = op->results[0];
    Tile r = tile_create(s, tile_registers(v));
    r.demand = demand_create(s, op, r.n, deferred_slot);
    r.demand->move = mv;
    for (uint32_t i = 0; i < r.n; i++) {
        r.demand->same[i] = i;
        if (is_dead(mv, i / mv->n)) r.at[i].base = other_slot(s, mv, i);
    }
    s->values[v->id] = r;
}

/* The deferred loads that v is made of, each once. */
static uint32_t find_deferred(Simt *s, const Value *v, Move **found, uint32_t n) {
    if (!value_is_deferred(v)) return n;
    Move *mv = v->def->kind == OP_LOAD ? tile_on_demand(s, v)->demand->move : NULL;
    for (uint32_t i = 0; i < n && mv; i++)
        if (found[i] == mv) return n;
    if (mv && n < MOST_DEFERRED) found[n++] = mv;
    for (uint32_t i = 0; i < v->def->nargs && !mv; i++) n = find_deferred(s, v->def->args[i], found, n);
    return n;
}

/* Begins to load n registers from reg. */
static void load_ahead(Simt *s, Move *mv, uint32_t reg, uint32_t n) {
    for (uint32_t v = reg / mv->n; v * mv->n < reg + n; v++)
        if (!mv->begun[v].is_begun && !is_dead(mv, v)) mv->begun[v] = load_begin(s, mv, v);
}

/* ---- Stores ------------------------------------------------------------------------------------------------------ */

/* Deferred loads end here, vector by vector, however it is stored: those that no mask cuts first,
 * while registers are few. */
void simt_store_deferred(Simt *s, const Op *op) {
    const Move open = move_open(s, op, op->args[1], true), *mv = &open;
    Move *from[MOST_DEFERRED];
    uint32_t loads = find_deferred(s, mv->op->args[1], from, 0), words = 0,
             *order = NEW_ARRAY(s->m->o->arena, uint32_t, mv->vectors), n = 0;
    for (uint32_t i = 0; i < loads; i++)
        words += 4 * (mv->n > from[i]->n ? mv->n / from[i]->n : 1);
    for (uint32_t i = 0; i < 2 * mv->vectors; i++)
        if (is_false(mv->partial[i % mv->vectors]) == (i < mv->vectors) && !move_skips(mv, i % mv->vectors))
            order[n++] = i % mv->vectors;
    for (uint32_t i = 0, begun = 0; i < n; i++) {
        for (; begun < n && (begun <= i || (begun + 1 - i) * words <= UNDER_WAY); begun++)
            for (uint32_t k = 0; k < loads; k++) load_ahead(s, from[k], order[begun] * mv->n, mv->n);
        if (!is_false(mv->all[order[i]])) store_whole(s, mv, order[i]);
        if (move_single(mv, mv->misaligned, order[i]))
            store_slow(s, mv, only(s, mv, mv->misaligned[order[i]], order[i]));
    }
    if (mv->may_be_partial) store_slow(s, mv, mv->partial);
}
