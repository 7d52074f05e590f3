/* tiles.c - `fsc info`: how a kernel's tiles lie on its threads, elements = threads × elements per thread.
 *
 * In: a compilation for a GPU. Out: a row for each shape and number of elements per thread.
 * Method: what of a tile is live follows from the masks of loads and stores: an element per thread counts if some
 * thread's lies below the bound that the mask is known to have.
 */
#include "tool/info/tiles.h"

#include "passes/passes.h"

typedef struct Search {
    Arena *arena;
    Tiles *out;
    const Facts *facts;
} Search;

static Tile *tile_of(Search *s, const Layout *l) {
    uint32_t threads = 1, per_thread = layout_registers(l);
    for (int d = IN_LANE; d < IN_COUNT; d++) threads <<= l->bits[d];
    for (uint32_t i = 0; i < s->out->len; i++) {
        Tile *t = &s->out->at[i];
        if (shape_equal(t->shape, l->shape) && t->threads == threads && t->per_thread == per_thread) return t;
    }
    Tile t = {.shape = l->shape,
              .elements = shape_elements(l->shape),
              .threads = threads,
              .per_thread = per_thread,
              .live = 0};
    t.copies = (uint32_t)((uint64_t)threads * t.per_thread / t.elements);
    vec_push(s->arena, s->out, t);
    return &s->out->at[s->out->len - 1];
}

/* Elements of a thread that the mask can let through in some thread. */
static uint32_t live_registers(const Search *s, const Value *mask, const Layout *l) {
    uint32_t live = 0;
    uint64_t most[SHAPE_RANK];
    for (uint32_t d = 0; d < l->shape.rank; d++) most[d] = facts_live(s->facts, mask, d);
    for (uint32_t r = 0; r < layout_registers(l); r++) {
        uint32_t first = layout_apply(l, (Owner){.at = {[IN_REGISTER] = r}});
        bool is_live = true;
        for (uint32_t d = 0; d < l->shape.rank; d++) is_live &= shape_coord(l->shape, first, d) < most[d];
        live += is_live;
    }
    return live;
}

static void visit(void *context, Op *op) {
    Search *s = context;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->type.layout) (void)tile_of(s, op->results[i]->type.layout);
    if (op->kind != OP_LOAD && op->kind != OP_STORE) return;
    uint32_t at = op->kind == OP_LOAD ? 1 : 2;
    const Layout *l = op->args[0]->type.layout;
    if (!l) return;
    bool has_mask = op->nargs > at && value_is_tile(op->args[at]);
    uint32_t live = has_mask ? live_registers(s, op->args[at], l) : layout_registers(l);
    Tile *t = tile_of(s, l);
    if (live > t->live) t->live = live;
}

Tiles tiles_of(const fsc_compilation *c, Arena *arena) {
    Tiles out = {0};
    Search s = {.arena = arena, .out = &out};
    if (!c->func || c->func->stage != STAGE_SIMT) return out;
    s.facts = facts_compute(c->func, arena);
    func_walk(c->func, visit, &s);
    return out;
}
