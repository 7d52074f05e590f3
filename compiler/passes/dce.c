/* dce.c - drops what nothing needs: ops without effect whose results are unused, and values carried for nobody.
 *
 * Method: backwards through every block, so that a chain goes in one walk. An `if` or a loop goes when nothing in it has
 * an effect; loads that are not volatile count as having none.
 */
#include "passes/passes.h"

static bool is_removable(const Op *op);

static bool has_no_effect(const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        bool ends = op->kind == OP_YIELD || op->kind == OP_CONDITION;
        if (!ends && !is_removable(op)) return false;
    }
    return true;
}

/* Would nothing but its results be missed? A `while` may never end, so it stays. */
static bool is_removable(const Op *op) {
    Effect e = op_info[op->kind].effect;
    if (e == EFFECT_PURE) return true;
    if (op->kind == OP_LOAD) return !op->attr.mem.is_volatile;
    if (op->kind == OP_SHLOAD) return true;
    if (op->kind == OP_IF) return has_no_effect(op->regions[0]) && has_no_effect(op->regions[1]);
    return op->kind == OP_FOR && has_no_effect(op->regions[0]);
}

static bool is_unused(const Op *op) {
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (value_used(op->results[i])) return false;
    }
    return true;
}

static bool sweep(Func *f, Block *b) {
    bool changed = false;
    for (Op *op = b->last; op;) {
        Op *before = op->prev;
        if (is_removable(op) && is_unused(op)) {
            op_erase(f, op);
            changed = true;
        } else {
            for (uint32_t r = 0; r < op->nregions; r++) changed |= sweep(f, op->regions[r]);
        }
        op = before;
    }
    return changed;
}

bool pass_dce(Func *f, PassContext *c) {
    (void)c;
    bool changed = false;
    while (sweep(f, f->body)) changed = true; /* a loop's region is swept after what stands behind the loop: twice is enough */
    return changed;
}

bool pass_dce2(Func *f, PassContext *c) {
    return pass_dce(f, c);
}
