/* sweep.h - the points of a benchmark: every combination of its axes and types, and what each changes in the call. */
#ifndef FSC_SWEEP_H
#define FSC_SWEEP_H

#include "tool/run/axis.h"
#include "tool/run/job.h"

enum { MOST_AXES = 4 };

typedef VEC(const char *) Names;

typedef struct Sweep {
    ToolOptions *o;
    Axis axes[MOST_AXES];
    uint32_t num_axes;
    Names dtypes;       /* one at least; "" says nothing */
    Names dtype_params; /* what a dtype is bound to */
    Names free_axes;    /* stand in no word: they are parameters */
} Sweep;

typedef struct Point {
    uint32_t at[MOST_AXES], dtype; /* indices */
    int64_t values[MOST_AXES];     /* one an axis */
} Point;

/* "a,b" → a, b; "" alone where there is nothing. */
void split_list(Arena *a, const char *text, Names *out);
/* From --axis and --dtype. False after printing what is wrong. */
bool sweep_read(Sweep *s, ToolOptions *o);
/* Which parameters --dtype is about. Prints why there are none. */
ExitCode sweep_types(Sweep *s, fsc_device *device, const char *text, size_t length);
/* The first point, and the one behind it, the first axis fastest, the types last; false: that was the last. */
Point sweep_first(const Sweep *s);
bool sweep_next(const Sweep *s, Point *p);
/* The options as if the point's numbers had been written out. */
ToolOptions sweep_options(const Sweep *s, const Point *p);

#endif
