/* bulk.c - the pass bulk: which operands of products come by bulk copies, one thread a box.
 *
 * In: loops that multiply what they load, behind `operands`: each load is stored to a buffer that products take it
 * from. Out: a tensor map for each load whose addresses and mask are a box of one, and the load names it. The pass
 * pipeline makes bulk copies of those that it issues ahead; what else it does, the load stays as it is.
 * Rules: the card reads by another proxy than stores write. So nothing writes what is loaded: the parameter says so, or
 * nothing is written before the loop ends. A loop stands in the function itself, or in one loop, which hands on the
 * phases of its counts. No box begins below 0, where a load would read and a copy brings zeros, or beyond what 31 bits
 * say. Pointers, strides and places along the fastest dimension are multiples of 16 bytes.
 */
#include "passes/private.h"

typedef struct Bulk {
    uint32_t rank; /* of tiles whose loads get a map: matrices first, as there are not many */
    Func *f;
    const PassContext *c;
    const Facts *facts;
} Bulk;

/* ---- What a map can say ------------------------------------------------------------------------------------------ */

/* In bytes, where parameters are above 0, as a launch with maps asks; a divisor of the stride, too. */
static uint64_t least_stride(const Func *f, const BoxDim *d, uint32_t bytes) {
    uint64_t known = (uint64_t)d->scale * bytes;
    for (uint32_t i = 0; i < COUNT(d->by); i++)
        if (d->by[i] && __builtin_mul_overflow(known, f->params.at[d->by[i]->index].divisible, &known)) return 0;
    return known;
}

/* Rows so far apart are in no memory where their number is beyond what a map can say: that would be 256 GB. */
static bool is_far_apart(const Func *f, const BoxDim *d, uint32_t bytes) {
    enum { FAR = 128 };
    return least_stride(f, d, bytes) >= FAR;
}

/* Along y and z a grid has no more programs; a quotient is no larger than what is divided. */
static int64_t most_of(const Bulk *x, const Value *v) {
    const Value *least = v;
    while (least->def && (least->def->kind == OP_SDIV || least->def->kind == OP_UDIV)) least = least->def->args[0];
    bool is_program = least->def && least->def->kind == OP_PID && least->def->attr.axis > 0;
    return is_program ? UINT16_MAX : fact_of(x->facts, v)->hi;
}

/* Does it begin at 0 or above, and end within what a map can say, as far as no mask says so? */
static bool lies_within(const Bulk *x, const BoxDim *d, uint32_t size, uint32_t bytes) {
    int64_t lo = d->constant, hi = d->constant;
    if (d->is_masked_below && d->extent) return true;
    for (uint32_t i = 0; i < d->num_terms; i++) {
        const Value *v = d->terms[i].v;
        int64_t scale = d->terms[i].scale, a, b;
        if (__builtin_mul_overflow(fact_of(x->facts, v)->lo, scale, &a)) return false;
        if (__builtin_mul_overflow(most_of(x, v), scale, &b)) return false;
        if (__builtin_add_overflow(lo, a < b ? a : b, &lo)) return false;
        if (__builtin_add_overflow(hi, a < b ? b : a, &hi)) return false;
    }
    bool is_place = hi <= INT32_MAX || d->most == MAP_UNBOUNDED; /* without a mask all are read, so all are there */
    bool ends = d->extent || hi <= d->most - (int64_t)size || (is_place && is_far_apart(x->f, d, bytes));
    return lo >= 0 && ends;
}

/* Along the fastest dimension the card takes places that are multiples of 16 bytes, and faults at others. */
static bool begins_at_units(const Bulk *x, const BoxDim *d, uint32_t bytes) {
    bool is = d->constant * bytes % MAP_UNIT == 0;
    for (uint32_t i = 0; i < d->num_terms; i++)
        is &= fact_of(x->facts, d->terms[i].v)->divisible[0] * d->terms[i].scale * bytes % MAP_UNIT == 0;
    return is;
}

static uint32_t param_of(const Value *v) {
    return v ? v->index : MAP_NO_PARAM;
}

/* Boxes as the buffer takes them. */
static bool make_map(const Bulk *x, const Box *box, const Op *load, const Buffer *b, BoxMap *out) {
    Shape s = load->args[0]->type.shape;
    uint32_t bytes = type_bytes(type_scalar(b->dtype));
    *out = (BoxMap){.param = box->param->index, .rank = box->rank};
    if (x->f->params.at[out->param].divisible % MAP_UNIT || s.rank > 2) return false;
    if (!begins_at_units(x, &box->dims[0], bytes)) return false;
    for (uint32_t i = 0; i < box->rank; i++) {
        const BoxDim *d = &box->dims[i];
        uint64_t size = d->axis < 0 ? 1 : shape_size(s, (uint32_t)d->axis);
        uint64_t stride = least_stride(x->f, d, bytes);
        if (i && (!stride || stride % MAP_UNIT)) return false;
        if (!lies_within(x, d, (uint32_t)size, bytes)) return false;
        out->dims[i] = (MapDim){.box = (uint32_t)(size < 256 ? size : 256),
                                .extent = param_of(d->extent),
                                .most = d->extent ? 0 : d->most,
                                .stride = {param_of(d->by[0]), param_of(d->by[1])},
                                .scale = d->scale};
    }
    Boxes boxes;
    out->span = MAP_UNIT;
    if (s.rank == 1) return buffer_boxes(x->f, b, out, &boxes);
    for (out->span = 128; out->span >= 32; out->span /= 2) {
        out->dims[0].box = out->span / bytes;
        if (buffer_boxes(x->f, b, out, &boxes) && (int32_t)boxes.major == box->dims[0].axis) return true;
    }
    return false;
}

/* ---- Which loads ------------------------------------------------------------------------------------------------- */

static bool writes(const Op *op) {
    bool found = op_is_access(op->kind) && !op_is_read(op->kind);
    for (uint32_t r = 0; r < op->nregions && !found; r++)
        for (const Op *in = op->regions[r]->first; in && !found; in = in->next) found = writes(in);
    return found;
}

/* Before the loop ends, by whichever way. */
static bool is_written_before(const Op *loop) {
    const Op *top = loop;
    while (top->parent->owner) top = top->parent->owner;
    bool found = false;
    for (const Op *op = top; op && !found; op = op->prev) found = writes(op);
    return found;
}

typedef struct Takers {
    uint32_t buffer, others;
} Takers;

static void count_other(void *context, Op *op) {
    Takers *t = context;
    bool reads = op->kind == OP_SHMATRIX || (op->kind == OP_SHLOAD && !op->nargs);
    t->others += op_has_buffer(op->kind) && op->attr.buffer == t->buffer && !reads;
}

/* The store that alone takes it, of which all else are products', or read it for them. */
static const Op *store_of(Func *f, const Op *load) {
    const Op *store = value_used_once(load->results[0]) ? load->results[0]->uses->op : NULL;
    if (!store || store->kind != OP_SHSTORE || store->nargs != 1 || store->parent != load->parent) return NULL;
    Takers t = {.buffer = store->attr.buffer};
    func_walk(f, count_other, &t);
    return t.others == 1 ? store : NULL;
}

static bool same_map(const BoxMap *x, const BoxMap *y) {
    bool same = x->param == y->param && x->rank == y->rank && x->span == y->span;
    for (uint32_t i = 0; i < x->rank && same; i++) {
        const MapDim *a = &x->dims[i], *b = &y->dims[i];
        same = a->box == b->box && a->extent == b->extent && a->most == b->most && a->stride[0] == b->stride[0] &&
               a->stride[1] == b->stride[1] && a->scale == b->scale;
    }
    return same;
}

/* Of the map, from 1; 0: the function has as many as a launch passes. */
static uint32_t number_of(Func *f, const BoxMap *map) {
    for (uint32_t i = 0; i < f->maps.len; i++)
        if (same_map(&f->maps.at[i], map)) return i + 1;
    if (f->maps.len == MAPS_MOST) return 0;
    vec_push(f->arena, &f->maps, *map);
    return f->maps.len;
}

uint32_t bulk_map(Func *f, const PassContext *c, const Facts *facts, const Op *access, const Box *box,
                  const Buffer *buffer) {
    const Bulk x = {.f = f, .c = c, .facts = facts};
    BoxMap map;
    return make_map(&x, box, access, buffer, &map) ? number_of(f, &map) : 0;
}

static bool takes(const Bulk *x, const Op *load, const Buffer *to, BoxMap *map) {
    const MemAttr *m = &load->attr.mem;
    int64_t other = 0;
    bool has_zeros = load->nargs < 3 || (value_const(load->args[2], &other) && !other);
    Box box;
    if (m->is_volatile || m->is_rotated || !has_zeros || !box_of(load, &box)) return false;
    if (!x->f->params.at[box.param->index].is_const && is_written_before(load->parent->owner)) return false;
    return make_map(x, &box, load, to, map);
}

static void mark(Bulk *x, Op *load) {
    const Op *store = store_of(x->f, load);
    BoxMap map;
    if (store && takes(x, load, &x->f->buffers.at[store->attr.buffer], &map)) load->attr.map = number_of(x->f, &map);
}

bool block_multiplies(const Block *b) {
    bool found = false;
    for (const Op *op = b->first; op && !found; op = op->next) {
        found = op->kind == OP_DOTASYNC || (op->kind == OP_MMA && mma_is_grouped(op->attr.instr));
        for (uint32_t r = 0; r < op->nregions && !found; r++) found = block_multiplies(op->regions[r]);
    }
    return found;
}

static bool has_rings(const Op *loop) {
    const Op *outer = loop->parent->owner;
    return loop->kind == OP_FOR && (!outer || (outer->kind == OP_FOR && !outer->parent->owner));
}

static void visit(void *context, Op *loop) {
    Bulk *x = context;
    if (!has_rings(loop) || !block_multiplies(loop->regions[0])) return;
    for (Op *op = loop->regions[0]->first; op; op = op->next)
        if (op->kind == OP_LOAD && op->results[0]->type.shape.rank == x->rank) mark(x, op);
}

bool func_has_bulk(const Func *f, const PassContext *c) {
    bool is_one = f->blocks_per_program == 1 && f->programs_per_block == 1;
    return is_one && c->maps && target_has(c->target, FEATURE_BULK);
}

bool bulk_takes(Func *f, const PassContext *c, const Facts *facts, const Op *load, const Buffer *to) {
    const Bulk x = {.f = f, .c = c, .facts = facts};
    BoxMap map;
    const Op *loop = load->parent->owner;
    return func_has_bulk(f, c) && has_rings(loop) && loop_is_fed(f, loop) && takes(&x, load, to, &map);
}

void pass_bulk(Func *f, PassContext *c) {
    if (!func_has_bulk(f, c)) return;
    Bulk x = {.f = f, .c = c, .facts = facts_compute(f, c->scratch)};
    for (x.rank = 2; x.rank > 0; x.rank--) func_walk(f, visit, &x);
}

/* ---- For the pass pipeline --------------------------------------------------------------------------------------- */

static Value *wide(Builder *b, Value *v) {
    Type i64 = type_scalar(DT_I64);
    return v->type.dtype == DT_I64 ? v : build1_to(b, OP_SEXT, v, i64);
}

uint32_t box_unit(const Func *f, uint32_t buffer) {
    return MAP_UNIT / type_bytes(type_scalar(f->buffers.at[buffer].dtype));
}

/* The end, where places are multiples of `unit`: the first one behind it. */
static Value *end_of(Builder *b, const BoxDim *d, uint32_t unit) {
    Value *end = wide(b, (Value *)d->extent);
    if (unit <= 1 || b->f->params.at[d->extent->index].divisible % unit == 0) return end;
    end = build2(b, OP_ADD, end, build_int(b, end->type, unit - 1));
    return build2(b, OP_AND, end, build_int(b, end->type, -(int64_t)unit));
}

Value *box_place(Builder *b, const BoxDim *d, uint32_t unit, Value *const *terms, Value *when) {
    enum { OUTSIDE = -(1 << 30) }; /* below 0 with the box's end, too */
    Type i64 = type_scalar(DT_I64), i32 = type_scalar(DT_I32);
    Value *sum = d->constant || !d->num_terms ? build_int(b, i64, d->constant) : NULL;
    for (uint32_t i = 0; i < d->num_terms; i++) {
        int64_t scale = d->terms[i].scale;
        Value *x = wide(b, terms[i]), *more = scale == 1 ? x : build2(b, OP_MUL, x, build_int(b, i64, scale));
        sum = sum ? build2(b, OP_ADD, sum, more) : more;
    }
    if (d->extent) sum = build2(b, OP_SMIN, sum, end_of(b, d, unit));
    if (d->is_masked_below) sum = build2(b, OP_SMAX, sum, build_int(b, i64, INT32_MIN));
    Value *place = build1_to(b, OP_TRUNC, sum, i32);
    return when ? build3(b, OP_SELECT, when, place, build_int(b, i32, OUTSIDE)) : place;
}

/* Maps that bulk copies name, in their order; loads name none any more. */
typedef struct Kept {
    uint32_t *number; /* from 1, by map; 0: nobody uses it */
    uint32_t n;
} Kept;

static void note_map(void *context, Op *op) {
    Kept *k = context;
    if (op->kind == OP_LOAD) op->attr.map = 0;
    if (!op_has_map(op->kind)) return;
    if (!k->number[op->attr.map]) k->number[op->attr.map] = ++k->n;
    op->attr.map = k->number[op->attr.map] - 1;
}

void maps_keep_used(Func *f, Arena *scratch) {
    if (!f->maps.len) return;
    Kept k = {.number = NEW_ARRAY(scratch, uint32_t, f->maps.len)};
    BoxMap *was = NEW_ARRAY(scratch, BoxMap, f->maps.len);
    for (uint32_t i = 0; i < f->maps.len; i++) was[i] = f->maps.at[i];
    func_walk(f, note_map, &k);
    for (uint32_t i = 0; i < f->maps.len; i++)
        if (k.number[i]) f->maps.at[k.number[i] - 1] = was[i];
    f->maps.len = k.n;
}
