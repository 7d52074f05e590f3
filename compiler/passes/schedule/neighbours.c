/* neighbours.c - the pass neighbours: loads of pieces of a line of memory, whose rest other programs load.
 *
 * In: a Func at STAGE_TILE. Out: loads with the attribute `line`, for GPUs on which that was measured.
 * Method: the address is a sum of parts (analysis/address.c). A tile with several rows has places side by side along
 * one axis, less than a line of them. Beside these stands a program's number times as many: what follows in the row is
 * the next program's.
 */
#include "passes/private.h"

enum { LINE_BYTES = 128 };

static bool is_side_by_side(const Part *x) {
    return !x->by[0] && x->scale == 1 && x->axis >= 0;
}

static bool is_program(const Part *x, uint64_t width) {
    return !x->by[0] && x->scale == (int64_t)width && x->v && x->v->def && x->v->def->kind == OP_PID;
}

/* Places of the tile that lie side by side; 0: none, or along two axes. */
static uint64_t width_of(const Parts *p, Shape shape) {
    uint64_t width = 0;
    for (uint32_t i = 0; i < p->len; i++) {
        if (!is_side_by_side(&p->at[i])) continue;
        if (width) return 0;
        width = shape_size(shape, (uint32_t)p->at[i].axis);
    }
    return width;
}

static void mark(void *context, Op *op) {
    Parts p;
    (void)context;
    if (op->kind != OP_LOAD || op->attr.mem.is_volatile || !value_is_tile(op->args[0])) return;
    Type t = op->args[0]->type;
    if (!address_parts(op->args[0], 1, &p) || !p.is_known) return;
    uint64_t width = width_of(&p, t.shape);
    if (!width || width == shape_elements(t.shape) || width * type_bytes(type_scalar(t.pointee)) >= LINE_BYTES) return;
    for (uint32_t i = 0; i < p.len; i++) op->attr.mem.wants_line |= is_program(&p.at[i], width);
}

void pass_neighbours(Func *f, PassContext *c) {
    if (target_has(c->target, FEATURE_CLUSTERS)) func_walk(f, mark, NULL);
}
