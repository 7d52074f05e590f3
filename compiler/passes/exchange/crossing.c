/* crossing.c - how a reduction crosses warps: in one round or in two, and in which layouts partial results are read.
 *
 * In: the layout of the reduced tile, and the axis. Out: Crossing. A row has one result a warp and needs no choice.
 * Method: where a warp has several results, each lane keeps one of its thread's results (layout_scatter): half of the
 * shuffles or fewer. In one round every warp reads the partial results of all warps. In two rounds the warps of a block
 * first combine theirs, one thread a number, and only those results go to all blocks. The second round costs a barrier
 * and its latency. The two costs are compared; blocks of the grid always take two rounds, since each number that
 * crosses them is a word of global memory.
 */
#include "passes/private.h"

/* Issue slots of a multiprocessor's quarter, by thread. */
enum {
    COST_NUMBER = 4,   /* read from shared memory and combined */
    COST_PAIR = 18,    /* so, a sum below its maximum: an exponential */
    COST_SHUFFLE = 5,  /* a quarter of the others' rate, and one to combine */
    COST_MEETING = 200 /* a barrier of the block, a store and a load, and the lanes' shuffles one after the other */
};

typedef struct Choice {
    Func *f;
    const Layout *layout;
    uint32_t axis, number, words; /* `number`: one of COST_ */
} Choice;

static uint32_t crossing_bits(const ReducePlan *p, InDim d) {
    return (uint32_t)__builtin_popcount(p->combine[d]);
}

/* Of one round that reads it in layout l: the numbers, and the shuffles. */
static uint32_t round_cost(const Choice *c, const Layout *l) {
    ReducePlan plan = layout_reduce_plan(l, c->axis);
    uint32_t results = layout_registers(l) >> crossing_bits(&plan, IN_REGISTER);
    return layout_registers(l) * c->number + results * c->words * crossing_bits(&plan, IN_LANE) * COST_SHUFFLE;
}

/* *last: the layout of the result of reading 2^log2 numbers for each; how to read them.
 * Scattered results go back to all lanes at the end. */
static const Layout *read_layout(const Choice *c, const Layout *result, uint32_t log2, const Layout **last) {
    Layouts *ls = c->f->layouts;
    const Layout *scattered = layout_scatter(ls, result), *plain = layout_spread(ls, result, c->axis, log2);
    *last = result;
    if (scattered == result) return plain;
    const Layout *other = layout_spread(ls, scattered, c->axis, log2);
    uint32_t back = layout_registers(result) * (COST_SHUFFLE - 1) * c->words;
    if (round_cost(c, other) + back >= round_cost(c, plain)) return plain;
    *last = scattered;
    return other;
}

static uint32_t issue_cycles(const Choice *c, uint32_t cost) {
    return cost * c->f->num_warps / 4;
}

static bool is_worth_meeting(const Choice *c, const Layout *meet, const Layout *once, const Layout *later) {
    uint32_t two = round_cost(c, meet) + round_cost(c, later);
    return issue_cycles(c, two) + COST_MEETING < issue_cycles(c, round_cost(c, once));
}

Crossing crossing_plan(Func *f, const Layout *l, uint32_t axis, bool is_pair) {
    Layouts *ls = f->layouts;
    Choice c = {f, l, axis, is_pair ? COST_PAIR : COST_NUMBER, is_pair ? 2 : 1};
    Crossing x = {.partial = layout_partial(ls, l, axis), .result = layout_slice(ls, l, axis, false)};
    ReducePlan plan = layout_reduce_plan(l, axis);
    uint32_t warps = crossing_bits(&plan, IN_WARP), blocks = crossing_bits(&plan, IN_CTA);
    x.stored = x.partial;
    x.spread = read_layout(&c, x.result, warps + blocks, &x.last);
    /* one number of each block crosses then, whatever the counts say */
    bool meets_first = f->scope == SCOPE_GRID && warps && blocks;
    bool is_row = !x.result->shape.rank || !shape_log2(x.result->shape);
    if (is_row && !meets_first) return x;
    if (plan.combine[IN_LANE] && !is_row) x.stored = layout_scatter(ls, x.partial);
    x.meet = warps ? layout_meet(ls, x.partial, axis) : NULL;
    if (!x.meet) return x;
    const Layout *last, *later = read_layout(&c, x.result, blocks, &last);
    if (!meets_first && !is_worth_meeting(&c, x.meet, x.spread, later)) {
        x.meet = NULL;
        return x;
    }
    x.met = layout_partial(ls, x.meet, axis);
    x.spread = later;
    x.last = last;
    return x;
}
