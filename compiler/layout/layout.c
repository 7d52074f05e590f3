/* layout.c - layouts as values: interning, and what is read off the bases.
 *
 * In: Layout values. Out: the one pointer per value; owners, replication, vector widths, live registers.
 * A layout is seen as one Linear from packed owners to flat indexes, and each question is put to linear.c.
 */
#include "layout/layout.h"

#include <string.h>

/* ---- Interning --------------------------------------------------------------------------------------------------- */

struct Layouts {
    Arena *arena;
    const Layout **slot; /* open addressing; a power of two of slots, at most half of them taken */
    uint32_t slots, taken;
};

Layouts *layouts_create(Arena *a) {
    Layouts *ls = NEW(a, Layouts);
    ls->arena = a;
    ls->slots = 32;
    ls->slot = NEW_ARRAY(a, const Layout *, ls->slots);
    return ls;
}

static uint32_t layout_hash(const Layout *l) {
    uint32_t h = 2166136261u; /* FNV-1a, a word at a time */
    h = (h ^ l->shape.rank) * 16777619u;
    for (uint32_t i = 0; i < SHAPE_RANK; i++) h = (h ^ l->shape.log2[i]) * 16777619u;
    for (InDim d = 0; d < IN_COUNT; d++) {
        h = (h ^ l->bits[d]) * 16777619u;
        for (uint32_t i = 0; i < l->bits[d]; i++) h = (h ^ l->basis[d][i]) * 16777619u;
    }
    return h ^ h >> 15;
}

static bool layout_equal(const Layout *a, const Layout *b) {
    return shape_equal(a->shape, b->shape) && memcmp(a->bits, b->bits, sizeof a->bits) == 0 &&
           memcmp(a->basis, b->basis, sizeof a->basis) == 0;
}

static const Layout **layout_slot(Layouts *ls, const Layout *value) {
    uint32_t at = layout_hash(value) & (ls->slots - 1);
    while (ls->slot[at] && !layout_equal(ls->slot[at], value)) at = (at + 1) & (ls->slots - 1);
    return &ls->slot[at];
}

static void layouts_grow(Layouts *ls) {
    const Layout **old = ls->slot;
    uint32_t count = ls->slots;
    ls->slots *= 2;
    ls->slot = NEW_ARRAY(ls->arena, const Layout *, ls->slots);
    for (uint32_t i = 0; i < count; i++)
        if (old[i]) *layout_slot(ls, old[i]) = old[i];
}

static void layout_check(const Layout *l) {
    uint32_t limit = shape_log2(l->shape), all = 0;
    if (l->shape.rank > SHAPE_RANK || limit > SHAPE_BITS) bug("layout: a shape of 2^%u elements", limit);
    for (InDim d = 0; d < IN_COUNT; d++) {
        all += l->bits[d];
        if (l->bits[d] > LAYOUT_BITS || all > 64) bug("layout: too many %s bits", in_name[d]);
        for (uint32_t i = 0; i < LAYOUT_BITS; i++) {
            uint32_t basis = l->basis[d][i];
            if (i < l->bits[d] ? basis >> limit != 0 : basis != 0)
                bug("layout: %s basis %u is %u", in_name[d], i, basis);
        }
    }
}

const Layout *layout_intern(Layouts *ls, const Layout *value) {
    const Layout **slot = layout_slot(ls, value);
    if (*slot) return *slot;
    layout_check(value);
    if (2 * (ls->taken + 1) > ls->slots) {
        layouts_grow(ls);
        slot = layout_slot(ls, value);
    }
    Layout *l = NEW(ls->arena, Layout);
    *l = *value;
    *slot = l;
    ls->taken++;
    return l;
}

/* ---- Owners and elements ----------------------------------------------------------------------------------------- */

uint32_t layout_apply(const Layout *l, Owner o) {
    uint32_t flat = 0;
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++)
            if (o.at[d] >> i & 1) flat ^= l->basis[d][i];
    return flat;
}

uint32_t layout_registers(const Layout *l) {
    if (l->bits[IN_REGISTER] > 31) bug("layout: 2^%u registers", l->bits[IN_REGISTER]);
    return 1u << l->bits[IN_REGISTER];
}

bool layout_same_threads(const Layout *a, const Layout *b) {
    return memcmp(a->bits + IN_LANE, b->bits + IN_LANE, IN_COUNT - IN_LANE) == 0;
}

uint64_t layout_pack(const Layout *l, Owner o) {
    uint64_t packed = 0;
    for (uint32_t d = IN_COUNT; d-- > 0;) packed = packed << l->bits[d] | o.at[d];
    return packed;
}

Owner layout_unpack(const Layout *l, uint64_t packed) {
    Owner o;
    for (InDim d = 0; d < IN_COUNT; d++) {
        o.at[d] = (uint32_t)(packed & ((UINT64_C(1) << l->bits[d]) - 1));
        packed >>= l->bits[d];
    }
    return o;
}

/* The columns of dimension d, masked and moved down, behind those that m has. */
static void linear_append(Linear *m, const Layout *l, InDim d, uint32_t mask, uint32_t shift) {
    for (uint32_t i = 0; i < l->bits[d]; i++) m->column[m->in++] = (l->basis[d][i] & mask) >> shift;
}

Linear layout_linear(const Layout *l) {
    Linear m = {.out = (uint8_t)shape_log2(l->shape)};
    for (InDim d = 0; d < IN_COUNT; d++) linear_append(&m, l, d, UINT32_MAX, 0);
    return m;
}

bool layout_is_surjective(const Layout *l) {
    Linear m = layout_linear(l);
    return linear_rank(&m) == m.out;
}

uint32_t layout_free(const Layout *l, InDim d) {
    Linear m = layout_linear(l);
    return layout_unpack(l, linear_free(&m)).at[d];
}

Owner layout_owner(const Layout *l, uint32_t flat) {
    Linear m = layout_linear(l);
    uint64_t packed;
    if (!linear_solve(&m, flat, &packed)) bug("layout: nothing owns element %u", flat);
    return layout_unpack(l, packed);
}

bool layout_invert(const Layout *l, Linear *right) {
    Linear m = layout_linear(l);
    return linear_invert(&m, right);
}

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

uint32_t layout_vector(const Layout *l, uint32_t dim) {
    uint32_t offset = shape_offset(l->shape, dim), v = 0;
    while (v < l->bits[IN_REGISTER] && v < l->shape.log2[dim] && l->basis[IN_REGISTER][v] == 1u << (offset + v)) v++;
    /* Another basis within the vector would turn the order around for the owners that have its bit. */
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++)
            while (v > 0 && !(d == IN_REGISTER && i < v) && (l->basis[d][i] >> offset & ((1u << v) - 1)) != 0) v--;
    return v;
}

uint32_t layout_contiguous(const Layout *l, uint32_t dim) {
    Linear m = {.out = (uint8_t)shape_log2(l->shape)};
    linear_append(&m, l, IN_REGISTER, UINT32_MAX, 0);
    uint32_t offset = shape_offset(l->shape, dim), run = 0;
    uint64_t x;
    while (run < l->shape.log2[dim] && linear_solve(&m, UINT64_C(1) << (offset + run), &x)) run++;
    return run;
}

/* ---- Live registers ---------------------------------------------------------------------------------------------- */

/* Decides the highest live register bit by bit from the top: with the bits above i decided, can the bits below i and
 * the thread bring the element under the bound although bit i is set? */
static uint32_t live_below(const Layout *l, uint32_t mask, uint32_t shift, uint64_t bound) {
    if (bound == 0) return 0;
    Linear m = {.out = SHAPE_BITS};
    for (InDim d = IN_LANE; d < IN_COUNT; d++) linear_append(&m, l, d, mask, shift);
    uint8_t threads = m.in;
    linear_append(&m, l, IN_REGISTER, mask, shift);
    uint32_t reg = 0;
    uint64_t element = 0;
    for (uint32_t i = l->bits[IN_REGISTER]; i-- > 0;) {
        m.in = (uint8_t)(threads + i);
        uint64_t with = element ^ m.column[threads + i];
        if (linear_least(&m, with) >= bound) continue;
        reg |= 1u << i;
        element = with;
    }
    return reg + 1;
}

uint32_t layout_live(const Layout *l, uint64_t bound) {
    return live_below(l, UINT32_MAX, 0, bound);
}

uint32_t layout_live_along(const Layout *l, uint32_t dim, uint64_t bound) {
    return live_below(l, shape_field(l->shape, dim), shape_offset(l->shape, dim), bound);
}

bool layout_register_live(const Layout *l, uint32_t reg, uint32_t dim, uint64_t bound) {
    Linear threads = {.out = SHAPE_BITS};
    for (InDim d = IN_LANE; d < IN_COUNT; d++)
        linear_append(&threads, l, d, shape_field(l->shape, dim), shape_offset(l->shape, dim));
    uint32_t flat = layout_apply(l, (Owner){{[IN_REGISTER] = reg}});
    return linear_least(&threads, shape_coord(l->shape, flat, dim)) < bound;
}
