/* reduce.c - reductions: which owner bits run along an axis, and the layouts between the rounds.
 *
 * In: a layout and an axis. Out: ReducePlan; the layouts of the partial results and of the second round.
 * Bits whose bases lie in the axis field and are independent are the ones to combine over, if together they span the
 * field. Any other basis differs from such a one only outside the axis, so its owner gets a complete result too.
 */
#include "layout/layout.h"

#include <string.h>

/* The columns that span the axis: every basis within its field, all others as zero. */
static Linear axis_columns(const Layout *l, uint32_t field) {
    Linear m = layout_linear(l);
    for (uint32_t i = 0; i < m.in; i++)
        if (m.column[i] & ~(uint64_t)field) m.column[i] = 0;
    return m;
}

/* Who reaches each bit of the axis, in place in the flat index. */
static void axis_owners(const Layout *l, uint32_t axis, const Linear *columns, uint64_t owners[64]) {
    if (!linear_solve_bits(columns, shape_field(l->shape, axis), owners)) bug("reduce: the axis is not spanned");
}

/* Register bits that do not repeat lower ones. */
static uint32_t independent_registers(const Layout *l) {
    Linear m = {.in = l->bits[IN_REGISTER], .out = SHAPE_BITS};
    for (uint32_t i = 0; i < m.in; i++) m.column[i] = l->basis[IN_REGISTER][i];
    return (uint32_t)(~linear_free(&m) & ((UINT64_C(1) << m.in) - 1));
}

static uint32_t bit_count(uint32_t x) {
    uint32_t n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

/* The coordinate of the partial result that holds axis coordinates `along` (in place in the flat index): the bits from
 * dimension `first` on of the one set of combined bits that reaches it, closed up. */
static uint32_t partial_coord(const Layout *l, const ReducePlan *plan, const uint64_t owners[64], uint32_t along,
                              InDim first) {
    uint64_t packed = 0;
    if (!along) return 0;
    for (; along; along &= along - 1) packed ^= owners[__builtin_ctz(along)];
    Owner o = layout_unpack(l, packed);
    uint32_t coord = 0, at = 0;
    for (InDim d = first; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++)
            if (plan->combine[d] >> i & 1) coord |= (o.at[d] >> i & 1) << at++;
    return coord;
}

/* Each basis as it is when all but the dimensions from `first` on are combined, register bits not yet dropped. */
static Layout partial_bases(const Layout *l, const ReducePlan *plan, const uint64_t owners[64], InDim first) {
    uint32_t field = shape_field(l->shape, plan->axis);
    Layout p = *l;
    p.shape.log2[plan->axis] = 0;
    for (InDim d = first; d < IN_COUNT; d++)
        p.shape.log2[plan->axis] = (uint8_t)(p.shape.log2[plan->axis] + bit_count(plan->combine[d]));
    Shape collapsed = shape_collapse(l->shape, plan->axis);
    for (InDim d = 0; d < IN_COUNT; d++) {
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            uint32_t coords[SHAPE_RANK];
            uint32_t rest = shape_project(l->shape, collapsed, l->basis[d][i]);
            for (uint32_t k = 0; k < l->shape.rank; k++) coords[k] = shape_coord(collapsed, rest, k);
            coords[plan->axis] = partial_coord(l, plan, owners, l->basis[d][i] & field, first);
            p.basis[d][i] = shape_flat(p.shape, coords);
        }
    }
    return p;
}

bool layout_is_mixed(const Layout *l, uint32_t axis) {
    Linear columns = axis_columns(l, shape_field(l->shape, axis));
    return linear_rank(&columns) < l->shape.log2[axis];
}

/* The plan but for the registers it keeps, and who reaches each bit of the axis. */
static ReducePlan plan_combine(const Layout *l, uint32_t axis, uint64_t owners[64]) {
    ReducePlan plan = {.axis = axis};
    Linear columns = axis_columns(l, shape_field(l->shape, axis));
    plan.mixed = linear_rank(&columns) < l->shape.log2[axis];
    if (plan.mixed) return plan;
    Owner free = layout_unpack(l, linear_free(&columns));
    for (InDim d = 0; d < IN_COUNT; d++) plan.combine[d] = ~free.at[d] & (uint32_t)((UINT64_C(1) << l->bits[d]) - 1);
    axis_owners(l, axis, &columns, owners);
    return plan;
}

ReducePlan layout_reduce_plan(const Layout *l, uint32_t axis) {
    uint64_t owners[64];
    ReducePlan plan = plan_combine(l, axis, owners);
    if (plan.mixed) return plan;
    Layout partial = partial_bases(l, &plan, owners, IN_WARP), own = partial_bases(l, &plan, owners, IN_LANE),
           result = *l;
    plan.keep_partial = independent_registers(&partial);
    plan.keep_threads = independent_registers(&own);
    for (uint32_t i = 0; i < l->bits[IN_REGISTER]; i++) result.basis[IN_REGISTER][i] &= ~shape_field(l->shape, axis);
    plan.keep = independent_registers(&result);
    return plan;
}

static const Layout *partial_from(Layouts *ls, const Layout *l, uint32_t axis, InDim first) {
    uint64_t owners[64];
    ReducePlan plan = plan_combine(l, axis, owners);
    if (plan.mixed) bug("layout_partial: bases mix the axis with others");
    Layout all = partial_bases(l, &plan, owners, first), p = all;
    uint32_t keep = independent_registers(&all);
    memset(p.basis[IN_REGISTER], 0, sizeof p.basis[IN_REGISTER]);
    p.bits[IN_REGISTER] = 0;
    for (uint32_t i = 0; i < all.bits[IN_REGISTER]; i++)
        if (keep >> i & 1) p.basis[IN_REGISTER][p.bits[IN_REGISTER]++] = all.basis[IN_REGISTER][i];
    if (p.shape.log2[axis] == 0) p.shape = shape_remove(p.shape, axis);
    return layout_intern(ls, &p);
}

const Layout *layout_partial(Layouts *ls, const Layout *l, uint32_t axis) {
    return partial_from(ls, l, axis, IN_WARP);
}

const Layout *layout_partial_threads(Layouts *ls, const Layout *l, uint32_t axis) {
    return partial_from(ls, l, axis, IN_LANE);
}

const Layout *layout_spread(Layouts *ls, const Layout *result, uint32_t axis, uint32_t log2) {
    Layout l = *result;
    l.shape = shape_insert(result->shape, axis);
    l.shape.log2[axis] = (uint8_t)log2;
    uint32_t offset = shape_offset(l.shape, axis), at = 0;
    for (InDim d = 0; d < IN_COUNT; d++) {
        for (uint32_t i = 0; i < l.bits[d]; i++) {
            uint32_t low = result->basis[d][i] & ((1u << offset) - 1), high = result->basis[d][i] >> offset;
            l.basis[d][i] = low | (uint32_t)((uint64_t)high << (offset + log2));
        }
    }
    for (uint32_t i = 0; i < l.bits[IN_LANE] && at < log2; i++)
        if (l.basis[IN_LANE][i] == 0) l.basis[IN_LANE][i] = 1u << (offset + at++);
    if (l.bits[IN_REGISTER] + (log2 - at) > LAYOUT_BITS) bug("layout_spread: too many registers");
    while (at < log2) l.basis[IN_REGISTER][l.bits[IN_REGISTER]++] = 1u << (offset + at++);
    return layout_intern(ls, &l);
}

const Layout *layout_scatter(Layouts *ls, const Layout *l) {
    Layout s = *l;
    for (uint32_t i = l->bits[IN_LANE]; i-- > 0 && s.bits[IN_REGISTER];) {
        if (s.basis[IN_LANE][i]) continue;
        uint32_t top = --s.bits[IN_REGISTER];
        s.basis[IN_LANE][i] = s.basis[IN_REGISTER][top];
        s.basis[IN_REGISTER][top] = 0;
    }
    return layout_intern(ls, &s);
}

static uint32_t reached_bits(const Layout *l, InDim first, InDim end) {
    uint32_t bits = 0;
    for (InDim d = first; d < end; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) bits |= l->basis[d][i];
    return bits;
}

/* The lowest bit of *bits, taken out. */
static uint32_t take_bit(uint32_t *bits) {
    uint32_t low = *bits & (~*bits + 1);
    *bits ^= low;
    return low;
}

const Layout *layout_meet(Layouts *ls, const Layout *partial, uint32_t axis) {
    Layout m = {.shape = partial->shape};
    uint32_t field = shape_field(m.shape, axis), ctas = reached_bits(partial, IN_CTA, IN_COUNT);
    if (ctas & reached_bits(partial, IN_REGISTER, IN_CTA)) return NULL;
    uint32_t all = (uint32_t)((UINT64_C(1) << shape_log2(m.shape)) - 1) & ~ctas, along = all & field,
             rest = all & ~field;
    for (InDim d = IN_LANE; d < IN_COUNT; d++) m.bits[d] = partial->bits[d];
    memcpy(m.basis[IN_CTA], partial->basis[IN_CTA], sizeof m.basis[IN_CTA]);
    uint32_t lanes = m.bits[IN_LANE], others = lanes > bit_count(along) ? lanes - bit_count(along) : 0;
    for (uint32_t i = 0; i < others; i++) m.basis[IN_LANE][i] = take_bit(&rest);
    for (uint32_t i = others; i < lanes; i++) m.basis[IN_LANE][i] = take_bit(&along);
    for (uint32_t i = 0; i < m.bits[IN_WARP]; i++) m.basis[IN_WARP][i] = take_bit(&rest);
    while (rest) m.basis[IN_REGISTER][m.bits[IN_REGISTER]++] = take_bit(&rest);
    while (along) m.basis[IN_REGISTER][m.bits[IN_REGISTER]++] = take_bit(&along);
    return layout_intern(ls, &m);
}

const Layout *layout_own(Layouts *ls, const Layout *l) {
    Layout own = *l;
    memset(own.basis[IN_CTA], 0, sizeof own.basis[IN_CTA]);
    uint32_t held = reached_bits(&own, IN_REGISTER, IN_CTA), first = 0;
    while (first + 1 < own.shape.rank && !own.shape.log2[first]) first++;
    while (own.shape.rank && own.shape.log2[first] && !(held >> (shape_log2(own.shape) - 1) & 1))
        own.shape.log2[first]--;
    return layout_intern(ls, &own);
}
