/* named.h - what launches with named arguments share: of compiled kernels (named.c) and of the JIT (jit/named.c). */
#ifndef FSC_NAMED_H
#define FSC_NAMED_H

#include "runtime/device/code.h"

/* Count, names and kinds against the record's run-time parameters; a parameter may leave its type open,
 * as in an interface. */
fsc_status named_check(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t nargs);
/* Then element types, and the types of numbers where the caller says them. */
fsc_status named_check_types(const fsc_device *d, const Record *r, const fsc_named_arg *args, size_t nargs);

#endif
