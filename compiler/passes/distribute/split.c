/* split.c - the pass split: a few programs may each take as many blocks as the device holds beside the others'.
 *
 * In: stage TILE; the target says how many blocks that are. Out: Func.split_blocks, split_programs: what distribute.c
 * may choose beyond a cluster.
 * Method: nothing but that, so that leaving the pass out leaves programs to clusters. Blocks of such a program are no
 * cluster: what crosses them goes through global memory (codegen/simt/split.c), and all blocks of a launch must be on
 * the device at once.
 */
#include "passes/passes.h"

bool pass_split(Func *f, PassContext *c) {
    if (f->stage == STAGE_SIMT || f->num_ctas || !c->few_programs || c->split_blocks <= c->target->max_cluster)
        return false;
    f->split_blocks = c->split_blocks;
    f->split_programs = c->most_programs;
    return true;
}
