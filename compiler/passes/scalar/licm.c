/* licm.c - the pass licm: what every iteration computes anew moves before the loop.
 *
 * In: any stage. Out: pure ops whose operands come from outside stand before their `for` or `while`; all ops are total,
 * so that a loop which never runs is no obstacle. A `for` with disable_licm keeps its own.
 * Method: inner loops first. What makes a tile from nearly nothing (splat, arange, …) only follows what needs it: alone
 * it would hold registers for no gain.
 */
#include "passes/private.h"

static bool is_outside(const Value *v, const Op *loop) {
    for (const Block *b = value_block(v); b; b = b->owner ? b->owner->parent : NULL)
        if (b->owner == loop) return false;
    return true;
}

/* From outside, or made of such by tile makers alone, which then move too. */
static bool can_follow(const Value *v, const Op *loop) {
    while (!is_outside(v, loop)) {
        if (!v->def || !op_is_tile_maker(v->def)) return false;
        if (v->def->nargs == 0) return true;
        v = v->def->args[0];
    }
    return true;
}

static void follow(Value *v, Op *loop) {
    if (is_outside(v, loop)) return;
    for (uint32_t i = 0; i < v->def->nargs; i++) follow(v->def->args[i], loop);
    op_move_before(v->def, loop);
}

static bool moves(const Op *op, const Op *loop) {
    if (!op_is_pure(op->kind) || op->nresults != 1 || op_is_tile_maker(op)) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!can_follow(op->args[i], loop)) return false;
    return true;
}

/* Ops that follow stand before the op that they follow, so `next` is never one of them. */
static void empty_region(Block *b, Op *loop) {
    for (Op *op = b->first, *next; op; op = next) {
        next = op->next;
        if (!moves(op, loop)) continue;
        for (uint32_t i = 0; i < op->nargs; i++) follow(op->args[i], loop);
        op_move_before(op, loop);
    }
}

static void visit_block(Block *b) {
    for (Op *op = b->first; op; op = op->next) {
        for (uint32_t r = 0; r < op->nregions; r++) visit_block(op->regions[r]);
        bool is_loop = op->kind == OP_WHILE || (op->kind == OP_FOR && !op->attr.loop.disable_licm);
        for (uint32_t r = 0; r < op->nregions && is_loop; r++) empty_region(op->regions[r], op);
    }
}

void pass_licm(Func *f, PassContext *c) {
    (void)c;
    visit_block(f->body);
}
