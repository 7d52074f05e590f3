/* subwarp.c - programs of less than a warp: how many lanes a program of a small tile gets.
 *
 * In: a function at STAGE_TILE whose source does not say how many warps. Out: threads_per_program below 32, or
 * unchanged.
 * Method: distribute.c says how many lanes the tile wants; then every op is checked. The lanes of a warp belong to
 * several programs along x. These must come together to each reduction, which shuffles the whole warp, and to each
 * access, before which a barrier may be put. So neither may stand under a condition or in a loop that can differ
 * between the programs. Nothing may need shared memory: elementwise ops on rows, and reductions.
 */
#include "base/plant.h"
#include "passes/private.h"

typedef struct Small {
    bool *varies; /* by value id: may it be another scalar in another program of the warp? */
    bool fits;
} Small;

static bool is_row(const Value *v) {
    return v->type.shape.rank <= 1;
}

/* Is it made within a thread, by a reduction, or at memory without waiting for anybody? */
static bool is_plain(const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!is_row(op->args[i])) return false;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (!is_row(op->results[i])) return false;
    switch (op->kind) {
    case OP_LOAD: return !op->attr.mem.is_volatile;
    case OP_ATOMICRMW: return !value_used(op->results[0]) && !order_acquires(op->attr.mem.order);
    case OP_STORE: case OP_REDUCE: case OP_BROADCAST: return true;
    default: return op_is_local(op->kind) || op_is_control(op->kind) || op_class(op->kind) == CLASS_ORDER;
    }
}

/* Only programs along x share a block. */
static bool varies_itself(const Op *op) {
    return op->kind == OP_LOAD || op->kind == OP_ATOMICRMW || op->kind == OP_REDUCE || op->nregions ||
           (op->kind == OP_PID && op->attr.axis == 0);
}

static bool any_varies(const Small *s, const Op *op, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (s->varies[op->args[i]->id]) return true;
    return false;
}

/* May programs of one warp go through the regions differently? */
static bool parts(const Small *s, const Op *op) {
    switch (op->kind) {
    case OP_FOR: return any_varies(s, op, 3);
    case OP_IF: return any_varies(s, op, 1);
    default: return true;
    }
}

/* What a loop carries may vary; its variable does where its beginning or step does. */
static void note_arguments(Small *s, const Op *op) {
    for (uint32_t r = 0; r < op->nregions; r++)
        for (uint32_t i = 0; i < op->regions[r]->args.len; i++) s->varies[op->regions[r]->args.at[i]->id] = true;
    if (op->kind == OP_FOR)
        s->varies[op->regions[0]->args.at[0]->id] = s->varies[op->args[0]->id] || s->varies[op->args[2]->id];
}

static void look(Small *s, const Block *b, bool is_apart) {
    for (const Op *op = b->first; op; op = op->next) {
        bool meets = op->kind == OP_REDUCE || op_is_access(op->kind);
        s->fits &= is_plain(op) && !(is_apart && meets && !plant(PLANT_APART));
        bool varies = varies_itself(op) || any_varies(s, op, op->nargs);
        for (uint32_t i = 0; i < op->nresults; i++) s->varies[op->results[i]->id] = varies;
        note_arguments(s, op);
        for (uint32_t r = 0; r < op->nregions; r++) look(s, op->regions[r], is_apart || parts(s, op));
    }
}

void pass_subwarp(Func *f, PassContext *c) {
    if (f->stage == STAGE_SIMT || f->num_warps || f->num_ctas) return;
    uint32_t lanes = distribute_lanes(f, facts_compute(f, c->scratch), c);
    Small s = {NEW_ARRAY(c->scratch, bool, f->next_value), lanes < c->target->warp_threads};
    if (s.fits) look(&s, f->body, false);
    if (!s.fits) return;
    f->num_warps = 1;
    f->threads_per_program = lanes;
}
