/* arg.h - numbers among the arguments of a launch. */
#ifndef FSC_ARG_H
#define FSC_ARG_H

#include "runtime/fsc_runtime.h"

static inline bool arg_is_beyond(const fsc_arg *a) { /* an integer above INT64_MAX */
    return a->kind == FSC_ARG_UNSIGNED && a->u.natural > INT64_MAX;
}
static inline bool arg_is_int(const fsc_arg *a) { /* u.integer holds it, of either kind */
    return a->kind == FSC_ARG_INT || (a->kind == FSC_ARG_UNSIGNED && !arg_is_beyond(a));
}
static inline double arg_real(const fsc_arg *a) { /* of any number */
    return a->kind == FSC_ARG_FLOAT ? a->u.real : arg_is_int(a) ? (double)a->u.integer : (double)a->u.natural;
}

#endif
