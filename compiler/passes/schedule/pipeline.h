/* pipeline.h - what the files of the pass pipeline share (ahead.c, across.c, prefetch.c, front.c,
 * pipeline.c): which loads of a loop are issued ahead of their round, and how. */
#ifndef FSC_PASSES_PIPELINE_H
#define FSC_PASSES_PIPELINE_H

#include "passes/private.h"

enum {
    MOST_PREFETCHED = 8, /* loads of a loop */
    MOST_DISTANCE = 7, /* rounds ahead: each is code in front of the loop */
    MOST_CARRIED = 64, /* values of a loop: bits of a mask */
    MOST_EARLY = 2, /* operands of a product */
    MOST_GIVEN = 16, /* values of the loop around that addresses take */
};

/* A load through shared memory. */
typedef struct PrefetchCopy {
    Op *load;
    Op *store;        /* that put it into the buffer, for all threads to see; NULL: each thread reads its own */
    Op *keep;         /* the store of it into a private buffer that later loops read, which is copied to; NULL: none */
    Value *stage;     /* the round's own, there */
    uint8_t vec_log2;
    uint32_t vectors; /* of its own: how many of a thread's move */
    uint32_t buffer;  /* the ring */
    const Box *box;   /* what a bulk copy brings; NULL: each thread copies */
} PrefetchCopy;

/* A part of a ring that a round's first product takes. */
typedef struct PrefetchRead {
    Op *read;
    int64_t at;
    Attr attr;
    Type part;
} PrefetchRead;

/* One loop. Loads go through shared memory, `distance` rounds ahead, or wait in registers for one round. Where other
 * threads read what one copied, there is one stage more: a round copies into what all have read the round before;
 * and another one where that round's products go on meanwhile. Bulk copies wait for those products alone. */
typedef struct PrefetchPlan {
    Op *loop;
    int direction;           /* 1: its step is known to be positive; -1: not to be; 0: neither */
    PrefetchCopy copies[MOST_PREFETCHED];
    Op *loads[MOST_PREFETCHED];
    uint32_t num_copies, num_loads, distance, stages;
    uint32_t lag;            /* rounds whose products go on behind the barrier of the next one: 0 or 1 */
    bool multiplies;         /* a product stands in the loop, which loads its operands */
    bool keeps;              /* what it copies has stages already, one for each round */
    bool is_ring;            /* other threads read what one copied */
    bool is_bulk;            /* bulk copies bring all that others read: no barrier, the last reader fills a stage */
    Op *outer;               /* the loop around, into whose next round copies go ahead; NULL: they end with the loop */
    int outer_direction;
    Value *given[MOST_GIVEN]; /* what their places take of the outer loop's body */
    uint32_t num_given;
    PrefetchRead early[MOST_EARLY]; /* made before … */
    uint32_t num_early;
    Op *last;                /* … the last product of the round before */
    uint64_t copies_carry, loads_carry; /* of the loop's carried values, those that their addresses follow */
    Apart apart[MOST_PREFETCHED];       /* parameters that must not be one buffer, else each load stays in its round */
    uint32_t num_apart;
} PrefetchPlan;

/* A round that is ahead. */
typedef struct Front {
    Value *iv, *more; /* of that round; does it run? */
    Value *issue;     /* are its bulk copies begun? */
    Value *carried[MOST_CARRIED];
} Front;

/* The first rounds of the loop in the next round of the one around it, as that round says. */
typedef struct Across {
    Value *span;    /* what the loop variable passes in all rounds of the loop */
    Value *begins;  /* i1: no round before has begun this one's first copies */
    Value *follows; /* i1: this one begins the next one's, … */
    Value *given[MOST_GIVEN]; /* … which has these values */
} Across;

typedef struct Rotation {
    Func *f;
    const PrefetchPlan *plan;
    Op *loop;        /* the plan's */
    Across across;   /* if the plan has an outer loop */
    uint64_t carry;
    Value *apart;    /* i1: are the buffers different? NULL: nothing needs that */
    uint32_t first;  /* of the new loop's carried values: the front's loop variable */
    Value *slot;     /* the stage that a round reads; NULL: there is one */
    Value *phase;    /* of that stage's count of bulk copies; NULL: there are none */
} Rotation;

static inline Block *body_of(const Rotation *r) {
    return r->loop->regions[0];
}
static inline bool is_carried(const Rotation *r, uint32_t i) {
    return r->carry >> i & 1;
}

/* By op id: the last attempt to follow a value that met it. */
typedef struct Attempts {
    uint32_t *stamp, last;
} Attempts;
/* Are the values known rounds of the loop ahead? *carried gains what they need of what it carries. */
bool ahead_follows(Attempts *seen, const Op *loop, Value *const *values, uint32_t n, uint64_t *carried);
/* Why the load must stay in its round; NULL: it need not, as far as plan->apart holds. */
const char *ahead_ordered(const Func *f, PrefetchPlan *plan, const Op *load);

/* May copies of the plan's rings go ahead into the next round of the loop around? Then the plan says so. */
void across_plan(const Facts *facts, Attempts *seen, PrefetchPlan *plan);
/* In front of the loop. */
void across_begin(Rotation *r, Builder *b);
/* What the loop's own values are in the round that the front, beyond the last one, is in then. */
ValueMap across_map(const Rotation *r, Builder *b, const Front *at);

/* 1: the loop's step is known to be positive; -1: not to be; 0: neither. */
int loop_direction(const Facts *facts, const Op *loop);
Value *loop_runs(Builder *b, const Op *loop, int direction, Value *iv);
/* v, of the block of code whose values `map` has in another round: the ops that make it, once more. */
Value *value_again(const Block *home, Builder *b, Value *v, ValueMap *map);
/* Does the round of this loop variable run? */
Value *front_runs(const Rotation *r, Builder *b, Value *iv);
Front front_begin(const Rotation *r, Builder *b); /* the first round */
ValueMap front_map(const Rotation *r, const Front *at); /* what the loop's own values are in the front's round */
/* v in the front's round: the ops that make it, once more. */
Value *front_value(const Rotation *r, Builder *b, Value *v, ValueMap *map);
Front front_next(const Rotation *r, Builder *b, const Front *at, ValueMap *map);
/* One thread's bulk copy of the boxes that begin at the front's places. Beyond the loop's last round those are of the
 * next time's first rounds, if copies go on there. */
void front_copy(const Rotation *r, Builder *b, const PrefetchCopy *c, Value *stage, const Front *front, ValueMap *map,
                bool is_begin);

/* The stage behind one of so many, or before it; the phase of that one, another each time that stages begin anew. */
Value *next_slot(Builder *b, Value *slot, uint32_t slots);
Value *slot_before(Builder *b, Value *slot, uint32_t slots);
Value *next_phase(Builder *b, Value *phase, Value *slot);

/* Plans for all loops that ask for stages and have loads for them; their rings are buffers of the function. */
typedef VEC(PrefetchPlan) PrefetchPlans;
void prefetch_plan(Func *f, PassContext *c, Arena *scratch, PrefetchPlans *plans);

#endif
