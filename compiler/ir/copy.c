/* copy.c - the rules of stores, loads and copies of shared buffers; of tensor maps, whose boxes bulk copies bring.
 *
 * In: operands and attribute of shared_store, shared_load, shared_wait, copy_async, copy_read, bulk_load, bulk_store,
 * bulk_wait; a map. Out: the result's type, or a clause that says why op or map is not sound.
 * Method: one infer_<x> for each op, as in types.c. Whether the buffer fits is the verifier's to ask (buffer.c), but
 * for bulk copies. A box's row is a span of the buffer's places, so a buffer takes a box for each span and 256 rows.
 * Whoever reads what a copy brings has waited for that stage. A bulk copy for a later round stands behind the waits for
 * the products that read what it overwrites, and the last warp to come to it begins it.
 */
#include "ir/private.h"

static bool vectors_fit(Infer *in, Type t) {
    if (!t.shape.rank || !t.layout) return infer_fail(in, "no tile with a layout");
    if (in->attr.mem.vec_log2 > t.layout->bits[IN_REGISTER])
        return infer_fail(in, "vectors of more elements than a thread has");
    return in->attr.mem.mask_kind <= MASK_PREFIX || infer_fail(in, "no such mask");
}

static bool is_scalar_of(const Infer *in, uint32_t i, DType d) {
    Type t = in->args[i]->type;
    return t.dtype == d && !t.shape.rank;
}

bool infer_copyasync(Infer *in) {
    if (in->nargs < 3 || in->nargs > 4) return infer_fail(in, "%u operands, not ptr, stage, issue[, mask]", in->nargs);
    Type p = in->args[0]->type;
    if (p.dtype != DT_PTR || p.pointee == DT_I1 || p.pointee == DT_PTR)
        return infer_fail(in, "operand 0 points to nothing in memory");
    if (!is_scalar_of(in, 1, DT_I32)) return infer_fail(in, "the stage is no scalar i32");
    if (!is_scalar_of(in, 2, DT_I1)) return infer_fail(in, "whether to issue is no scalar i1");
    if (in->nargs > 3 && (in->args[3]->type.dtype != DT_I1 || !type_same_shape(in->args[3]->type, p)))
        return infer_fail(in, "the mask is not i1 of the pointers' shape and layout");
    return vectors_fit(in, p);
}

static bool are_places(Infer *in, uint32_t first) {
    for (uint32_t i = first; i < in->nargs; i++)
        if (!is_scalar_of(in, i, DT_I32)) return infer_fail(in, "place %u is no scalar i32", i - first);
    return true;
}

bool infer_bulkstore(Infer *in) {
    if (!in->nargs || in->nargs > MAP_DIMS) return infer_fail(in, "%u operands", in->nargs);
    return are_places(in, 0);
}

bool infer_bulkload(Infer *in) {
    if (in->nargs < 3 || in->nargs > 2 + MAP_DIMS) return infer_fail(in, "%u operands", in->nargs);
    if (!is_scalar_of(in, 0, DT_I32)) return infer_fail(in, "the stage is no scalar i32");
    if (!is_scalar_of(in, 1, DT_I1)) return infer_fail(in, "whether to issue is no scalar i1");
    return are_places(in, 2);
}

bool infer_copyread(Infer *in) {
    if (in->nargs != 1 && in->nargs != 3) return infer_fail(in, "%u operands, not stage[, mask, other]", in->nargs);
    if (!is_scalar_of(in, 0, DT_I32)) return infer_fail(in, "the stage is no scalar i32");
    in->result = in->hint;
    if (in->nargs == 3 && (in->args[1]->type.dtype != DT_I1 || !type_same_shape(in->args[1]->type, in->hint)))
        return infer_fail(in, "the mask is not i1 of the result's shape and layout");
    if (in->nargs == 3 && !type_equal(in->args[2]->type, in->hint))
        return infer_fail(in, "operand 2 is not of the result's type");
    return vectors_fit(in, in->hint);
}

static bool stage_fits(Infer *in, uint32_t stage) {
    if (in->nargs > stage + 1) return infer_fail(in, "%u operands", in->nargs);
    if (in->nargs > stage && !is_scalar_of(in, stage, DT_I32)) return infer_fail(in, "the stage is no scalar i32");
    return true;
}

bool infer_shstore(Infer *in) {
    if (!in->nargs) return infer_fail(in, "no operand");
    for (uint32_t i = 1; i < in->nargs; i++) {
        Type t = in->args[i]->type;
        if (t.shape.rank || t.dtype == DT_PTR) return infer_fail(in, "operand %u is no number", i);
    }
    return true;
}

bool infer_shload(Infer *in) {
    in->result = in->hint;
    return stage_fits(in, 0);
}

bool infer_shwait(Infer *in) {
    if (in->nargs && in->nargs != 2) return infer_fail(in, "%u operands, not stage, phase", in->nargs);
    for (uint32_t i = 0; i < in->nargs; i++)
        if (!is_scalar_of(in, i, DT_I32)) return infer_fail(in, "operand %u is no scalar i32", i);
    return true;
}

/* ---- Tensor maps, bulk copies ------------------------------------------------------------------------------------ */

enum { MOST_BOX = 256 };

static bool is_integer(const Func *f, uint32_t param) {
    Type t = f->body->args.at[param]->type;
    return dtype_kind(t.dtype) == KIND_INT && dtype_bits(t.dtype) >= 32;
}

static bool dim_fits(const Func *f, const MapDim *d) {
    bool has_box = d->box && d->box <= MOST_BOX && !(d->box & (d->box - 1));
    bool has_extent = d->extent == MAP_NO_PARAM ? d->most > 0 : d->extent < f->params.len && is_integer(f, d->extent);
    bool has_stride = d->stride[0] != MAP_NO_PARAM || d->stride[1] == MAP_NO_PARAM;
    for (uint32_t i = 0; i < COUNT(d->stride); i++)
        has_stride &= d->stride[i] == MAP_NO_PARAM || (d->stride[i] < f->params.len && is_integer(f, d->stride[i]));
    return has_box && has_extent && has_stride && d->scale > 0;
}

const char *map_wrong(const Func *f, uint32_t i) {
    const BoxMap *m = &f->maps.at[i];
    if (m->param >= f->params.len || f->body->args.at[m->param]->type.dtype != DT_PTR)
        return "a map of no pointer parameter";
    if (m->span != MAP_UNIT && m->span != 32 && m->span != 64 && m->span != 128)
        return "a map whose rows are no span of 16, 32, 64 or 128 bytes";
    if (!m->rank || m->rank > MAP_DIMS) return "a map of no dimensions, or of too many";
    for (uint32_t d = 0; d < m->rank; d++)
        if (!dim_fits(f, &m->dims[d])) return "a map with a dimension that there is not";
    uint32_t bytes = type_bytes(type_scalar(f->body->args.at[m->param]->type.pointee));
    uint32_t row = m->dims[0].box * bytes;
    if (m->span == MAP_UNIT ? row % m->span : row != m->span) return "a map whose boxes' rows are no span";
    bool is_dense = m->dims[0].stride[0] == MAP_NO_PARAM && m->dims[0].scale == 1;
    return is_dense ? NULL : "a map whose fastest elements lie apart";
}

/* Of a vector: pieces of it, one behind the other. */
static bool vector_boxes(const Func *f, const Buffer *b, const BoxMap *m, uint64_t box, Boxes *out) {
    enum { ALIGNED = 128 /* bytes: where a copy may go to */ };
    Shape s = b->places->shape;
    uint32_t size = (uint32_t)shape_size(s, 0), most = size < MOST_BOX ? size : MOST_BOX;
    *out = (Boxes){0, size / most, 1, most, 1};
    bool fits = m->span == MAP_UNIT && m->dims[0].box == most && box == most;
    return fits && b->places == layout_flat(f->layouts, s) && most * type_bytes(type_scalar(b->dtype)) % ALIGNED == 0;
}

bool buffer_boxes(const Func *f, const Buffer *b, const BoxMap *m, Boxes *out) {
    Shape s = b->places->shape;
    DType d = f->body->args.at[m->param]->type.pointee;
    uint64_t box = 1;
    for (uint32_t i = 0; i < m->rank; i++) box *= m->dims[i].box;
    if (d == b->dtype && s.rank == 1) return vector_boxes(f, b, m, box, out);
    if (s.rank != 2 || d != b->dtype) return false;
    for (uint32_t major = 0; major < 2; major++) {
        uint32_t bits = 8 * type_bytes(type_scalar(d)), columns = m->dims[0].box;
        if (shape_size(s, major) < columns || layout_swizzled(f->layouts, s, major, bits, m->span) != b->places)
            continue;
        uint64_t rows = shape_size(s, 1 - major), high = rows < MOST_BOX ? rows : MOST_BOX;
        *out = (Boxes){major, (uint32_t)(shape_size(s, major) / columns), (uint32_t)(rows / high), columns,
                       (uint32_t)high};
        return m->rank > 1 && box == (uint64_t)columns * high && m->dims[1].box == high;
    }
    return false;
}

/* Of the stage that op reads: in front of op, or of what it stands in. */
static bool has_waited(const Op *op) {
    const Value *stage = op->args[op->nargs - 1];
    for (const Op *at = op; at; at = at->parent->owner)
        for (const Op *o = at; o; o = o->prev)
            if (o->kind == OP_SHWAIT && o->attr.buffer == op->attr.buffer && o->args[0] == stage) return true;
    return false;
}

/* ---- What a copy for a later round overwrites -------------------------------------------------------------------- */

static uint32_t products_between(const Op *from, const Op *to) {
    uint32_t n = 0;
    for (const Op *op = from; op && op != to; op = op->next) n += op->kind == OP_DOTASYNC;
    return n;
}

/* Groups end in the order in which they began. Behind `from` and in front of `to`, does a wait leave none that began
 * in front of `from`? */
static bool ends_between(const Op *from, const Op *to) {
    for (const Op *op = from; op && op != to; op = op->next)
        if (op->kind == OP_DOTWAIT && op->attr.pending <= products_between(from, op)) return true;
    return false;
}

/* Of the copy's own round (rounds = 0), or so many rounds before it. */
static bool has_ended(const Op *product, const Op *copy, uint32_t rounds) {
    bool is_before = false;
    if (product->parent != copy->parent) return ends_between(product->next, NULL); /* in its branch */
    for (const Op *op = product; op && !is_before; op = op->next) is_before = op == copy;
    if (rounds == 0) return is_before && ends_between(product->next, copy);
    bool in_its_round = ends_between(product->next, NULL);
    return in_its_round || ends_between(copy->parent->first, rounds == 1 ? copy : NULL);
}

static bool is_behind(const Op *op, const Op *other) {
    while (op && op != other) op = op->prev;
    return op != NULL;
}

/* A read of a round before has ended: its warp comes to the copy behind it, and says so there. */
static bool overwrites(const Op *copy, const Block *b, uint32_t rounds) {
    bool found = false;
    for (const Op *op = b->first; op && !found; op = op->next) {
        for (uint32_t r = 0; r < op->nregions && !found; r++) found = overwrites(copy, op->regions[r], rounds);
        bool is_taken = op->kind == OP_DOTASYNC && product_takes(op, copy->attr.buffer),
             is_read = op->kind == OP_SHLOAD && op->attr.buffer == copy->attr.buffer;
        found |= is_taken && !has_ended(op, copy, rounds);
        found |= is_read && rounds == 0 && !is_behind(copy, op);
    }
    return found;
}

bool copy_overwrites(const Func *f, const Op *copy) {
    return overwrites(copy, copy->parent, f->buffers.at[copy->attr.buffer].stages - copy->attr.ahead);
}

static const char *boxes_wrong(const Func *f, const Buffer *b, const Op *op, uint32_t places) {
    Boxes boxes;
    if (op->attr.map >= f->maps.len) return "no such map";
    const BoxMap *m = &f->maps.at[op->attr.map];
    if (op->nargs != places + m->rank) return "another number of places than the map has dimensions";
    return buffer_boxes(f, b, m, &boxes) ? NULL : "the map's boxes are not what the buffer takes";
}

static const char *load_wrong(const Func *f, const Buffer *b, const Op *op) {
    const char *wrong = boxes_wrong(f, b, op, 2);
    if (wrong) return wrong;
    if (op->attr.is_begin && (op->attr.is_prefetch || op->attr.is_across))
        return "the copy is for a first round and for a later one";
    if (op->attr.is_begin) return NULL;
    if (!op->attr.is_prefetch) return "the copy is for no first and no later round of a loop";
    if (!op->parent->owner || op->parent->owner->kind != OP_FOR) return "a copy for a later round stands in no loop";
    const Op *outer = op->parent->owner->parent->owner;
    if (op->attr.is_across && (!outer || outer->kind != OP_FOR)) return "a copy for the next time of a loop in no loop";
    if (!op->attr.ahead || op->attr.ahead > b->stages) return "the copy overwrites what a round before its own reads";
    return copy_overwrites(f, op) ? "no wait keeps the copy behind the products that read what it overwrites" : NULL;
}

static bool is_waited_for(const Op *op) {
    uint32_t buffer = op->attr.buffer;
    while (op->parent->owner) op = op->parent->owner;
    while (op && (op->kind != OP_BULKWAIT || op->attr.buffer != buffer)) op = op->next;
    return op;
}

/* In a loop, what the last round's copy reads is overwritten behind a wait. */
static bool is_kept(const Op *store) {
    const Op *op = store;
    if (!store->parent->owner) return true;
    while (op && (op->kind != OP_BULKWAIT || op->attr.buffer != store->attr.buffer)) op = op->prev;
    return op;
}

/* A fence shows what was stored; a wait stands in front of the next store, and of the function's end. */
const char *bulk_store_wrong(const Func *f, const Buffer *b, const Op *op) {
    if (b->is_private || b->stages > 1) return "a bulk store of a ring, or of what each thread has for itself";
    if (op->kind == OP_BULKWAIT) return NULL;
    const Op *fence = op->prev;
    while (fence && fence->kind != OP_PROXYFENCE && fence->kind != OP_SHSTORE) fence = fence->prev;
    if (!fence || fence->kind != OP_PROXYFENCE) return "no fence stands between what was stored and its bulk store";
    const Op *store = fence;
    while (store && (store->kind != OP_SHSTORE || store->attr.buffer != op->attr.buffer)) store = store->prev;
    if (store && !is_kept(store)) return "no wait keeps what it reads until the next round";
    return is_waited_for(op) ? boxes_wrong(f, b, op, 0) : "nobody waits for the bulk store";
}

const char *bulk_wrong(const Func *f, const Buffer *b, const Op *op) {
    if (!b->is_bulk) return "a bulk copy into a buffer that counts nothing";
    switch (op->kind) {
    case OP_BULKLOAD: return load_wrong(f, b, op);
    case OP_SHWAIT: return op->nargs == 2 ? NULL : "a wait for another number of stages";
    case OP_SHLOAD:
    case OP_SHMATRIX: return op->nargs && has_waited(op) ? NULL : "no wait for what the copy brings";
    default: return "what bulk copies bring is taken by products, or read for them";
    }
}
