/* shared.c - bytes of shared memory for the function's buffers.
 *
 * In: buffers and the ops that touch them. Out: an offset for each buffer that is touched, and Func.shared_bytes.
 * Method: a buffer may have the bytes of another one that is not alive at the same time (ir/buffer.c), but bytes used
 * again soon cost a barrier. So buffers that all threads see take fresh ones while a few kilobytes last, then the first
 * that fit beside those alive. Bytes of private ones lie behind, and are the same thread's for ever, so that they need
 * no barrier: only buffers of equal vectors share them. What counts bulk copies lies behind all, and shares nothing.
 */
#include "base/plant.h"
#include "passes/private.h"

enum { ROUND = 4096 };

typedef struct Plan {
    Func *f;
    const Lives *lives;
    uint64_t next, end; /* behind the last one placed; behind all */
} Plan;

static uint64_t align_to(uint64_t x, uint64_t align) {
    return (x + align - 1) / align * align;
}

/* Bytes behind `at` that no buffer placed before, among those of the same kind, needs while b is alive. */
static uint64_t first_fit(const Plan *p, uint32_t i, uint64_t at) {
    Buffer *b = &p->f->buffers.at[i];
    for (uint32_t j = 0; j < p->f->buffers.len; j++) {
        const Buffer *other = &p->f->buffers.at[j];
        b->offset = (int64_t)at;
        if (j == i || !lives_meet(p->lives->at[i], p->lives->at[j]) || !buffers_overlap(b, other)) continue;
        at = align_to((uint64_t)other->offset + buffer_bytes(other), b->align);
        j = UINT32_MAX; /* from the first one again */
    }
    return at;
}

static void place(Plan *p, uint32_t i, uint64_t at) {
    Buffer *b = &p->f->buffers.at[i];
    b->offset = (int64_t)at;
    p->next = at + align_to(buffer_bytes(b), BUFFER_ALIGN);
    if (p->next > p->end) p->end = p->next;
}

static void place_seen_by_all(Plan *p, uint32_t i) {
    const Buffer *b = &p->f->buffers.at[i];
    uint64_t at = align_to(p->next, b->align);
    if (plant(PLANT_SAME_SHARED)) place(p, i, 0);
    else place(p, i, first_fit(p, i, at + buffer_bytes(b) > ROUND ? 0 : at));
}

static bool is_touched(const Plan *p, uint32_t i) {
    return p->lives->at[i].begin <= p->lives->at[i].end;
}

/* Those whose vectors have so many bytes. */
static void place_private(Plan *p, uint32_t bytes) {
    uint64_t base = p->end;
    for (uint32_t i = 0; i < p->f->buffers.len; i++) {
        const Buffer *b = &p->f->buffers.at[i];
        if (b->is_private && is_touched(p, i) && buffer_run_bytes(b) == bytes) place(p, i, first_fit(p, i, base));
    }
}

/* They count from the kernel's beginning to its end. */
static void place_counts(Plan *p, uint32_t i) {
    Buffer *b = &p->f->buffers.at[i];
    if (!b->is_bulk || !is_touched(p, i)) return;
    b->counts = (int64_t)align_to(p->end, COUNT_BYTES);
    p->end = (uint64_t)b->counts + (uint64_t)buffer_counts(b) * COUNT_BYTES;
}

uint64_t buffers_place(Func *f, const Lives *lives) {
    Plan p = {.f = f, .lives = lives};
    for (uint32_t i = 0; i < f->buffers.len; i++) f->buffers.at[i].offset = -1;
    for (uint32_t i = 0; i < f->buffers.len; i++)
        if (!f->buffers.at[i].is_private && is_touched(&p, i)) place_seen_by_all(&p, i);
    for (uint32_t bytes = 16; bytes; bytes /= 2) place_private(&p, bytes);
    for (uint32_t i = 0; i < f->buffers.len; i++) place_counts(&p, i);
    return p.end;
}

void pass_shared(Func *f, PassContext *c) {
    Lives lives = lives_of(f, c->scratch);
    uint64_t most = buffers_place(f, &lives);
    if (most == 0) return;
    if (most > c->target->max_shared) {
        diag(c->diag, f->span, E_SHARED_MEMORY, f->name, (unsigned long long)most, c->target->max_shared);
        diag_note(c->diag, func_largest(f).shared, "this takes most of it");
        diag_note(c->diag, (Span){0, 0}, "a smaller tile, or more programs that each do less, needs less");
        return;
    }
    f->shared_bytes = (uint32_t)most;
}
