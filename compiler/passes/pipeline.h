/* pipeline.h - what the files of the passes pipeline and bulk share: which loads of a loop are issued ahead of their round, and how. */
#ifndef FSC_PASSES_PIPELINE_H
#define FSC_PASSES_PIPELINE_H

#include "passes/private.h"

enum {
    MOST_AHEAD = 8,    /* loads of a loop */
    MOST_DISTANCE = 7, /* rounds ahead: each is code in front of the loop */
    MOST_CARRIED = 64, /* values of a loop: bits of a mask */
    UNITS = 3,         /* kinds of vectors: 4, 8, 16 bytes */
};

/* A load through shared memory. */
typedef struct AheadCopy {
    Op *load;
    uint8_t vec_log2;
    uint32_t unit, vectors; /* bytes of a vector; how many of a thread's vectors move */
    uint32_t bytes;         /* of a stage: vectors * unit * threads */
    uint32_t offset;        /* of the first stage */
    uint32_t ring;          /* of a bulk copy: the byte behind its stages, where its zeros and barriers are */
    bool is_cut;            /* likewise: by its mask, which compares an index with its bound */
} AheadCopy;

/* One loop. Loads go through shared memory, `distance` rounds ahead, or wait in registers for one round. */
typedef struct AheadPlan {
    Op *loop;
    int direction;           /* 1: its step is known to be positive; -1: not to be; 0: neither */
    AheadCopy copies[MOST_AHEAD];
    Op *loads[MOST_AHEAD];
    uint32_t num_copies, num_loads, distance;
    uint64_t copies_carry, loads_carry; /* of the loop's carried values, those that their addresses follow */
    Apart apart[MOST_AHEAD];            /* parameters that must not be one buffer, else each load stays in its round */
    uint32_t num_apart;
    uint32_t end[UNITS];                /* bytes of each kind that this loop and those around it take; bulk copies: one kind */
    bool leaves_loads;                  /* of bulk copies: other loads of the loop are for the pass pipeline */
} AheadPlan;

/* Plans for all loops that ask for stages and have loads for them; the bytes of shared memory that they take are given out. */
typedef VEC(AheadPlan) AheadPlans;
void ahead_plan(Func *f, PassContext *c, Arena *scratch, AheadPlans *plans);
/* The same for bulk copies alone; what is no row for them stays as it is. */
void bulk_plan(Func *f, PassContext *c, Arena *scratch, AheadPlans *plans);
Value *bulk_index(const Op *load), *bulk_bound(const Op *load); /* what the mask of a cut one compares */

enum { ZEROS = 16, BARRIER_BYTES = 8 }; /* of a ring, behind its stages: zeros, then a barrier a stage */

/* ---- front.c ------------------------------------------------------------------------------------------------------------ */

/* A round that is ahead. */
typedef struct Front {
    Value *iv, *more; /* of that round; does it run? */
    Value *carried[MOST_CARRIED];
} Front;

typedef struct Rotation {
    Func *f;
    const AheadPlan *plan;
    Op *loop;        /* the plan's, until it is built anew */
    uint64_t carry;
    Value *apart;    /* i1: are the buffers different? NULL: nothing needs that */
    uint32_t first;  /* of the new loop's carried values: the front's loop variable */
} Rotation;

Block *rotation_body(const Rotation *r);
Front front_begin(Rotation *r, Builder *b);
ValueMap front_map(const Rotation *r, const Front *at); /* what the loop's own values are in the front's round */
Value *front_clone(const Rotation *r, Builder *b, Value *v, ValueMap *map); /* v in the front's round: the ops that make it, once more */
Front front_next(const Rotation *r, Builder *b, const Front *at, ValueMap *map);
Value *buffers_differ(const Rotation *r, Builder *b); /* i1: no two of the plan's parameters name one buffer. NULL: nothing needs that */
void loop_grow(Rotation *r, Value **more, uint32_t n); /* the loop with more carried values, whose next ones the caller adds to its yield */
uint32_t front_pack(const Rotation *r, const Front *at, Value **out); /* the front as values that a loop carries, and back */
Front front_unpack(const Rotation *r);
void loop_carry(const Rotation *r, Value **next, uint32_t n);
Value *slot_next(Builder *b, Value *slot, uint32_t slots);
Value *slot_place(Builder *b, const AheadCopy *c, Value *slot); /* NULL: the only slot */

#endif
