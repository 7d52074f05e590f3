/* private.h - what the files of passes/ share and nobody else needs: questions about ops, the rules of facts, and the
 * state of the layout pass. */
#ifndef FSC_PASSES_PRIVATE_H
#define FSC_PASSES_PRIVATE_H

#include "passes/passes.h"

/* ---- Questions about ops (ask.c) --------------------------------------------------------------------------------- */

/* PURE, one result, and each element of it depends on the same element of the operands (scalars on scalars). */
bool op_is_elementwise(const Op *op);
/* const, arange, splat, expand_dims, broadcast with a tile as result: costs next to nothing wherever it is needed. */
bool op_is_tile_maker(const Op *op);
bool op_is_commutative(OpKind k);
uint32_t log2_floor(uint64_t x); /* of 0: 0 */

/* ---- Facts (rules in factop.c, ranges in range.c, loops and queries in facts.c) ----------------------------------- */

typedef struct Range {
    int64_t lo, hi; /* signed, inclusive */
} Range;

Range range_full(DType d);
/* The range of an elementwise integer op's result from those of its operands. */
Range range_of(const Op *op, const Range *args);
Range range_of_reduce(const Op *op, Range arg);

Fact fact_bottom(Type t); /* nothing is known */
Fact fact_join(const Value *v, const Fact *a, const Fact *b); /* what holds of both */
/* The fact of the op's only result; args[i] is the fact of operand i. */
Fact fact_of_op(const Op *op, const Fact *const *args);

/* ---- The layout pass (layout.c; anchor.c, home.c, remat.c) -------------------------------------------------------- */

/* How memory wants one tile shape to lie over the threads. */
typedef struct Anchor {
    Shape shape;
    uint8_t first;    /* the axis that is contiguous in memory */
    uint32_t vec;     /* log2 of the elements a thread holds side by side */
    uint32_t votes;   /* accesses that want this */
    const Layout *layout;
} Anchor;

/* What the new function has of an old tile value: its copies, one per layout. */
typedef struct Copy {
    const Layout *layout;
    Value *value;
    struct Copy *next;
} Copy;

typedef struct Assign {
    Func *f;
    PassContext *c;
    const Facts *facts; /* of the old values */
    Arena *scratch;
    VEC(Anchor) anchors;
    uint32_t nvalues;      /* old values have smaller ids */
    uint8_t *cost;         /* by old value: ops to compute it anew; 255: too many, or not allowed */
    const Layout **home;   /* by old value: the layout of a value that is computed once */
    Value **scalar;        /* by old value: the new scalar */
    Copy **copies;         /* by old value: tiles */
    Op **mark;             /* by old value: new copies go before this op, which goes in the end */
} Assign;

/* anchor.c: reads the accesses; then a layout for a value of this shape that nothing else decides (a tile of pointers:
 * as its own addresses want it). */
void anchors_find(Assign *a);
const Layout *anchor_of(const Assign *a, const Value *v);
/* What an access knows of itself in layout l. `mask` may be NULL. */
void anchor_describe(const Assign *a, const Value *ptr, const Value *mask, const Layout *l, MemAttr *m);

/* home.c: which values are computed once, and in which layout. */
void homes_find(Assign *a);
bool value_is_cheap(const Assign *a, const Value *v);       /* computed anew where it is wanted */
bool value_is_transparent(const Assign *a, const Value *v); /* an axis operation on something that is not cheap */
const Layout *store_layout(const Assign *a, const Op *store);
const Layout *reduce_layout(const Assign *a, const Op *reduce); /* of its operand */

/* remat.c: the new value of an old one; of tiles, in layout l. */
Value *demand(Assign *a, Value *old, const Layout *l);
void copy_add(Assign *a, const Value *old, Value *made);

#endif
