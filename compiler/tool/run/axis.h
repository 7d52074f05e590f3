/* axis.h - what a benchmark varies: named lists of whole numbers,
 * and what they change in the words of the command line. */
#ifndef FSC_AXIS_H
#define FSC_AXIS_H

#include "tool/tool.h"

typedef struct Axis {
    const char *name;
    VEC(int64_t) at;
} Axis;

/* NAME=LO..HI, NAME=LO..HI:STEP, NAME=LO..HI:*FACTOR (both ends included) or NAME=A,B,C.
 * False after printing what is wrong. */
bool axis_parse(Arena *a, const char *text, Axis *axis);
/* `word` with each name of an axis behind its = as that axis's value; the same word where there is none. values:
 * one an axis. */
const char *axis_apply(Arena *a, const Axis *axes, uint32_t n, const int64_t *values, const char *word);
/* Is the name in any of the words, behind its =? */
bool axis_is_used(const Axis *axis, const char *const *words, uint32_t n);

#endif
