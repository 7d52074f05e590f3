/* target.h - the machine that code is for, as numbers and features: what passes and code generators ask,
 * and never by its name.
 *
 * A row is its family's (codegen/backends.def); how code is made for it is its backend's,
 * which nothing below codegen/ looks into.
 */
#ifndef FSC_TARGET_H
#define FSC_TARGET_H

#include <stdbool.h>
#include <stdint.h>

typedef enum Feature {
#define FEATURE(e, meaning) FEATURE_##e,
#include "base/feature.def"
#undef FEATURE
    FEATURE_COUNT
} Feature;

/* Of a row: FEATURES(COPIES) | … */
#define FEATURES(e) (UINT64_C(1) << FEATURE_##e)

typedef struct Target {
    const char *name; /* "sm_80", "cpu" */
    const struct Backend *backend;
    uint64_t features;
    uint32_t warp_threads;     /* that run together; a power of two */
    uint32_t max_threads;      /* of a block */
    uint32_t max_registers;    /* of a thread, of 32 bits */
    uint32_t registers_per_sm;
    uint32_t max_shared;       /* bytes of a block, with opt-in */
    uint32_t max_cluster;      /* blocks; 1: there are no clusters */
    uint32_t max_vector_bytes; /* of one access */
    const char *portable;      /* the target that has all but this one's own features, and whose code later devices
                                * take; NULL: it has none of its own */
} Target;

static inline bool target_has(const Target *t, Feature f) {
    return t->features >> f & 1;
}

enum { SHARED_OF_SYSTEM = 1024 /* bytes of shared memory that each block takes beside its own */ };

/* Bytes of shared memory that a block may have where so many of them are on a multiprocessor. */
static inline uint32_t target_shared_of(const Target *t, uint32_t blocks) {
    return (t->max_shared + SHARED_OF_SYSTEM) / blocks - SHARED_OF_SYSTEM;
}

#endif
