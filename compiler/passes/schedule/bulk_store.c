/* bulk_store.c - the pass bulk_store: what products made goes to memory by bulk copies, one thread a box.
 *
 * In: stores of tiles that are converted from a layout of products to one whose threads store whole vectors. Out: such
 * a tile is stored to a buffer as it is, shown by a fence, and copied from there (bulk_store). Who overwrites the
 * buffer, and the function's end, wait for the copy.
 * Rules: the stores stand in a loop, side by side, addresses and mask are a box of a tensor map. All goes on while the
 * program does. So nothing that comes behind loads from memory that the function may write, there are no atomics, and
 * no other store writes there, but for parts of one tile. The next round waits for memory, as it may write the same
 * places. Operands come by bulk copies, too, in rings of three stages that have room beside the buffers: threads that
 * copy for themselves want more.
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
    bool others;       /* there are stores that stay as they are, atomics, loads that these may change, or operands that
                        * come by no bulk copies */
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

/* The number of a map for the access, and a buffer of such tiles: rows of the widest span that they have. 0: none. */
static uint32_t find_map(const Stores *s, const Op *access, const Box *box, Type tile, Buffer *buffer) {
    uint32_t major = (uint32_t)box->dims[0].axis, bytes = type_bytes(type_scalar(tile.dtype)), map = 0;
    for (uint32_t span = SPAN; span >= 32 && !map; span /= 2) {
        if (shape_size(tile.shape, major) * bytes < span) continue;
        const Layout *places = layout_swizzled(s->f->layouts, tile.shape, major, 8 * bytes, span);
        *buffer = (Buffer){.dtype = tile.dtype, .places = places, .align = ALIGN};
        map = bulk_map(s->f, s->c, s->facts, access, box, buffer);
    }
    return map;
}

static bool is_copied(const Stores *s, const Op *load) {
    Box box;
    Buffer buffer;
    return box_of(load, &box) && find_map(s, load, &box, load->results[0]->type, &buffer);
}

/* What a loop feeds its products with. */
static void note_operands(Stores *s, const Op *loop) {
    uint64_t bytes = 0;
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->kind != OP_LOAD || op->results[0]->type.shape.rank != 2) continue;
        bytes += bytes_of(op->results[0]->type);
        s->others |= !is_copied(s, op);
    }
    if (bytes > s->operands) s->operands = bytes;
}

static void note_other(void *context, Op *op) {
    Stores *s = context;
    bool is_order = op->kind == OP_GDCLAUNCH || op->kind == OP_ASSERT || op->kind == OP_PRINT;
    bool is_load = op->kind == OP_LOAD && !op->attr.mem.is_volatile && is_const(s->f, op);
    s->others |= is_order || (op_is_access(op->kind) && op->kind != OP_STORE && !is_load);
    s->others |= op->kind == OP_STORE && s->n == MOST_STORES;
    if (op->kind == OP_STORE && s->n < MOST_STORES) s->at[s->n++] = (Store){.op = op};
    if (op->kind == OP_FOR && loop_is_fed(s->f, op)) note_operands(s, op);
}

/* Do the rings beside the buffers keep stages enough to go on into the next tile? */
static bool has_room(const Stores *s) {
    enum { STAGES = 3 };
    return s->bytes + STAGES * s->operands + SPAN * STAGES <= s->c->target->max_shared;
}

/* ---- One store --------------------------------------------------------------------------------------------------- */

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
    t->map = find_map(s, op, &t->box, t->tile->type, &t->buffer);
    return t->map;
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
    s.facts = facts_compute(f, c->scratch);
    func_walk(f, note_other, &s);
    if (!s.n || s.others) return;
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
