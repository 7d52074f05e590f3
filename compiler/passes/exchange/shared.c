/* shared.c - a byte offset for every exchange through shared memory.
 *
 * In: shared_store and shared_load with slots. Out: their offsets, and Func.shared_bytes.
 * An exchange ends with its load, so any two may use the same bytes, unless one stores before the other has loaded; but
 * bytes used again soon cost a barrier. Offsets therefore go round: fresh ones while a few kilobytes last, then from
 * the start again, where no exchange is under way.
 */
#include "base/plant.h"
#include "passes/private.h"

enum { ROUND = 4096, ALIGN = 16 };

typedef struct Slots {
    Func *f;
    uint64_t *bytes; /* by slot */
    int64_t *offset;
    bool *is_joined; /* another exchange is under way at the store */
    bool *is_whole;  /* parts of it are loaded, in rounds of loops: nothing else uses its bytes */
    uint32_t count, open; /* exchanges under way */
} Slots;

int64_t shared_bytes_of(Func *f, const Op *op) {
    Type t = op->kind == OP_SHSTORE ? op->args[0]->type : op->results[0]->type;
    Shape s = op->attr.is_own && t.layout ? layout_own(f->layouts, t.layout)->shape : t.shape;
    if (op->kind == OP_SHGATHER || (op->kind == OP_SHLOAD && op->nargs)) s.log2[op->attr.axis] = op->attr.size_log2;
    return (int64_t)(shape_elements(s) * type_bytes(t));
}

static void note_slot(void *context, Op *op) {
    Slots *s = context;
    bool is_shared = op_info[op->kind].attr == ATTR_SHARED, is_whole = is_shared && s->is_whole[op->attr.slot];
    if ((op->kind == OP_SHLOAD || op->kind == OP_SHGATHER) && s->open && !is_whole) s->open--;
    if (op->kind != OP_SHSTORE) return;
    if (!is_whole) s->is_joined[op->attr.slot] = s->open++ > 0;
    s->bytes[op->attr.slot] = (uint64_t)shared_bytes_of(s->f, op);
}

static void count_slot(void *context, Op *op) {
    Slots *s = context;
    if (op->kind == OP_SHSTORE && op->attr.slot >= s->count) s->count = op->attr.slot + 1;
}

static void note_whole(void *context, Op *op) {
    const Slots *s = context;
    if (op->kind == OP_SHLOAD && op->nargs) s->is_whole[op->attr.slot] = true;
}

static void set_offset(void *context, Op *op) {
    const Slots *s = context;
    if (op_info[op->kind].attr == ATTR_SHARED) op->attr.offset = s->offset[op->attr.slot];
}

/* What threads keep lies behind all exchanges. */
typedef struct Kept {
    int64_t begin, end;
} Kept;

static void place_staged(void *context, Op *op) {
    Kept *k = context;
    if (op->kind != OP_STAGESTORE && op->kind != OP_STAGELOAD) return;
    op->attr.start += k->begin;
    op->attr.end += k->begin;
    if (op->attr.end > k->end) k->end = op->attr.end;
}

static uint64_t give_offsets(Func *f, Slots *s) {
    Arena *scratch = arena_create();
    s->bytes = NEW_ARRAY(scratch, uint64_t, s->count);
    s->is_joined = NEW_ARRAY(scratch, bool, s->count);
    s->offset = NEW_ARRAY(scratch, int64_t, s->count);
    s->is_whole = NEW_ARRAY(scratch, bool, s->count);
    func_walk(f, note_whole, s);
    func_walk(f, note_slot, s);
    uint64_t next = 0, most = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->is_whole[i]) continue;
        if ((next + s->bytes[i] > ROUND && !s->is_joined[i]) || plant(PLANT_SAME_SHARED)) next = 0;
        s->offset[i] = (int64_t)next;
        next += (s->bytes[i] + ALIGN - 1) / ALIGN * ALIGN;
        if (next > most) most = next;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (!s->is_whole[i]) continue;
        s->offset[i] = (int64_t)most;
        most += (s->bytes[i] + ALIGN - 1) / ALIGN * ALIGN;
    }
    func_walk(f, set_offset, s);
    arena_destroy(scratch);
    return most;
}

bool pass_shared(Func *f, PassContext *c) {
    Slots s = {.f = f};
    func_walk(f, count_slot, &s);
    uint64_t most = s.count ? give_offsets(f, &s) : 0;
    Kept k = {.begin = (int64_t)((most + ALIGN - 1) / ALIGN * ALIGN)};
    func_walk(f, place_staged, &k);
    if ((uint64_t)k.end > most) most = (uint64_t)k.end;
    if (most == 0) return false;
    if (most > c->target->max_shared) {
        diag(c->diag, f->span, E_SHARED_MEMORY, f->name, (unsigned long long)most, c->target->max_shared);
        diag_note(c->diag, func_largest(f).shared, "this takes most of it");
        diag_note(c->diag, (Span){0, 0}, "a smaller tile, or more programs that each do less, needs less");
        return false;
    }
    f->shared_bytes = (uint32_t)most;
    return true;
}
