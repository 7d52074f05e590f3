/* chunk.h - what chunk.c plans and chunkloop.c builds: loops over the chunks of a row. */
#ifndef FSC_PASSES_CHUNK_H
#define FSC_PASSES_CHUNK_H

#include "passes/analysis/softmax_match.h"

typedef VEC(Op *) OpList;

/* A loop over the chunks. */
typedef struct StripLoop {
    Op *before;    /* where it stands */
    OpList ends;   /* reductions and stores */
    OpList copied; /* with what they need, in program order */
    OpList late;   /* stores of single elements, which move behind it */
    VEC(int64_t) first; /* what reductions begin with; none: with what changes nothing */
    VEC(SoftmaxMatch) softmaxes; /* sums that need not wait for their maximum, which is among `ends` */
} StripLoop;

/* A load that several loops need: the first leaves chunks of it in shared memory, the others find them there. */
typedef struct StagedRow {
    Op *load;
    const StripLoop *first;
    uint32_t buffer;
    VEC(Value *) held; /* chunks of its end, once they are built */
} StagedRow;

typedef struct Chunk {
    Func *f;
    Arena *scratch;
    uint64_t row, size; /* elements of what is strip-mined, and of a chunk */
    uint64_t extent;    /* of the row, how much loops go over: a multiple of `size` */
    uint32_t wide;      /* bytes of the row's widest element in a register … */
    uint32_t narrow;    /* … and of its narrowest in memory */
    bool sound;
    uint32_t *order;    /* by op id: its place in the program */
    uint32_t places;
    bool *marked;       /* by op id: the loop at hand copies it */
    bool *taken;        /* by op id: a sum that is in its maximum's loop */
    VEC(SoftmaxMatch) sums; /* all that might be */
    VEC(StripLoop) strip_loops;
    VEC(Apart) apart;
    Shape threads;      /* of what loops carry: an element for each thread; rank 0: one for all */
    Shape warps;        /* of what becomes of it behind a loop: an element for each warp; rank 0: there is one */
    bool has_others;    /* tiles that are not strip-mined */
    uint32_t atomics, loads; /* loads: of rows */
    VEC(StagedRow) staged_rows;
    uint64_t staged;    /* elements of the row's beginning that stay in shared memory */
    uint64_t held;      /* elements of its end that stay in registers */
} Chunk;

/* How far the planned loops have to go (extent.c). */
uint64_t chunk_extent(const Chunk *k, const Facts *facts);
/* Which rows stay on chip, and how much of them (staged.c). may_hold: in registers, too. */
void chunk_plan_staged(Chunk *k, const Target *t, bool may_hold);
/* Does loop w make op anew? */
bool chunk_copies(const StripLoop *w, const Op *op);
/* Does loop w use a row that stays on chip? Is it the first to? */
bool chunk_is_staged(const Chunk *k, const StripLoop *w, bool *is_first);

/* Where later loops find what the first one has loaded. */
typedef enum ChunkSource { FROM_MEMORY, FROM_STAGES, FROM_REGISTERS } ChunkSource;

/* A chunk that loop w makes. */
typedef struct ChunkCopy {
    const Chunk *k;
    const StripLoop *w;
    ValueMap *map; /* from the row's values to those of the chunk, as far as these are made */
    Value *place;  /* where the chunk begins */
    ChunkSource source;
    uint32_t held; /* of those in registers: which one */
} ChunkCopy;
Value *chunk_copy_op(const Chunk *k, Builder *b, const Op *op, const ValueMap *map, Value *place); /* chunkloop.c */
/* What stands for the load in the chunk. */
Value *chunk_copy_load(const ChunkCopy *c, Builder *b, const Op *load);
void chunk_build_loop(const Chunk *k, const StripLoop *w); /* chunkloop.c */

#endif
