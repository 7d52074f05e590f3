/* formula.h - expressions over arrays, in NumPy's words, evaluated in long double: what a kernel should give. */
#ifndef FSC_FORMULA_H
#define FSC_FORMULA_H

#include "tool/run/values.h"

/* The value of a name: NULL if there is none. */
typedef Values *FormulaLookup(void *context, Arena *arena, const char *name);

/* NULL with *why, a sentence of the arena that says where and what to do. */
Values *formula_evaluate(Arena *arena, const char *text, FormulaLookup *lookup, void *context, const char **why);

#endif
