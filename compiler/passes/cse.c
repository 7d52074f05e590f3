/* cse.c - one value per expression: a pure op that was computed before, in this block or one around it, is dropped.
 *
 * Method: a hash table of the ops in scope, with a journal that takes a region's entries out again behind it.
 * Loads are left alone: stores may alias.
 */
#include "passes/passes.h"

#include <string.h>

typedef struct Table {
    Arena *a;
    Op **slots;
    uint32_t size; /* a power of two, more than twice the ops of the function */
    VEC(uint32_t) journal;
} Table;

static uint64_t mix(uint64_t h, uint64_t x) {
    return (h ^ x) * 0x9e3779b97f4a7c15u + (h >> 29);
}

static uint64_t hash_op(const Op *op) {
    uint64_t h = mix(op->kind, (uint64_t)op->attr.i);
    h = mix(h, (uint64_t)op->attr.j);
    for (uint32_t i = 0; i < op->nargs; i++) h = mix(h, op->args[i]->id);
    Type t = op->results[0]->type;
    return mix(h, (uint64_t)t.dtype << 8 | t.pointee) ^ (uint64_t)(uintptr_t)t.layout >> 4;
}

static bool same_op(const Op *a, const Op *b) {
    if (a->kind != b->kind || a->nargs != b->nargs || a->attr.i != b->attr.i || a->attr.j != b->attr.j) return false;
    for (uint32_t i = 0; i < a->nargs; i++) {
        if (a->args[i] != b->args[i]) return false;
    }
    return type_equal(a->results[0]->type, b->results[0]->type);
}

/* The equal op in scope, or NULL after entering this one. */
static Op *find_or_enter(Table *t, Op *op) {
    for (uint32_t i = (uint32_t)(hash_op(op) >> 7) & (t->size - 1);; i = (i + 1) & (t->size - 1)) {
        if (!t->slots[i]) {
            t->slots[i] = op;
            vec_push(t->a, &t->journal, i);
            return NULL;
        }
        if (same_op(t->slots[i], op)) return t->slots[i];
    }
}

static bool walk(Func *f, Table *t, Block *b) {
    bool changed = false;
    uint32_t mark = t->journal.len;
    for (Op *op = b->first; op;) {
        Op *next = op->next;
        for (uint32_t r = 0; r < op->nregions; r++) changed |= walk(f, t, op->regions[r]);
        if (op_info[op->kind].effect == EFFECT_PURE && op->nresults == 1) {
            Op *older = find_or_enter(t, op);
            if (older) {
                value_replace(f, op->results[0], older->results[0]);
                op_erase(f, op);
                changed = true;
            }
        }
        op = next;
    }
    while (t->journal.len > mark) t->slots[t->journal.at[--t->journal.len]] = NULL; /* in reverse: no hole in a probe */
    return changed;
}

bool pass_cse(Func *f, PassContext *c) {
    (void)c;
    Table t = {.a = arena_create(), .size = 64};
    while (t.size < 3 * f->next_op) t.size *= 2;
    t.slots = NEW_ARRAY(t.a, Op *, t.size);
    bool changed = walk(f, &t, f->body);
    arena_destroy(t.a);
    return changed;
}

bool pass_cse2(Func *f, PassContext *c) {
    return pass_cse(f, c);
}
