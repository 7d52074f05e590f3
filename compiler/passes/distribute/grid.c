/* grid.c - the pass grid: a few programs may each take as many blocks as the device holds beside the others'.
 *
 * In: stage TILE; the target says how many blocks that are. Out: Func.grid_blocks, grid_programs:
 * what distribute.c may choose beyond a cluster.
 * Method: nothing but that, so that leaving the pass out leaves programs to clusters. Blocks of such a program reach
 * over the grid: what crosses them goes through global memory (codegen/simt/grid.c), and all blocks of a launch must be
 * on the device at once.
 */
#include "passes/passes.h"

void pass_grid(Func *f, PassContext *c) {
    if (f->stage == STAGE_SIMT || f->num_ctas || !c->few_programs || c->grid_blocks <= c->target->max_cluster)
        return;
    f->grid_blocks = c->grid_blocks;
    f->grid_programs = c->most_programs;
}
