/* staged.c - a row that is strip-mined more than once is read once: its chunks stay in shared memory,
 * as far as they fit.
 *
 * In: the loops as chunk.c has planned them. Out: which loads are staged, and how many chunks;
 * `shared_store` and `shared_load` in the loops.
 * Method: a private buffer with a stage for each chunk: each thread keeps what it loaded, as it was loaded, and reads
 * that alone: no barrier. What exchanges need of a block's shared memory is estimated from above. With other tiles in
 * the function, whose exchanges are not known yet, nothing is staged.
 */
#include "passes/distribute/chunk.h"

enum { ALIGN = 16, SLACK = 256 };

static uint64_t exchange_bytes(const Chunk *k, Type t) {
    uint64_t bytes = (uint64_t)k->f->num_warps * k->f->num_ctas * type_bytes(type_scalar(t.dtype));
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* At most: one exchange for each reduction, none using another's bytes. */
static uint64_t exchanges_of(const Chunk *k) {
    uint64_t bytes = SLACK + (uint64_t)k->atomics * ALIGN;
    for (uint32_t i = 0; i < k->strip_loops.len; i++) {
        const StripLoop *w = &k->strip_loops.at[i];
        for (uint32_t j = 0; j < w->ends.len; j++)
            if (w->ends.at[j]->kind == OP_REDUCE) bytes += exchange_bytes(k, w->ends.at[j]->results[0]->type);
        for (uint32_t j = 0; j < w->softmaxes.len; j++)
            bytes += exchange_bytes(k, w->softmaxes.at[j].sum->results[0]->type);
    }
    return bytes;
}

static bool copies(const StripLoop *w, const Op *op) {
    for (uint32_t i = 0; i < w->copied.len; i++)
        if (w->copied.at[i] == op) return true;
    return false;
}

static const StagedRow *staged_row(const Chunk *k, const Op *load) {
    for (uint32_t i = 0; i < k->staged_rows.len; i++)
        if (k->staged_rows.at[i].load == load) return &k->staged_rows.at[i];
    return NULL;
}

static int64_t chunk_bytes(const Chunk *k, const Op *load) {
    return (int64_t)(k->size / k->f->num_ctas * type_bytes(type_scalar(load->results[0]->type.dtype)));
}

static void note_loads(Chunk *k, uint32_t first) {
    const StripLoop *w = &k->strip_loops.at[first];
    for (uint32_t i = 0; i < w->copied.len; i++) {
        Op *op = w->copied.at[i];
        bool is_again = false;
        if (op->kind != OP_LOAD || op->parent != w->before->parent || op->results[0]->type.dtype == DT_PTR ||
            staged_row(k, op))
            continue;
        for (uint32_t j = first + 1; j < k->strip_loops.len; j++) is_again |= copies(&k->strip_loops.at[j], op);
        if (is_again) vec_push(k->scratch, &k->staged_rows, ((StagedRow){.load = op, .first = w}));
    }
}

/* Of a stage for each chunk. */
static uint32_t new_buffer(const Chunk *k, const Op *load, uint32_t chunks) {
    DType d = load->results[0]->type.dtype;
    uint32_t threads = 32 * k->f->num_warps, registers = (uint32_t)(k->size / k->f->num_ctas / threads),
             run = 16 / type_bytes(type_scalar(d));
    const Layout *places = layout_private(k->f->layouts, log2_floor(threads), log2_floor(registers),
                                          log2_floor(run < registers ? run : registers));
    return buffer_add(k->f, (Buffer){.dtype = d, .places = places, .stages = chunks, .is_private = true});
}

void chunk_plan_staged(Chunk *k, uint32_t room) {
    uint64_t taken = exchanges_of(k), bytes = 0, chunks = k->extent / k->size;
    for (uint32_t i = 0; i < k->strip_loops.len && !k->has_others; i++) note_loads(k, i);
    for (uint32_t i = 0; i < k->staged_rows.len; i++) bytes += (uint64_t)chunk_bytes(k, k->staged_rows.at[i].load);
    uint64_t fit = bytes && taken < room ? (room - taken) / bytes : 0;
    if (fit > chunks) fit = chunks;
    if (!fit) k->staged_rows.len = 0;
    k->staged = fit * k->size;
    for (uint32_t i = 0; i < k->staged_rows.len; i++)
        k->staged_rows.at[i].buffer = new_buffer(k, k->staged_rows.at[i].load, (uint32_t)fit);
}

/* ---- In a loop --------------------------------------------------------------------------------------------------- */

/* The chunk's stage; NULL: there is one. */
static Value *stage_of(const ChunkLoad *l, Builder *b) {
    if (l->k->staged == l->k->size) return NULL;
    return build2(b, OP_LSHR, l->place, build_int(b, type_scalar(DT_I32), log2_floor(l->k->size)));
}

static Value *is_staged(const ChunkLoad *l, Builder *b) {
    return build_compare(b, OP_ICMP, PRED_SLT, l->place, build_int(b, type_scalar(DT_I32), (int64_t)l->k->staged));
}

static void staged_store(const ChunkLoad *l, Builder *b, const StagedRow *r, Value *v) {
    Value *args[] = {v, stage_of(l, b)};
    op_build(b, OP_SHSTORE, args, args[1] ? 2 : 1, (Attr){.buffer = r->buffer, .scope = SCOPE_BLOCK}, (Type){0});
}

static void staged_store_where(const ChunkLoad *l, Builder *b, const StagedRow *r, Value *v) {
    const Op *test = build_if(b, is_staged(l, b), NULL, 0);
    Builder then = builder_at_end(l->k->f, test->regions[0]), otherwise = builder_at_end(l->k->f, test->regions[1]);
    then.span = otherwise.span = b->span;
    staged_store(l, &then, r, v);
    build_yield(&then, NULL, 0);
    build_yield(&otherwise, NULL, 0);
}

static Value *staged_load(const ChunkLoad *l, Builder *b, const StagedRow *r, Type t) {
    Value *stage = stage_of(l, b);
    return op_build(b, OP_SHLOAD, &stage, stage ? 1 : 0, (Attr){.buffer = r->buffer}, t)->results[0];
}

static Value *staged_or_load(const ChunkLoad *l, Builder *b, const StagedRow *r, Type t) {
    const Op *test = build_if(b, is_staged(l, b), &t, 1);
    Builder then = builder_at_end(l->k->f, test->regions[0]), otherwise = builder_at_end(l->k->f, test->regions[1]);
    then.span = otherwise.span = b->span;
    Value *old = staged_load(l, &then, r, t), *again = chunk_copy_op(l->k, &otherwise, l->op, l->map, l->place);
    build_yield(&then, &old, 1);
    build_yield(&otherwise, &again, 1);
    return test->results[0];
}

Value *chunk_copy_load(const ChunkLoad *l, Builder *b) {
    const StagedRow *r = staged_row(l->k, l->op);
    bool is_whole = l->k->staged == l->k->extent, is_first = r && r->first == l->w;
    Type t = type_with_shape(l->op->results[0]->type, shape_row(log2_floor(l->k->size)));
    if (r && !is_first) return is_whole ? staged_load(l, b, r, t) : staged_or_load(l, b, r, t);
    Value *v = chunk_copy_op(l->k, b, l->op, l->map, l->place);
    if (is_first && is_whole) staged_store(l, b, r, v);
    else if (is_first) staged_store_where(l, b, r, v);
    return v;
}
