/* exchange.c - what crosses warps becomes traffic through shared memory: a store, and loads by those who need it.
 *
 * In: a Func at STAGE_SIMT. Out: no `reduce` or `gather`, no `reduce_fn`, `scan` or `flip` over several warps,
 * and no convert_layout that a few shuffles within a warp cannot do.
 * Results of atomics and of volatile loads that more threads hold than are asked for go the same way. A reduction over
 * several warps: each warp reduces its part, the partials go to shared memory, and every thread that needs the result
 * reads its share of them and reduces again. Where a program spans a cluster, each block stores into the shared memory
 * of all of them, so that loads stay in the own block. Each exchange has a buffer; its bytes come later.
 */
#include "passes/private.h"

#include <string.h>

enum { MOST_CANDIDATES = 2 /* log2: four shuffles cost about as much as a store and a load of shared memory */ };

static Type with_layout(Type t, const Layout *l) {
    t.shape = l->shape;
    t.layout = l->shape.rank ? l : NULL;
    return t;
}

/* Does each block of the program hold a part of its own, or one block alone what all of them want? */
static bool is_apart(const Func *f, const Value *v, bool one_stores) {
    if (f->blocks_per_program == 1) return false;
    const Layout *l = v->type.layout;
    uint32_t all = f->blocks_per_program - 1, same = l ? layout_free(l, IN_CTA) : all;
    return one_stores ? same != 0 : same != all;
}

static uint32_t new_buffer(Func *f, Type t, const Layout *places) {
    return buffer_add(f, (Buffer){.dtype = buffer_dtype(t), .places = places});
}

/* Into the shared memory of the block, or of every block if they hold different parts. */
static void store_into(Func *f, Builder *b, Value *v, uint32_t buffer, bool is_apart) {
    Attr a = {.buffer = buffer, .scope = is_apart ? f->scope : SCOPE_BLOCK};
    op_build(b, OP_SHSTORE, &v, 1, a, v->type);
}

static Value *load_from(Builder *b, uint32_t buffer, Type t) {
    return op_build(b, OP_SHLOAD, NULL, 0, (Attr){.buffer = buffer}, t)->results[0];
}

/* The whole tile. The buffer. */
static uint32_t store_shared(Func *f, Builder *b, Value *v) {
    uint32_t buffer = new_buffer(f, v->type, layout_flat(f->layouts, v->type.shape));
    store_into(f, b, v, buffer, is_apart(f, v, false));
    return buffer;
}

/* Flat for what goes to other blocks, and where the tile that is loaded has another shape. */
static const Layout *places_of(Func *f, const Value *v, Type to, bool apart, bool own) {
    Layouts *ls = f->layouts;
    const Layout *from = apart && own ? layout_own(ls, v->type.layout) : v->type.layout;
    if (!from || (apart && !own) || !shape_equal(v->type.shape, to.shape))
        return layout_flat(ls, from ? from->shape : v->type.shape);
    return layout_between(ls, from, apart ? layout_own(ls, to.layout) : to.layout,
                          type_bytes(type_scalar(v->type.dtype)));
}

/* v through shared memory into another layout (of as many elements, in the same order). `own`:
 * each block its own part of it. */
static Value *through_shared(Func *f, Builder *b, Value *v, Type to, bool own) {
    bool apart = is_apart(f, v, false);
    uint32_t buffer = new_buffer(f, v->type, places_of(f, v, to, apart, own));
    store_into(f, b, v, buffer, apart && !own);
    return load_from(b, buffer, to);
}

static Value *reduce_warp(Builder *b, Value *v, Attr a, const Layout *to, bool is_scattered) {
    a.is_scattered = is_scattered;
    return op_build(b, OP_REDUCEWARP, &v, 1, a, with_layout(v->type, to))->results[0];
}

/* The partial results of all warps, first within each block where that is better. */
static Value *cross(Func *f, Builder *b, Value *v, Attr a) {
    Crossing c = crossing_plan(f, v->type.layout, a.axis, false);
    v = reduce_warp(b, v, a, c.stored, c.stored != c.partial);
    if (c.meet) {
        v = through_shared(f, b, v, with_layout(v->type, c.meet), true);
        v = reduce_warp(b, v, a, c.met, false);
        if (v->type.shape.rank < c.spread->shape.rank) v = build_expand(b, v, a.axis);
    }
    v = through_shared(f, b, v, with_layout(v->type, c.spread), false);
    if (c.last == c.result) return reduce_warp(b, v, a, c.result, false);
    return build1_to(b, OP_CONVERT, reduce_warp(b, v, a, c.last, false), with_layout(v->type, c.result));
}

static void lower_reduce(Func *f, Op *op) {
    Builder b = builder_before(f, op);
    Value *v = op->args[0];
    ReducePlan plan = layout_reduce_plan(v->type.layout, op->attr.axis);
    if (plan.mixed) bug("reduce over axis %u of a mixed layout in %s", op->attr.axis, f->name);
    bool crosses = plan.combine[IN_WARP] || plan.combine[IN_CTA];
    Value *r = crosses ? cross(f, &b, v, op->attr)
                       : op_build(&b, OP_REDUCEWARP, &v, 1, op->attr, op->results[0]->type)->results[0];
    op_replace(f, op, r);
}

/* Does each block have what it wants, and may it leave its part where it likes? */
static bool stays_in_block(const Layout *from, const Layout *to) {
    return convert_kind(from, to) <= CONVERT_SHARED &&
           !memcmp(from->basis[IN_CTA], to->basis[IN_CTA], sizeof from->basis[IN_CTA]);
}

/* Within a warp too, where a register may come from many: each candidate would be a shuffle. */
static bool needs_shared(const Layout *from, const Layout *to) {
    ConvertPlan plan;
    convert_plan(from, to, &plan);
    return plan.kind >= CONVERT_SHARED || (plan.kind == CONVERT_SHUFFLE && plan.nselect > MOST_CANDIDATES);
}

/* All stores, one barrier, all loads. */
static void all_through_shared(Func *f, Builder *b, Value *const *v, const Layout *to, Value **out, uint32_t n) {
    uint32_t first = f->buffers.len;
    for (uint32_t i = 0; i < n; i++) store_shared(f, b, v[i]);
    for (uint32_t i = 0; i < n; i++) out[i] = load_from(b, first + i, with_layout(v[i]->type, to));
}

static void replace_op(Func *f, Op *op, const Op *with) {
    for (uint32_t i = 0; i < op->nresults; i++) {
        with->results[i]->name = op->results[i]->name;
        value_replace(f, op->results[i], with->results[i]);
    }
    op_erase(f, op);
}

/* Each warp combines the runs of the axis that it holds; every warp then combines the runs,
 * or scans them for what comes before its own. */
static void lower_combine(Func *f, Op *op) {
    const Layout *l = op->args[0]->type.layout;
    uint32_t axis = op->attr.axis, n = op->nargs;
    AxisPlan plan = layout_axis_plan(l, axis);
    if (plan.within == plan.bits) return;
    Builder b = builder_before(f, op);
    bool is_scan = op->kind == OP_SCAN;
    const Layout *slice = layout_slice(f->layouts, l, axis, false);
    const Layout *spread = layout_spread(f->layouts, slice, axis, plan.bits - plan.within);
    const Op *runs = build_combine(&b, is_scan ? OP_SCANWARP : OP_REDUCEFNWARP, op->args, n, op->attr, op);
    Value *const *totals = is_scan ? runs->results + n : runs->results;
    Value **args = NEW_ARRAY(f->arena, Value *, 2 * n);
    all_through_shared(f, &b, totals, spread, args, n);
    if (!is_scan) {
        replace_op(f, op, build_combine(&b, OP_REDUCEFN, args, n, op->attr, op));
        return;
    }
    Attr before = {.axis = op->attr.axis, .flags = op->attr.flags | COMBINE_EXCLUSIVE};
    const Op *carries = build_combine(&b, OP_SCAN, args, n, before, op);
    for (uint32_t i = 0; i < n; i++) {
        args[i] = runs->results[i];
        args[n + i] = build1_to(&b, OP_CONVERT, carries->results[i], totals[i]->type);
    }
    replace_op(f, op, build_combine(&b, OP_SCANAPPLY, args, 2 * n, op->attr, op));
}

static void lower_convert(Func *f, Op *op) {
    Value *v = op->args[0];
    if (!needs_shared(v->type.layout, op->results[0]->type.layout)) return;
    Builder b = builder_before(f, op);
    const Layout *to = op->results[0]->type.layout;
    Value *r = through_shared(f, &b, v, op->results[0]->type, stays_in_block(v->type.layout, to));
    value_replace(f, op->results[0], r);
    op_erase(f, op);
}

static bool is_replicated(const Value *v) {
    const Layout *l = v->type.layout;
    return !l || layout_free(l, IN_LANE) || layout_free(l, IN_WARP) || layout_free(l, IN_CTA);
}

/* What each thread that asks may hear otherwise: an atomic, and memory that changes meanwhile. */
static bool is_heard_once(const Op *op) {
    return op_is_atomic(op->kind) || (op->kind == OP_LOAD && op->attr.mem.is_volatile);
}

/* Of each element one thread's result counts; the others that hold the element get it through shared memory. */
static void share_result(Func *f, Op *op) {
    Value *v = op->results[0];
    if (!value_used(v) || !is_replicated(v)) return;
    uint32_t buffer = new_buffer(f, v->type, layout_flat(f->layouts, v->type.shape));
    Builder b = builder_after(f, op);
    Value *shared = load_from(&b, buffer, v->type);
    value_replace(f, v, shared);
    Builder before = builder_before(f, shared->def);
    store_into(f, &before, v, buffer, is_apart(f, v, true));
    shared->name = v->name;
}

static void lower_gather(Func *f, Op *op) {
    Value *v = op->args[0], *index = op->args[1];
    Builder b = builder_before(f, op);
    Attr from = {.buffer = store_shared(f, &b, v), .axis = op->attr.axis};
    Value *r = op_build(&b, OP_SHGATHER, &index, 1, from, op->results[0]->type)->results[0];
    op_replace(f, op, r);
}

/* The op in the block that v is made in which the op is, or stands in. */
static Op *user_beside(const Value *v, Op *op) {
    const Block *home = v->def ? v->def->parent : v->block;
    while (op->parent != home) op = op->parent->owner;
    return op;
}

Builder builder_to_share(Func *f, const Value *v, Op *op) {
    Op *user = user_beside(v, op);
    if (user == op) return builder_before(f, op);
    bool has_barrier = user->prev && user->prev->kind == OP_BARRIER;
    Builder b = builder_before(f, user);
    if (!has_barrier) op_build(&b, OP_BARRIER, NULL, 0, (Attr){.scope = func_scope(f)}, v->type);
    return builder_before(f, user->prev);
}

/* The store of v in front of op, row-major and for the whole block, that another part of v has asked for; else NULL. */
static const Op *stored_before(const Func *f, const Value *v, const Op *op) {
    for (const Op *at = op->prev; at && at != v->def; at = at->prev) {
        const Buffer *b = at->kind == OP_SHSTORE ? &f->buffers.at[at->attr.buffer] : NULL;
        bool is_own = b && at->nargs == 1 && at->args[0] == v && at->attr.scope == SCOPE_BLOCK && b->stages == 1;
        if (is_own && b->places == layout_flat(f->layouts, v->type.shape)) return at;
    }
    return NULL;
}

/* The whole lies in shared memory before the loop whose rounds take parts of it begins. */
static void lower_slice(Func *f, Op *op) {
    Value *v = op->args[0];
    ConvertPlan plan;
    uint32_t begin;
    if (slice_in_registers(f->layouts, op, &plan, &begin)) return;
    const Op *before = stored_before(f, v, op);
    Builder b = before ? builder_before(f, op) : builder_to_share(f, v, op), load = builder_before(f, op);
    Attr part = {.buffer = before ? before->attr.buffer : store_shared(f, &b, v), .axis = op->attr.axis};
    replace_op(f, op, op_build(&load, OP_SHSLICE, &op->args[1], 1, part, op->results[0]->type));
}

/* Turned round where it lies in shared memory, unless shuffles can do it. */
static void lower_flip(Func *f, Op *op) {
    Value *v = op->args[0];
    Owner from = layout_owner(v->type.layout, op->attr.flip);
    if (!from.at[IN_WARP] && !from.at[IN_CTA]) return;
    Builder b = builder_before(f, op);
    Attr flipped = {.buffer = store_shared(f, &b, v), .flip = op->attr.flip};
    replace_op(f, op, op_build(&b, OP_SHLOAD, NULL, 0, flipped, v->type));
}

static void visit(void *context, Op *op) {
    if (is_heard_once(op)) share_result(context, op);
    if (op->kind == OP_GATHER) lower_gather(context, op);
    if (op->kind == OP_SLICE) lower_slice(context, op);
    if (op->kind == OP_FLIP) lower_flip(context, op);
    if (op->kind == OP_REDUCE) lower_reduce(context, op);
    if (op->kind == OP_REDUCEFN || op->kind == OP_SCAN) lower_combine(context, op);
    if (op->kind == OP_CONVERT) lower_convert(context, op);
}

void pass_exchange(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, visit, f);
}
