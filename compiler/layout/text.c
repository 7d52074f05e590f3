/* text.c - layouts as text: the one-line form of the IR, its reader, and the tables of --layout.
 *
 * In: layouts, or the one-line form. Out: text, or interned layouts.
 * The one-line form is the shape and the bases as flat indexes. The tables show bases as coordinates, and of a small
 * tile the canonical owner of each element.
 */
#include "layout/layout.h"

#include <string.h>

const char *const in_name[IN_COUNT] = {[IN_REGISTER] = "reg", [IN_LANE] = "lane", [IN_WARP] = "warp", [IN_CTA] = "cta"};

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

void layout_write(const Layout *l, Text *out) {
    text_printf(out, "#layout<[");
    shape_print(l->shape, out);
    text_printf(out, "]");
    for (InDim d = 0; d < IN_COUNT; d++) {
        text_printf(out, " %s=[", in_name[d]);
        for (uint32_t i = 0; i < l->bits[d]; i++) text_printf(out, "%s%u", i ? "," : "", l->basis[d][i]);
        text_printf(out, "]");
    }
    text_printf(out, ">");
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* `why` is set by the first complaint; from then on nothing moves `at`. */
typedef struct Reader {
    const char *at;
    const char *why;
} Reader;

static void read_fail(Reader *r, const char *why) {
    if (!r->why) r->why = why;
}

static bool read_accept(Reader *r, const char *token) {
    if (r->why) return false;
    const char *p = r->at + strspn(r->at, " \t");
    size_t n = strlen(token);
    if (strncmp(p, token, n) != 0) return false;
    r->at = p + n;
    return true;
}

static void read_expect(Reader *r, const char *token, const char *why) {
    if (!r->why) r->at += strspn(r->at, " \t");
    if (!read_accept(r, token)) read_fail(r, why);
}

static uint64_t read_number(Reader *r) {
    if (r->why) return 0;
    r->at += strspn(r->at, " \t");
    uint64_t x = 0;
    uint32_t n = 0;
    while (r->at[n] >= '0' && r->at[n] <= '9' && n < 11) x = x * 10 + (uint64_t)(r->at[n++] - '0');
    if (n == 0 || n == 11) read_fail(r, "a layout wants a number below 2^32 here");
    if (!r->why) r->at += n;
    return x;
}

static Shape read_shape(Reader *r) {
    Shape s = {0};
    read_expect(r, "[", "a layout begins with its shape, as in [64x128]");
    if (read_accept(r, "]")) return s;
    do {
        const char *start = r->at;
        uint64_t size = read_number(r), log2 = 0;
        while (log2 < SHAPE_BITS && size >> (log2 + 1) != 0) log2++;
        bool fits = s.rank < SHAPE_RANK && shape_log2(s) + log2 <= SHAPE_BITS;
        if (size != UINT64_C(1) << log2 || !fits) {
            if (!r->why) r->at = start;
            read_fail(r, "a layout has " SHAPE_RULE);
            return s;
        }
        s.log2[s.rank++] = (uint8_t)log2;
    } while (read_accept(r, "x"));
    read_expect(r, "]", "a layout's shape ends with ]");
    return s;
}

static void read_bases(Reader *r, Layout *l, InDim d) {
    read_expect(r, in_name[d], "a layout has the parts reg= lane= warp= cta= in this order");
    read_expect(r, "=", "a layout has the parts reg= lane= warp= cta= in this order");
    read_expect(r, "[", "a layout's bases stand in [ ]");
    if (read_accept(r, "]")) return;
    do {
        const char *start = r->at;
        uint64_t basis = read_number(r);
        if (r->why) return;
        uint32_t limit = d == IN_REGISTER ? 31 : 10; /* 2^31 registers would not be counted in 32 bits */
        if (basis >= shape_elements(l->shape) || l->bits[d] == limit) {
            r->at = start;
            read_fail(r, l->bits[d] == limit ? "a layout has no so many bits" : "a layout's basis is beyond its shape");
            return;
        }
        l->basis[d][l->bits[d]++] = (uint32_t)basis;
    } while (read_accept(r, ","));
    read_expect(r, "]", "a layout's bases are separated by commas and end with ]");
}

const Layout *layout_read(Layouts *ls, const char **text, const char **why) {
    Reader r = {.at = *text};
    Layout l = {0};
    read_expect(&r, "#layout<", "a layout begins with #layout<");
    l.shape = read_shape(&r);
    for (InDim d = 0; d < IN_COUNT; d++) read_bases(&r, &l, d);
    read_expect(&r, ">", "a layout ends with >");
    if (!r.why && !layout_is_surjective(&l)) {
        r.at = *text;
        read_fail(&r, "a layout without an owner for every element");
    }
    *text = r.at;
    if (why) *why = r.why;
    return r.why ? NULL : layout_intern(ls, &l);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

enum {
    OWNERS_SHOWN = 512, /* elements of a tile whose owners are listed */
    OWNERS_ACROSS = 16, /* elements on one line */
};

static void print_coords(Shape s, uint32_t flat, Text *out) {
    text_printf(out, "(");
    for (uint32_t i = 0; i < s.rank; i++) text_printf(out, "%s%u", i ? ", " : "", shape_coord(s, flat, i));
    text_printf(out, ")");
}

static void print_plural(uint32_t bits, const char *one, Text *out) {
    unsigned long long n = 1ULL << bits;
    text_printf(out, "%llu %s%s", n, one, n == 1 ? "" : "s");
}

static void print_bases(const Layout *l, InDim d, Text *out) {
    uint32_t free = layout_free(l, d);
    for (uint32_t i = 0; i < l->bits[d]; i++) {
        text_printf(out, "  %-4s bit %-2u  ", in_name[d], i);
        if (l->basis[d][i] != 0) print_coords(l->shape, l->basis[d][i], out);
        if (free >> i & 1) text_printf(out, "%srepeats", l->basis[d][i] ? " " : "");
        text_printf(out, "\n");
    }
}

/* [cta:]warp:lane:reg of each element, one line per OWNERS_ACROSS along the last dimension. */
static void print_owners(const Layout *l, Text *out) {
    Linear owner;
    if (!layout_invert(l, &owner)) return;
    uint32_t last = l->shape.rank ? l->shape.log2[l->shape.rank - 1] : 0;
    uint32_t across = last < 4 ? 1u << last : OWNERS_ACROSS;
    bool with_cta = l->bits[IN_CTA] > 0;
    text_printf(out, "  element: %swarp:lane:reg%s\n", with_cta ? "cta:" : "", across > 1 ? " of it and the next" : "");
    for (uint32_t flat = 0; flat < shape_elements(l->shape); flat++) {
        if (flat % across == 0) {
            text_printf(out, "  ");
            print_coords(l->shape, flat, out);
            text_printf(out, ":");
        }
        Owner o = layout_unpack(l, linear_apply(&owner, flat));
        text_printf(out, " ");
        if (with_cta) text_printf(out, "%u:", o.at[IN_CTA]);
        text_printf(out, "%u:%02u:%u", o.at[IN_WARP], o.at[IN_LANE], o.at[IN_REGISTER]);
        if (flat % across == across - 1) text_printf(out, "\n");
    }
}

void layout_print(const Layout *l, Text *out) {
    layout_write(l, out);
    text_printf(out, "\n  ");
    shape_print(l->shape, out);
    text_printf(out, "%s over ", l->shape.rank ? "" : "one element");
    print_plural(l->bits[IN_REGISTER], "register", out);
    text_printf(out, " x ");
    print_plural(l->bits[IN_LANE], "lane", out);
    text_printf(out, " x ");
    print_plural(l->bits[IN_WARP], "warp", out);
    text_printf(out, " x ");
    print_plural(l->bits[IN_CTA], "cta", out);
    text_printf(out, "\n");
    for (InDim d = 0; d < IN_COUNT; d++) print_bases(l, d, out);
    if (shape_elements(l->shape) <= OWNERS_SHOWN) print_owners(l, out);
}
