/* against.h - an earlier run of fsc bench, as --csv wrote it, to compare with. */
#ifndef FSC_AGAINST_H
#define FSC_AGAINST_H

#include "tool/run/axis.h"

typedef struct Earlier {
    const char **keys; /* the axes' columns, dtype and num_warps, as bench_key writes them */
    double ms, low, high; /* median and quartiles */
} Earlier;

typedef struct Against {
    VEC(Earlier) points;
    const char *device; /* of that run */
    uint32_t num_keys;
} Against;

/* Reads the columns of these names. False after saying what is wrong with the file. */
bool against_read(Arena *a, const char *path, const char *const *keys, uint32_t num_keys, Against *out);
/* The point with these keys; NULL: the file has none. */
const Earlier *against_find(const Against *g, const char *const *keys);

#endif
