/* quick.h - a launch's short way: the checks of check.c over integers that were made ready when the variant was. */
#ifndef FSC_QUICK_H
#define FSC_QUICK_H

#include "runtime/device/code.h"

/* NULL: the variant's rules are beyond integers (or out of memory), and launches take the long way. */
Quick *quick_create(const Variant *v);
void quick_free(Quick *q);
/* Wants kernel, args, nargs and table of the Call; sets variant, grid, bits and pointers. The closest variant whose
 * assumptions hold, if there is nothing to complain of. With `accept` the one that it takes, which can be one at most;
 * the Call's variant, if not NULL, is tried first. */
bool call_quick(Call *c, const int64_t *grid, bool (*accept)(void *context, Call *c, const Variant *v), void *context);
/* Whether the variant's maps, if it has any, can be made of a call whose arguments are of the right kinds. */
bool quick_maps_fit(Call *c, const Variant *v);

#endif
