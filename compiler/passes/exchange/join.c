/* join.c - exchanges that do not wait for each other share a barrier: first all of them store, then all load.
 *
 * In: a Func at STAGE_SIMT whose reductions are spelled out. Out: a shared_store stands before the shared_load of an
 * earlier exchange if nothing that it needs comes from there; the pure ops that make what it stores move with it.
 * Method: from a store back to the nearest load of its block, then on to the next one. Only small exchanges, such as
 * the partials of reductions: joined ones cannot use the same bytes. Where a program reaches over the grid, what a
 * store to all its blocks needs is loaded of an exchange within the block: such a load moves with it, if it comes
 * behind its own store still. Never across a barrier of the source or an op with regions.
 */
#include "passes/private.h"

enum {
    MOST_BYTES = 1024, /* of one exchange */
    MOST_LOADS = 16,   /* that one store passes: so many exchanges share a barrier */
    MANY = 16,         /* registers of a tile that two reductions had better be done with at once */
};

typedef struct Join {
    Func *f;
    uint32_t *stamp; /* by id of an op: the last attempt that needed it */
    uint32_t attempt;
} Join;

static Op *load_before(const Func *f, const Op *op) {
    for (Op *o = op->prev; o; o = o->prev) {
        if (o->kind == OP_SHLOAD && op_is_exchange(f, o)) return o;
        if (o->nregions || o->kind == OP_BARRIER || (op_is_exchange(f, o) && o->kind != OP_SHSTORE)) return NULL;
    }
    return NULL;
}

static void need(Join *j, const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i]->def) j->stamp[op->args[i]->def->id] = j->attempt;
}

/* Does the exchange that o loads of begin before `load`? */
static bool begins_before(const Op *o, const Op *load) {
    for (const Op *s = load->prev; s; s = s->prev)
        if (s->kind == OP_SHSTORE && s->attr.buffer == o->attr.buffer) return true;
    return false;
}

/* What the store needs of the ops since the load, if all of that may move and the load is not among it. */
static bool find_needed(Join *j, Op *store, const Op *load) {
    j->attempt++;
    j->stamp[store->id] = j->attempt;
    need(j, store);
    for (const Op *o = store->prev; o != load; o = o->prev) {
        if (j->stamp[o->id] != j->attempt) continue;
        bool moves =
            op_is_pure(o->kind) || (j->f->scope == SCOPE_GRID && o->kind == OP_SHLOAD && begins_before(o, load));
        if (!moves) return false;
        need(j, o);
    }
    return j->stamp[load->id] != j->attempt;
}

/* Where the ops go that the store needs: before the load; but before the store that it belongs to if that is of a
 * reduction of a tile which they need as well: then the two reductions stand side by side, and can be made of it
 * together. */
static Op *place_of(const Join *j, const Op *store, Op *load) {
    Op *before = load->prev && load->prev->kind == OP_SHSTORE ? load->prev : NULL;
    const Op *reduction = before ? before->args[0]->def : NULL;
    if (!reduction || reduction->kind != OP_REDUCEWARP || reduction->next != before) return load;
    if (layout_registers(reduction->args[0]->type.layout) < MANY) return load;
    for (const Op *o = load->next; o != store; o = o->next)
        for (uint32_t i = 0; i < o->nargs && j->stamp[o->id] == j->attempt; i++)
            if (o->args[i] == reduction->args[0]) return before;
    return load;
}

static void join_store(Join *j, Op *store) {
    if (buffer_bytes(&j->f->buffers.at[store->attr.buffer]) > MOST_BYTES) return;
    const Op *at = store;
    for (int i = 0; i < MOST_LOADS; i++) {
        Op *load = load_before(j->f, at);
        bool passes = load && find_needed(j, store, load);
        at = passes ? store : load;
        if (!load || (!passes && j->f->scope != SCOPE_GRID)) return;
        if (!passes) continue;
        Op *before = place_of(j, store, load);
        for (Op *o = load->next, *next = o; next != store; o = next) {
            next = o->next;
            if (j->stamp[o->id] == j->attempt) op_move_before(o, before);
        }
        op_move_before(store, load);
    }
}

static void join_block(Join *j, Block *b) {
    for (Op *op = b->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t r = 0; r < op->nregions; r++) join_block(j, op->regions[r]);
        if (op->kind == OP_SHSTORE && op_is_exchange(j->f, op)) join_store(j, op);
    }
}

void pass_join(Func *f, PassContext *c) {
    Join j = {.f = f, .stamp = NEW_ARRAY(c->scratch, uint32_t, f->next_op)};
    join_block(&j, f->body);
}
