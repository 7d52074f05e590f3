/* plot.c - curves as an SVG picture: axes with round numbers, a legend, one polyline a curve.
 *
 * In: a Plot. Out: text. Method: x linear or logarithmic (base 2), y from 0; about eight labels along each axis.
 */
#include "tool/bench/plot.h"

#include <math.h>

enum { WIDTH = 900, HEIGHT = 500, LEFT = 80, RIGHT = 160, TOP = 40, BOTTOM = 55, LABELS = 8 };

static const char *const colours[] = {"#d62728", "#1f77b4", "#2ca02c", "#ff7f0e",
                                      "#9467bd", "#8c564b", "#17becf", "#7f7f7f"};

typedef struct Scale {
    double low, high; /* of x, after the logarithm */
    double top;       /* of y */
    bool log_x;
} Scale;

/* 1, 2 or 5 times a power of ten: the least that is not below x. */
static double round_up(double x) {
    double power = pow(10, floor(log10(x)));
    double times = x / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static double along(const Scale *s, double x) {
    double v = s->log_x ? log2(x) : x;
    return LEFT + (s->high > s->low ? (v - s->low) / (s->high - s->low) : 0.5) * (WIDTH - LEFT - RIGHT);
}

static double above(const Scale *s, double y) {
    return HEIGHT - BOTTOM - y / s->top * (HEIGHT - TOP - BOTTOM);
}

static Scale find_scale(const Plot *p) {
    Scale s = {INFINITY, -INFINITY, 0, p->log_x};
    for (uint32_t c = 0; c < p->curves.len; c++) {
        const Curve *curve = &p->curves.at[c];
        for (uint32_t i = 0; i < curve->x.len; i++) {
            double v = p->log_x ? log2(curve->x.at[i]) : curve->x.at[i];
            s.low = fmin(s.low, v);
            s.high = fmax(s.high, v);
            s.top = fmax(s.top, curve->y.at[i]);
        }
    }
    if (!(s.top > 0)) s.top = 1;
    double step = round_up(s.top / LABELS);
    s.top = ceil(s.top / step) * step;
    return s;
}

static void write_text(Text *out, double x, double y, const char *anchor, const char *text) {
    text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (const char *c = text; *c; c++) {
        if (*c == '<') text_printf(out, "&lt;");
        else if (*c == '&') text_printf(out, "&amp;");
        else text_printf(out, "%c", *c);
    }
    text_printf(out, "</text>\n");
}

static void write_y_axis(const Scale *s, Text *out) {
    char label[32];
    double step = round_up(s->top / LABELS);
    for (double y = 0; y < s->top + step / 2; y += step) {
        double at = above(s, y);
        text_printf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT, at,
                    WIDTH - RIGHT, at);
        snprintf(label, sizeof label, "%g", y);
        write_text(out, LEFT - 8, at + 4, "end", label);
    }
}

static void write_x_axis(const Scale *s, Text *out) {
    char label[32];
    double span = s->high - s->low;
    double step = s->log_x ? fmax(1, ceil(span / LABELS)) : span > 0 ? round_up(span / LABELS) : 1;
    for (double v = ceil(s->low / step) * step; v <= s->high + step * 1e-9; v += step) {
        double x = s->log_x ? exp2(v) : v;
        snprintf(label, sizeof label, "%.0f", x);
        write_text(out, along(s, x), HEIGHT - BOTTOM + 18, "middle", label);
    }
}

static void write_curve(const Scale *s, const Curve *c, uint32_t number, Text *out) {
    const char *colour = colours[number % COUNT(colours)];
    text_printf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
    for (uint32_t i = 0; i < c->x.len; i++) text_printf(out, "%.1f,%.1f ", along(s, c->x.at[i]), above(s, c->y.at[i]));
    text_printf(out, "\"/>\n");
    double y = TOP + 18.0 * number;
    text_printf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\"/>\n",
                WIDTH - RIGHT + 12, y,
                WIDTH - RIGHT + 34, y, colour);
    write_text(out, WIDTH - RIGHT + 40, y + 4, "start", c->name);
}

void plot_write(const Plot *p, Text *out) {
    Scale s = find_scale(p);
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
                "font-size=\"12\">\n",
                WIDTH, HEIGHT);
    text_printf(out, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT);
    write_text(out, LEFT, TOP - 16, "start", p->title);
    write_y_axis(&s, out);
    write_x_axis(&s, out);
    write_text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", p->x_name);
    write_text(out, LEFT, TOP - 2, "end", p->y_name);
    for (uint32_t i = 0; i < p->curves.len; i++) write_curve(&s, &p->curves.at[i], i, out);
    text_printf(out, "</svg>\n");
}
