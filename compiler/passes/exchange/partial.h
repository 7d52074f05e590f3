/* partial.h - partial results of warps: how passes that take an exchange apart build and combine them (partial.c). */
#ifndef FSC_PASSES_PARTIAL_H
#define FSC_PASSES_PARTIAL_H

#include "passes/private.h"

/* A reduction along an axis whose partial results a pass exchanges itself. */
typedef struct Partial {
    const Layout *tile; /* of what is reduced */
    uint32_t axis;
    Crossing crossing;
} Partial;

/* Does it pay to take the reduction apart, and can what is made of its result (`row`: a scalar, or a tile without the
 * axis or of size 1 along it) be brought to where partial results are? An exchange of 2^joins numbers a warp. */
bool partial_plan(Func *f, const Op *reduce, const Value *row, uint32_t joins, Partial *p);
/* May v, and what it is made of, stand before `where`, an op of its block? Unless `try` it is moved there. */
bool value_raise(Func *f, const Value *v, Op *where, bool try);

Type type_laid(DType d, const Layout *l);
/* A scalar or a constant as a tile of type t. */
Value *build_uniform(Builder *b, Value *v, Type t);
/* A value of the row, at every place of the axis in t. */
Value *build_along(Builder *b, Value *row, uint32_t axis, Type t);
/* v in layout l, where it is a tile. */
Value *build_laid(Builder *b, Value *v, const Layout *l);
/* v reduced within each warp, as it goes to shared memory. */
Value *partial_within(Builder *b, const Partial *p, Value *v, Attr a);
/* A warp's own number at each of its elements, in layout `tile`. */
Value *partial_to_elements(Builder *b, const Partial *p, Value *v, const Layout *tile);
/* What was exchanged, reduced over warps, in the result's layout; *last: where it is made. */
Value *partial_combine(Builder *b, const Partial *p, Value *v, Attr a, Value **last);

#endif
