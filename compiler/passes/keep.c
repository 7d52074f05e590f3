/* keep.c - a row that is walked more than once is read once: its chunks stay in shared memory, as far as they fit.
 *
 * In: the walks as chunk.c has planned them. Out: which loads are kept, and how many chunks; `keep` and `kept` in the loops.
 * Method: each thread keeps what it loaded, as it was loaded, and reads that alone: no barrier. What exchanges need of a block's shared memory is
 * estimated from above; the pass shared puts what is kept behind it. With other tiles in the function, whose exchanges are not known yet, nothing is kept.
 */
#include "passes/chunk.h"

enum { ALIGN = 16, SLACK = 256 };

static uint64_t exchange_bytes(const Chunk *k, Type t) {
    uint64_t bytes = (uint64_t)k->f->num_warps * k->f->num_ctas * type_bytes(type_scalar(t.dtype));
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* At most: one exchange for each reduction, none using another's bytes. */
static uint64_t exchanges_of(const Chunk *k) {
    uint64_t bytes = SLACK + (uint64_t)k->atomics * ALIGN;
    for (uint32_t i = 0; i < k->walks.len; i++) {
        const Walk *w = &k->walks.at[i];
        for (uint32_t j = 0; j < w->ends.len; j++)
            if (w->ends.at[j]->kind == OP_REDUCE) bytes += exchange_bytes(k, w->ends.at[j]->results[0]->type);
        for (uint32_t j = 0; j < w->below.len; j++) bytes += exchange_bytes(k, w->below.at[j].sum->results[0]->type);
    }
    return bytes;
}

static bool copies(const Walk *w, const Op *op) {
    for (uint32_t i = 0; i < w->copied.len; i++)
        if (w->copied.at[i] == op) return true;
    return false;
}

static const KeptRow *kept_row(const Chunk *k, const Op *load) {
    for (uint32_t i = 0; i < k->kept_rows.len; i++)
        if (k->kept_rows.at[i].load == load) return &k->kept_rows.at[i];
    return NULL;
}

static int64_t chunk_bytes(const Chunk *k, const Op *load) {
    return (int64_t)(k->size / k->f->num_ctas * type_bytes(type_scalar(load->results[0]->type.dtype)));
}

static void note_loads(Chunk *k, uint32_t first) {
    const Walk *w = &k->walks.at[first];
    for (uint32_t i = 0; i < w->copied.len; i++) {
        Op *op = w->copied.at[i];
        bool is_again = false;
        if (op->kind != OP_LOAD || op->parent != w->before->parent || op->results[0]->type.dtype == DT_PTR || kept_row(k, op)) continue;
        for (uint32_t j = first + 1; j < k->walks.len; j++) is_again |= copies(&k->walks.at[j], op);
        if (is_again) vec_push(k->scratch, &k->kept_rows, ((KeptRow){.load = op, .first = w}));
    }
}

void chunk_plan_kept(Chunk *k, uint32_t room) {
    uint64_t taken = exchanges_of(k), bytes = 0, chunks = k->row / k->size;
    for (uint32_t i = 0; i < k->walks.len && !k->has_others; i++) note_loads(k, i);
    for (uint32_t i = 0; i < k->kept_rows.len; i++) bytes += (uint64_t)chunk_bytes(k, k->kept_rows.at[i].load);
    uint64_t fit = bytes && taken < room ? (room - taken) / bytes : 0;
    if (fit > chunks) fit = chunks;
    if (!fit) k->kept_rows.len = 0;
    k->kept = fit * k->size;
    int64_t begin = 0;
    for (uint32_t i = 0; i < k->kept_rows.len; i++) {
        k->kept_rows.at[i].begin = begin;
        begin += (int64_t)fit * chunk_bytes(k, k->kept_rows.at[i].load);
    }
}

/* ---- In a loop ------------------------------------------------------------------------------------------------------------ */

/* How far behind the row's first byte the chunk lies. */
static Value *byte_of(const ChunkLoad *l, Builder *b) {
    Type i32 = type_scalar(DT_I32);
    Value *own = build2(b, OP_LSHR, l->place, build_int(b, i32, log2_floor(l->k->f->num_ctas)));
    return build2(b, OP_MUL, own, build_int(b, i32, type_bytes(type_scalar(l->op->results[0]->type.dtype))));
}

static Value *is_kept(const ChunkLoad *l, Builder *b) {
    return build_compare(b, OP_ICMP, PRED_SLT, l->place, build_int(b, type_scalar(DT_I32), (int64_t)l->k->kept));
}

static Attr bytes_of(const ChunkLoad *l, const KeptRow *r) {
    return (Attr){.start = r->begin, .end = r->begin + (int64_t)(l->k->kept / l->k->size) * chunk_bytes(l->k, l->op)};
}

static void keep(const ChunkLoad *l, Builder *b, const KeptRow *r, Value *v) {
    Value *args[] = {byte_of(l, b), v};
    op_build(b, OP_KEEP, args, 2, bytes_of(l, r), (Type){0});
}

static void keep_where(const ChunkLoad *l, Builder *b, const KeptRow *r, Value *v) {
    const Op *test = build_if(b, is_kept(l, b), NULL, 0);
    Builder then = builder_at_end(l->k->f, test->regions[0]), otherwise = builder_at_end(l->k->f, test->regions[1]);
    then.span = otherwise.span = b->span;
    keep(l, &then, r, v);
    build_yield(&then, NULL, 0);
    build_yield(&otherwise, NULL, 0);
}

static Value *kept(const ChunkLoad *l, Builder *b, const KeptRow *r, Type t) {
    Value *at = byte_of(l, b);
    return op_build(b, OP_KEPT, &at, 1, bytes_of(l, r), t)->results[0];
}

static Value *kept_or_load(const ChunkLoad *l, Builder *b, const KeptRow *r, Type t) {
    const Op *test = build_if(b, is_kept(l, b), &t, 1);
    Builder then = builder_at_end(l->k->f, test->regions[0]), otherwise = builder_at_end(l->k->f, test->regions[1]);
    then.span = otherwise.span = b->span;
    Value *old = kept(l, &then, r, t), *again = chunk_copy_op(l->k, &otherwise, l->op, l->map, l->place);
    build_yield(&then, &old, 1);
    build_yield(&otherwise, &again, 1);
    return test->results[0];
}

Value *chunk_copy_load(const ChunkLoad *l, Builder *b) {
    const KeptRow *r = kept_row(l->k, l->op);
    bool is_whole = l->k->kept == l->k->row, is_first = r && r->first == l->w;
    Type t = type_with_shape(l->op->results[0]->type, shape_row(log2_floor(l->k->size)));
    if (r && !is_first) return is_whole ? kept(l, b, r, t) : kept_or_load(l, b, r, t);
    Value *v = chunk_copy_op(l->k, b, l->op, l->map, l->place);
    if (is_first && is_whole) keep(l, b, r, v);
    else if (is_first) keep_where(l, b, r, v);
    return v;
}
