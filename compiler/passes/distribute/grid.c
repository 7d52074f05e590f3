/* grid.c - the pass grid: a few programs may each take as many blocks as the device holds beside the others'.
 *
 * In: stage TILE; the target says how many blocks that are. Out: Func.grid_blocks, grid_programs:
 * what distribute.c may choose beyond a cluster, or instead of one where clusters would wait for each other.
 * Method: nothing but that, so that leaving the pass out leaves programs to clusters. Blocks of such a program reach
 * over the grid: what crosses them goes through global memory (codegen/simt/grid.c), and all blocks of a launch must be
 * on the device at once.
 */
#include "passes/passes.h"

void pass_grid(Func *f, PassContext *c) {
    uint32_t cluster = c->target->max_cluster;
    bool is_more = c->grid_blocks > cluster || (c->grid_blocks == cluster && c->clusters_wait);
    if (f->stage == STAGE_SIMT || f->num_ctas || !c->few_programs || !is_more) return;
    f->grid_blocks = c->grid_blocks;
    f->grid_programs = c->most_programs;
}
