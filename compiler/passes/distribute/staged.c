/* staged.c - a row that is strip-mined more than once is read once: its chunks stay on chip, as far as they fit.
 *
 * In: the loops as chunk.c has planned them. Out: which loads are staged, and how many chunks;
 * `shared_store` and `shared_load` in the loops.
 * Method: a private buffer with a stage for each chunk: each thread keeps what it loaded, as it was loaded, and reads
 * that alone: no barrier. Where not all chunks fit, the last ones stay in registers. What exchanges need of a block's
 * shared memory is estimated from above. With other tiles in the function, whose exchanges are not known yet, nothing
 * is staged.
 */
#include "passes/distribute/chunk.h"

enum {
    ALIGN = 16,
    SLACK = 256,
    MOST_HELD = 32, /* words of a thread that wait beside a chunk at work; of two blocks, half of that */
};

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

bool chunk_copies(const StripLoop *w, const Op *op) {
    for (uint32_t i = 0; i < w->copied.len; i++)
        if (w->copied.at[i] == op) return true;
    return false;
}

static StagedRow *staged_row(const Chunk *k, const Op *load) {
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
        for (uint32_t j = first + 1; j < k->strip_loops.len; j++) is_again |= chunk_copies(&k->strip_loops.at[j], op);
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

/* How many chunks fit. */
static uint64_t fitting(const Chunk *k, uint64_t room, uint64_t bytes) {
    uint64_t taken = exchanges_of(k), chunks = k->extent / k->size, fit = taken < room ? (room - taken) / bytes : 0;
    return fit < chunks ? fit : chunks;
}

/* How many of the others stay in registers, where so many words of a thread may wait. */
static uint64_t holding(const Chunk *k, uint64_t staged, uint64_t words, uint64_t bytes) {
    uint64_t rest = k->extent / k->size - staged, most = words * 4 * 32 * k->f->num_warps / bytes;
    if (!staged) return 0;
    return rest < most ? rest : most;
}

/* Two blocks of a multiprocessor take turns, one loads while the other stores: where all of the row fits beside
 * another. Rows that begin anywhere have no registers for that: their loads are in two versions, and wait. */
void chunk_plan_staged(Chunk *k, const Target *t, bool may_hold) {
    uint64_t bytes = 0, most = may_hold ? MOST_HELD : 0;
    for (uint32_t i = 0; i < k->strip_loops.len && !k->has_others; i++) note_loads(k, i);
    for (uint32_t i = 0; i < k->staged_rows.len; i++) bytes += (uint64_t)chunk_bytes(k, k->staged_rows.at[i].load);
    if (!bytes) return;
    uint64_t fit = fitting(k, target_shared_of(t, 2), bytes), held = holding(k, fit, most / 2, bytes);
    if ((fit + held) * k->size < k->extent) {
        fit = fitting(k, t->max_shared, bytes);
        held = holding(k, fit, most, bytes);
    }
    if (!fit) k->staged_rows.len = 0;
    k->staged = fit * k->size;
    k->held = held * k->size;
    for (uint32_t i = 0; i < k->staged_rows.len; i++)
        k->staged_rows.at[i].buffer = new_buffer(k, k->staged_rows.at[i].load, (uint32_t)fit);
}

/* ---- In a loop --------------------------------------------------------------------------------------------------- */

bool chunk_is_staged(const Chunk *k, const StripLoop *w, bool *is_first) {
    bool found = false;
    *is_first = false;
    for (uint32_t i = 0; i < k->staged_rows.len; i++) {
        found |= chunk_copies(w, k->staged_rows.at[i].load);
        *is_first |= k->staged_rows.at[i].first == w;
    }
    return found;
}

/* The chunk's stage; NULL: there is one. */
static Value *stage_of(const ChunkCopy *c, Builder *b) {
    if (c->k->staged == c->k->size) return NULL;
    return build2(b, OP_LSHR, c->place, build_int(b, type_scalar(DT_I32), log2_floor(c->k->size)));
}

static Value *staged_load(const ChunkCopy *c, Builder *b, const StagedRow *r) {
    Value *stage = stage_of(c, b);
    Type t = type_with_shape(r->load->results[0]->type, shape_row(log2_floor(c->k->size)));
    return op_build(b, OP_SHLOAD, &stage, stage ? 1 : 0, (Attr){.buffer = r->buffer}, t)->results[0];
}

/* The stage is known before the load, so that a copy can bring what is loaded there. */
static Value *load_to_stage(const ChunkCopy *c, Builder *b, const StagedRow *r) {
    Value *stage = stage_of(c, b), *v = chunk_copy_op(c->k, b, r->load, c->map, c->place), *args[] = {v, stage};
    op_build(b, OP_SHSTORE, args, stage ? 2 : 1, (Attr){.buffer = r->buffer, .scope = SCOPE_BLOCK}, (Type){0});
    return v;
}

Value *chunk_copy_load(const ChunkCopy *c, Builder *b, const Op *load) {
    StagedRow *r = staged_row(c->k, load);
    bool is_first = r && r->first == c->w;
    if (r && c->source == FROM_STAGES) return is_first ? load_to_stage(c, b, r) : staged_load(c, b, r);
    if (r && c->source == FROM_REGISTERS && !is_first) return r->held.at[c->held];
    Value *v = chunk_copy_op(c->k, b, load, c->map, c->place);
    if (r && c->source == FROM_REGISTERS) vec_push(c->k->scratch, &r->held, v);
    return v;
}
