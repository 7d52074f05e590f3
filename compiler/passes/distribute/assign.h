/* assign.h - what the files of the layout pass share: the assignment under way,
 * and the questions that its parts answer. */
#ifndef FSC_PASSES_ASSIGN_H
#define FSC_PASSES_ASSIGN_H

#include "passes/private.h"

typedef struct Anchor { /* a shape accessed along one axis */
    Shape shape;
    uint32_t axis, voted_log2;
    uint32_t vec_log2; /* as voted for, but no more than a thread has */
    const Layout *layout;
    bool is_warps; /* an element of each warp: what loops over chunks carry */
} Anchor;

typedef struct Clone { /* a value as somebody demanded it */
    const Layout *layout;
    Value *value;
    struct Clone *next;
} Clone;

typedef struct Demanded {
    const Value *made;
    Value *of;
} Demanded;

typedef struct Assign {
    Func *f;
    const PassContext *c;
    Arena *scratch;
    const Facts *facts;
    const Votes *votes;
    VEC(Anchor) anchors;
    uint32_t known;  /* values the facts and the side tables cover */
    uint8_t *cost;   /* by value id: 0 not looked at, else 1 + ops of the tree; more than CHEAP: not cheap */
    Clone **clones;  /* by value id */
    VEC(Demanded) demanded; /* all of them */
    uint32_t lanes_log2, warps_log2, ctas_log2;
    bool transposes; /* some tile is transposed */
    VEC(const Layout *) sums; /* of products */
    const Layout **wanted; /* by op id: where it works, as a product takes its operand from registers; else NULL */
    uint8_t *looked;       /* by op id: what operand.c found there */
    uint32_t known_ops;    /* that these cover */
} Assign;

/* ---- What memory wants (anchor.c) -------------------------------------------------------------------------------- */

void anchor_note(void *assign, Op *op); /* for each op before any layout is chosen */
void anchor_note_warps(void *assign, Op *op); /* behind anchor_note */
bool anchor_is_warps(const Assign *s, Shape shape);
/* The axis along which memory wants tiles of this shape. */
uint32_t anchor_shape_axis(const Assign *s, Shape shape);
const Layout *anchor_layout(Assign *s, Shape shape, uint32_t axis);
const Layout *anchor_access(Assign *s, const Op *op); /* that an access voted for */
/* For a tile that memory says nothing about: as another access of its shape has it, else along the last axis. */
const Layout *anchor_default(Assign *s, Shape shape);

/* ---- A value in the layout that somebody wants (demand.c) -------------------------------------------------------- */

bool value_is_cheap(Assign *s, const Value *v);
/* A tile with a layout of its own: neither cheap nor a broadcast of something. */
bool value_is_hard(Assign *s, const Value *v);
/* The layout of operand i of an op whose result is wanted in l. */
const Layout *operand_layout(Assign *s, const Op *op, uint32_t i, const Layout *l);
/* v in layout l as somebody demanded it; NULL: nobody has. */
Value *demand_made(const Assign *s, const Value *v, const Layout *l);
/* Of a load or store of tiles in layout l: what moves at once along the axis, how it is aligned and masked. The
 * pointers and the mask (NULL: none) as they were before anybody demanded them: facts are about those. */
void access_set(const Assign *s, Op *op, const Layout *l, uint32_t axis, const Value *ptr, const Value *mask);
/* Operand i becomes what it is in layout l: itself, a clone, or a conversion. */
void demand_arg(Assign *s, Op *op, uint32_t i, const Layout *l);

/* ---- Operands that are made in registers (operand.c) ------------------------------------------------------------- */

void operand_note(void *assign, Op *op); /* for each op, behind anchor_note */

/* ---- The layout that a value will have, before its op was reached (guess.c) -------------------------------------- */

/* Elements change their places, not their threads. */
bool op_is_move(OpKind k);
/* Of the result of reshape, trans, join, split: no element leaves its thread, the registers stand as memory wants them.
 * NULL where that cannot be. */
const Layout *guess_moved(Assign *s, const Op *op, const Layout *from);
/* The layout of what combining gives, where its operands are rather in `l` (NULL: nothing is said). */
const Layout *guess_combined(Assign *s, const Op *op, const Layout *l);
/* Of a product of this shape, and of what it is added to. */
const Layout *guess_dot(Assign *s, Shape shape);
/* Of what will be x or (not NULL) y. */
const Layout *guess_of(Assign *s, const Value *x, const Value *y);

#endif
