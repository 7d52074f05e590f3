/* hoist.c - the pass hoist: loads that wait for no reduction are issued before it.
 *
 * In: a Func at STAGE_SIMT, exchanges not spelled out. Out: a load behind reductions over warps that needs none of
 * their results stands before the first of them, with the pure ops that make its address. Its latency then overlaps the
 * row's. No op between may order memory; across a store only memory that nobody writes is loaded earlier.
 * Method: from the load backwards. The load moves if the values that are live beside it on the way are no more than
 * those that are live somewhere behind it: then it costs no register. Three kinds of loads stay. Small tiles: ptxas
 * loads and uses them vector by vector. Weights of rotated rows that may be misaligned otherwise, and weights of rows
 * that do not wait long: deferring them costs less (defer.c).
 */
#include "passes/private.h"

enum {
    LEAST_WORDS = 32, /* of the load in a thread */
    MOST_WORDS = 64,  /* of all that lives beside it: with more,
                       * ptxas finds no room for addresses and takes a block's registers */
    OTHER_WORDS = 16, /* of addresses and what else a thread has */
    MOST_OPS = 4096,  /* of a block */
};

typedef struct Hoist {
    Func *f;
    const Target *target;
    uint32_t *place;  /* of an op of this block, by id; from 1 */
    uint32_t *stamp;  /* by id of an op: the last attempt that needed it */
    int64_t *live;    /* by place: words of a thread that live behind this op */
    uint32_t count, attempt;
} Hoist;

/* ---- Registers --------------------------------------------------------------------------------------------------- */

static int64_t words_of(const Value *v) {
    const Op *d = v->def;
    bool is_data = dtype_kind(v->type.dtype) == KIND_FLOAT || (d && d->kind == OP_LOAD && v->type.dtype != DT_I1);
    if (!is_data || !value_is_tile(v) || (d && op_is_tile_maker(d))) return 0;
    /* combined as it is made */
    if (value_used_once(v) && v->uses->op->kind == OP_REDUCE && d && d->kind != OP_LOAD) return 0;
    return (int64_t)layout_registers(v->type.layout) * dtype_bits(v->type.dtype) / 32;
}

/* The op of this block that v's user is, or lies in. */
static const Op *user_in(const Block *b, const Op *user) {
    while (user->parent != b) user = user->parent->owner;
    return user;
}

static void note_value(Hoist *h, const Block *b, const Value *v, uint32_t from) {
    uint32_t last = from;
    for (const Use *u = v->uses; u; u = u->next) {
        uint32_t at = h->place[user_in(b, u->op)->id];
        if (at > last) last = at;
    }
    h->live[from] += words_of(v);
    h->live[last] -= words_of(v);
}

/* Of what the block itself defines: what comes from outside lives at all its places. */
static void measure(Hoist *h, const Block *b) {
    uint32_t n = 0;
    for (const Op *op = b->first; op; op = op->next) h->place[op->id] = ++n;
    for (uint32_t i = 0; i <= n + 1; i++) h->live[i] = 0;
    for (uint32_t i = 0; i < b->args.len; i++) note_value(h, b, b->args.at[i], 0);
    for (const Op *op = b->first; op; op = op->next)
        for (uint32_t i = 0; i < op->nresults; i++) note_value(h, b, op->results[i], h->place[op->id]);
    for (uint32_t i = 1; i <= n + 1; i++) h->live[i] += h->live[i - 1];
    h->count = n;
}

static int64_t most_live(const Hoist *h, uint32_t from, uint32_t to) {
    int64_t most = 0;
    for (uint32_t i = from; i <= to; i++)
        if (h->live[i] > most) most = h->live[i];
    return most;
}

/* ---- The way back ------------------------------------------------------------------------------------------------ */

static bool crosses_warps(const Op *op) {
    if (op->kind != OP_REDUCE) return false;
    ReducePlan plan = layout_reduce_plan(op->args[0]->type.layout, op->attr.axis);
    return plan.combine[IN_WARP] || plan.combine[IN_CTA];
}

/* May a load be issued before op? */
static bool passes(const Op *op, bool unwritten) {
    switch (op_info[op->kind].effect) {
    case EFFECT_PURE: return true;
    case EFFECT_READ: return !op->attr.mem.is_volatile;
    case EFFECT_WRITE: return unwritten && op->kind == OP_STORE;
    default: return op_is_combine(op->kind);
    }
}

static void need(Hoist *h, const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i]->def) h->stamp[op->args[i]->def->id] = h->attempt;
}

/* The first reduction that the load need not wait for; what it needs is stamped. */
static Op *find_reduction(Hoist *h, const Op *load) {
    bool unwritten = op_loads_constant(h->f, load);
    Op *found = NULL;
    h->attempt++;
    need(h, load);
    for (Op *op = load->prev; op && passes(op, unwritten); op = op->prev) {
        bool is_needed = h->stamp[op->id] == h->attempt;
        if (is_needed && (!op_is_pure(op->kind) || op->kind == OP_REDUCE)) break;
        if (is_needed) need(h, op);
        else if (crosses_warps(op)) found = op;
    }
    return found;
}

/* A weight costs less where it is stored from, but that a cluster's blocks wait long for each other: then one weight
 * has the time. Are there registers for two blocks with it? */
static bool has_time(const Hoist *h, const Op *load, int64_t beside) {
    const Func *f = h->f;
    int64_t words = (beside + OTHER_WORDS) * f->num_warps * h->target->warp_threads;
    if (f->scope != SCOPE_CLUSTER || 2 * words > h->target->registers_per_sm) return false;
    for (const Op *op = load->parent->first; op; op = op->next)
        if (op != load && load_is_for_stores(f, op)) return false;
    return true;
}

static void hoist_load(Hoist *h, Op *load) {
    int64_t words = words_of(load->results[0]);
    bool is_misaligned = load->attr.mem.is_rotated && load->attr.mem.align_log2 < 4 && op_loads_constant(h->f, load);
    if (load->attr.mem.is_volatile || words < LEAST_WORDS || is_misaligned) return;
    Op *before = find_reduction(h, load);
    if (!before) return;
    uint32_t from = h->place[before->id], at = h->place[load->id];
    int64_t beside = most_live(h, from - 1, at - 1) + words;
    if (beside > MOST_WORDS || beside > most_live(h, at, h->count)) return;
    if (load_is_for_stores(h->f, load) && !has_time(h, load, beside)) return;
    for (Op *op = before->next, *next; op != load; op = next) {
        next = op->next;
        if (h->stamp[op->id] == h->attempt) op_move_before(op, before);
    }
    op_move_before(load, before);
    measure(h, load->parent);
}

static void hoist_block(Hoist *h, Block *b) {
    uint32_t n = 0, loads = 0;
    for (Op *op = b->first; op; op = op->next, n++) {
        for (uint32_t r = 0; r < op->nregions; r++) hoist_block(h, op->regions[r]);
        loads += op->kind == OP_LOAD;
    }
    if (loads < 2 || n > MOST_OPS) return;
    measure(h, b);
    for (Op *op = b->first, *next; op; op = next) {
        next = op->next;
        if (op->kind == OP_LOAD) hoist_load(h, op);
    }
}

void pass_hoist(Func *f, PassContext *c) {
    Hoist h = {.f = f,
               .target = c->target,
               .place = NEW_ARRAY(c->scratch, uint32_t, f->next_op),
               .stamp = NEW_ARRAY(c->scratch, uint32_t, f->next_op)};
    h.live = NEW_ARRAY(c->scratch, int64_t, f->next_op + 2);
    hoist_block(&h, f->body);
}
