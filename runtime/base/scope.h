/* scope.h - how far threads reach: who meets at a barrier, and what the blocks of a program form.
 *
 * Each scope holds the threads of those before it, so a barrier of one is a barrier of those, too. For every folder.
 */
#ifndef FSC_SCOPE_H
#define FSC_SCOPE_H

typedef enum Scope {
    SCOPE_WARP,
    SCOPE_BLOCK,
    SCOPE_CLUSTER, /* blocks that reach each other's shared memory */
    SCOPE_GRID,    /* blocks anywhere on the device, all of a launch there at once: they meet through global memory */
} Scope;

#endif
