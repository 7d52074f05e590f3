/* softmax_match.h - a sum of exponentials below a maximum, as softmax_match.c finds it,
 * and online.c and chunkloop.c rewrite it. */
#ifndef FSC_PASSES_SOFTMAX_MATCH_H
#define FSC_PASSES_SOFTMAX_MATCH_H

#include "passes/private.h"

enum { MOST_STEPS = 4 };

/* m = max x, e = exp(t (h - g)), s = sum e, all over one axis. */
typedef struct SoftmaxMatch {
    Op *max, *exp, *sum;
    Op *difference;             /* fsub of h and g, or fma(x, factor, -g) */
    Op *scaling;                /* fmul or fdiv between the difference and exp, or NULL;
                                 * its operand `scaled` is the difference */
    uint32_t scaled;
    Value *scale;               /* its other operand: a scalar, or constant */
    Value *row;                 /* g: a scalar, or a tile without the axis or of size 1 along it */
    uint32_t axis;
    const Op *steps[MOST_STEPS]; /* how h is made of x, the last step first: fpext, fmul; the fma itself */
    Value *factors[MOST_STEPS];  /* of fmul and fma: a positive constant */
    uint32_t nsteps;
    bool is_plain;   /* g is just what h is at m */
    bool is_larger;  /* g may be larger than that: e^0 need not be a term */
    Op *larger;      /* the one maximum that makes it so; NULL: none, or several */
    bool is_turned;  /* perhaps: h and g have a factor whose sign is not known */
    bool is_guarded; /* for a maximum that is not finite g may be 0 */
} SoftmaxMatch;

/* Is op such a sum? Then g >= h at the maximum, wherever that is finite; *p says how. */
bool softmax_match(Op *op, SoftmaxMatch *p);
/* Is op a sum of this form, be it that no other pivot than g will do? */
bool softmax_find(Op *op, SoftmaxMatch *p);
/* e^(t (h - c)), of whose sum e^0 is a term, needs no more accuracy than `term`, if t is known not to turn the
 * difference round, or the base is 2: then nothing is rounded before ex2. Is it that now? */
bool softmax_shorten(const SoftmaxMatch *p, Op *e);
/* Of select(test, kept, 0) or select(test, 0, kept) what is kept, where that is every finite number; NULL: op is no
 * such. What the test says of infinities and NaN does not matter but for == -inf: then only -inf is replaced, and
 * *is_exact. */
Value *softmax_guarded(const Op *op, bool *is_exact);

/* ---- Of a part of the elements (online.c) ------------------------------------------------------------------------ */

/* What stands for g where only the part was seen whose maximum is m. */
Value *softmax_pivot(Builder *b, const SoftmaxMatch *p, Value *m);
/* exp(t * d) as the source has it. */
Value *softmax_exponential(Builder *b, const SoftmaxMatch *p, Value *d);
/* What a sum below pivot c is multiplied by to be one below g; both of one type. */
Value *softmax_factor(Builder *b, const SoftmaxMatch *p, Value *c, Value *g);

#endif
