/* chunkloop.c - builds the loops that chunk.c has planned.
 *
 * In: a planned loop. Out: a `for` over the row's chunks, before the first op that needs its results; the ops that it
 * replaces are erased.
 * Method: the row's ops are cloned for one chunk. A reduction is carried from chunk to chunk within each warp; the
 * warps' results are combined once, behind the loop. The sum of a softmax match is carried below the pivot of the
 * warp's maximum so far, and is rescaled when that maximum grows.
 */
#include "passes/distribute/chunk.h"

/* P of `splat P + arange`: what the chunk's place is added to, so that the sum stays as simple. */
static Value *row_start(const Op *op) {
    bool is_plain = op->kind == OP_ADDPTR && op->args[1]->def->kind == OP_ARANGE && op->args[0]->def->kind == OP_SPLAT;
    return is_plain ? op->args[0]->def->args[0] : NULL;
}

Value *chunk_copy_op(const Chunk *k, Builder *b, const Op *op, const ValueMap *map, Value *place) {
    Value *args[8], *start = row_start(op);
    Shape shape = op->nresults ? op->results[0]->type.shape : (Shape){0};
    if (shape.rank) shape.log2[0] = (uint8_t)log2_floor(k->size);
    if (op->kind == OP_ARANGE) {
        Value *first = build_arange(b, op->attr.start, op->attr.start + (int64_t)k->size);
        return build2(b, OP_ADD, first, build_splat(b, place, shape));
    }
    if (start) {
        int64_t first = op->args[1]->def->attr.start;
        return build2(b, OP_ADDPTR, build_splat(b, build2(b, OP_ADDPTR, start, place), shape),
                      build_arange(b, first, first + (int64_t)k->size));
    }
    if (op->nargs > COUNT(args)) bug("chunk: %s has %u operands", op_info[op->kind].name, op->nargs);
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = valuemap_get(map, op->args[i]);
    Type t = op->nresults ? type_with_shape(op->results[0]->type, shape) : type_scalar(DT_I32);
    Op *copy = op_build(b, op->kind, args, op->nargs, op->attr, t);
    return copy->nresults ? copy->results[0] : NULL;
}

/* ---- What loops carry -------------------------------------------------------------------------------------------- */

static Type carried_type(const Chunk *k, DType d) {
    return type_with_shape(type_scalar(d), k->warps);
}

static Value *reduce_chunk(const Chunk *k, Builder *b, Value *v, OpKind combine) {
    if (!k->warps.rank) return build_reduce(b, v, 0, combine);
    return op_build(b, OP_REDUCEWARP, &v, 1, (Attr){.combine = combine}, carried_type(k, v->type.dtype))->results[0];
}

/* What the loop leaves, of all warps. */
static Value *reduce_warps(const Chunk *k, Builder *b, Value *v, OpKind combine) {
    return k->warps.rank ? build_reduce(b, v, 0, combine) : v;
}

/* A warp's value at each of its elements of the chunk. */
static Value *to_elements(const Chunk *k, Builder *b, Value *v) {
    Shape chunk = shape_row(log2_floor(k->size));
    if (!k->warps.rank) return build_splat(b, v, chunk);
    return op_build(b, OP_SPREADWARP, &v, 1, (Attr){0}, type_tile(v->type.dtype, chunk))->results[0];
}

static uint32_t reduction_index(const StripLoop *w, const Op *op) {
    uint32_t n = 0;
    for (uint32_t i = 0; w->ends.at[i] != op; i++) n += w->ends.at[i]->kind == OP_REDUCE;
    return n;
}

/* The sum so far and this chunk's: s is below the pivot of the maximum `old` that was, and gets below that of `max`.
 * What is 0 stays so: the first chunk's factor may be infinite. */
static Value *build_sum(const Chunk *k, Builder *b, const SoftmaxMatch *p, const ValueMap *map, Value *old, Value *max,
                        Value *s) {
    const Op *d = p->difference;
    Value *pivot = softmax_pivot(b, p, max), *before = softmax_pivot(b, p, old), *h = valuemap_get(map, d->args[0]);
    if (d->kind == OP_FSUB) h = build2(b, OP_FSUB, h, to_elements(k, b, pivot));
    else h = build3(b, OP_FMA, h, valuemap_get(map, d->args[1]), to_elements(k, b, build1(b, OP_FNEG, pivot)));
    Value *e = softmax_exponential(b, p, h), *part = reduce_chunk(k, b, e, OP_FADD), *zero = build_float(b, s->type, 0);
    softmax_shorten(p, e->def); /* e^0 is that of the warp's maximum so far */
    Value *scaled = build2(b, OP_FMUL, s, softmax_factor(b, p, before, pivot));
    scaled = build3(b, OP_SELECT, build_compare(b, OP_FCMP, PRED_EQ, s, zero), zero, scaled);
    return build2(b, OP_FADD, scaled, part);
}

/* At the sum's own place, where its subtrahend is known. */
static void finish_sum(const Chunk *k, const SoftmaxMatch *p, Value *max, Value *s) {
    Builder b = builder_before(k->f, p->sum);
    Value *pivot = softmax_pivot(&b, p, max), *g = k->warps.rank ? build_splat(&b, p->row, k->warps) : p->row;
    s = build2(&b, OP_FMUL, s, softmax_factor(&b, p, pivot, g));
    s = reduce_warps(k, &b, s, OP_FADD);
    s->name = p->sum->results[0]->name;
    value_replace(k->f, p->sum->results[0], s);
    op_erase(k->f, p->sum);
}

/* ---- A loop ------------------------------------------------------------------------------------------------------ */

typedef VEC(Value *) Values;

static Values build_inits(const Chunk *k, Builder *b, const StripLoop *w) {
    Values inits = {0};
    for (uint32_t i = 0; i < w->ends.len; i++) {
        const Op *end = w->ends.at[i];
        if (end->kind != OP_REDUCE) continue;
        DType d = end->results[0]->type.dtype;
        Value *identity = build0(b, OP_CONST, (Attr){.bits = op_neutral(end->attr.combine, d)}, carried_type(k, d));
        vec_push(k->scratch, &inits, identity);
    }
    for (uint32_t i = 0; i < w->softmaxes.len; i++)
        vec_push(k->scratch, &inits,
                 build_float(b, carried_type(k, w->softmaxes.at[i].sum->results[0]->type.dtype), 0));
    return inits;
}

/* The body; carried[i] becomes what the next round begins with. */
static void build_body(const Chunk *k, Builder *b, const StripLoop *w, Block *body, Value **carried) {
    ValueMap map = valuemap_create(k->f);
    Value *const *old = body->args.at + 1, *place = body->args.at[0];
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->copied.len; i++) {
        const Op *op = w->copied.at[i];
        b->span = op->span;
        if (op->kind == OP_REDUCE) {
            OpKind combine = op->attr.combine;
            carried[n] = build2(b, combine, old[n], reduce_chunk(k, b, valuemap_get(&map, op->args[0]), combine));
            n++;
            continue;
        }
        ChunkLoad l = {k, w, op, &map, place};
        Value *copy = op->kind == OP_LOAD ? chunk_copy_load(&l, b) : chunk_copy_op(k, b, op, &map, place);
        if (!copy) continue;
        copy->name = op->results[0]->name;
        valuemap_set(k->f, &map, op->results[0], copy);
    }
    for (uint32_t i = 0; i < w->softmaxes.len; i++, n++) {
        const SoftmaxMatch *p = &w->softmaxes.at[i];
        uint32_t m = reduction_index(w, p->max);
        b->span = p->sum->span;
        carried[n] = build_sum(k, b, p, &map, old[m], carried[m], old[n]);
    }
    build_yield(b, carried, n);
}

static void build_loop(const Chunk *k, const StripLoop *w) {
    Builder b = builder_before(k->f, w->before);
    b.span = w->ends.at[0]->span;
    Values carried = build_inits(k, &b, w);
    Type i32 = type_scalar(DT_I32);
    Value *from = build_int(&b, i32, 0), *to = build_int(&b, i32, (int64_t)k->row),
          *step = build_int(&b, i32, (int64_t)k->size);
    Op *loop = build_for(&b, from, to, step, carried.at, carried.len, (LoopAttr){0});
    Builder inner = builder_at_end(k->f, loop->regions[0]);
    build_body(k, &inner, w, loop->regions[0], carried.at);
    uint32_t n = w->softmaxes.len ? loop->nresults - w->softmaxes.len : 0;
    for (uint32_t i = 0; i < w->softmaxes.len; i++)
        carried.at[i] = loop->results[reduction_index(w, w->softmaxes.at[i].max)];
    for (uint32_t i = 0, at = 0; i < w->ends.len; i++) {
        Op *end = w->ends.at[i];
        if (end->kind != OP_REDUCE) continue;
        Value *all = reduce_warps(k, &b, loop->results[at++], end->attr.combine);
        all->name = end->results[0]->name;
        value_replace(k->f, end->results[0], all);
        for (uint32_t j = 0; j < w->softmaxes.len; j++)
            if (w->softmaxes.at[j].row == end->results[0]) w->softmaxes.at[j].row = all;
    }
    for (uint32_t i = 0; i < w->softmaxes.len; i++)
        finish_sum(k, &w->softmaxes.at[i], carried.at[i], loop->results[n + i]);
    for (uint32_t i = 0; i < w->ends.len; i++) op_erase(k->f, w->ends.at[i]);
}

void chunk_build_loop(const Chunk *k, const StripLoop *w) {
    if (w->ends.len) build_loop(k, w);
    for (uint32_t i = 0; i < w->late.len; i++) op_move_before(w->late.at[i], w->before);
}
