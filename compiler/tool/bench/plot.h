/* plot.h - curves as an SVG picture. */
#ifndef FSC_PLOT_H
#define FSC_PLOT_H

#include "base/base.h"

typedef struct Curve {
    const char *name;
    VEC(double) x;
    VEC(double) y;
} Curve;

typedef struct Plot {
    const char *title, *x_name, *y_name;
    bool log_x;
    VEC(Curve) curves;
} Plot;

/* Appends the picture, axes from 0 to a round number above the highest y. */
void plot_write(const Plot *p, Text *out);

#endif
