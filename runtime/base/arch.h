/* arch.h - the rows of arch.def as constants, ARCH_SHARED_90 and the like: for the compiler's targets, the table of
 * cards and the emulated device. */
#ifndef FSC_ARCH_H
#define FSC_ARCH_H

enum {
    /* Of every architecture. */
    ARCH_WARP = 32,             /* threads */
    ARCH_BLOCK = 1024,          /* threads at most */
    ARCH_REGISTERS = 255,       /* of a thread at most */
    ARCH_REGISTER_FILE = 65536, /* of a multiprocessor */
    ARCH_SHARED = 48 * 1024,    /* bytes of a block without opt-in */
#define ARCH(sm, shared, optin, reserved, threads, blocks, cluster)                                                    \
    ARCH_SHARED_PER_SM_##sm = (shared)*1024, ARCH_SHARED_##sm = (optin)*1024, ARCH_RESERVED_##sm = (reserved)*1024,    \
    ARCH_THREADS_PER_SM_##sm = threads, ARCH_BLOCKS_PER_SM_##sm = blocks, ARCH_CLUSTER_##sm = cluster,
#include "runtime/base/arch.def"
#undef ARCH
};

#endif
