/* pool.h - the programs of a grid over the threads of the host. */
#ifndef FSC_POOL_H
#define FSC_POOL_H

#include "runtime/fsc_runtime.h"

#include <stdatomic.h>

typedef struct Pool Pool;

/* A grid to run; it is copied. */
typedef struct PoolJob {
    fsc_host_entry *entry;
    const void *const *args;
    int64_t grid[3];
    size_t scratch_bytes;
    atomic_ullong *limit; /* programs from *limit on do not begin; NULL: all do */
    atomic_uint *cost;    /* nanoseconds of a program in the code's last grid, 0 at first; NULL: no grid is quick */
} PoolJob;

Pool *pool_create(uint32_t threads); /* NULL: out of memory; threads start with the first grid that needs them */
void pool_destroy(Pool *p);
/* Later grids run on threads of the application's (fsc_device_set_executor); run NULL: on the pool's again. */
void pool_set_executor(Pool *p, fsc_executor *run, void *context);
/* Runs entry for every program of the grid; returns when all are done. One grid at a time: others wait. The caller
 * holds forks. False: out of memory for scratch. */
bool pool_run(Pool *p, const PoolJob *job);

/* ---- cores.c ----------------------------------------------------------------------------------------------------- */

/* How many threads this process keeps busy: the cores of its affinity mask, at most its control group's quota. */
uint32_t cores_count(void);
/* Of the quota alone; UINT32_MAX: none. root: where control groups are mounted; group: what /proc/self/cgroup says. */
uint32_t cores_quota(const char *root, const char *group);


/* Where a thread that sleeps is to wake, on a virtual machine: there Linux takes a core that has slept for a while for
 * one that is lost, and wakes threads on the core of the one that wakes them, where they wait for it. */
typedef struct CorePlace CorePlace;

CorePlace *cores_place_new(void); /* of the calling thread; NULL: out of memory, or no virtual machine */
/* By another thread: wakes it on a core of its own, the index-th that it may run on and that is not the caller's. */
void cores_place(CorePlace *p, uint32_t index);
/* By the thread itself, awake: it may run everywhere again. */
void cores_unplace(CorePlace *p);

#endif
