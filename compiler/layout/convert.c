/* convert.c - conversions between two layouts of one tile: how far elements travel, and from which owner each comes.
 *
 * In: source and destination layout. Out: ConvertPlan, a linear map from destination owners to source owners.
 * The map is built basis by basis. Each destination bit first keeps its own thread, and the difference is solved over
 * the source's registers; where that fails over registers and lanes, then with warps, then with ctas. By linearity the
 * farthest bit is how far the whole conversion goes.
 */
#include "layout/layout.h"

static const char *const names[] = {
    [CONVERT_NONE] = "none",     [CONVERT_REGISTERS] = "registers", [CONVERT_SHUFFLE] = "shuffle",
    [CONVERT_SHARED] = "shared", [CONVERT_CLUSTER] = "cluster",
};

const char *convert_name(ConvertKind k) {
    return names[k];
}

/* How far input dimension d reaches. */
static ConvertKind kind_of(InDim d) {
    return (ConvertKind)(CONVERT_REGISTERS + d);
}

/* An owner in `from` of what differs at destination bit i of d, as near as can be; `whole` is layout_linear(from). */
static Owner source_of_bit(const Layout *from, const Linear *whole, const Layout *to, InDim d, uint32_t i,
                           ConvertKind *kind) {
    Owner o = {{0}};
    uint32_t difference = to->basis[d][i];
    bool same = i < from->bits[d] && from->basis[d][i] == difference;
    if (d != IN_REGISTER || same) {
        o.at[d] = 1u << i;
        difference ^= from->basis[d][i];
    }
    if (difference == 0) return o;
    Linear near = *whole; /* packed owners begin with the registers, so fewer columns are nearer owners */
    near.in = 0;
    for (InDim reach = IN_REGISTER; reach < IN_COUNT; reach++) {
        uint64_t packed;
        near.in = (uint8_t)(near.in + from->bits[reach]);
        if (!linear_solve(&near, difference, &packed)) continue;
        Owner move = layout_unpack(from, packed);
        for (InDim e = 0; e < IN_COUNT; e++) o.at[e] ^= move.at[e];
        if (*kind < kind_of(reach)) *kind = kind_of(reach);
        return o;
    }
    bug("convert: nothing owns element %u of the source", difference);
}

/* The span of what thread bits flip in the source register. */
static void find_candidates(ConvertPlan *plan, const Layout *to) {
    Linear flips = {.out = LAYOUT_BITS};
    for (InDim d = IN_LANE; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < to->bits[d]; i++) flips.column[flips.in++] = plan->source[d][i].at[IN_REGISTER];
    uint64_t free = linear_free(&flips);
    for (uint32_t i = 0; i < flips.in; i++)
        if (!(free >> i & 1)) plan->select[plan->nselect++] = (uint32_t)flips.column[i];
}

static void plan_make(const Layout *from, const Layout *to, ConvertPlan *plan) {
    if (!layout_same_threads(from, to)) bug("convert: layouts over different threads");
    *plan = (ConvertPlan){.kind = CONVERT_REGISTERS, .from = from, .to = to};
    Linear whole = layout_linear(from);
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < to->bits[d]; i++)
            plan->source[d][i] = source_of_bit(from, &whole, to, d, i, &plan->kind);
    find_candidates(plan, to);
}

void convert_plan(const Layout *from, const Layout *to, ConvertPlan *plan) {
    if (shape_log2(from->shape) != shape_log2(to->shape)) bug("convert: tiles of different size");
    plan_make(from, to, plan);
    if (from == to) plan->kind = CONVERT_NONE;
}

void convert_broadcast(const Layout *from, const Layout *to, ConvertPlan *plan) {
    if (!shape_broadcasts(from->shape, to->shape)) bug("convert_broadcast: the shape does not broadcast");
    Layout needed = *to; /* what each owner in `to` needs of the source */
    needed.shape = from->shape;
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < to->bits[d]; i++)
            needed.basis[d][i] = shape_project(to->shape, from->shape, to->basis[d][i]);
    plan_make(from, &needed, plan);
    plan->to = to;
    if (from == to) plan->kind = CONVERT_NONE;
}

ConvertKind convert_kind(const Layout *from, const Layout *to) {
    ConvertPlan plan;
    convert_plan(from, to, &plan);
    return plan.kind;
}

Owner convert_source(const ConvertPlan *plan, Owner destination) {
    Owner o = {{0}};
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < plan->to->bits[d]; i++)
            for (InDim e = 0; e < IN_COUNT && (destination.at[d] >> i & 1); e++) o.at[e] ^= plan->source[d][i].at[e];
    return o;
}
