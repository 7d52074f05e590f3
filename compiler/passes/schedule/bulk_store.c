/* bulk_store.c - the pass bulk_store: what products made goes to memory by bulk copies, one thread a box.
 *
 * In: stores of tiles that are converted from a layout of products to one whose threads store whole vectors. Out: such
 * a tile is stored to a buffer as it is, shown by a fence, and copied from there (bulk_store). Who overwrites the
 * buffer, and the function's end, wait for the copy.
 * Rules: the stores stand in a loop, side by side, addresses and mask are a box of a tensor map. All goes on while the
 * program does. So nothing that comes behind loads from memory that the function may write, there are no atomics, and
 * no other store writes there, but for parts of one tile. The next round waits for memory, as it may write the same
 * places. Rings of three stages must have room beside the buffers.
 * Why: a program that stays goes on with its next tile, whose copies are under way. Behind a program's last loop
 * nothing goes on meanwhile: there products are as fast without, and attention was slower (docs/lab/matmul.md).
 */
#include "passes/private.h"

enum { MOST_STORES = 16, ALIGN = 1024 /* bytes: where swizzled rows repeat */, SPAN = 128 };

typedef struct Store {
    Op *op;
    Box box;
    Value *tile;    /* as products made it */
    Buffer buffer;
    uint32_t map;   /* from 1 */
} Store;

typedef struct Stores {
    Func *f;
    const PassContext *c;
    const Facts *facts;
    Store at[MOST_STORES];
    uint32_t n;
    uint64_t bytes;
    uint64_t operands; /* bytes of a round's, in the loop that has most */
    bool others;       /* there are stores that stay as they are, atomics, or loads that these may change */
} Stores;

/* ---- What else there is ------------------------------------------------------------------------------------------ */

static uint64_t bytes_of(Type t) {
    return shape_size(t.shape, 0) * shape_size(t.shape, 1) * type_bytes(type_scalar(t.dtype));
}

static bool stands_in_loop(const Op *op) {
    const Op *owner = op->parent->owner;
    while (owner && !op_is_loop(owner)) owner = owner->parent->owner;
    return owner;
}

static bool is_const(const Func *f, const Op *load) {
    const Value *param = access_parameter(f, load);
    return param && f->params.at[param->index].is_const;
}

static void note_other(void *context, Op *op) {
    Stores *s = context;
    bool is_order = op->kind == OP_GDCLAUNCH || op->kind == OP_ASSERT || op->kind == OP_PRINT;
    bool is_load = op->kind == OP_LOAD && !op->attr.mem.is_volatile && is_const(s->f, op);
    s->others |= is_order || (op_is_access(op->kind) && op->kind != OP_STORE && !is_load);
    s->others |= op->kind == OP_STORE && s->n == MOST_STORES;
    if (op->kind == OP_STORE && s->n < MOST_STORES) s->at[s->n++] = (Store){.op = op};
    if (op->kind != OP_FOR || !loop_is_fed(s->f, op)) return;
    uint64_t bytes = 0;
    for (const Op *load = op->regions[0]->first; load; load = load->next)
        if (load->kind == OP_LOAD && load->results[0]->type.shape.rank == 2) bytes += bytes_of(load->results[0]->type);
    if (bytes > s->operands) s->operands = bytes;
}

/* Do the rings beside the buffers keep stages enough to go on into the next tile? */
static bool has_room(const Stores *s) {
    enum { STAGES = 3 };
    return s->bytes + STAGES * s->operands + SPAN * STAGES <= s->c->target->max_shared;
}

/* ---- One store --------------------------------------------------------------------------------------------------- */

/* Rows of the widest span that the tile has. */
static bool choose_buffer(Stores *s, Store *t) {
    const Layout *l = t->tile->type.layout;
    uint32_t major = (uint32_t)t->box.dims[0].axis, bytes = type_bytes(type_scalar(t->tile->type.dtype));
    for (uint32_t span = SPAN; span >= 32; span /= 2) {
        if (shape_size(l->shape, major) * bytes < span) continue;
        const Layout *places = layout_swizzled(s->f->layouts, l->shape, major, 8 * bytes, span);
        t->buffer = (Buffer){.dtype = t->tile->type.dtype, .places = places, .align = ALIGN};
        t->map = bulk_map(s->f, s->c, s->facts, t->op, &t->box, &t->buffer);
        if (t->map) return true;
    }
    return false;
}

static bool is_bulk(Stores *s, Store *t) {
    Op *op = t->op;
    if (!stands_in_loop(op)) return false;
    const Op *convert = op->args[1]->def;
    const MemAttr *m = &op->attr.mem;
    if (!value_is_tile(op->args[1]) || m->is_volatile || m->cache || m->evict) return false;
    if (op->args[1]->type.shape.rank != 2) return false;
    if (!convert || convert->kind != OP_CONVERT || !box_of(op, &t->box)) return false;
    t->tile = convert->args[0];
    if (convert_kind(t->tile->type.layout, convert->results[0]->type.layout) < CONVERT_SHARED) return false;
    s->bytes += bytes_of(t->tile->type);
    return choose_buffer(s, t);
}

/* ---- Parts of one tile ------------------------------------------------------------------------------------------- */

static bool same_terms(const BoxDim *x, const BoxDim *y) {
    bool same = x->num_terms == y->num_terms && x->extent == y->extent && x->scale == y->scale && x->axis == y->axis &&
                x->by[0] == y->by[0] && x->by[1] == y->by[1];
    for (uint32_t i = 0; i < x->num_terms && same; i++)
        same = x->terms[i].v == y->terms[i].v && x->terms[i].scale == y->terms[i].scale;
    return same;
}

/* Of one tile, side by side along an axis. */
static bool lie_apart(const Store *x, const Store *y) {
    bool apart = false;
    for (uint32_t i = 0; i < x->box.rank && i < y->box.rank; i++) {
        const BoxDim *a = &x->box.dims[i], *b = &y->box.dims[i];
        int64_t distance = a->constant < b->constant ? b->constant - a->constant : a->constant - b->constant;
        if (!same_terms(a, b)) return false;
        apart |= a->axis >= 0 && distance >= (int64_t)shape_size(x->tile->type.shape, (uint32_t)a->axis);
    }
    bool is_one = x->box.param == y->box.param && x->box.rank == y->box.rank;
    return apart && is_one && shape_equal(x->tile->type.shape, y->tile->type.shape);
}

static bool all_apart(const Stores *s) {
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!lie_apart(&s->at[i], &s->at[k])) return false;
    return true;
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

/* For all buffers, from the first on. */
static void build_waits(const Stores *s, Op *before, uint32_t first, bool is_read) {
    Builder b = builder_before(s->f, before);
    for (uint32_t i = 0; i < s->n; i++)
        op_build(&b, OP_BULKWAIT, NULL, 0, (Attr){.buffer = first + i, .is_read = is_read}, (Type){0});
}

static void replace(Stores *s, Store *t, uint32_t buffer) {
    Builder b = builder_before(s->f, t->op);
    Value *places[MAP_DIMS], *terms[COUNT(t->box.dims[0].terms)];
    Attr at = {.buffer = buffer, .scope = SCOPE_BLOCK};
    Op *store = op_build(&b, OP_SHSTORE, &t->tile, 1, at, t->tile->type);
    MatrixRows m;
    store->attr.is_matrices = target_has(s->c->target, FEATURE_STMATRIX) &&
                              access_moves_matrices(s->f, store, t->tile->type, &m);
    op_build(&b, OP_PROXYFENCE, NULL, 0, (Attr){0}, (Type){0});
    for (uint32_t i = 0; i < t->box.rank; i++) {
        const BoxDim *d = &t->box.dims[i];
        for (uint32_t k = 0; k < d->num_terms; k++) terms[k] = d->terms[k].v;
        places[i] = box_place(&b, d, i ? 1 : box_unit(s->f, buffer), terms, i ? NULL : t->box.when);
    }
    op_build(&b, OP_BULKSTORE, places, t->box.rank, (Attr){.buffer = buffer, .map = t->map - 1}, (Type){0});
    op_erase(s->f, t->op);
}

void pass_bulk_store(Func *f, PassContext *c) {
    Stores s = {.f = f, .c = c};
    if (!func_has_bulk(f, c) || !block_multiplies(f->body)) return;
    func_walk(f, note_other, &s);
    if (!s.n || s.others) return;
    s.facts = facts_compute(f, c->scratch);
    for (uint32_t i = 0; i < s.n; i++)
        if (s.at[i].op->parent != s.at[0].op->parent || !is_bulk(&s, &s.at[i])) return;
    if (!has_room(&s) || !all_apart(&s)) return;
    uint32_t first = f->buffers.len;
    for (uint32_t i = 0; i < s.n; i++) (void)buffer_add(f, s.at[i].buffer);
    build_waits(&s, s.at[0].op, first, false);
    for (uint32_t i = 0; i < s.n; i++) replace(&s, &s.at[i], first + i);
    build_waits(&s, f->body->last, first, true);
    pass_dce(f, c);
}
