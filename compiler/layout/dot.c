/* dot.c - layouts of a product of matrices where every thread multiplies on its own.
 *
 * In: the product's shape and how many threads there are, or its layout. Out: its layout; those of its operands.
 * Method: a thread takes a block of 4 x 4 elements, so that each element of an operand serves four products, its lanes
 * 8 columns of such blocks and 4 rows, warps rows and columns in turn. An operand's layout is what a thread needs of it
 * for its own elements, all k of them.
 */
#include "layout/layout.h"

enum { BLOCK = 2, LANES_ALONG_N = 3 };

/* The bits of the shape, lowest first along each dimension, as they are dealt out. */
typedef struct Deal {
    Shape shape;
    uint32_t next[SHAPE_RANK];
} Deal;

static bool has_bit(const Deal *d, uint32_t dim) {
    return d->next[dim] < d->shape.log2[dim];
}

/* The next bit along `dim`, else along the last dimension that has one; 0: all are dealt. */
static uint32_t deal(Deal *d, uint32_t dim) {
    for (uint32_t i = d->shape.rank; i-- > 0 && !has_bit(d, dim);) dim = i;
    return has_bit(d, dim) ? 1u << (shape_offset(d->shape, dim) + d->next[dim]++) : 0;
}

static void deal_register(Deal *d, Layout *l, uint32_t dim) {
    l->basis[IN_REGISTER][l->bits[IN_REGISTER]++] = deal(d, dim);
}

const Layout *layout_dot(Layouts *ls, Shape s, uint32_t lanes_log2, uint32_t warps_log2, uint32_t ctas_log2) {
    Layout l = {.shape = s, .bits = {0, (uint8_t)lanes_log2, (uint8_t)warps_log2, (uint8_t)ctas_log2}};
    Deal d = {.shape = s};
    uint32_t m = s.rank - 2u, n = s.rank - 1u, all = shape_log2(s), threads = lanes_log2 + warps_log2 + ctas_log2;
    uint32_t spare = all > threads ? all - threads : 0;
    for (uint32_t i = 0; i < 2 * BLOCK && l.bits[IN_REGISTER] < spare; i++) {
        uint32_t dim = i < BLOCK ? n : m;
        if (has_bit(&d, dim)) deal_register(&d, &l, dim);
    }
    for (uint32_t i = 0; i < lanes_log2; i++) l.basis[IN_LANE][i] = deal(&d, i < LANES_ALONG_N ? n : m);
    for (uint32_t i = 0; i < warps_log2; i++)
        l.basis[IN_WARP][i] = deal(&d, s.rank > 2 && has_bit(&d, 0) ? 0 : i % 2 ? n : m);
    for (uint32_t i = 0; i < ctas_log2; i++) l.basis[IN_CTA][i] = deal(&d, s.rank > 2 && has_bit(&d, 0) ? 0 : m);
    while (l.bits[IN_REGISTER] < spare) deal_register(&d, &l, n);
    return layout_sort(ls, &l, n);
}

const Layout *layout_within(Layouts *ls, const Layout *l, uint32_t axis, uint32_t size_log2) {
    Layout r = *l;
    uint32_t high = shape_offset(l->shape, axis) + l->shape.log2[axis], below = (1u << high) - 1,
             up = size_log2 - l->shape.log2[axis];
    r.shape.log2[axis] = (uint8_t)size_log2;
    if (shape_log2(r.shape) > SHAPE_BITS) bug("layout_within: 2^%u along the axis", size_log2);
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < r.bits[d]; i++)
            r.basis[d][i] = (r.basis[d][i] & below) | (r.basis[d][i] & ~below) << up;
    return layout_intern(ls, &r);
}

uint32_t layout_parts_log2(const Layout *l, uint32_t axis) {
    uint32_t high = shape_offset(l->shape, axis) + l->shape.log2[axis], n = 0;
    for (bool is_held = true; is_held && n < l->shape.log2[axis]; n += is_held) {
        uint32_t bit = UINT32_C(1) << (high - 1 - n), registers = 0;
        for (InDim d = 0; d < IN_COUNT; d++)
            for (uint32_t i = 0; i < l->bits[d]; i++) {
                if (!(l->basis[d][i] & bit)) continue;
                registers += d == IN_REGISTER && l->basis[d][i] == bit ? 1 : 2;
            }
        is_held = registers == 1;
    }
    return n;
}

const Layout *layout_part(Layouts *ls, const Layout *l, uint32_t axis, uint32_t parts_log2) {
    uint32_t high = shape_offset(l->shape, axis) + l->shape.log2[axis], below = (1u << (high - parts_log2)) - 1;
    if (parts_log2 > layout_parts_log2(l, axis)) bug("layout_part: 2^%u along axis %u", parts_log2, axis);
    Layout r = {.shape = l->shape};
    r.shape.log2[axis] = (uint8_t)(l->shape.log2[axis] - parts_log2);
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            uint32_t basis = l->basis[d][i], rest = basis >> high << (high - parts_log2);
            if (!(basis >> high) && basis > below) continue; /* chooses the part */
            r.basis[d][r.bits[d]++] = (basis & below) | rest;
        }
    return layout_intern(ls, &r);
}

const Layout *layout_operand(Layouts *ls, const Layout *l, uint32_t axis, uint32_t k_log2) {
    const Layout *rest = layout_project(ls, l, shape_collapse(l->shape, axis));
    Layout r = *layout_within(ls, rest, axis, k_log2);
    uint32_t low = shape_offset(r.shape, axis);
    if (r.bits[IN_REGISTER] + k_log2 > LAYOUT_BITS) bug("layout_operand: 2^%u along the axis", k_log2);
    for (uint32_t i = 0; i < k_log2; i++) r.basis[IN_REGISTER][r.bits[IN_REGISTER]++] = 1u << (low + i);
    return layout_sort(ls, &r, r.shape.rank - 1u);
}
