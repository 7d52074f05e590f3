/* licm.c - what a loop computes anew in every round, although its operands do not change, moves in front of it.
 *
 * Pure ops are total, so computing one for a loop that never runs does no harm. Tiles that cost next to nothing (splat,
 * arange, constants, broadcasts) stay: moved out they would only hold registers. Inner loops go first.
 */
#include "passes/passes.h"

static bool is_cheap_tile(const Op *op) {
    if (!value_is_tile(op->results[0])) return false;
    return op->kind == OP_CONST || op->kind == OP_ARANGE || op->kind == OP_SPLAT || op->kind == OP_EXPAND ||
           op->kind == OP_BROADCAST;
}

static bool is_outside(const Op *loop, const Value *v) {
    const Block *home = v->def ? v->def->parent : v->block;
    for (const Block *b = home; b; b = b->owner ? b->owner->parent : NULL) {
        if (b->owner == loop) return false;
    }
    return true;
}

static bool is_invariant(const Op *loop, const Op *op) {
    if (op_info[op->kind].effect != EFFECT_PURE || op->nresults != 1 || is_cheap_tile(op)) return false;
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (!is_outside(loop, op->args[i])) return false;
    }
    return true;
}

static bool hoist(Op *loop, Block *b) {
    bool changed = false;
    for (Op *op = b->first; op;) {
        Op *next = op->next;
        if (is_invariant(loop, op)) {
            op_move_before(op, loop);
            changed = true;
        }
        op = next;
    }
    return changed;
}

static bool walk(Block *b) {
    bool changed = false;
    for (Op *op = b->first; op; op = op->next) {
        for (uint32_t r = 0; r < op->nregions; r++) changed |= walk(op->regions[r]);
        bool is_loop = op->kind == OP_FOR || op->kind == OP_WHILE;
        if (!is_loop || op->attr.loop.disable_licm) continue;
        for (uint32_t r = 0; r < op->nregions; r++) changed |= hoist(op, op->regions[r]);
    }
    return changed;
}

bool pass_licm(Func *f, PassContext *c) {
    (void)c;
    return walk(f->body);
}
