/* chunkloop.c - builds the loops that chunk.c has planned.
 *
 * In: a planned loop. Out: a `for` over the row's chunks, before the first op that needs its results; the ops that it
 * replaces are erased.
 * Method: the row's ops are cloned for one chunk. A reduction is carried from chunk to chunk within each thread; the
 * threads' results are combined once, behind the loop. The sum of a softmax match is carried below the pivot of the
 * thread's maximum so far, and is rescaled when that maximum grows.
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
    return type_with_shape(type_scalar(d), k->threads);
}

static Value *reduce_to(Builder *b, Value *v, OpKind combine, Shape few) {
    if (!few.rank) return build_reduce(b, v, 0, combine);
    Type t = type_with_shape(type_scalar(v->type.dtype), few);
    return op_build(b, OP_REDUCEWARP, &v, 1, (Attr){.combine = combine}, t)->results[0];
}

static Value *reduce_chunk(const Chunk *k, Builder *b, Value *v, OpKind combine) {
    return reduce_to(b, v, combine, k->threads);
}

/* What the loop leaves, of each warp. */
static Value *reduce_threads(const Chunk *k, Builder *b, Value *v, OpKind combine) {
    return k->threads.rank ? reduce_to(b, v, combine, k->warps) : v;
}

/* Then of all. */
static Value *reduce_warps(const Chunk *k, Builder *b, Value *v, OpKind combine) {
    return k->warps.rank ? build_reduce(b, v, 0, combine) : v;
}

/* A thread's or a warp's value at each of its elements of a tile of that shape. */
static Value *to_elements(Builder *b, Value *v, Shape shape) {
    if (!value_is_tile(v)) return build_splat(b, v, shape);
    return op_build(b, OP_SPREADWARP, &v, 1, (Attr){0}, type_tile(v->type.dtype, shape))->results[0];
}

static uint32_t reduction_index(const StripLoop *w, const Op *op) {
    uint32_t n = 0;
    for (uint32_t i = 0; w->ends.at[i] != op; i++) n += w->ends.at[i]->kind == OP_REDUCE;
    return n;
}

/* s, below the pivot `from`, below the pivot `to`. What is 0 stays so: the first chunk's factor may be infinite. */
static Value *rescaled(Builder *b, const SoftmaxMatch *p, Value *s, Value *from, Value *to) {
    Value *zero = build_float(b, s->type, 0), *scaled = build2(b, OP_FMUL, s, softmax_factor(b, p, from, to));
    return build3(b, OP_SELECT, build_compare(b, OP_FCMP, PRED_EQ, s, zero), zero, scaled);
}

/* The sum so far and this chunk's: s is below the pivot of the maximum `old` that was, and gets below that of `max`. */
static Value *build_sum(const Chunk *k, Builder *b, const SoftmaxMatch *p, const ValueMap *map, Value *old, Value *max,
                        Value *s) {
    const Op *d = p->difference;
    Shape chunk = shape_row(log2_floor(k->size));
    Value *pivot = softmax_pivot(b, p, max), *before = softmax_pivot(b, p, old), *h = valuemap_get(map, d->args[0]);
    if (d->kind == OP_FSUB) h = build2(b, OP_FSUB, h, to_elements(b, pivot, chunk));
    else h = build3(b, OP_FMA, h, valuemap_get(map, d->args[1]), to_elements(b, build1(b, OP_FNEG, pivot), chunk));
    Value *e = softmax_exponential(b, p, h), *part = reduce_chunk(k, b, e, OP_FADD);
    softmax_shorten(p, e->def); /* e^0 is that of the thread's maximum so far */
    return build2(b, OP_FADD, rescaled(b, p, s, before, pivot), part);
}

/* The threads' sums below the pivots of their maxima, as those of warps below that of the warp's. */
static Value *sum_threads(const Chunk *k, Builder *b, const SoftmaxMatch *p, Value *own, Value *max, Value *s) {
    if (!k->threads.rank) return s;
    Value *to = softmax_pivot(b, p, to_elements(b, max, k->threads));
    return reduce_threads(k, b, rescaled(b, p, s, softmax_pivot(b, p, own), to), OP_FADD);
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

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

typedef VEC(Value *) Values;

static Values build_inits(const Chunk *k, Builder *b, const StripLoop *w) {
    Values inits = {0};
    for (uint32_t i = 0; i < w->ends.len; i++) {
        const Op *end = w->ends.at[i];
        if (end->kind != OP_REDUCE) continue;
        DType d = end->results[0]->type.dtype;
        int64_t first = w->first.len ? w->first.at[inits.len] : op_neutral(end->attr.combine, d);
        vec_push(k->scratch, &inits, build0(b, OP_CONST, (Attr){.bits = first}, carried_type(k, d)));
    }
    for (uint32_t i = 0; i < w->softmaxes.len; i++)
        vec_push(k->scratch, &inits,
                 build_float(b, carried_type(k, w->softmaxes.at[i].sum->results[0]->type.dtype), 0));
    return inits;
}

static bool is_made(const ValueMap *map, const Op *op) {
    return op->nresults && valuemap_get(map, op->results[0]) != op->results[0];
}

static void build_copy(const ChunkCopy *c, Builder *b, const Op *op) {
    b->span = op->span;
    Value *copy = op->kind == OP_LOAD ? chunk_copy_load(c, b, op) : chunk_copy_op(c->k, b, op, c->map, c->place);
    if (!copy) return;
    copy->name = op->results[0]->name;
    valuemap_set(c->k->f, c->map, op->results[0], copy);
}

/* What of the chunk is not made yet; carried[i] is what was so far, and becomes what is then. */
static void build_chunk(const ChunkCopy *c, Builder *b, Values carried) {
    const Chunk *k = c->k;
    const StripLoop *w = c->w;
    Values old = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < carried.len; i++) vec_push(k->scratch, &old, carried.at[i]);
    for (uint32_t i = 0; i < w->copied.len; i++) {
        const Op *op = w->copied.at[i];
        if (op->kind == OP_REDUCE) {
            Value *part = valuemap_get(c->map, op->args[0]);
            OpKind combine = op->attr.combine;
            b->span = op->span;
            carried.at[n] = build2(b, combine, old.at[n], reduce_chunk(k, b, part, combine));
            n++;
        } else if (!is_made(c->map, op)) {
            build_copy(c, b, op);
        }
    }
    for (uint32_t i = 0; i < w->softmaxes.len; i++, n++) {
        const SoftmaxMatch *p = &w->softmaxes.at[i];
        uint32_t m = reduction_index(w, p->max);
        b->span = p->sum->span;
        carried.at[n] = build_sum(k, b, p, c->map, old.at[m], carried.at[m], old.at[n]);
    }
}

/* The chunks from one place to another, all from that source: a loop, but for a single one. */
static void build_chunks(const Chunk *k, Builder *b, const StripLoop *w, ChunkSource source, uint64_t begin,
                         uint64_t end, Values carried) {
    Type i32 = type_scalar(DT_I32);
    if (begin == end) return;
    ValueMap map = valuemap_create(k->f);
    ChunkCopy c = {.k = k, .w = w, .map = &map, .source = source, .place = build_int(b, i32, (int64_t)begin)};
    if (end - begin == k->size) {
        build_chunk(&c, b, carried);
        return;
    }
    Value *to = build_int(b, i32, (int64_t)end), *step = build_int(b, i32, (int64_t)k->size);
    Op *loop = build_for(b, c.place, to, step, carried.at, carried.len, (LoopAttr){0});
    Block *body = loop->regions[0];
    Builder inner = builder_at_end(k->f, body);
    c.place = body->args.at[0];
    for (uint32_t i = 0; i < carried.len; i++) carried.at[i] = body->args.at[1 + i];
    build_chunk(&c, &inner, carried);
    build_yield(&inner, carried.at, carried.len);
    for (uint32_t i = 0; i < carried.len; i++) carried.at[i] = loop->results[i];
}

/* ---- Chunks in registers ----------------------------------------------------------------------------------------- */

/* v, with all that makes it. */
static void build_early(const ChunkCopy *c, Builder *b, const Value *v) {
    const Op *op = v->def;
    if (!op || !chunk_copies(c->w, op) || is_made(c->map, op)) return;
    for (uint32_t i = 0; i < op->nargs; i++) build_early(c, b, op->args[i]);
    build_copy(c, b, op);
}

/* Those of loop w. What it is the first to load is under way before the loop over the others. */
static ChunkCopy *begin_held(const Chunk *k, Builder *b, const StripLoop *w, uint32_t n) {
    ChunkCopy *held = NEW_ARRAY(k->scratch, ChunkCopy, n);
    for (uint32_t i = 0; i < n; i++) {
        Value *place = build_int(b, type_scalar(DT_I32), (int64_t)(k->extent - k->held + i * k->size));
        ValueMap *map = NEW(k->scratch, ValueMap);
        *map = valuemap_create(k->f);
        held[i] = (ChunkCopy){k, w, map, place, FROM_REGISTERS, i};
        for (uint32_t j = 0; j < k->staged_rows.len; j++)
            if (k->staged_rows.at[j].first == w) build_early(&held[i], b, k->staged_rows.at[j].load->results[0]);
    }
    return held;
}

/* ---- A loop ------------------------------------------------------------------------------------------------------ */

/* What stays in registers comes last while it is loaded, and first where it is needed again: so it waits beside a chunk
 * at work in the first loop alone. */
static void build_parts(const Chunk *k, Builder *b, const StripLoop *w, Values carried) {
    bool is_first, is_staged = chunk_is_staged(k, w, &is_first);
    uint64_t staged = is_staged ? k->staged : 0, held = is_staged ? k->held : 0;
    uint32_t n = (uint32_t)(held / k->size);
    const ChunkCopy *chunks = begin_held(k, b, w, n);
    for (uint32_t i = 0; i < n && !is_first; i++) build_chunk(&chunks[i], b, carried);
    build_chunks(k, b, w, FROM_STAGES, 0, staged, carried);
    build_chunks(k, b, w, FROM_MEMORY, staged, k->extent - held, carried);
    for (uint32_t i = 0; i < n && is_first; i++) build_chunk(&chunks[i], b, carried);
}

static void build_loop(const Chunk *k, const StripLoop *w) {
    Builder b = builder_before(k->f, w->before);
    b.span = w->ends.at[0]->span;
    Values carried = build_inits(k, &b, w);
    build_parts(k, &b, w, carried);
    b.span = w->ends.at[0]->span;
    Values maxima = {0}, sums = {0}; /* of warps, of each softmax */
    Value **warps = NEW_ARRAY(k->scratch, Value *, carried.len);
    for (uint32_t i = 0, at = 0; i < w->ends.len; i++)
        if (w->ends.at[i]->kind == OP_REDUCE) {
            warps[at] = reduce_threads(k, &b, carried.at[at], w->ends.at[i]->attr.combine);
            at++;
        }
    for (uint32_t i = 0; i < w->softmaxes.len; i++) {
        const SoftmaxMatch *p = &w->softmaxes.at[i];
        uint32_t m = reduction_index(w, p->max), n = carried.len - w->softmaxes.len + i;
        vec_push(k->scratch, &maxima, warps[m]);
        vec_push(k->scratch, &sums, sum_threads(k, &b, p, carried.at[m], warps[m], carried.at[n]));
    }
    for (uint32_t i = 0, at = 0; i < w->ends.len; i++) {
        Op *end = w->ends.at[i];
        if (end->kind != OP_REDUCE) continue;
        Value *all = reduce_warps(k, &b, warps[at++], end->attr.combine);
        all->name = end->results[0]->name;
        value_replace(k->f, end->results[0], all);
        for (uint32_t j = 0; j < w->softmaxes.len; j++)
            if (w->softmaxes.at[j].row == end->results[0]) w->softmaxes.at[j].row = all;
    }
    for (uint32_t i = 0; i < w->softmaxes.len; i++)
        finish_sum(k, &w->softmaxes.at[i], maxima.at[i], sums.at[i]);
    for (uint32_t i = 0; i < w->ends.len; i++) op_erase(k->f, w->ends.at[i]);
}

void chunk_build_loop(const Chunk *k, const StripLoop *w) {
    if (w->ends.len) build_loop(k, w);
    for (uint32_t i = 0; i < w->late.len; i++) op_move_before(w->late.at[i], w->before);
}
