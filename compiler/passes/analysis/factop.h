/* factop.h - what the rules of facts share: factop.c (arithmetic)
 * and factshape.c (elements that change their places). */
#ifndef FSC_PASSES_FACTOP_H
#define FSC_PASSES_FACTOP_H

#include "passes/private.h"

static inline uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}
static inline uint32_t most(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}
static inline uint32_t axes_of(Type t) {
    return t.shape.rank ? t.shape.rank : 1;
}
uint32_t unit_of(Type t);              /* what one step of counting adds */
uint32_t axis_size(Type t, uint32_t d);
/* of the first of each aligned `run` */
uint32_t start_divisible(const Fact *a, uint32_t d, uint32_t run, uint32_t unit);
uint32_t all_divisible(const Fact *a, Type t);                                    /* of every element */

/* Elements that change their places (factshape.c). */
Fact fact_reshape(const Op *op, const Fact *a);
Fact fact_trans(const Op *op, const Fact *a);
Fact fact_flip(const Op *op, const Fact *a);
Fact fact_join_halves(const Op *op, const Fact *a, const Fact *b);
Fact fact_split(const Op *op, const Fact *a);
Fact fact_gather(const Op *op, const Fact *a, const Fact *index);

#endif
