/* cse.c - the passes cse and cse2: one value per pure expression.
 *
 * In: any stage. Out: an op that computes what an earlier op computed, where that is visible, is gone.
 * Method: blocks in program order with a hash table of what is in scope; leaving a region takes its entries out again.
 * Loads are left alone.
 */
#include "passes/private.h"

typedef struct Entry {
    Op *op;
    uint32_t hash;
    struct Entry *next;
} Entry;

typedef struct Table {
    Func *f;
    Arena *scratch;
    Entry **bucket;
    uint32_t mask;
    VEC(Entry *) entered; /* in order */
} Table;

static uint32_t mix(uint32_t h, uint64_t x) {
    h = (h ^ (uint32_t)x) * 16777619u;
    h = (h ^ (uint32_t)(x >> 32)) * 16777619u;
    return h ^ h >> 15;
}

static uint32_t hash_op(const Op *op) {
    uint32_t h = mix(2166136261u, op_key(op)), ids = 0;
    h = mix(h, op->results[0]->type.dtype);
    if (op_commutes(op->kind)) {
        for (uint32_t i = 0; i < op->nargs; i++) ids += mix(0, op->args[i]->id);
        return mix(h, ids);
    }
    for (uint32_t i = 0; i < op->nargs; i++) h = mix(h, op->args[i]->id);
    return h;
}

static bool same_args(const Op *x, const Op *y) {
    if (x->nargs != y->nargs) return false;
    bool same = true;
    for (uint32_t i = 0; i < x->nargs; i++) same &= x->args[i] == y->args[i];
    return same || (op_commutes(x->kind) && x->args[0] == y->args[1] && x->args[1] == y->args[0]);
}

static bool same_op(const Op *x, const Op *y) {
    return op_same(x, y) && type_equal(x->results[0]->type, y->results[0]->type) && same_args(x, y);
}

static Op *find_or_enter(Table *t, Op *op) {
    uint32_t hash = hash_op(op);
    Entry **bucket = &t->bucket[hash & t->mask];
    for (Entry *e = *bucket; e; e = e->next)
        if (e->hash == hash && same_op(e->op, op)) return e->op;
    Entry *e = NEW(t->scratch, Entry);
    *e = (Entry){op, hash, *bucket};
    *bucket = e;
    vec_push(t->scratch, &t->entered, e);
    return NULL;
}

static void leave(Table *t, uint32_t mark) {
    while (t->entered.len > mark) {
        const Entry *e = t->entered.at[--t->entered.len];
        t->bucket[e->hash & t->mask] = e->next; /* the last one entered heads its bucket */
    }
}

static void merge_block(Table *t, Block *b) {
    uint32_t mark = t->entered.len;
    for (Op *op = b->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t r = 0; r < op->nregions; r++) merge_block(t, op->regions[r]);
        if (!op_is_pure(op->kind) || op->nresults != 1) continue;
        Op *same = find_or_enter(t, op);
        if (!same) continue;
        if (!same->results[0]->name) same->results[0]->name = op->results[0]->name;
        value_replace(t->f, op->results[0], same->results[0]);
        op_erase(t->f, op);
    }
    leave(t, mark);
}

void pass_cse(Func *f, PassContext *c) {
    Table t = {.f = f, .scratch = c->scratch};
    uint32_t size = 64;
    while (size < f->next_op && size < 1u << 20) size *= 2;
    t.mask = size - 1;
    t.bucket = NEW_ARRAY(t.scratch, Entry *, size);
    merge_block(&t, f->body);
}
