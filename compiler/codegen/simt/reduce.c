/* reduce.c - reductions within a warp.
 *
 * In: reduce, reduce_warp and broadcast_warp over an axis. Out: the result's lanes, in every thread that its layout names.
 * Method: in registers pairwise, so that independent chains overlap, equal ones (outside a mask) as one; then a butterfly of shuffles over just the lane bits
 * that lie along the axis, all results side by side. What remains along warps another pass has made explicit.
 */
#include "codegen/simt/simt.h"

static uint32_t deposit(uint32_t value, uint32_t mask) {
    uint32_t r = 0;
    for (; mask; mask &= mask - 1, value >>= 1)
        if (value & 1) r |= mask & (~mask + 1);
    return r;
}

/* Pairwise over the subsets of `mask`, highest bit innermost. */
static V combine_registers(Simt *s, OpKind kind, DType d, const Tile *x, uint32_t reg, uint32_t mask) {
    if (!mask) return tile_lane(s, x, reg);
    if (plant(PLANT_LOST_REGISTER) && (mask & (mask - 1)) == 0) return tile_lane(s, x, reg);
    uint32_t low = mask & (~mask + 1), rest = mask ^ low;
    V a = combine_registers(s, kind, d, x, reg, rest);
    V b = combine_registers(s, kind, d, x, reg ^ low, rest);
    return math_binary(&s->math, kind, d, a, b);
}

/* The same tree from its leaves: what goes to shared memory in groups is built group by group, their lanes side by side. */
static void combine_groups(Simt *s, OpKind kind, DType d, const Tile *x, uint32_t reg, uint32_t mask, V *out) {
    V other[PARK_GROUP];
    if (!mask) {
        for (uint32_t i = 0; i < PARK_GROUP; i++) out[i] = tile_lane(s, x, reg ^ i);
        return;
    }
    uint32_t low = mask & (~mask + 1);
    combine_groups(s, kind, d, x, reg, mask ^ low, out);
    combine_groups(s, kind, d, x, reg ^ low, mask ^ low, other);
    for (uint32_t i = 0; i < PARK_GROUP; i++) out[i] = math_binary(&s->math, kind, d, out[i], other[i]);
}

static V combine_group(Simt *s, OpKind kind, DType d, const V *x, uint32_t at, uint32_t low) {
    if (low == PARK_GROUP) return x[at];
    V a = combine_group(s, kind, d, x, at, 2 * low), b = combine_group(s, kind, d, x, at | low, 2 * low);
    return math_binary(&s->math, kind, d, a, b);
}

/* ---- Equal registers ----------------------------------------------------------------------------------------------------- */

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
        if (lane_key(x, at) == lane_key(x, reg ^ mask)) o.same++;
        else o.at[o.n++] = at;
    }
    return o;
}

static V combine_list(Simt *s, OpKind kind, DType d, const Tile *x, const uint32_t *at, uint32_t n) {
    if (n == 1) return tile_lane(s, x, at[0]);
    uint32_t half = n / 2;
    V a = combine_list(s, kind, d, x, at, n - half), b = combine_list(s, kind, d, x, at + n - half, half);
    return math_binary(&s->math, kind, d, a, b);
}

static bool is_idempotent(OpKind kind) {
    return kind != OP_ADD && kind != OP_MUL && kind != OP_XOR && kind != OP_FADD && kind != OP_FMUL;
}

/* x combined with itself, `times` in all: by doubling. */
static V combine_repeated(Simt *s, OpKind kind, DType d, V x, uint32_t times) {
    V sum = NULL;
    if (is_idempotent(kind)) return x;
    for (; times; times >>= 1) {
        if (times & 1) sum = sum ? math_binary(&s->math, kind, d, sum, x) : x;
        if (times > 1) x = math_binary(&s->math, kind, d, x, x);
    }
    return sum;
}

static V combine_thread(Simt *s, OpKind kind, DType d, const Tile *x, uint32_t reg, uint32_t mask) {
    Operands o = operands_of(s, x, reg, mask);
    uint32_t within = PARK_GROUP - 1;
    if (o.same < 2 && tile_is_parking(x) && (mask & within) == within && !(reg & within) && !plant(PLANT_LOST_REGISTER)) {
        V lanes[PARK_GROUP];
        combine_groups(s, kind, d, x, reg, mask ^ within, lanes);
        return combine_group(s, kind, d, lanes, 0, 1);
    }
    if (o.same < 2) return combine_registers(s, kind, d, x, reg, mask);
    V rest = combine_repeated(s, kind, d, tile_lane(s, x, reg ^ mask), plant(PLANT_LOST_REGISTER) ? o.same - 1 : o.same);
    return o.n ? math_binary(&s->math, kind, d, combine_list(s, kind, d, x, o.at, o.n), rest) : rest;
}

static V from_lane(Simt *s, DType d, V x, uint32_t bit) {
    return simt_shuffle(s, PRIM_SHFL_BFLY, d, x, simt_i32(s, plant(PLANT_SHUFFLE_DISTANCE) && bit == 16 ? 8 : bit));
}

/* Of each pair of results, one for either half of the lanes: each lane keeps its own and sends the other, or drops it where all
 * lanes have both. How many remain. */
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
static uint32_t combine_lanes(Simt *s, OpKind kind, DType d, V *results, uint32_t n, uint32_t lanes, const Layout *scatter) {
    for (uint32_t lane = 5; lane-- > 0;) {
        uint32_t bit = UINT32_C(1) << lane;
        if (scatter && n > 1 && lane < scatter->bits[IN_LANE] && !scatter->basis[IN_LANE][lane]) {
            n = share_out(s, kind, d, results, n, lane, lanes & bit);
            continue;
        }
        if (!(lanes & bit)) continue;
        for (uint32_t i = 0; i < n; i++) results[i] = math_binary(&s->math, kind, d, results[i], from_lane(s, d, results[i], bit));
    }
    return n;
}

/* The source register bits that stay, in the order of the result's register bits; the result's layout must be the one that
 * reducing gives (*given), whole or up to the warps, scattered or not. */
static uint32_t kept_registers(Simt *s, const Op *op, const ReducePlan *plan, const Layout **given) {
    const Layout *from = op->args[0]->type.layout, *to = op->results[0]->type.layout;
    bool is_partial = plan->combine[IN_WARP] || plan->combine[IN_CTA];
    uint32_t axis = (uint32_t)op->attr.i;
    if (op->kind == OP_REDUCE && is_partial) bug("reduce: warps were left implicit");
    const Layout *want =
        is_partial ? layout_partial(s->f->layouts, from, axis) : layout_slice(s->f->layouts, from, axis, false);
    *given = want;
    if (op->attr.is_scattered) want = layout_scatter(s->f->layouts, want);
    if (to && to != want) bug("%s: the result has a layout of its own", op_info[op->kind].name);
    return is_partial ? plan->keep_partial : plan->keep;
}

void simt_reduce(Simt *s, const Op *op) {
    const Value *from = op->args[0];
    Value *v = op->results[0];
    ReducePlan plan = layout_reduce_plan(from->type.layout, (uint32_t)op->attr.i);
    if (plan.mixed) bug("%s: the layout mixes axes", op_info[op->kind].name);
    const Layout *given;
    uint32_t keep = kept_registers(s, op, &plan, &given);
    Tile r = tile_create(s, tile_registers(v));
    if (!value_is_tile(v)) keep = 0;
    uint32_t n = UINT32_C(1) << __builtin_popcount(keep);
    OpKind kind = (OpKind)op->attr.j;
    DType d = from->type.dtype;
    V *results = NEW_ARRAY(s->m->o->arena, V, n);
    uint32_t mask = plan.combine[IN_REGISTER];
    const Tile *packed = reduce_words_of(s, op, mask);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t reg = deposit(k, keep);
        results[k] = packed ? reduce_words(s, op, packed, reg, mask) : combine_thread(s, kind, d, tile_waiting(s, from), reg, mask);
    }
    n = combine_lanes(s, kind, d, results, n, plan.combine[IN_LANE], op->attr.is_scattered ? given : NULL);
    if (r.n != n) bug("%s: registers do not fit the plan", op_info[op->kind].name);
    for (uint32_t k = 0; k < r.n; k++) r.at[k].base = results[k];
    s->values[v->id] = r;
}

/* Every thread has its warp's partial results already: the registers along the axis share one. */
void simt_broadcast_warp(Simt *s, const Op *op) {
    Value *v = op->results[0];
    const Tile *x = tile_of(s, op->args[0]);
    ReducePlan plan = layout_reduce_plan(v->type.layout, (uint32_t)op->attr.i);
    Tile r = tile_create(s, tile_registers(v));
    for (uint32_t k = 0; k < x->n; k++)
        for (uint32_t along = plan.combine[IN_REGISTER], reg = along;; reg = (reg - 1) & along) {
            r.at[deposit(k, plan.keep_partial) | reg] = x->at[k];
            if (!reg) break;
        }
    s->values[v->id] = r;
}
