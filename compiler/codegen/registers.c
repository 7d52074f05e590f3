/* registers.c - codegen_registers: an estimate of registers per thread, without ptxas.
 *
 * In: a Func at STAGE_SIMT. Out: an interval that ptxas's answer should lie in.
 * Method: each value lives from its op to its last use, to the end of a loop that it enters from outside. Its weight is
 * the 32-bit registers of its tile; index tiles weigh what their shared bases do. The peak sum, plus what addresses,
 * predicates and scheduling take.
 */
#include "codegen/codegen.h"

typedef struct Liveness {
    const Life *of;  /* of ops, by id */
    int64_t *change; /* by position: registers that begin to live minus those that end */
} Liveness;

/* Where this use lets go of v: at the op, or at the end of the outermost loop between the two. */
static uint32_t use_end(const Liveness *l, const Value *v, const Op *user) {
    uint32_t end = l->of[user->id].begin;
    const Block *home = value_block(v);
    for (const Block *b = user->parent; b && b != home; b = b->owner ? b->owner->parent : NULL)
        if (b->owner && op_is_loop(b->owner)) end = l->of[b->owner->id].end;
    return end;
}

/* Index tiles are a base and constants; masks live in predicates or are recomputed. */
static uint32_t weight_of(const Value *v) {
    uint32_t n = value_is_tile(v) && v->type.layout ? layout_registers(v->type.layout) : 1;
    uint32_t bits = dtype_bits(v->type.dtype), words = bits > 32 ? 2 : 1;
    if (bits == 1) return 0;
    if (!value_is_tile(v)) return words;
    OpKind k = v->def ? v->def->kind : OP_COUNT;
    bool counts = v->def && op_class(k) == CLASS_INDEX, widens = k == OP_SEXT || k == OP_ZEXT;
    if (v->def && !counts && op_is_tile_maker(v->def)) return 0;
    bool is_index = counts || widens || v->type.dtype == DT_PTR || (k == OP_ADD && v->type.dtype != DT_I8);
    return is_index ? words : (n * bits + 31) / 32;
}

static void add_value(Liveness *l, const Value *v, uint32_t from) {
    uint32_t end = from, weight = weight_of(v);
    for (const Use *u = v->uses; u; u = u->next) {
        uint32_t e = use_end(l, v, u->op);
        if (e > end) end = e;
    }
    l->change[from] += weight;
    l->change[end] -= weight;
}

static void add_block(Liveness *l, const Block *b) {
    uint32_t start = b->owner ? l->of[b->owner->id].begin : 0;
    for (uint32_t i = 0; i < b->args.len; i++) add_value(l, b->args.at[i], start);
    for (const Op *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nresults; i++) add_value(l, op->results[i], l->of[op->id].end);
        for (uint32_t i = 0; i < op->nregions; i++) add_block(l, op->regions[i]);
    }
}

bool codegen_registers(const Func *f, const Target *t, uint32_t *low, uint32_t *high) {
    /* thread index, addresses, loop counters; threads that blocks are made of at least */
    enum { BASE = 16, LEAST = 256 };
    Arena *scratch = arena_create();
    Liveness l = {lives_of(f, scratch).op, NEW_ARRAY(scratch, int64_t, 2 * (size_t)f->next_op)};
    add_block(&l, f->body);
    int64_t live = 0, peak = 0;
    for (uint32_t i = 0; i < 2 * f->next_op; i++) {
        live += l.change[i];
        if (live > peak) peak = live;
    }
    arena_destroy(scratch);
    uint32_t limit = t->registers_per_sm / (f->threads_per_program < LEAST ? LEAST : f->threads_per_program);
    if (limit > t->max_registers) limit = t->max_registers;
    *low = peak < BASE ? BASE : (uint32_t)peak;
    *high = *low + *low * 3 / 4 + BASE;
    bool is_over = *low > limit;
    if (is_over) *low = limit;
    if (*high > limit) *high = limit;
    return is_over;
}
