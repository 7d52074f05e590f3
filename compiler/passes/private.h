/* private.h - what the files of passes/ share and nobody else needs: ranges, the rules of facts. */
#ifndef FSC_PASSES_PRIVATE_H
#define FSC_PASSES_PRIVATE_H

#include "passes/passes.h"

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static inline uint32_t log2_floor(uint64_t x) {
    return x ? 63 - (uint32_t)__builtin_clzll(x) : 0;
}
/* Of a tile of this shape, as far as masks of loads and stores may let its elements through (distribute.c). */
uint64_t live_elements(Func *f, const Facts *facts, Shape shape);

/* ---- Rows that begin anywhere (rotate.c) ------------------------------------------------------------------------- */

/* Places of a tile that is rotated, at least: shorter rows lose more than they win (docs/lab/row-starts.md). */
uint32_t rotation_least(Func *f);
/* An access of a row that such a rotation would give whole vectors. */
bool row_may_rotate(const Facts *facts, const Op *op, const Target *t, uint32_t least);
/* Rotates the places of tiles, where a row's alignment is not known and that is sound: their accesses have is_rotated,
 * vec_log2, align_log2 and mask_kind. False: nothing changed. Before layouts. */
bool rotate_rows(Func *f, const Facts *facts, const PassContext *c);

/* ---- How many neighbours a thread holds (vote.c) ----------------------------------------------------------------- */

/* For an access of a tile. */
typedef struct Vote {
    uint32_t axis;     /* along which its addresses are neighbours */
    uint32_t vec_log2; /* of its layout */
    uint32_t run_log2; /* what it may move at once, whatever the layout */
    uint32_t widest;   /* bytes of an element of those that it voted with, at most */
} Vote;

typedef struct Votes Votes;

/* `hopes`: rows that may be rotated count as if they were. */
const Votes *votes_take(Func *f, const Facts *facts, const Target *t, bool hopes, Arena *arena);
Vote vote_of(const Votes *s, const Op *access);
/* The axis along which the pointers are neighbours; the last one where it does not matter. */
uint32_t access_axis(const Facts *facts, const Value *ptr);

/* ---- Order of memory (alias.c) ----------------------------------------------------------------------------------- */

/* Two accesses of global memory, `a` before `b`; may a thread touch by `b` what another touched by `a`, one of them
 * storing, or does one of them order the other (atomics that acquire or release)? is_round: `a` may have happened in an
 * earlier round of a loop. Without layouts each element of a tile counts as a thread's. */
bool accesses_cross(const Func *f, const Op *a, const Op *b, bool is_round);

/* Likewise, of accesses that are taken apart into parts of their tiles. Rows of two parameters may have strides of
 * their own: then the parameters name two buffers. */
bool accesses_cross_in_parts(const Func *f, const Op *a, const Op *b);

/* Of two that cross: only if their parameters, which are two, name one buffer? */
bool accesses_cross_if_one(const Func *f, const Op *a, const Op *b);

/* May two accesses touch the same memory at all? Nobody writes what a const pointer names. */
bool accesses_meet(const Func *f, const Op *a, const Op *b);
/* The pointer parameter that its address comes from, NULL where control flow hides it. */
const Value *access_parameter(const Func *f, const Op *access);

/* ---- Exchanges through shared memory ----------------------------------------------------------------------------- */

/* Where v goes to shared memory that `op` reads: before op, or before what in v's block holds op, and a barrier. */
Builder builder_to_share(Func *f, const Value *v, Op *op);

/* Offsets for all buffers that are alive at all, and how many bytes that takes (shared.c). */
uint64_t buffers_place(Func *f, const Lives *lives);

/* What goes through a buffer (rounds.c). */
typedef struct Exchange {
    Op *store, *load, *last; /* the first and the last load, in the store's block and behind it */
    bool is_other;           /* touched in another way */
} Exchange;

Exchange *exchanges_find(Func *f, Arena *scratch); /* by buffer */
/* A store and loads of it, under no condition: in the function's body, or in that of a `for` within others. */
bool exchange_is_rounds(const Exchange *x);

/* Of the body of such a loop. */
typedef struct LoopRound {
    const Block *body;
    Value *count, *one; /* how many there were before, in all rounds of the loops around it; 1 */
    Value *stage;       /* of two that take turns */
    Value *phase;       /* of a stage: it alternates, too; NULL: nobody has asked */
} LoopRound;

typedef VEC(LoopRound) RoundList;

/* The loops carry the count. `known`: those that were asked for before. */
LoopRound *round_of(Func *f, Arena *scratch, RoundList *known, Block *body);
Value *round_phase(Func *f, LoopRound *r);
/* Is it such a stage, of a round of that body? */
bool stage_alternates(const Value *stage, const Block *body);

/* How a reduction crosses warps (crossing.c): what each warp leaves, and the layouts that the others read it in. */
typedef struct Crossing {
    const Layout *partial; /* of each warp's results, and as they go to shared memory: */
    const Layout *stored;
    const Layout *meet, *met; /* warps of a block combine theirs first, and what comes of that; NULL: they do not */
    const Layout *spread;     /* what is left along the axis, in every warp: 1 where the warps of a block were all */
    const Layout *last;       /* the result as it is made of that, elements of one thread scattered over lanes where
                               * that is cheaper */
    const Layout *result;     /* as everybody expects it */
} Crossing;

/* `is_pair`: of a maximum and a sum below it. The layout must not be mixed, and the axis cross warps. */
Crossing crossing_plan(Func *f, const Layout *l, uint32_t axis, bool is_pair);

/* Threads of row programs that a multiprocessor had better hold, to load for some rows while it computes others; of
 * blocks of so many warps and more. */
enum { RESIDENT_THREADS = 1280, RESIDENT_WARPS = 8 };

/* A load of a const pointer in vectors of 16 bytes that is for stores alone, as far as elementwise ops go: it may wait
 * for them, behind a reduction (defer.c). */
bool load_is_for_stores(const Func *f, const Op *op);

/* ---- What a program holds (distribute.c) ------------------------------------------------------------------------- */

/* How many lanes a program of its tiles wants: a warp's where it is one, or more than one. */
uint32_t distribute_lanes(Func *f, const Facts *facts, const PassContext *c);
/* How many elements of a row are taken at a time, a power of two; may copies bring them? */
typedef struct RowChunk {
    uint64_t size;
    bool is_copied;
} RowChunk;
/* Where no program of the target holds the largest tile in registers (elements of `wide` bytes, in memory `narrow` at
 * least): warps and blocks are chosen, and how much they take at a time. Else {0}. `loads` of such tiles there are. */
RowChunk distribute_chunk(Func *f, const Facts *facts, const PassContext *c, uint32_t wide, uint32_t narrow,
                          uint32_t loads);

/* ---- The pipeline (run.c) ---------------------------------------------------------------------------------------- */

/* Code is made without the pass, as somebody wants it. */
bool pass_is_missing(const PassContext *c, const char *name);

/* ---- Products by instructions (matrix.c) ------------------------------------------------------------------------- */

/* The instruction of the target for a dot, for each matrix of a batch, and for parts of fp32 where its precision asks
 * for some; of several warps only with `groups`. *widens: fp8 becomes fp16. */
bool dot_instr(const PassContext *c, const Op *op, bool groups, Mma *instr, bool *widens);
/* To the nearest tf32, halves away from zero; what is below tf32's last bit the instruction drops. NaN stays one. */
Value *tf32_rounded(Builder *b, Value *x);

/* ---- Products that go on meanwhile (async.c) --------------------------------------------------------------------- */

/* How many products of four warps the loop has, where each hands its sum to the next round's and to nobody else; else
 * 0. */
uint32_t loop_sums(const Op *loop);

/* ---- Addresses (address.c) --------------------------------------------------------------------------------------- */

/* Axis d of the value that is looked at is axis at[d] of the tile that it is for. */
typedef struct Axes {
    int32_t at[SHAPE_RANK];
    int64_t from[SHAPE_RANK]; /* along it the tile is a part, which begins here */
} Axes;

typedef struct Part {
    const Value *v, *by[2]; /* scale * by[0] * by[1] * v; by: scalar parameters in their order, then NULL for 1 */
    int64_t scale;
    int32_t axis; /* v is an arange along this axis of the tile; -1: something else */
} Part;

typedef struct Parts {
    Part at[16];
    uint32_t len, visits;
    uint32_t factors; /* how many parameters a part may be multiplied by, at most 2; more are parts of v */
    int64_t constant;
    bool is_known; /* else there were more, or numbers beyond 64 bits */
} Parts;

bool value_is_param(const Value *v);
Axes axes_own(void);
/* Through conversions and other places in tile or threads; axes, if there are any, are those of what is below. */
const Value *value_stripped(const Value *v, Axes *axes);
const Value *value_unextended(const Value *v); /* what sext extends (fold.c), or v */
void parts_add(Parts *p, const Value *v, Axes axes, int64_t scale);
Parts parts_of(const Value *v); /* of one factor */
/* The pointer parameter below, NULL where control flow hides it; the sum of what is added to it. */
const Value *address_parts(const Value *ptr, uint32_t factors, Parts *p);

/* ---- Boxes of tensors (analysis/box.c, schedule/bulk.c) ---------------------------------------------------------- */

typedef struct BoxTerm {
    Value *v; /* a scalar */
    int64_t scale;
} BoxTerm;

/* A dimension of the memory below a load. The box begins at the sum of its terms and the constant. */
typedef struct BoxDim {
    int32_t axis;     /* of the tile; -1: the box has one place */
    const Value *by[2]; /* elements from one place to the next: these scalar parameters (NULL: 1) times `scale` */
    int64_t scale;
    const Value *extent; /* the scalar parameter that says how many places there are; NULL: `most` does */
    bool is_masked_below; /* the mask leaves out places below 0, too */
    int64_t most, constant;
    BoxTerm terms[4];
    uint32_t num_terms;
} BoxDim;

typedef struct Box {
    const Value *param; /* the pointer */
    uint32_t rank;
    BoxDim dims[MAP_DIMS]; /* the fastest first, then those of the tile's other axes */
    Value *when;           /* a scalar i1: where it is false, all is 0; NULL: always */
} Box;

/* False: addresses and mask of the load or store are none of a box. */
bool box_of(const Op *access, Box *out);
/* Elements of the buffer: places along the fastest dimension are multiples of it. */
uint32_t box_unit(const Func *f, uint32_t buffer);
/* Where it begins along the dimension, an i32, a multiple of `unit` as all that it is the sum of: terms[i] is what d's
 * i-th is now. What lies beyond the end is cut, and all where `when`, if there is one, is false. */
Value *box_place(Builder *b, const BoxDim *d, uint32_t unit, Value *const *terms, Value *when);
/* Does a loop multiply what it loads itself, and may that be loaded ahead? */
bool loop_is_fed(const Func *f, const Op *loop);
/* By instructions of four warps, in the block or in one within: cards that have them have bulk copies, too. */
bool block_multiplies(const Block *b);
/* Would one thread copy for all what a loop's load brings, to such a buffer of one stage, if products take it? */
bool bulk_takes(Func *f, const PassContext *c, const Facts *facts, const Op *load, const Buffer *to);
/* May the function have bulk copies at all? */
bool func_has_bulk(const Func *f, const PassContext *c);
/* The number of the map, from 1, whose boxes the buffer has, for an access of such a box; 0: there is none. */
uint32_t bulk_map(Func *f, const PassContext *c, const Facts *facts, const Op *access, const Box *box,
                  const Buffer *buffer);
/* Maps that no bulk copy names are gone, and no load names one. */
void maps_keep_used(Func *f, Arena *scratch);

/* Warns of a reduction over masked-off elements (pad.c). */
void lint_reduction(const Op *op, const Facts *facts, Diag *d);

/* ---- Facts (rules in factop.c, ranges in range.c, loops and queries in facts.c) ---------------------------------- */

Range range_of_reduce(const Op *op, Range arg);

Fact fact_bottom(Type t);                                     /* nothing is known */
Fact fact_join(const Value *v, const Fact *a, const Fact *b); /* what holds of both */
/* The fact of the op's only result; args[i] is the fact of operand i. */
Fact fact_of_op(const Op *op, const Fact *const *args);

#endif
