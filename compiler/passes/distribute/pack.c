/* pack.c - programs of one warp or less share a block.
 *
 * In: a function behind barriers. Out: Func.programs_per_block, the most that a launch may put into one block.
 * A multiprocessor holds 32 blocks at most, so blocks of one warp leave half of its 64 warps empty, and the grid's
 * blocks start one after the other. Packed programs share nothing but the block: no shared memory and no block barrier
 * may be in them. How many a launch packs, it decides by its grid (runtime/launch/launch.c).
 */
#include "passes/private.h"

enum { MOST_WARPS = 4 }; /* measured: docs/lab/small-programs.md */

static void find_block_barrier(void *context, Op *op) {
    if (op->kind == OP_BARRIER && op->attr.scope != SCOPE_WARP) *(bool *)context = true;
}

void pass_pack(Func *f, PassContext *c) {
    bool has_barrier = false;
    func_walk(f, find_block_barrier, &has_barrier);
    if (has_barrier || f->num_warps > 1 || f->shared_bytes || f->blocks_per_program != 1) return;
    f->programs_per_block = c->target->warp_threads * MOST_WARPS / f->threads_per_program;
}
