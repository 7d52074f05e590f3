/* chunk.h - what chunk.c plans and chunkloop.c builds: walks over the chunks of a row. */
#ifndef FSC_PASSES_CHUNK_H
#define FSC_PASSES_CHUNK_H

#include "passes/online.h"

typedef VEC(Op *) OpList;

/* A loop over the chunks. */
typedef struct Walk {
    Op *before;    /* where it stands */
    OpList ends;   /* reductions and stores */
    OpList copied; /* with what they need, in program order */
    OpList late;   /* stores of single elements, which move behind it */
    VEC(BelowMax) below; /* sums that need not wait for their maximum, which is among `ends` */
} Walk;

/* A load that several walks need: the first leaves chunks of it in shared memory, the others find them there. */
typedef struct KeptRow {
    Op *load;
    const Walk *first;
    int64_t begin; /* byte */
} KeptRow;

typedef struct Chunk {
    Func *f;
    Arena *scratch;
    uint64_t row, size; /* elements of what is walked, and of a chunk */
    uint32_t wide;      /* bytes of the row's widest element in a register … */
    uint32_t narrow;    /* … and of its narrowest in memory */
    bool sound;
    uint32_t *order;    /* by op id: its place in the program */
    uint32_t places;
    bool *marked;       /* by op id: the walk at hand copies it */
    bool *taken;        /* by op id: a sum that is in its maximum's walk */
    VEC(BelowMax) sums; /* all that might be */
    VEC(Walk) walks;
    VEC(Apart) apart;
    Shape warps;        /* of what loops carry: an element for each warp; rank 0: one for all */
    bool has_others;    /* tiles that are not walked */
    uint32_t atomics, loads; /* loads: of rows */
    VEC(KeptRow) kept_rows;
    uint64_t kept;      /* elements of the row's beginning that stay in shared memory */
} Chunk;

/* Which rows stay in shared memory, and how much of them (keep.c). `room`: bytes of a block. */
void chunk_plan_kept(Chunk *k, uint32_t room);
/* What stands for the load in walk w, in the chunk that begins at `place`; `load` builds the load itself. */
typedef struct ChunkLoad {
    const Chunk *k;
    const Walk *w;
    const Op *op;
    const ValueMap *map;
    Value *place;
} ChunkLoad;
Value *chunk_copy_op(const Chunk *k, Builder *b, const Op *op, const ValueMap *map, Value *place); /* chunkloop.c */
Value *chunk_copy_load(const ChunkLoad *l, Builder *b);
void chunk_build_walk(const Chunk *k, const Walk *w); /* chunkloop.c */

#endif
