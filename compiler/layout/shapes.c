/* shapes.c - tile shapes, and the constructors of layouts: blocked, projected, sliced, reshaped, transposed, joined ….
 *
 * In: shapes, orders, axes, other layouts. Out: shapes; interned layouts.
 * A constructor moves the fields of each basis to where the new shape has them. Only layout_blocked makes new bases:
 * it deals out the element bits, fastest first, to vector, lanes, warps, ctas, and the rest to the upper registers.
 */
#include "layout/layout.h"

#include <string.h>

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

Shape shape_scalar(void) {
    return (Shape){0};
}

Shape shape_row(uint32_t log2) {
    return (Shape){.rank = 1, .log2 = {(uint8_t)log2}};
}

Shape shape_make(uint32_t rank, const uint8_t *log2) {
    if (rank > SHAPE_RANK) bug("shape: rank %u", rank);
    Shape s = {.rank = (uint8_t)rank};
    for (uint32_t i = 0; i < rank; i++) s.log2[i] = log2[i];
    return s;
}

bool shape_equal(Shape a, Shape b) {
    return a.rank == b.rank && memcmp(a.log2, b.log2, sizeof a.log2) == 0;
}

uint32_t shape_log2(Shape s) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < s.rank; i++) sum += s.log2[i];
    return sum;
}

uint64_t shape_elements(Shape s) {
    return UINT64_C(1) << shape_log2(s);
}

static void shape_check_dim(Shape s, uint32_t dim) {
    if (dim >= s.rank) bug("shape: dimension %u of rank %u", dim, s.rank);
}

uint64_t shape_size(Shape s, uint32_t dim) {
    shape_check_dim(s, dim);
    return UINT64_C(1) << s.log2[dim];
}

uint32_t shape_offset(Shape s, uint32_t dim) {
    shape_check_dim(s, dim);
    uint32_t sum = 0;
    for (uint32_t i = dim + 1; i < s.rank; i++) sum += s.log2[i];
    return sum;
}

uint32_t shape_field(Shape s, uint32_t dim) {
    return (uint32_t)((shape_size(s, dim) - 1) << shape_offset(s, dim));
}

uint32_t shape_coord(Shape s, uint32_t flat, uint32_t dim) {
    return (uint32_t)((flat & shape_field(s, dim)) >> (shape_offset(s, dim) & 31));
}

uint32_t shape_flat(Shape s, const uint32_t *coords) {
    uint64_t flat = 0;
    for (uint32_t i = 0; i < s.rank; i++) flat = flat << s.log2[i] | coords[i];
    return (uint32_t)flat;
}

Shape shape_insert(Shape s, uint32_t axis) {
    if (axis > s.rank || s.rank == SHAPE_RANK) bug("shape: insert at %u of rank %u", axis, s.rank);
    for (uint32_t i = s.rank; i > axis; i--) s.log2[i] = s.log2[i - 1];
    s.log2[axis] = 0;
    s.rank++;
    return s;
}

Shape shape_remove(Shape s, uint32_t axis) {
    shape_check_dim(s, axis);
    for (uint32_t i = axis + 1; i < s.rank; i++) s.log2[i - 1] = s.log2[i];
    s.log2[--s.rank] = 0;
    return s;
}

Shape shape_collapse(Shape s, uint32_t axis) {
    shape_check_dim(s, axis);
    s.log2[axis] = 0;
    return s;
}

Shape shape_permute(Shape s, const uint8_t *perm) {
    Shape t = {.rank = s.rank};
    for (uint32_t i = 0, seen = 0; i < s.rank; i++) {
        shape_check_dim(s, perm[i]);
        if (seen >> perm[i] & 1) bug("shape: permutation names dimension %u twice", perm[i]);
        seen |= 1u << perm[i];
        t.log2[i] = s.log2[perm[i]];
    }
    return t;
}

Shape shape_join_halves(Shape s) {
    s = shape_insert(s, s.rank);
    s.log2[s.rank - 1] = 1;
    return s;
}

bool shape_broadcasts(Shape from, Shape to) {
    if (from.rank != to.rank) return false;
    for (uint32_t i = 0; i < from.rank; i++)
        if (from.log2[i] != 0 && from.log2[i] != to.log2[i]) return false;
    return true;
}

uint32_t shape_project(Shape to, Shape from, uint32_t flat) {
    uint32_t coords[SHAPE_RANK];
    for (uint32_t i = 0; i < to.rank; i++) coords[i] = from.log2[i] ? shape_coord(to, flat, i) : 0;
    return shape_flat(from, coords);
}

void shape_print(Shape s, Text *out) {
    for (uint32_t i = 0; i < s.rank; i++)
        text_printf(out, "%s%llu", i ? "x" : "", (unsigned long long)shape_size(s, i));
}

/* ---- Constructors ------------------------------------------------------------------------------------------------ */

/* The bits of the flat index, those along order[0] first. */
static uint32_t shape_bits_in_order(Shape s, const uint8_t *order, uint32_t *bits) {
    uint32_t n = 0, seen = 0;
    for (uint32_t i = 0; i < s.rank; i++) {
        uint32_t dim = order ? order[i] : s.rank - 1u - i;
        uint32_t offset = shape_offset(s, dim);
        if (seen >> dim & 1) bug("layout_blocked: the order names dimension %u twice", dim);
        seen |= 1u << dim;
        for (uint32_t bit = 0; bit < s.log2[dim]; bit++) bits[n++] = 1u << (offset + bit);
    }
    return n;
}

const Layout *layout_blocked(Layouts *ls, Shape s, const uint8_t *order, uint32_t vec_log2, uint32_t lanes_log2,
                             uint32_t warps_log2, uint32_t ctas_log2) {
    if (shape_log2(s) > SHAPE_BITS) bug("layout_blocked: a shape of 2^%u elements", shape_log2(s));
    uint32_t bits[SHAPE_BITS + 1], at = 0;
    uint32_t n = shape_bits_in_order(s, order, bits);
    uint32_t along = s.rank == 0 ? 0 : s.log2[order ? order[0] : s.rank - 1];
    uint32_t vec = vec_log2 < along ? vec_log2 : along;
    if (vec + lanes_log2 > n) vec = n > lanes_log2 ? n - lanes_log2 : 0;

    Layout l = {.shape = s, .bits = {0, (uint8_t)lanes_log2, (uint8_t)warps_log2, (uint8_t)ctas_log2}};
    uint8_t *registers = &l.bits[IN_REGISTER];
    while (at < vec) l.basis[IN_REGISTER][(*registers)++] = bits[at++];
    for (InDim d = IN_LANE; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l.bits[d] && at < n; i++) l.basis[d][i] = bits[at++];
    while (at < n) l.basis[IN_REGISTER][(*registers)++] = bits[at++];
    return layout_intern(ls, &l);
}

/* Drops the register bits that only repeat what lower ones hold. */
static void layout_compact(Layout *l) {
    Linear m = {.in = l->bits[IN_REGISTER], .out = SHAPE_BITS};
    for (uint32_t i = 0; i < m.in; i++) m.column[i] = l->basis[IN_REGISTER][i];
    uint64_t free = linear_free(&m);
    memset(l->basis[IN_REGISTER], 0, sizeof l->basis[IN_REGISTER]);
    l->bits[IN_REGISTER] = 0;
    for (uint32_t i = 0; i < m.in; i++)
        if (!(free >> i & 1)) l->basis[IN_REGISTER][l->bits[IN_REGISTER]++] = (uint32_t)m.column[i];
}

const Layout *layout_project(Layouts *ls, const Layout *l, Shape from) {
    if (!shape_broadcasts(from, l->shape)) bug("layout_project: the shape does not broadcast");
    Layout p = *l;
    p.shape = from;
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < p.bits[d]; i++) p.basis[d][i] = shape_project(l->shape, from, l->basis[d][i]);
    layout_compact(&p);
    return layout_intern(ls, &p);
}

const Layout *layout_slice(Layouts *ls, const Layout *l, uint32_t axis, bool keep_dim) {
    Shape collapsed = shape_collapse(l->shape, axis);
    const Layout *p = layout_project(ls, l, collapsed);
    return keep_dim ? p : layout_reshape(ls, p, shape_remove(collapsed, axis));
}

const Layout *layout_expand(Layouts *ls, const Layout *l, uint32_t axis) {
    return layout_reshape(ls, l, shape_insert(l->shape, axis));
}

const Layout *layout_reshape(Layouts *ls, const Layout *l, Shape s) {
    if (shape_log2(s) != shape_log2(l->shape)) bug("layout_reshape: another number of elements");
    Layout r = *l;
    r.shape = s;
    return layout_intern(ls, &r);
}

/* The flat index in shape_permute(s, perm) of element `flat` of s. */
static uint32_t permute_flat(Shape s, const uint8_t *perm, uint32_t flat) {
    uint32_t coords[SHAPE_RANK];
    for (uint32_t i = 0; i < s.rank; i++) coords[i] = shape_coord(s, flat, perm[i]);
    return shape_flat(shape_permute(s, perm), coords);
}

const Layout *layout_transpose(Layouts *ls, const Layout *l, const uint8_t *perm) {
    Layout t = *l;
    t.shape = shape_permute(l->shape, perm);
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < t.bits[d]; i++) t.basis[d][i] = permute_flat(l->shape, perm, l->basis[d][i]);
    return layout_intern(ls, &t);
}

const Layout *layout_join(Layouts *ls, const Layout *l) {
    Layout j = *l;
    j.shape = shape_join_halves(l->shape);
    if (l->bits[IN_REGISTER] == LAYOUT_BITS) bug("layout_join: no register bit is left");
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) j.basis[d][i + (d == IN_REGISTER)] = l->basis[d][i] << 1;
    j.basis[IN_REGISTER][0] = 1;
    j.bits[IN_REGISTER]++;
    return layout_intern(ls, &j);
}

const Layout *layout_split(Layouts *ls, const Layout *l, uint32_t *bit) {
    Layout s = *l;
    uint32_t found = LAYOUT_BITS, last = l->shape.rank - 1u;
    if (l->shape.rank == 0 || l->shape.log2[last] != 1) bug("layout_split: the last dimension is not 2");
    for (InDim d = 0; d < IN_COUNT; d++) {
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            bool is_it = d == IN_REGISTER && l->basis[d][i] == 1 && found == LAYOUT_BITS;
            if (is_it) found = i;
            if (!is_it && (l->basis[d][i] & 1)) return NULL;
            s.basis[d][i] = l->basis[d][i] >> 1;
        }
    }
    if (found == LAYOUT_BITS) return NULL;
    s.bits[IN_REGISTER]--;
    for (uint32_t i = found; i < LAYOUT_BITS; i++)
        s.basis[IN_REGISTER][i] = i + 1 < LAYOUT_BITS ? s.basis[IN_REGISTER][i + 1] : 0;
    s.shape = shape_remove(l->shape, last);
    if (bit) *bit = found;
    return layout_intern(ls, &s);
}

/* Zero last: it only repeats. */
static uint64_t sort_key(uint32_t basis, uint32_t field) {
    if (!basis) return UINT64_MAX;
    return basis | (uint64_t)((basis & field) != basis) << 32;
}

const Layout *layout_rotate(Layouts *ls, const Layout *l, uint32_t dim, uint32_t low, uint32_t by) {
    Layout r = *l;
    uint32_t offset = shape_offset(l->shape, dim) + low, size = l->shape.log2[dim] - low,
             field = ((1u << size) - 1) << offset;
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            uint32_t x = (l->basis[d][i] & field) >> offset, rotated = x << by | x >> (size - by);
            r.basis[d][i] = (l->basis[d][i] & ~field) | (rotated << offset & field);
        }
    return layout_intern(ls, &r);
}

const Layout *layout_sort(Layouts *ls, const Layout *l, uint32_t axis) {
    Layout s = *l;
    uint32_t field = l->shape.rank ? shape_field(l->shape, axis) : 0, *at = s.basis[IN_REGISTER];
    for (uint32_t i = 1; i < s.bits[IN_REGISTER]; i++) {
        for (uint32_t k = i; k > 0 && sort_key(at[k], field) < sort_key(at[k - 1], field); k--) {
            uint32_t basis = at[k];
            at[k] = at[k - 1];
            at[k - 1] = basis;
        }
    }
    return layout_intern(ls, &s);
}
