/* pool.h - the programs of a grid over the threads of the host. */
#ifndef FSC_POOL_H
#define FSC_POOL_H

#include "runtime/fsc_runtime.h"

#include <stdatomic.h>

typedef struct Pool Pool;

Pool *pool_create(uint32_t threads); /* NULL: out of memory; threads start with the first grid that needs them */
void pool_destroy(Pool *p);
/* Runs entry for every program of the grid; returns when all are done. One grid at a time: others wait. The caller
 * holds forks. False: out of memory for scratch. */
bool pool_run(Pool *p, FscHostEntry *entry, const void *const *args, const int64_t grid[3], size_t scratch_bytes,
              atomic_ullong *limit); /* programs from *limit on do not begin; NULL: all do */
uint32_t pool_cores(void);

#endif
