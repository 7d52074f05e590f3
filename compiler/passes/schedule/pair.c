/* pair.c - the pass pair: two reductions of what is made register by register are made together.
 *
 * In: reductions over warps that stand side by side, as the pass join puts those that need one tile. Out: the first is
 * `paired`. Each register of that tile, such as d for the sums of d and of d * d, is made once and goes into both.
 */
#include "passes/private.h"

static void pair_block(Block *b) {
    for (Op *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nregions; i++) pair_block(op->regions[i]);
        Op *other = op->kind == OP_REDUCEWARP ? reduce_partner(op) : NULL;
        if (!other) continue;
        op->attr.is_paired = true;
        op = other; /* of one pair alone */
    }
}

void pass_pair(Func *f, PassContext *c) {
    (void)c;
    pair_block(f->body);
}
