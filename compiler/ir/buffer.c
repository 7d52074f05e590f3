/* buffer.c - shared buffers: their making, what the verifier asks of them, and how long each is alive.
 *
 * In: a function. Out: buffers; a clause that says what is wrong; life times.
 * Method: a life goes from the first access in program order to the last. A loop counts as a whole for a buffer that is
 * also touched outside of it, and for one of which a round may find what an earlier round left. Lives are computed
 * where they are needed: a pass that moves an op has none to mend.
 */
#include "ir/private.h"

uint32_t buffer_add(Func *f, Buffer b) {
    if (!b.stages) b.stages = 1;
    if (!b.align) b.align = BUFFER_ALIGN;
    if (!b.bytes) b.bytes = buffer_whole(&b);
    b.offset = b.counts = -1;
    vec_push(f->arena, &f->buffers, b);
    return f->buffers.len - 1;
}

DType buffer_dtype(Type t) {
    return t.dtype == DT_PTR ? DT_I64 : t.dtype;
}

uint32_t buffer_whole(const Buffer *b) {
    return (uint32_t)(shape_elements(b->places->shape) * type_bytes(type_scalar(b->dtype)));
}

static uint64_t stages_bytes(const Buffer *b) {
    return (uint64_t)b->stages * b->bytes;
}

uint32_t buffer_count_offset(const Buffer *b) {
    return (uint32_t)(stages_bytes(b) + COUNT_BYTES - 1) / COUNT_BYTES * COUNT_BYTES;
}

uint64_t buffer_bytes(const Buffer *b) {
    return b->is_counted ? buffer_count_offset(b) + (uint64_t)b->stages * COUNT_BYTES : stages_bytes(b);
}

bool op_is_exchange(const Func *f, const Op *op) {
    return op_has_buffer(op->kind) && op_class(op->kind) == CLASS_SHARED && !f->buffers.at[op->attr.buffer].is_private;
}

bool buffers_overlap(const Buffer *x, const Buffer *y) {
    bool have_bytes = x->offset >= 0 && y->offset >= 0;
    return have_bytes && x->offset < y->offset + (int64_t)buffer_bytes(y) &&
           y->offset < x->offset + (int64_t)buffer_bytes(x);
}

uint32_t buffer_run(const Buffer *b) {
    const Layout *l = b->places;
    uint32_t run = 0;
    while (run < l->shape.log2[1] && l->basis[IN_REGISTER][run] == UINT32_C(1) << run) run++;
    return run;
}

uint32_t buffer_threads(const Buffer *b) {
    return UINT32_C(1) << b->places->shape.log2[0];
}

uint32_t buffer_run_bytes(const Buffer *b) {
    return type_bytes(type_scalar(b->dtype)) << buffer_run(b);
}

/* ---- Life times -------------------------------------------------------------------------------------------------- */

typedef struct Walk {
    const Func *f;
    Lives *lives;
    uint32_t now;
    const Block **home; /* by buffer: the innermost block that all accesses are in */
} Walk;

static bool leaves_values(const Op *op) {
    return op->kind == OP_SHSTORE || op_is_copy(op->kind) || op->kind == OP_SPILL;
}

static const Block *common(const Block *x, const Block *y) {
    for (const Block *b = x; b; b = b->owner ? b->owner->parent : NULL)
        for (const Block *c = y; c; c = c->owner ? c->owner->parent : NULL)
            if (b == c) return b;
    return NULL;
}

static void walk_places(Walk *w, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        Life *own = &w->lives->op[op->id];
        own->begin = w->now++;
        if (op_has_buffer(op->kind) && op->attr.buffer < w->f->buffers.len) {
            const Block **home = &w->home[op->attr.buffer];
            *home = *home ? common(*home, b) : b;
        }
        for (uint32_t r = 0; r < op->nregions; r++) walk_places(w, op->regions[r]);
        own->end = w->now++;
    }
}

static void extend(Life *life, Life by) {
    if (by.begin < life->begin) life->begin = by.begin;
    if (by.end > life->end) life->end = by.end;
}

/* The first access decides whether a round begins with what is there already: it does unless it stores,
 * whenever the block runs. */
static void note_access(Walk *w, const Op *op) {
    Life *life = &w->lives->at[op->attr.buffer];
    const Block *home = w->home[op->attr.buffer];
    bool is_first = life->begin > life->end;
    extend(life, w->lives->op[op->id]);
    for (const Block *b = op->parent; b != home; b = b->owner->parent)
        if (op_is_loop(b->owner)) extend(life, w->lives->op[b->owner->id]);
    for (const Block *b = home; b->owner && is_first && !(leaves_values(op) && op->parent == home);
         b = b->owner->parent)
        if (op_is_loop(b->owner)) extend(life, w->lives->op[b->owner->id]);
    const Op *loop = op->parent->owner, *outer = loop ? loop->parent->owner : NULL;
    if (op->attr.is_across && outer) extend(life, w->lives->op[outer->id]);
    if (op->kind == OP_SPILL) life->end = UINT32_MAX; /* whoever uses the value reads the buffer */
    for (const Use *u = op->kind == OP_SHMATRIX ? op->results[0]->uses : NULL; u; u = u->next) { /* the product does */
        extend(life, w->lives->op[u->op->id]);
        for (const Use *wait = u->op->results[0]->uses; wait; wait = wait->next)
            extend(life, w->lives->op[wait->op->id]);
    }
}

static void walk_accesses(Walk *w, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        if (op_has_buffer(op->kind) && op->attr.buffer < w->f->buffers.len) note_access(w, op);
        for (uint32_t r = 0; r < op->nregions; r++) walk_accesses(w, op->regions[r]);
    }
}

Lives lives_of(const Func *f, Arena *a) {
    uint32_t n = f->buffers.len;
    Lives lives = {NEW_ARRAY(a, Life, n), NEW_ARRAY(a, Life, f->next_op)};
    Walk w = {.f = f, .lives = &lives, .home = NEW_ARRAY(a, const Block *, n)};
    for (uint32_t i = 0; i < n; i++) lives.at[i] = (Life){UINT32_MAX, 0};
    walk_places(&w, f->body);
    walk_accesses(&w, f->body);
    for (uint32_t i = 0; i < n; i++) /* what other blocks store comes whenever it does */
        if (f->buffers.at[i].is_counted && lives.at[i].begin <= lives.at[i].end) lives.at[i] = (Life){0, UINT32_MAX};
    return lives;
}

bool lives_meet(Life x, Life y) {
    return x.begin <= y.end && y.begin <= x.end;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

const char *buffer_wrong(const Func *f, uint32_t i) {
    const Buffer *b = &f->buffers.at[i];
    const Layout *l = b->places;
    if ((uint32_t)b->dtype >= DT_COUNT || b->dtype == DT_PTR) return "a buffer of no elements in memory";
    if (!l || l->bits[IN_LANE] || l->bits[IN_WARP] || l->bits[IN_CTA] || l->bits[IN_REGISTER] != shape_log2(l->shape) ||
        !layout_is_surjective(l))
        return "a buffer whose places are not one for each element";
    if (!b->stages || stages_bytes(b) > INT32_MAX) return "a buffer of no stages, or of more than 2 GB";
    if (b->is_counted && (b->is_private || f->scope != SCOPE_CLUSTER))
        return "a counted buffer that no other block stores to";
    if (b->is_bulk && (b->is_private || b->is_counted || b->stages < 2))
        return "a buffer of bulk copies that is no ring for all threads";
    if (b->counts >= 0 && (!b->is_bulk || b->counts % COUNT_BYTES ||
                           (f->shared_bytes && b->counts + (int64_t)buffer_counts(b) * COUNT_BYTES > f->shared_bytes)))
        return "a buffer's counts that are none, or lie beyond the function's shared memory";
    if (b->is_private && l->shape.rank != 2) return "a private buffer that is not of threads and registers";
    uint32_t whole = buffer_whole(b), row = b->is_private ? buffer_threads(b) * buffer_run_bytes(b) : whole;
    if (!b->bytes || b->bytes > whole || b->bytes % row) return "a stage whose bytes are not those of its elements";
    if (b->align < BUFFER_ALIGN || (b->align & (b->align - 1)) || b->offset < -1 ||
        (b->offset >= 0 && b->offset % b->align))
        return "a buffer that is not aligned";
    if (b->offset >= 0 && f->shared_bytes && (uint64_t)b->offset + buffer_bytes(b) > f->shared_bytes)
        return "a buffer beyond the function's shared memory";
    return NULL;
}

/* Bytes of a private buffer are the same thread's in any other buffer. */
static bool may_share(const Buffer *x, const Buffer *y) {
    bool is_alike = x->is_private == y->is_private;
    if (!is_alike || !x->is_private) return is_alike;
    uint32_t row = buffer_threads(x) * buffer_run_bytes(x);
    return buffer_run_bytes(x) == buffer_run_bytes(y) && (x->offset - y->offset) % row == 0;
}

const char *buffers_wrong(const Func *f, Arena *scratch) {
    Lives lives = lives_of(f, scratch);
    for (uint32_t i = 0; i < f->buffers.len; i++) {
        const Buffer *x = &f->buffers.at[i];
        for (uint32_t j = 0; j < i; j++) {
            const Buffer *y = &f->buffers.at[j];
            if (!buffers_overlap(x, y)) continue;
            if (lives_meet(lives.at[i], lives.at[j]))
                return arena_printf(scratch, "#b%u and #b%u share bytes while both are alive", j, i);
            if (!may_share(x, y))
                return arena_printf(scratch, "#b%u and #b%u share bytes of different threads, which meet at no barrier",
                                    j, i);
        }
    }
    return NULL;
}

/* As the buffer has them. */
static const Layout *transposed_back(Layouts *ls, const Op *op, const Layout *l) {
    uint8_t perm[SHAPE_RANK], inverse[SHAPE_RANK] = {0};
    if (!op->attr.perm) return l;
    attr_perm_read(op->attr, perm);
    for (uint32_t i = 0; i < l->shape.rank; i++) inverse[perm[i]] = (uint8_t)i;
    return layout_transpose(ls, l, inverse);
}

const Layout *access_layout(const Func *f, const Op *op, Type t) {
    const Buffer *b = &f->buffers.at[op->attr.buffer];
    Shape s = b->places->shape;
    uint32_t threads = f->threads_per_program;
    if (b->is_private) return layout_threads(f->layouts, s, threads < 32 ? (uint32_t)__builtin_ctz(threads) : 5);
    if (op->kind == OP_SHSLICE)
        return layout_within(f->layouts, transposed_back(f->layouts, op, t.layout), op->attr.axis,
                             s.log2[op->attr.axis]);
    return shape_log2(s) < shape_log2(t.shape) ? layout_own(f->layouts, t.layout) : t.layout;
}

bool access_moves_matrices(const Func *f, const Op *op, Type t, MatrixRows *m) {
    const Buffer *b = &f->buffers.at[op->attr.buffer];
    if (!t.layout || b->is_private || op->attr.flip || op->attr.scope > SCOPE_BLOCK) return false;
    const Layout *l = access_layout(f, op, t);
    bool all_store = !layout_free(l, IN_REGISTER) && !layout_free(l, IN_LANE) && !layout_free(l, IN_WARP);
    return (all_store || op->kind != OP_SHSTORE) &&
           layout_matrices(f->layouts, layout_in(f->layouts, b->places, l), type_bytes(type_scalar(b->dtype)), m);
}

/* Run-time places are those of a row-major tile, which along the axis has any size, or at least that of its part. */
static const char *part_wrong(const Func *f, const Buffer *b, const Op *op, Type t) {
    Shape s = b->places->shape, part = t.shape;
    int64_t at;
    bool is_constant = op->kind == OP_SHSLICE && value_const(op->args[0], &at);
    if (is_constant) part = transposed_back(f->layouts, op, t.layout)->shape;
    else if (b->places != layout_flat(f->layouts, s)) return "the buffer's places are not row-major";
    else if (op->attr.perm) return "a part that begins anywhere is transposed";
    bool fits = s.rank == part.rank && (op->kind == OP_SHGATHER || s.log2[op->attr.axis] >= part.log2[op->attr.axis]);
    for (uint32_t i = 0; i < s.rank && fits; i++) fits = i == op->attr.axis || s.log2[i] == part.log2[i];
    if (!fits) return "the buffer is of another shape";
    bool is_within = !is_constant || (at >= 0 && (uint64_t)at < shape_size(s, op->attr.axis) &&
                                      (uint64_t)at % shape_size(part, op->attr.axis) == 0);
    return is_within ? NULL : "the part is not one of those that its size makes of the buffer";
}

/* Of a private buffer the registers of one thread,
 * of another the elements of the tile or of what the block itself holds of it. */
static const char *tile_wrong(const Func *f, const Buffer *b, const Op *op, Type t) {
    if (buffer_dtype(t) != b->dtype) return "the buffer has other elements";
    if (b->is_private) {
        uint32_t log2 = t.layout ? t.layout->bits[IN_REGISTER] : b->places->shape.log2[1];
        if (!t.shape.rank || log2 != b->places->shape.log2[1]) return "the buffer is of another number of registers";
        return !f->threads_per_program || buffer_threads(b) == f->threads_per_program
                   ? NULL
                   : "the buffer is of another number of threads";
    }
    if (f->stage == STAGE_TILE) return "a buffer that all threads see at stage tile";
    uint32_t own = shape_log2(b->places->shape);
    if (op->kind == OP_SHGATHER || op->kind == OP_SHSLICE) return part_wrong(f, b, op, t);
    if (own != shape_log2(t.shape) && (!t.layout || own != shape_log2(layout_own(f->layouts, t.layout)->shape)))
        return "the buffer has another number of elements";
    return NULL;
}

uint32_t buffer_vector(const Func *f, const Buffer *b, const Layout *l, uint32_t most) {
    uint8_t bits[VECTOR_BITS];
    uint32_t n = layout_in_vector(layout_in(f->layouts, b->places, l), type_bytes(type_scalar(b->dtype)), bits), i = 0;
    while (i < n && i < most && bits[i] == i) i++;
    return i;
}

static bool touches(const Op *op, uint32_t buffer) {
    bool found = op_has_buffer(op->kind) && op->attr.buffer == buffer && !op_is_copy(op->kind);
    for (uint32_t r = 0; r < op->nregions && !found; r++)
        for (const Op *in = op->regions[r]->first; in && !found; in = in->next) found = touches(in, buffer);
    return found;
}

const Op *buffer_find_back(const Op *op, OpKind k, uint32_t buffer) {
    while (op && op->kind != k && !touches(op, buffer)) op = op->prev;
    return op && op->kind == k ? op : NULL;
}

/* The wait in front of a barrier, where only later rounds' copies of the buffer are still under way behind it. */
static const Op *wait_of(const Buffer *b, const Op *barrier, uint32_t buffer) {
    const Op *wait = barrier ? buffer_find_back(barrier->prev, OP_COPYWAIT, buffer) : NULL;
    return wait && wait->attr.pending <= b->stages - 2 ? wait : NULL;
}

/* Does op, or one in it, read another stage of the buffer? */
static bool reads_other(const Op *op, uint32_t buffer, const Value *stage) {
    bool found = op_has_buffer(op->kind) && op->attr.buffer == buffer && op->kind != OP_COPYASYNC &&
                 op->args[op->nargs - 1] != stage;
    for (uint32_t r = 0; r < op->nregions && !found; r++)
        for (const Op *in = op->regions[r]->first; in && !found; in = in->next) found = reads_other(in, buffer, stage);
    return found;
}

/* Is what reads the buffer in front of the barrier of the stage that a round begins with, carried value i, and what
 * reads it behind of the one that it hands on? */
static bool turns_at(const Block *body, const Op *barrier, uint32_t buffer, uint32_t i) {
    const Value *stage = body->args.at[1 + i];
    for (const Op *op = body->first; op; op = op->next) {
        if (reads_other(op, buffer, stage)) return false;
        if (op == barrier) stage = body->last->args[i];
    }
    return true;
}

/* Rounds may meet at their end, too, and before the loop: the next one's first reads stand behind it. */
static const char *turned_wrong(const Buffer *b, const Op *copy) {
    const Block *body = copy->parent;
    const Op *barrier = body->last, *met = body->owner->prev;
    uint32_t buffer = copy->attr.buffer;
    while (barrier && !(barrier->kind == OP_BARRIER && wait_of(b, barrier, buffer))) barrier = barrier->prev;
    while (met && met->kind != OP_BARRIER && !(met->kind == OP_COPYASYNC && met->attr.buffer == buffer))
        met = met->prev;
    if (!barrier || !met || met->kind != OP_BARRIER || !wait_of(b, met, buffer))
        return "no barrier keeps the copy behind the reads of the round before";
    for (uint32_t i = 0; i < body->last->nargs; i++)
        if (turns_at(body, barrier, buffer, i)) return NULL;
    return "what is read behind the barrier is not of the stage that the next round begins with";
}

/* What the copies of a later round overwrite all threads have read before the barrier; what they read behind it has
 * come before it, to all. */
static const char *ring_wrong(const Buffer *b, const Op *op) {
    if (b->stages < 2) return "a copy into the only stage of a buffer that other threads see";
    if (!op->attr.is_prefetch)
        return op->attr.is_begin ? NULL : "the copy is for no first and no later round of a loop";
    if (!op->parent->owner || op->parent->owner->kind != OP_FOR) return "a copy for a later round stands in no loop";
    const Op *barrier = buffer_find_back(op->prev, OP_BARRIER, op->attr.buffer);
    const Op *wait = wait_of(b, barrier, op->attr.buffer);
    if (!wait) { /* a barrier without one is for other buffers */
        const char *wrong = turned_wrong(b, op);
        if (!wrong || !barrier || barrier->attr.is_begin) return wrong;
        return "no wait before the barrier says that this round's have come";
    }
    if (barrier->attr.is_begin) return "no barrier keeps the copy behind the reads of the round before";
    for (const Op *o = wait; o; o = o->prev)
        if (touches(o, op->attr.buffer)) return "the buffer is used before the wait for this round's copies";
    return NULL;
}

/* ---- Counted buffers --------------------------------------------------------------------------------------------- */

static const Op *touch_beside(const Op *op, bool is_before, OpKind past) {
    uint32_t buffer = op->attr.buffer;
    do op = is_before ? op->prev : op->next;
    while (op && (!touches(op, buffer) || op->kind == past));
    return op;
}

/* Have all blocks begun when op comes, whatever was there before? */
static bool has_begun(const Op *op) {
    while (op->parent->owner) op = op->parent->owner;
    while (op && !(op->kind == OP_BARRIER && op->attr.is_begin)) op = op->prev;
    return op != NULL;
}

static bool is_again(const Op *op) {
    for (const Op *o = op->parent->owner; o; o = o->parent->owner)
        if (op_is_loop(o)) return true;
    return false;
}

/* Every round is a store, a wait, loads, one behind the other. */
static const char *counted_wrong(const Buffer *b, const Op *op) {
    if (!b->is_counted) return "a wait for a buffer that counts nothing";
    const Op *before = touch_beside(op, true, op->kind == OP_SHLOAD ? OP_SHLOAD : OP_COUNT), *after;
    switch (op->kind) {
    case OP_SHLOAD: return before && before->kind == OP_SHWAIT ? NULL : "no wait for what the other blocks store";
    case OP_SHWAIT:
        if (op->nargs != (b->stages > 1 ? 2 : 0)) return "a wait for another number of stages";
        return before && before->kind == OP_SHSTORE ? NULL : "a wait for what this block does not store";
    case OP_SHSTORE:
        if (op->attr.scope != SCOPE_CLUSTER) return "a counted buffer has no bytes of one block alone";
        if (b->stages < 2 && is_again(op)) return "a round overwrites what other blocks have yet to read";
        if (!has_begun(op)) return "no barrier says that the other blocks' counts are there";
        after = touch_beside(op, false, OP_COUNT);
        return after && after->kind == OP_SHWAIT ? NULL : "nobody waits for what is stored";
    default: return "a counted buffer is stored, waited for and loaded";
    }
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

/* Vectors of 4, 8 or 16 bytes, as the buffer's threads have them, or as they lie in its places. */
static const char *copy_wrong(const Func *f, const Buffer *b, const Op *op) {
    uint32_t vec = op->attr.mem.vec_log2, bytes = type_bytes(type_scalar(b->dtype)) << vec;
    if (bytes != 4 && bytes != 8 && bytes != 16) return "vectors of no 4, 8 or 16 bytes";
    if (b->is_private) return bytes == buffer_run_bytes(b) ? NULL : "the buffer has vectors of another size";
    if (op->kind == OP_COPYREAD) return "what all threads see is read by shared_load";
    const Layout *l = op->args[0]->type.layout;
    if (shape_log2(l->shape) != shape_log2(b->places->shape)) return "the buffer has another number of elements";
    if (buffer_vector(f, b, l, vec) < vec) return "a thread's vectors do not lie side by side in the buffer";
    return ring_wrong(b, op);
}

uint32_t store_waits_from(const Buffer *b) {
    return 1 + (b->stages > 1);
}

static const char *stage_wrong(const Buffer *b, const Op *op) {
    uint32_t at = op->kind != OP_SHLOAD, n = at + (b->stages > 1);
    if (op->nargs < n) return "no stage of a buffer that has more";
    if (b->stages > 1 && (op->args[at]->type.dtype != DT_I32 || value_is_tile(op->args[at])))
        return "the stage is no scalar i32";
    if (op->nargs == n || (op->kind == OP_SHSTORE && b->is_counted)) return NULL;
    return n > at ? "it waits, and the buffer counts nothing" : "a stage of a buffer that has one";
}

const char *access_wrong(const Func *f, const Op *op) {
    if (op->attr.buffer >= f->buffers.len) return "no such buffer";
    const Buffer *b = &f->buffers.at[op->attr.buffer];
    if (op->kind == OP_BULKSTORE || op->kind == OP_BULKWAIT) return bulk_store_wrong(f, b, op);
    if (op->kind == OP_BULKLOAD || b->is_bulk) {
        const char *wrong = bulk_wrong(f, b, op);
        if (wrong || op->kind != OP_SHMATRIX) return wrong;
    } else if (op->kind == OP_SHWAIT || b->is_counted) {
        const char *wrong = counted_wrong(b, op);
        if (wrong || op->kind == OP_SHWAIT) return wrong;
    }
    if (op->kind == OP_SHMATRIX)
        return (op->nargs > 0) != (b->stages > 1) ? "another number of stages" : shared_matrix_wrong(op);
    bool is_copy = op_info[op->kind].attr == ATTR_COPY, is_store = op->kind == OP_SHSTORE || op->kind == OP_COPYASYNC;
    Type t = is_store ? op->args[0]->type : op->results[0]->type;
    if (op->kind == OP_COPYASYNC) t = type_with_dtype(t, t.pointee);
    const char *wrong = is_copy ? NULL : stage_wrong(b, op);
    if (!wrong) wrong = tile_wrong(f, b, op, t);
    MatrixRows m;
    if (!wrong && op->attr.is_matrices && !access_moves_matrices(f, op, t, &m))
        return "no instruction for matrices moves what the threads hold";
    return wrong || !is_copy ? wrong : copy_wrong(f, b, op);
}
