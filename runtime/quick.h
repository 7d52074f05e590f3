/* quick.h - a launch's short way: the checks of check.c over integers that were made ready when the variant was. */
#ifndef FSC_QUICK_H
#define FSC_QUICK_H

#include "runtime/internal.h"

typedef enum QuickResult {
    QUICK_FITS,   /* variant, values and grid are in the Call, everything is checked */
    QUICK_MISFIT, /* an assumption of the variant does not hold: another one may fit */
    QUICK_UNSURE, /* something is wrong, or beyond integers: check.c has the last word */
} QuickResult;

/* NULL: the variant's rules are beyond integers (or out of memory), and launches take the long way. */
Quick *quick_create(const Variant *v);
void quick_free(Quick *q);
/* Wants kernel, args, nargs (CALL_SLOTS at most) and table; sets variant, grid, bits and pointers. */
QuickResult quick_call(Call *c, Variant *v, const int64_t *grid);

#endif
