/* values.h - arrays of numbers on the host, for expectations: every element a long double, which holds each element of
 * every type exactly. */
#ifndef FSC_VALUES_H
#define FSC_VALUES_H

#include "tool/run/array.h"

typedef long double Real;

typedef struct Values {
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
    uint64_t count;
    Real *at; /* C order; of the arena, or borrowed */
} Values;

typedef struct Index { /* one of those between brackets */
    enum { INDEX_RANGE, INDEX_NEW, INDEX_AT } kind;
    int64_t low, high; /* RANGE: [low, high); AT: low; negative ones count from the end */
    bool has_low, has_high;
} Index;

typedef enum Reduce { REDUCE_SUM, REDUCE_MEAN, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ARGMAX, REDUCE_ARGMIN,
                      REDUCE_CUMSUM } Reduce;

/* An element as a number. */
Real array_number(const Array *a, uint64_t i);
Values *values_of_array(Arena *arena, const Array *a);
Values *values_number(Arena *arena, Real x);
Values *values_arange(Arena *arena, int64_t n);
/* Rounded as a store into that type does; false for no type. */
bool real_round(const char *dtype, Real x, Real *out);
/* Those below give NULL where shapes do not fit, with *why, a sentence of the arena. */
/* fn of each element of n arrays, at most 3, broadcast together. */
Values *values_apply(Arena *arena, Real (*fn)(const Real *x), const Values *const *args, uint32_t n, const char **why);
/* The axis stays, with length 1; cumsum keeps its length. axis NULL: over all elements. */
Values *values_reduce(Arena *arena, Reduce kind, const Values *v, const int64_t *axis, const char **why);
Values *values_product(Arena *arena, const Values *a, const Values *b, const char **why); /* a @ b */
Values *values_transpose(Arena *arena, const Values *v, const char **why); /* the last two axes */
Values *values_index(Arena *arena, const Values *v, const Index *index, uint32_t n, const char **why);
Values *values_take(Arena *arena, const Values *v, const Values *rows, const char **why); /* v[rows], along axis 0 */
/* "4 x 8", "a number" */
const char *values_shape(Arena *arena, const Values *v);

#endif
