/* reduce.c - reductions within a warp.
 *
 * In: reduce, reduce_warp and broadcast_warp over an axis. Out: the result's slots, in every thread that its layout
 * names.
 * Method: first the registers of a thread, pairwise, so that independent chains overlap; equal slots, as those outside
 * a mask, count as one. Then a butterfly of shuffles over the lane bits that lie along the axis, all results side by
 * side. What crosses warps was spelled out by the pass exchange.
 */
#include "codegen/simt/simt.h"

/* What is combined: one tile, or two of one layout whose slots are made together. */
typedef struct Sum {
    OpKind kind;
    DType d;
    const Tile *x;
} Sum;

enum { MOST_SUMS = 2 };

static void combine_two(Simt *s, const Sum *sums, uint32_t n, const V *a, const V *b, V *out) {
    for (uint32_t k = 0; k < n; k++) out[k] = math_binary(&s->math, sums[k].kind, sums[k].d, a[k], b[k]);
}

/* Pairwise over the subsets of `mask`, highest bit innermost. */
static void combine_registers(Simt *s, const Sum *sums, uint32_t n, uint32_t reg, uint32_t mask, V *out) {
    if (!mask || (plant(PLANT_LOST_REGISTER) && (mask & (mask - 1)) == 0)) {
        for (uint32_t k = 0; k < n; k++) out[k] = tile_slot(s, sums[k].x, reg);
        return;
    }
    uint32_t low = mask & (~mask + 1), rest = mask ^ low;
    V a[MOST_SUMS], b[MOST_SUMS];
    combine_registers(s, sums, n, reg, rest, a);
    combine_registers(s, sums, n, reg ^ low, rest, b);
    combine_two(s, sums, n, a, b, out);
}

/* The same tree from its leaves: what goes to shared memory in groups is built group by group,
 * their slots side by side. */
static void combine_groups(Simt *s, OpKind kind, DType d, const Tile *x, uint32_t reg, uint32_t mask, V *out) {
    V other[SPILL_GROUP];
    if (!mask) {
        for (uint32_t i = 0; i < SPILL_GROUP; i++) out[i] = tile_slot(s, x, reg ^ i);
        return;
    }
    uint32_t low = mask & (~mask + 1);
    combine_groups(s, kind, d, x, reg, mask ^ low, out);
    combine_groups(s, kind, d, x, reg ^ low, mask ^ low, other);
    for (uint32_t i = 0; i < SPILL_GROUP; i++) out[i] = math_binary(&s->math, kind, d, out[i], other[i]);
}

static V combine_group(Simt *s, OpKind kind, DType d, const V *x, uint32_t at, uint32_t low) {
    if (low == SPILL_GROUP) return x[at];
    V a = combine_group(s, kind, d, x, at, 2 * low), b = combine_group(s, kind, d, x, at | low, 2 * low);
    return math_binary(&s->math, kind, d, a, b);
}

/* ---- Equal registers --------------------------------------------------------------------------------------------- */

/* What a thread combines for one result: the registers that differ, and one value that `same` others all have. */
typedef struct Operands {
    uint32_t *at, n, same;
} Operands;

/* Registers that a mask leaves out hold one value; it stands in the last ones. */
static Operands operands_of(Simt *s, const Tile *x, uint32_t reg, uint32_t mask) {
    uint32_t count = UINT32_C(1) << __builtin_popcount(mask);
    Operands o = {.at = NEW_ARRAY(s->m->o->arena, uint32_t, count)};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = reg ^ deposit(i, mask);
        if (slot_key(x, at) == slot_key(x, reg ^ mask)) o.same++;
        else o.at[o.n++] = at;
    }
    return o;
}

static void combine_list(Simt *s, const Sum *sums, uint32_t n, const uint32_t *at, uint32_t length, V *out) {
    if (length == 1) {
        for (uint32_t k = 0; k < n; k++) out[k] = tile_slot(s, sums[k].x, at[0]);
        return;
    }
    uint32_t half = length / 2;
    V a[MOST_SUMS], b[MOST_SUMS];
    combine_list(s, sums, n, at, length - half, a);
    combine_list(s, sums, n, at + length - half, half, b);
    combine_two(s, sums, n, a, b, out);
}

/* x combined with itself, `times` in all: by doubling. */
static V combine_repeated(Simt *s, OpKind kind, DType d, V x, uint32_t times) {
    V sum = NULL;
    if (op_is_idempotent(kind)) return x;
    for (; times; times >>= 1) {
        if (times & 1) sum = sum ? math_binary(&s->math, kind, d, sum, x) : x;
        if (times > 1) x = math_binary(&s->math, kind, d, x, x);
    }
    return sum;
}

static void combine_thread(Simt *s, const Sum *sums, uint32_t n, uint32_t reg, uint32_t mask, V *out) {
    const Tile *x = sums[0].x;
    Operands o = operands_of(s, x, reg, mask);
    uint32_t within = SPILL_GROUP - 1;
    if (n == 1 && o.same < 2 && tile_is_spilling(x) && (mask & within) == within && !(reg & within) &&
        !plant(PLANT_LOST_REGISTER)) {
        V lanes[SPILL_GROUP];
        combine_groups(s, sums[0].kind, sums[0].d, x, reg, mask ^ within, lanes);
        out[0] = combine_group(s, sums[0].kind, sums[0].d, lanes, 0, 1);
        return;
    }
    if (o.same < 2) {
        combine_registers(s, sums, n, reg, mask, out);
        return;
    }
    V rest[MOST_SUMS], own[MOST_SUMS];
    uint32_t times = plant(PLANT_LOST_REGISTER) ? o.same - 1 : o.same;
    for (uint32_t k = 0; k < n; k++)
        out[k] = rest[k] = combine_repeated(s, sums[k].kind, sums[k].d, tile_slot(s, sums[k].x, reg ^ mask), times);
    if (!o.n) return;
    combine_list(s, sums, n, o.at, o.n, own);
    combine_two(s, sums, n, own, rest, out);
}

/* Have both the same slots more than once, as a mask leaves them? Then their trees are alike. */
static bool are_alike(Simt *s, const Sum *a, const Sum *b, uint32_t reg, uint32_t mask) {
    Operands x = operands_of(s, a->x, reg, mask), y = operands_of(s, b->x, reg, mask);
    bool alike = x.n == y.n && x.same == y.same;
    for (uint32_t i = 0; i < x.n && alike; i++) alike = x.at[i] == y.at[i];
    return alike;
}

static V from_lane(Simt *s, DType d, V x, uint32_t bit) {
    return simt_shuffle(s, PRIM_SHFL_BFLY, d, x, simt_i32(s, plant(PLANT_SHUFFLE_DISTANCE) && bit == 16 ? 8 : bit));
}

/* Of each pair of results, one for either half of the lanes: each lane keeps its own and sends the other, or drops it
 * where all lanes have both. How many remain. */
static uint32_t share_out(Simt *s, OpKind kind, DType d, V *results, uint32_t n, uint32_t lane, bool is_combined) {
    ThreadMap map = {0};
    map.thread[lane] = 1;
    V is_upper = LLVMBuildICmp(s->m->at, LLVMIntNE, simt_map(s, &map), simt_i32(s, 0), "");
    for (uint32_t i = 0; i < n / 2; i++) {
        V low = results[i], high = results[i + n / 2];
        results[i] = LLVMBuildSelect(s->m->at, is_upper, high, low, "");
        if (!is_combined) continue;
        V sent = LLVMBuildSelect(s->m->at, is_upper, low, high, "");
        results[i] = math_binary(&s->math, kind, d, results[i], from_lane(s, d, sent, UINT32_C(1) << lane));
    }
    return n / 2;
}

/* `scatter`: the layout without it, or NULL. */
static uint32_t combine_lanes(Simt *s, OpKind kind, DType d, V *results, uint32_t n, uint32_t lanes,
                              const Layout *scatter) {
    for (uint32_t lane = (uint32_t)__builtin_ctz(s->t->warp_threads); lane-- > 0;) {
        uint32_t bit = UINT32_C(1) << lane;
        if (scatter && n > 1 && lane < scatter->bits[IN_LANE] && !scatter->basis[IN_LANE][lane]) {
            n = share_out(s, kind, d, results, n, lane, lanes & bit);
            continue;
        }
        if (!(lanes & bit)) continue;
        for (uint32_t i = 0; i < n; i++)
            results[i] = math_binary(&s->math, kind, d, results[i], from_lane(s, d, results[i], bit));
    }
    return n;
}

/* The source register bits that stay, in the order of the result's register bits; the result's layout must be the one
 * that reducing gives (*given), whole, up to the warps, scattered or not, or up to the threads: then no lanes are
 * combined. */
static uint32_t kept_registers(Simt *s, const Op *op, ReducePlan *plan, const Layout **given) {
    const Layout *from = op->args[0]->type.layout, *to = op->results[0]->type.layout;
    bool is_partial = plan->combine[IN_WARP] || plan->combine[IN_CTA];
    uint32_t axis = op->attr.axis;
    if (op->kind == OP_REDUCE && is_partial) bug("reduce: warps were left implicit");
    const Layout *want =
        is_partial ? layout_partial(s->f->layouts, from, axis) : layout_slice(s->f->layouts, from, axis, false);
    *given = want;
    if (op->kind == OP_REDUCEWARP && to && to == layout_partial_threads(s->f->layouts, from, axis)) {
        plan->combine[IN_LANE] = 0;
        return plan->keep_threads;
    }
    if (op->attr.is_scattered) want = layout_scatter(s->f->layouts, want);
    if (to && to != want) bug("%s: the result has a layout of its own", op_info[op->kind].name);
    return is_partial ? plan->keep_partial : plan->keep;
}

/* ---- The op ------------------------------------------------------------------------------------------------------ */

/* What a reduction of several tiles is about, and where its results go. */
typedef struct Reduction {
    ReducePlan plan;
    const Layout *given;
    uint32_t keep, n; /* results of a thread */
    V *results;
} Reduction;

static Reduction reduction_of(Simt *s, const Op *op) {
    const Value *from = op->args[0], *v = op->results[0];
    Reduction r = {.plan = layout_reduce_plan(from->type.layout, op->attr.axis)};
    if (r.plan.mixed) bug("%s: the layout mixes axes", op_info[op->kind].name);
    r.keep = kept_registers(s, op, &r.plan, &r.given);
    if (!value_is_tile(v)) r.keep = 0;
    r.n = UINT32_C(1) << __builtin_popcount(r.keep);
    r.results = NEW_ARRAY(s->m->o->arena, V, r.n);
    return r;
}

static Sum sum_of(Simt *s, const Op *op) {
    return (Sum){op->attr.combine, op->args[0]->type.dtype, tile_on_demand(s, op->args[0])};
}

static void reduce_finish(Simt *s, const Op *op, const Reduction *r) {
    Tile t = tile_create(s, tile_registers(op->results[0]));
    const Layout *scatter = op->attr.is_scattered ? r->given : NULL;
    uint32_t n = combine_lanes(s, op->attr.combine, op->args[0]->type.dtype, r->results, r->n, r->plan.combine[IN_LANE],
                               scatter);
    if (t.n != n) bug("%s: registers do not fit the plan", op_info[op->kind].name);
    for (uint32_t k = 0; k < n; k++) t.at[k].base = r->results[k];
    s->values[op->results[0]->id] = t;
}

static void reduce_alone(Simt *s, const Op *op) {
    Reduction r = reduction_of(s, op);
    Sum sum = sum_of(s, op);
    uint32_t mask = r.plan.combine[IN_REGISTER];
    for (uint32_t k = 0; k < r.n; k++) {
        uint32_t reg = deposit(k, r.keep);
        if (op->attr.is_packed) r.results[k] = reduce_words(s, op, reg, mask);
        else combine_thread(s, &sum, 1, reg, mask, r.results + k);
    }
    reduce_finish(s, op, &r);
}

/* False: their trees differ. */
static bool reduce_both(Simt *s, const Op *first, const Op *op) {
    Reduction a = reduction_of(s, first), b = reduction_of(s, op);
    Sum sums[] = {sum_of(s, first), sum_of(s, op)};
    uint32_t mask = a.plan.combine[IN_REGISTER];
    for (uint32_t k = 0; k < a.n; k++)
        if (!are_alike(s, sums, sums + 1, deposit(k, a.keep), mask)) return false;
    for (uint32_t k = 0; k < a.n; k++) {
        V out[MOST_SUMS];
        combine_thread(s, sums, MOST_SUMS, deposit(k, a.keep), mask, out);
        a.results[k] = out[0];
        b.results[k] = out[1];
    }
    reduce_finish(s, first, &a);
    reduce_finish(s, op, &b);
    return true;
}

void simt_reduce(Simt *s, const Op *op) {
    const Op *first = s->reduced;
    s->reduced = NULL;
    if (!first && op->attr.is_paired && !s->records) {
        s->reduced = op; /* comes with the next one */
        return;
    }
    if (first && reduce_both(s, first, op)) return;
    if (first) reduce_alone(s, first);
    reduce_alone(s, op);
}

/* Every thread has its own or its warp's partial results already: the registers along the axis share one. */
void simt_broadcast_warp(Simt *s, const Op *op) {
    Value *v = op->results[0];
    const Tile *x = tile_of(s, op->args[0]);
    ReducePlan plan = layout_reduce_plan(v->type.layout, op->attr.axis);
    const Layout *own = layout_partial_threads(s->f->layouts, v->type.layout, op->attr.axis);
    uint32_t keep = op->args[0]->type.layout == own ? plan.keep_threads : plan.keep_partial;
    Tile r = tile_create(s, tile_registers(v));
    for (uint32_t k = 0; k < x->n; k++)
        for (uint32_t along = plan.combine[IN_REGISTER], reg = along;; reg = (reg - 1) & along) {
            r.at[deposit(k, keep) | reg] = x->at[k];
            if (!reg) break;
        }
    s->values[v->id] = r;
}
