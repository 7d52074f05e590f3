/* fold.c - constants and identities, through op_fold; branches on constants; loops that do not run.
 *
 * Method: one walk in program order, so that an operand is folded before its user. What a folded op leaves unused, dce
 * drops.
 */
#include "passes/passes.h"

static bool fold_block(Func *f, Block *b);

/* The ops of a region but its terminator, moved in front of `op`; the results become what the region yields. */
static void inline_region(Func *f, Op *op, Block *region) {
    while (region->first != region->last) op_move_before(region->first, op);
    const Op *yield = region->last;
    for (uint32_t i = 0; i < op->nresults; i++) value_replace(f, op->results[i], yield->args[i]);
    op_erase(f, op);
}

static bool never_runs(const Op *op) {
    int64_t lo, hi, step;
    if (!value_const(op->args[0], &lo) || !value_const(op->args[1], &hi) || !value_const(op->args[2], &step)) return false;
    return step > 0 ? lo >= hi : lo <= hi;
}

static bool fold_control(Func *f, Op *op) {
    int64_t bits;
    if (op->kind == OP_IF && value_const(op->args[0], &bits)) {
        inline_region(f, op, op->regions[bits ? 0 : 1]);
        return true;
    }
    if (op->kind == OP_FOR && never_runs(op)) {
        for (uint32_t i = 0; i < op->nresults; i++) value_replace(f, op->results[i], op->args[3 + i]);
        op_erase(f, op);
        return true;
    }
    return false;
}

static bool fold_block(Func *f, Block *b) {
    bool changed = false;
    for (Op *op = b->first; op;) {
        for (uint32_t r = 0; r < op->nregions; r++) changed |= fold_block(f, op->regions[r]);
        Op *next = op->next;
        if (op->kind == OP_IF || op->kind == OP_FOR) {
            if (fold_control(f, op)) {
                changed = true;
                op = next;
                continue;
            }
        } else if (op->nresults == 1 && value_used(op->results[0])) {
            Builder at = builder_before(f, op);
            Value *simpler = op_fold(&at, op);
            if (simpler && simpler != op->results[0]) {
                value_replace(f, op->results[0], simpler);
                changed = true;
            }
        }
        op = next;
    }
    return changed;
}

bool pass_fold(Func *f, PassContext *c) {
    (void)c;
    return fold_block(f, f->body);
}

bool pass_fold2(Func *f, PassContext *c) {
    return pass_fold(f, c);
}
