/* chunk.c - the pass chunk: rows beyond the registers of a program are strip-mined.
 *
 * In: stage TILE. Out: no row is larger than a program of the target holds. A reduction or store of a whole row became
 * a loop over its chunks (chunkloop.c).
 * Method: reductions are gathered until an op needs one of their results, stores until another effect follows. Each lot
 * becomes one loop, which computes again what it needs of the row; loads may be staged in shared memory (staged.c). All
 * loops are planned before the first is built. The function stays as it is where loops would compute something else: an
 * op needs more of the row than its own element, or a load would see a later store. If that depends on two parameters
 * naming one buffer, each launch checks that they differ (Func.apart).
 */
#include "passes/distribute/chunk.h"

#include <string.h>

/* What lies between two effects that are not stores. */
typedef struct Segment {
    OpList reductions;   /* those of the loop that is gathered */
    OpList stores, late; /* of rows and of single elements: all at the segment's end */
    VEC(StripLoop) strip_loops;
} Segment;

/* ---- What is strip-mined ----------------------------------------------------------------------------------------- */

static bool is_row(const Chunk *k, const Value *v) {
    return value_is_tile(v) && shape_elements(v->type.shape) == k->row;
}

static bool touches_row(const Chunk *k, const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (is_row(k, op->args[i])) return true;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (is_row(k, op->results[i])) return true;
    return false;
}

static void note_largest(void *context, Op *op) {
    Chunk *k = context;
    for (uint32_t i = 0; i < op->nresults; i++) {
        uint64_t n = value_is_tile(op->results[i]) ? shape_elements(op->results[i]->type.shape) : 1;
        if (n > k->row) k->row = n;
    }
}

/* Each element of a result comes of the same elements of the operands, or there is no result but a reduction's. */
static void check_op(void *context, Op *op) {
    Chunk *k = context;
    SoftmaxMatch p;
    k->order[op->id] = k->places++;
    k->atomics += op_is_atomic(op->kind);
    if (!touches_row(k, op)) {
        k->has_others |= op_touches_tile(op);
        return;
    }
    if (op->kind == OP_LOAD || op->kind == OP_STORE) {
        uint32_t bytes = type_bytes(type_scalar(op->args[0]->type.pointee));
        if (bytes < k->narrow) k->narrow = bytes;
        k->loads += op->kind == OP_LOAD;
    }
    if (op->kind == OP_REDUCE && softmax_match(op, &p)) vec_push(k->scratch, &k->sums, p);
    for (uint32_t i = 0; i < op->nargs; i++) k->sound &= op->args[i]->type.shape.rank < 2;
    for (uint32_t i = 0; i < op->nresults; i++) {
        k->sound &= op->results[i]->type.shape.rank < 2;
        if (op->results[i]->type.dtype != DT_PTR && type_bytes(op->results[i]->type) > k->wide)
            k->wide = type_bytes(op->results[i]->type);
    }
    switch (op->kind) {
    case OP_REDUCE: return;
    case OP_LOAD: case OP_STORE: k->sound &= !op->attr.mem.is_volatile; return;
    default: k->sound &= op_is_local(op->kind);
    }
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

/* The order of the two is not kept: their memory must not be the same. */
static void keep_apart(Chunk *k, const Op *a, const Op *b) {
    const Value *p = access_parameter(k->f, a), *q = access_parameter(k->f, b);
    if (!p || !q || p == q) {
        k->sound = false;
        return;
    }
    for (uint32_t i = 0; i < k->apart.len; i++)
        if (k->apart.at[i].a == p->index && k->apart.at[i].b == q->index) return;
    vec_push(k->scratch, &k->apart, ((Apart){p->index, q->index}));
}

static bool holds(const OpList *l, const Op *op) {
    for (uint32_t i = 0; i < l->len; i++)
        if (l->at[i] == op) return true;
    return false;
}

/* Are the ops of its regions without effect? */
static bool is_quiet(const Op *op) {
    for (uint32_t r = 0; r < op->nregions; r++)
        for (const Op *o = op->regions[r]->first; o; o = o->next)
            if ((!op_is_pure(o->kind) && o->kind != OP_YIELD && o->kind != OP_IF) || !is_quiet(o)) return false;
    return true;
}

/* What happened from `op` to `end` and is not in the segment's own lists has happened when the load is repeated. */
static void check_between(Chunk *k, const Op *load, const Op *op, const Op *end, const Segment *s) {
    for (; op && op != end; op = op->next) {
        if (op_is_atomic(op->kind) || !is_quiet(op)) k->sound = false; /* seldom, and not looked into */
        bool has_happened = op->kind == OP_STORE && !holds(&s->stores, op) && !holds(&s->late, op);
        if (has_happened && accesses_meet(k->f, load, op)) k->sound = false;
    }
}

/* The loop stands behind the load, perhaps in the arm of an `if`. */
static void check_unchanged(Chunk *k, const Op *load, const StripLoop *w, const Segment *s) {
    const Op *end = w->before;
    for (; end->parent != load->parent; end = end->parent->owner) {
        check_between(k, load, end->parent->first, end, s);
        if (end->parent->owner && end->parent->owner->kind == OP_IF) continue;
        k->sound = false;
        return;
    }
    check_between(k, load, load->next, end, s);
}

static void copy_value(Chunk *k, StripLoop *w, const Segment *s, const Value *v) {
    if (!is_row(k, v)) return;
    Op *op = v->def;
    if (k->marked[op->id]) return;
    k->marked[op->id] = true;
    for (uint32_t i = 0; i < op->nargs; i++) copy_value(k, w, s, op->args[i]);
    if (op->kind == OP_LOAD && k->sound) check_unchanged(k, op, w, s);
    vec_push(k->scratch, &w->copied, op);
}

/* A segment's stores happen behind all of its loads, and one chunk's behind another's loads. */
static void check_store(Chunk *k, const Op *store, const Op *op, bool same_loop) {
    bool is_row_store = is_row(k, store->args[0]);
    bool is_early = op->kind == OP_LOAD && k->order[op->id] < k->order[store->id];
    if (store == op || !op_is_access(op->kind) || !accesses_meet(k->f, store, op)) return;
    if (is_early && !(is_row_store && same_loop)) return;
    if (is_row_store && same_loop && !accesses_cross(k->f, store, op, false)) return;
    keep_apart(k, store, op);
}

static void sort_by_place(const Chunk *k, OpList *l) {
    for (uint32_t i = 1; i < l->len; i++) {
        Op *op = l->at[i];
        uint32_t at = i;
        for (; at > 0 && k->order[l->at[at - 1]->id] > k->order[op->id]; at--) l->at[at] = l->at[at - 1];
        l->at[at] = op;
    }
}

/* Is v known in the loop, but for what the loop itself makes? */
static bool is_ready(const Chunk *k, const StripLoop *w, const Value *v, bool *seen) {
    const Op *op = v->def;
    if (!op || seen[op->id]) return true;
    seen[op->id] = true;
    if (holds(&w->ends, op)) return false;
    bool is_early = k->order[op->id] < k->order[w->before->id];
    if (!is_row(k, v) || op->kind == OP_LOAD) return is_early;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!is_ready(k, w, op->args[i], seen)) return false;
    return true;
}

/* Need the sum not wait for its maximum, which this loop ends with? */
static bool joins_loop(const Chunk *k, const StripLoop *w, const SoftmaxMatch *p) {
    const Op *d = p->difference;
    bool *seen = NEW_ARRAY(k->scratch, bool, k->f->next_op);
    if (!holds(&w->ends, p->max) || value_is_tile(p->row) || p->sum->parent != w->before->parent) return false;
    if (k->order[p->sum->id] < k->order[w->before->id]) return false;
    return (!p->scale || is_ready(k, w, p->scale, seen)) && is_ready(k, w, d->args[0], seen) &&
           (d->kind != OP_FMA || is_ready(k, w, d->args[1], seen));
}

static void copy_sums(Chunk *k, StripLoop *w, const Segment *s) {
    for (uint32_t i = 0; i < k->sums.len; i++) {
        const SoftmaxMatch *p = &k->sums.at[i];
        if (!joins_loop(k, w, p)) continue;
        k->taken[p->sum->id] = true;
        vec_push(k->scratch, &w->softmaxes, *p);
        copy_value(k, w, s, p->difference->args[0]);
        if (p->difference->kind == OP_FMA) copy_value(k, w, s, p->difference->args[1]);
    }
}

static void close_loop(Chunk *k, Segment *s, Op *before, bool with_stores) {
    StripLoop w = {.before = before, .ends = s->reductions};
    for (uint32_t i = 0; i < s->stores.len && with_stores; i++) vec_push(k->scratch, &w.ends, s->stores.at[i]);
    if (with_stores) w.late = s->late;
    s->reductions = (OpList){0};
    if (!w.ends.len && !w.late.len) return;
    sort_by_place(k, &w.ends);
    memset(k->marked, 0, k->f->next_op * sizeof *k->marked);
    for (uint32_t i = 0; i < w.ends.len; i++) {
        for (uint32_t a = 0; a < w.ends.at[i]->nargs; a++) copy_value(k, &w, s, w.ends.at[i]->args[a]);
        vec_push(k->scratch, &w.copied, w.ends.at[i]);
    }
    copy_sums(k, &w, s);
    sort_by_place(k, &w.copied);
    vec_push(k->scratch, &s->strip_loops, w);
}

static void close_segment(Chunk *k, Segment *s, Op *before) {
    close_loop(k, s, before, true);
    for (uint32_t i = 0; i < s->strip_loops.len; i++) {
        const StripLoop *w = &s->strip_loops.at[i];
        bool is_last = i + 1 == s->strip_loops.len;
        for (uint32_t c = 0; c < w->copied.len; c++) {
            for (uint32_t j = 0; j < s->stores.len; j++) check_store(k, s->stores.at[j], w->copied.at[c], is_last);
            for (uint32_t j = 0; j < s->late.len; j++) check_store(k, s->late.at[j], w->copied.at[c], is_last);
        }
        vec_push(k->scratch, &k->strip_loops, *w);
    }
    *s = (Segment){0};
}

static bool waits_for(const Op *op, const OpList *reductions) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i]->def && holds(reductions, op->args[i]->def)) return true;
    for (uint32_t r = 0; r < op->nregions; r++)
        for (const Op *o = op->regions[r]->first; o; o = o->next)
            if (waits_for(o, reductions)) return true;
    return false;
}

/* Stores wait to the end of a segment: where something else has an effect, or reads what they may have written. */
static bool ends_segment(const Op *op, const Segment *s) {
    switch (op_info[op->kind].effect) {
    case EFFECT_PURE: return false;
    case EFFECT_READ: return s->stores.len + s->late.len > 0;
    default: return op->kind != OP_IF || !is_quiet(op);
    }
}

/* Loops in the arms of an `if` stand in the order of the program, too. */
static bool has_loops(const Chunk *k, const Op *op) {
    bool found = false;
    for (uint32_t r = 0; r < op->nregions; r++)
        for (const Op *in = op->regions[r]->first; in && !found; in = in->next)
            found = touches_row(k, in) || has_loops(k, in);
    return found;
}

static void plan_block(Chunk *k, Block *b) {
    Segment s = {0};
    for (Op *op = b->first; op && k->sound; op = op->next) {
        bool is_strip_mined = touches_row(k, op), is_store = op->kind == OP_STORE && !op->attr.mem.is_volatile;
        if (has_loops(k, op) || (!is_strip_mined && !is_store && ends_segment(op, &s))) close_segment(k, &s, op);
        else if (waits_for(op, &s.reductions)) close_loop(k, &s, op, false);
        if (is_strip_mined && op->kind == OP_REDUCE && !k->taken[op->id]) vec_push(k->scratch, &s.reductions, op);
        if (is_store) vec_push(k->scratch, is_strip_mined ? &s.stores : &s.late, op);
        for (uint32_t r = 0; r < op->nregions; r++) plan_block(k, op->regions[r]);
    }
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

static bool plan(Chunk *k, const PassContext *c) {
    func_walk(k->f, note_largest, k);
    k->order = NEW_ARRAY(k->scratch, uint32_t, k->f->next_op);
    k->marked = NEW_ARRAY(k->scratch, bool, k->f->next_op);
    k->taken = NEW_ARRAY(k->scratch, bool, k->f->next_op);
    func_walk(k->f, check_op, k);
    const Facts *facts = k->sound ? facts_compute(k->f, k->scratch) : NULL;
    RowChunk chunk = facts ? distribute_chunk(k->f, facts, c, k->wide, k->narrow, k->loads) : (RowChunk){0};
    k->size = chunk.size;
    if (!k->size) return false;
    plan_block(k, k->f->body);
    uint32_t warps = k->f->num_warps * k->f->num_ctas;
    if (!k->has_others) {
        k->threads = shape_row(log2_floor(warps * c->target->warp_threads));
        if (warps > 1) k->warps = shape_row(log2_floor(warps));
    }
    if (!k->sound || !k->strip_loops.len) return false;
    k->extent = chunk_extent(k, facts);
    chunk_plan_staged(k, c->target, chunk.is_copied);
    return true;
}

void pass_chunk(Func *f, PassContext *c) {
    if (f->stage == STAGE_SIMT) return;
    Chunk k = {.f = f, .scratch = c->scratch, .row = 1, .wide = 4, .narrow = 8, .sound = true};
    uint32_t warps = f->num_warps, ctas = f->num_ctas;
    bool changed = plan(&k, c);
    if (!changed) {
        f->num_warps = warps;
        f->num_ctas = ctas;
    }
    for (uint32_t i = 0; i < k.strip_loops.len && changed; i++) chunk_build_loop(&k, &k.strip_loops.at[i]);
    for (uint32_t i = 0; i < k.apart.len && changed; i++) vec_push(f->arena, &f->apart, k.apart.at[i]);
    if (!changed) return;
    if (c->opt_level) { /* masks of chunks that lie within the row */
        pass_narrow(f, c);
        pass_fold(f, c);
    }
    pass_dce(f, c); /* what made the whole row */
}
