/* fill.h - values of parameters from the arrays of a call: what shape contracts name, what defaults say. Not public.
 *
 * In: a kernel's interface, the values that were given, arrays with shape and strides. Out: more values, each with
 * where it came from; or a sentence about two that contradict. Used by `fsc run` and by fsc_jit_call: one way of doing
 * it.
 */
#ifndef FSC_FILL_H
#define FSC_FILL_H

#include "runtime/fsc_runtime.h"
#include "runtime/record/record.h"

typedef enum FillHow {
    FILL_GIVEN,   /* by the caller */
    FILL_DEFAULT, /* of the source */
    FILL_SHAPE,   /* the size of an array's dimension */
    FILL_COUNT,   /* the number of elements of an array */
    FILL_STRIDE,  /* of an array's dimension */
} FillHow;

typedef struct FillOrigin {
    FillHow how;
    uint32_t array; /* the parameter whose array it was */
} FillOrigin;

typedef struct Fill {
    const Record *record; /* the interface */
    RuleBinding *values;  /* one per parameter; `known` where there is one */
    FillOrigin *origins;  /* likewise; of what is known */
} Fill;

enum { FILL_WHY = 320 }; /* bytes that hold any of the sentences */

/* A bare name in the contract of `param` takes the array's size or stride, and one that has another value already is a
 * contradiction. A contract of one dimension takes arrays of any rank whose elements lie one behind the other. The
 * stride of a dimension of one element or none says nothing. False with a sentence in err. */
bool fill_array(Fill *f, uint32_t param, const fsc_array *a, char *err, size_t size);
/* Scalars of which nothing is known take their defaults; where only the contract of an array that is left out names
 * them, its strides are those of a contiguous one. */
void fill_defaults(Fill *f);
/* Strides of the parameter's contract of which nothing is known are those of a contiguous array. */
void fill_contiguous(Fill *f, uint32_t param);
/* Once all is filled: the array's strides are what the contract says, and no dimension is smaller.
 * False with a sentence. */
bool fill_check(const Fill *f, uint32_t param, const fsc_array *a, char *err, size_t size);
/* Bytes from an array's first element to behind its last; 0 where it is empty. */
uint64_t fill_bytes(const fsc_array *a, uint32_t element);

#endif
