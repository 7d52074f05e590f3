/* narrow.h - what narrow.c (comparisons) and offset.c (addresses) share: sums taken apart, and their 32-bit halves. */
#ifndef FSC_PASSES_NARROW_H
#define FSC_PASSES_NARROW_H

#include "passes/private.h"

typedef struct Replacement {
    Value *old, *with;
} Replacement;

typedef struct Narrow {
    Func *f;
    Arena *scratch;
    const Facts *facts; /* of what was there before */
    uint32_t first_new; /* ops from here on were built by this pass */
    VEC(Replacement) made;
} Narrow;

/* scale * v: an i64 value, or an i32 one that counts as sign extended; a scalar stands for a splat of it. */
typedef struct Term {
    Value *v;
    int64_t scale;
} Term;

typedef struct Terms {
    Term at[12];
    uint32_t len;
    uint64_t constant; /* added to the sum, modulo 2^64 */
    uint32_t visits;   /* ops taken apart so far */
    bool full;         /* there were more terms, or more ops than are worth it */
} Terms;

Range narrow_range(const Narrow *n, const Value *v);
bool narrow_can(const Narrow *n, const Value *v);     /* narrow_low works */
Value *narrow_low(Builder *b, Value *v);              /* its low 32 bits, in 32-bit arithmetic */
void narrow_terms(Value *v, int64_t scale, Terms *t); /* appends the terms of scale * v */
/* The exact range of the sum of the tiles, or of the scalars and the constant; false where it may be huge. */
bool narrow_sum_range(const Narrow *n, const Terms *t, bool of_tiles, Range *sum);
bool narrow_tiles_fit(const Narrow *n, const Terms *t, Range *sum);
Value *narrow_scalar_sum(Builder *b, const Terms *t); /* i64 */
Value *narrow_tile_sum(Builder *b, const Terms *t);   /* i32; NULL: no tiles */

/* offset.c: a better form of an addptr, or NULL. */
Value *narrow_addptr(Narrow *n, Builder *b, const Op *op);

#endif
