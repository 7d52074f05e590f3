/* remat.c - the pass remat: shortens live ranges across reductions by rematerialisation and spills to shared memory.
 *
 * In: a function behind barriers. Out: where registers bind, a 32-bit tile made of narrow tiles is not live across the
 * reduction that it goes into. Behind the reduction stand copies of the ops that made it, on `opaque_copy` of the
 * narrow tiles; or the tile is spilled (`spill_shared`). In a loop that copies ahead, where a thread would have too few
 * registers, the copies are read again, and the place is copied to when that is done.
 * Method: the level of a value is the number of reductions that it waits for, one after the other. A tile with a use on
 * a higher level than its own is live across a reduction. Level by level: if too much is live across it, and the narrow
 * tiles are less, expensive tiles are spilled and each op that makes a cheap one is copied once. The copies are the
 * same ops, so results are the same bits.
 */
#include "base/plant.h"
#include "passes/private.h"

enum {
    LEVELS = 8,
    MOST_COST = COST_DEAR, /* of the ops that make one tile: what has more than a division or a root in it costs more */
    NARROW_BITS = 16,  /* of what is kept instead */
    INDEX_DEPTH = 8,
    CHEAP = 3,         /* what costs more waits in shared memory instead */
    KEEP = 20,         /* registers of it that do not: of 12 to 28 the fewest in all (docs/lab/packed-rows.md) */
    GROUP = 2,         /* registers that go there together: SPILL_GROUP of simt.h */
    FEW_REGISTERS = 8, /* a tile of no more in a thread, as warps' partial results are, is not worth speaking of */

    /* Registers bind where a multiprocessor would not hold enough blocks to load for some rows while it computes
     * others. */
    THREADS = RESIDENT_THREADS, /* wanted on it … */
    BLOCKS = 5,        /* … but no more blocks than that, however small:
                        * 8192 of fp16 in four warps lost 6 % by nine (docs/lab/packed-rows.md) */
    OWN = 18,          /* per thread, beside tiles: addresses, predicates, partial sums */
};

typedef struct Copy {
    uint32_t level;
    Value *value;
    struct Copy *next;
} Copy;

typedef struct Remat {
    Func *f;
    const Target *t;
    const Facts *facts;
    Arena *scratch;
    Block *block;        /* the function's, or a loop's */
    uint32_t held;       /* words that a thread has all the time: what the loop carries, what it finds made */
    uint32_t known;      /* values before the pass; the tables by value id are as long */
    uint8_t *level;
    uint8_t *cost;       /* 0: not known yet */
    Copy **copies;
    VEC(Value *) origin; /* of those made since: what they are copies of */
    Shape shape;         /* the last that was asked for … */
    uint64_t elements;   /* … and how many of it are live */
    bool does[LEVELS + 1], changed;
} Remat;

static bool in_loop(const Remat *r) {
    return r->block != r->f->body;
}

/* ---- What may be computed again ---------------------------------------------------------------------------------- */

static bool is_narrow(const Value *v) {
    uint32_t bits = dtype_bits(v->type.dtype);
    return value_is_tile(v) && bits >= 8 && bits <= NARROW_BITS;
}

/* A number for each row of a tile, in the tile's shape. */
static bool is_of_rows(const Op *op) {
    return op && op->kind == OP_BROADCAST && layout_registers(op->args[0]->type.layout) <= FEW_REGISTERS;
}

/* Made of ranges, constants and scalars alone, or of what a warp or a row shares: a base and constants, predicates. */
static bool is_index(const Value *v, uint32_t depth) {
    if (!value_is_tile(v) || (v->def && v->def->kind == OP_SPREADWARP) || is_of_rows(v->def)) return true;
    if (!v->def || !depth || (!op_is_tile_maker(v->def) && !op_is_elementwise(v->def->kind))) return false;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        if (!is_index(v->def->args[i], depth - 1)) return false;
    return true;
}

static bool is_free(const Value *v) {
    return !value_is_tile(v) || is_index(v, INDEX_DEPTH);
}

/* A division by one number for all elements is two products. */
static bool divides_by_scalar(const Op *op) {
    const Op *by = op->kind == OP_FDIV ? op->args[1]->def : NULL;
    return by && (by->kind == OP_SPLAT || by->kind == OP_CONST);
}

static uint32_t cost_of_op(const Op *op) {
    return divides_by_scalar(op) ? 2 : op_cost(op);
}

/* What copies are made from: narrow tiles; in a loop, what each thread copied to shared memory for itself. */
static bool is_root(const Remat *r, const Value *v) {
    if (!in_loop(r)) return is_narrow(v);
    return v->def && v->def->kind == OP_COPYREAD && value_is_tile(v) &&
           layout_registers(v->type.layout) > FEW_REGISTERS && r->f->buffers.at[v->def->attr.buffer].is_private;
}

/* Made before the loop. */
static bool is_outer(const Remat *r, const Value *v) {
    return (v->def ? v->def->parent : v->block) != r->block;
}

static bool is_spilled(const Value *v) {
    return v->def && v->def->kind == OP_SPILL;
}

/* Of computing v once more from narrow tiles; more than MOST_COST where that cannot be. */
static uint32_t cost_of(Remat *r, const Value *v) {
    if (is_free(v) || is_spilled(v) || is_outer(r, v)) return 0;
    if (!v->def) return MOST_COST + 1;
    if (is_root(r, v)) return 0;
    if (!op_is_elementwise(v->def->kind)) return MOST_COST + 1;
    if (r->cost[v->id]) return r->cost[v->id];
    uint32_t cost = cost_of_op(v->def);
    for (uint32_t i = 0; i < v->def->nargs && cost <= MOST_COST; i++) cost += cost_of(r, v->def->args[i]);
    if (cost > MOST_COST) cost = MOST_COST + 1;
    r->cost[v->id] = (uint8_t)cost;
    return cost;
}

static bool is_wide(const Value *v) {
    return value_is_tile(v) && dtype_bits(v->type.dtype) > NARROW_BITS && v->type.dtype != DT_PTR && !is_free(v) &&
           !is_spilled(v);
}

static bool is_again(Remat *r, const Value *v) {
    return is_wide(v) && cost_of(r, v) <= MOST_COST;
}

/* ---- Levels ------------------------------------------------------------------------------------------------------ */

static bool ends_level(const Op *op) {
    bool reduces = op_class(op->kind) == CLASS_REDUCE || op->kind == OP_REDUCEFN || op->kind == OP_REDUCEFNWARP;
    return reduces && value_is_tile(op->args[0]) && layout_registers(op->args[0]->type.layout) > FEW_REGISTERS;
}

static uint32_t level_of_args(const Remat *r, const Op *op) {
    uint32_t level = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (r->level[op->args[i]->id] > level) level = r->level[op->args[i]->id];
    return level;
}

/* What is loaded from shared memory follows what was stored; what has regions follows everything. */
static void find_levels(Remat *r) {
    uint32_t shared = 0, last = 0;
    for (const Op *op = r->block->first; op; op = op->next) {
        uint32_t level = level_of_args(r, op);
        bool is_exchange = op_is_exchange(r->f, op);
        if (is_exchange && op->kind != OP_SHSTORE) level = shared > level ? shared : level;
        if (is_exchange && op->kind == OP_SHSTORE && level > shared) shared = level;
        if (op->nregions && last > level) level = last;
        if (ends_level(op) && level < LEVELS) level++;
        if (level > last) last = level;
        for (uint32_t i = 0; i < op->nresults; i++) r->level[op->results[i]->id] = (uint8_t)level;
    }
}

/* ---- On which levels it pays ------------------------------------------------------------------------------------- */

/* Registers of v in a thread, dead ones beyond a mask not counted. */
static uint32_t words_of(Remat *r, const Value *v) {
    if (!r->elements || !shape_equal(r->shape, v->type.shape)) {
        r->shape = v->type.shape;
        r->elements = live_elements(r->f, r->facts, v->type.shape);
    }
    uint64_t threads = (uint64_t)r->f->threads_per_program * r->f->blocks_per_program,
             registers = layout_registers(v->type.layout);
    uint64_t live = (r->elements + threads - 1) / threads;
    return (uint32_t)((live < registers ? live : registers) * dtype_bits(v->type.dtype) + 31) / 32;
}

/* Registers of a thread for tiles: 33 in programs of eight warps and more, 84 in those of four; it has 255 at most. In
 * a loop, which loads ahead by itself, as many as one block may have. */
static uint32_t room_of(const Remat *r) {
    uint32_t threads = r->f->threads_per_program * (in_loop(r) ? 1 : BLOCKS),
             registers = r->t->registers_per_sm / (threads < THREADS ? threads : THREADS);
    if (registers > r->t->max_registers) registers = r->t->max_registers;
    return registers > OWN + r->held ? registers - OWN - r->held : 0;
}

typedef struct Living {
    /* words of what lives across a level's reductions: wide tiles, those that need not, what those need */
    uint32_t all, copied, roots;
} Living;

static void add_roots(Remat *r, const Value *v, uint8_t *seen, Living *l) {
    if (is_free(v) || is_spilled(v) || is_outer(r, v) || seen[v->id]) return;
    seen[v->id] = 1;
    if (is_root(r, v)) {
        l->roots += in_loop(r) ? 0 : words_of(r, v);
        return;
    }
    for (uint32_t i = 0; i < v->def->nargs; i++) add_roots(r, v->def->args[i], seen, l);
}

/* Is v of a lower level, and used on this one or beyond? */
static bool lives_into(const Remat *r, const Value *v, uint32_t level) {
    if (r->level[v->id] >= level) return false;
    for (const Use *u = v->uses; u; u = u->next) {
        if (u->op == r->block->last) continue; /* in the place of what the loop carried */
        if (u->op->parent != r->block || level_of_args(r, u->op) >= level) return true;
    }
    return false;
}

static bool pays(Remat *r, uint32_t level) {
    Living l = {0};
    uint8_t *seen = NEW_ARRAY(r->scratch, uint8_t, r->known);
    for (const Op *op = r->block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nresults; i++) {
            const Value *v = op->results[i];
            if (!is_wide(v) || layout_registers(v->type.layout) <= FEW_REGISTERS || !lives_into(r, v, level)) continue;
            uint32_t words = words_of(r, v);
            l.all += words;
            if (!is_again(r, v)) continue;
            l.copied += words;
            add_roots(r, v, seen, &l);
        }
    }
    return l.all > room_of(r) && l.copied > l.roots;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static Value *copy_at(Remat *r, Value *v, uint32_t level, const Builder *b) {
    if (v->id >= r->known) v = r->origin.at[v->id - r->known];
    if (is_free(v) || is_spilled(v) || is_outer(r, v) || (!is_root(r, v) && r->level[v->id] >= level)) return v;
    for (const Copy *c = r->copies[v->id]; c; c = c->next)
        if (c->level == level) return c->value;
    Value *args[8], *made;
    bool begins = is_root(r, v);
    for (uint32_t i = 0; i < v->def->nargs; i++)
        args[i] = begins ? v->def->args[i] : copy_at(r, v->def->args[i], level, b);
    Builder at = *b;
    at.span = v->def->span;
    if (begins && !in_loop(r)) made = build1(&at, OP_OPAQUE, v);
    else made = op_build(&at, v->def->kind, args, v->def->nargs, v->def->attr, v->type)->results[0];
    made->name = v->name;
    vec_push(r->scratch, &r->origin, v);
    Copy *c = NEW(r->scratch, Copy);
    *c = (Copy){level, made, r->copies[v->id]};
    r->copies[v->id] = c;
    return made;
}

static void copy_args(Remat *r, Op *op) {
    uint32_t level = level_of_args(r, op);
    if (!r->does[level] || op == r->block->last) return;
    for (uint32_t i = 0; i < op->nargs; i++) {
        Value *v = op->args[i];
        if (r->level[v->id] >= level || !is_again(r, v)) continue;
        Builder b = builder_before(r->f, op);
        op_set_arg(r->f, op, i, copy_at(r, v, level, &b));
        r->changed = true;
    }
}

/* ---- What waits in shared memory --------------------------------------------------------------------------------- */

static bool waits(Remat *r, const Value *v) {
    if (!is_wide(v) || dtype_bits(v->type.dtype) != 32 || !is_again(r, v) || cost_of(r, v) <= CHEAP) return false;
    for (uint32_t level = 1; level <= LEVELS; level++)
        if (r->does[level] && lives_into(r, v, level)) return true;
    return false;
}

/* Bytes of shared memory for what of v is too much, as far as as many threads as registers allow have them. */
static uint32_t bytes_for(Remat *r, const Value *v) {
    uint32_t words = words_of(r, v), most = r->t->max_shared / (4 * THREADS), threads = r->f->threads_per_program;
    uint32_t wanted = words > KEEP ? words - KEEP : 0;
    if (wanted > most) wanted = most;
    uint32_t bytes = wanted / GROUP * GROUP * 4 * threads;
    return bytes + r->f->shared_bytes + 4 * GROUP <= r->t->max_shared ? bytes : 0;
}

static bool spill(Remat *r, Value *v) {
    uint32_t bytes = waits(r, v) ? bytes_for(r, v) : 0,
             first = (r->f->shared_bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
    if (!bytes) return false;
    const Layout *places = layout_private(r->f->layouts, log2_floor(r->f->threads_per_program),
                                          v->type.layout->bits[IN_REGISTER], log2_floor(GROUP));
    uint32_t buffer =
        buffer_add(r->f, (Buffer){.dtype = v->type.dtype, .places = places, .bytes = bytes, .is_private = true});
    r->f->buffers.at[buffer].offset = first; /* behind all others: who waits does so to the end */
    Builder b = builder_after(r->f, v->def);
    Value *spilled = op_build(&b, OP_SPILL, &v, 1, (Attr){.buffer = buffer}, v->type)->results[0];
    spilled->name = v->name;
    for (Use *u = v->uses, *next; u; u = next) {
        next = u->next;
        bool is_later =
            u->op->parent != r->f->body || (u->op != spilled->def && level_of_args(r, u->op) > r->level[v->id]);
        if (is_later) op_set_arg(r->f, u->op, u->index, spilled);
    }
    r->f->shared_bytes = first + bytes;
    return true;
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

/* Words of the tiles that a loop carries, and of those that were made before it. */
static uint32_t words_held(Remat *r) {
    uint32_t words = 0;
    uint8_t *seen = NEW_ARRAY(r->scratch, uint8_t, r->known);
    for (uint32_t i = 0; i < r->block->args.len; i++)
        if (value_is_tile(r->block->args.at[i])) words += words_of(r, r->block->args.at[i]);
    for (const Op *op = r->block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nargs; i++) {
            const Value *v = op->args[i];
            if (!is_outer(r, v) || is_free(v) || seen[v->id]++) continue;
            words += words_of(r, v);
        }
    }
    return words;
}

static void begin(Remat *r) {
    r->known = r->f->next_value;
    r->level = NEW_ARRAY(r->scratch, uint8_t, r->known);
    r->cost = NEW_ARRAY(r->scratch, uint8_t, r->known);
    r->copies = NEW_ARRAY(r->scratch, Copy *, r->known);
    r->origin.len = 0;
    r->facts = facts_compute(r->f, r->scratch);
    r->elements = 0;
    r->held = in_loop(r) ? words_held(r) : 0;
    find_levels(r);
    for (uint32_t i = 1; i <= LEVELS; i++) r->does[i] = pays(r, i);
}

static void spill_all(Remat *r) {
    for (Op *op = r->block->first, *next; op; op = next) {
        next = op->next;
        if (op->nresults == 1 && op->results[0]->id < r->known) r->changed |= spill(r, op->results[0]);
    }
    if (r->changed) begin(r);
}

/* Was something made again? */
static bool remat_block(Remat *r, Block *b) {
    bool before = r->changed;
    r->block = b;
    r->changed = false;
    begin(r);
    if (!in_loop(r)) spill_all(r);
    for (Op *op = b->first, *next; op; op = next) {
        next = op->next;
        copy_args(r, op);
    }
    bool changes = r->changed;
    r->changed |= before;
    return changes;
}

/* Does each thread copy for itself alone? Then no barrier stands between a copy and what it may follow. */
static bool copies_own(const Func *f, const Block *b) {
    bool copies = false;
    for (const Op *op = b->first; op; op = op->next) {
        if (op->kind != OP_COPYASYNC) continue;
        if (!f->buffers.at[op->attr.buffer].is_private) return false;
        copies = true;
    }
    return copies;
}

/* Places that are read again are copied to behind that. */
static void copy_late(Block *b) {
    const Op *end = b->last; /* the first that was moved, if any was */
    for (Op *op = b->first, *next; op != end && !plant(PLANT_EARLY_COPY); op = next) {
        next = op->next;
        if ((op->kind != OP_COPYASYNC || !op->attr.is_prefetch) && op->kind != OP_COPYCOMMIT) continue;
        op_move_before(op, b->last);
        if (end == b->last) end = op;
    }
}

static void remat_loop(void *context, Op *op) {
    Remat *r = context;
    if (op->kind == OP_FOR && copies_own(r->f, op->regions[0]) && remat_block(r, op->regions[0]))
        copy_late(op->regions[0]);
}

void pass_remat(Func *f, PassContext *c) {
    Remat r = {.f = f, .t = c->target, .scratch = c->scratch};
    remat_block(&r, f->body);
    func_walk(f, remat_loop, &r);
    if (r.changed) pass_dce(f, c);
}
