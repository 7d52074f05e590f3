/* welford.c - the pass welford: a row's sum and its squared differences from the mean cross warps in one exchange.
 *
 * In: a Func at STAGE_SIMT, exchanges not spelled out: s = sum v, p made of s, d = v - p or where(mask, v - p, 0), sums
 * of d * d and perhaps of d, over an axis that crosses warps.
 * Out: each warp takes a pivot c near its elements, their number n, and the sums l of d' = v - c and q of d' * d'.
 * These are one exchange. Behind it s is the sum of l + n c. With e = c - p the others are those of l + n e and
 * q + e (2 l + n e).
 * Method: the formula of Chan, Golub and LeVeque (1979), which holds for any p and c. Outside of the mask v must be 0,
 * for s has all of it. The pivot is the mean of some of the warp's elements, at least every PARTS-th: then q is at
 * most PARTS + 1 times what it would be below the mean of all of them, and has so many times its rounding errors at
 * worst. A pivot that is not finite becomes 0, so that s stays what it was. A warp without elements takes p for its c,
 * as 0 * inf would be NaN. Where s is not finite, p is not, nor are the differences. Then the other sums are NaN;
 * before they were infinite if no element was.
 */
#include "passes/exchange/partial.h"

#include <math.h>

/* The ops of one match. */
typedef struct Spread {
    Op *mean;             /* s = reduce v; the mean is made of it */
    Op *linear, *squares; /* reduce d, reduce d * d; no such sum is NULL */
    Value *mask;          /* NULL: every element counts */
    Value *row;           /* p */
} Spread;

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

static bool is_sum(const Op *op, uint32_t axis) {
    return op->kind == OP_REDUCE && op->attr.combine == OP_FADD && op->attr.axis == axis;
}

/* Is v a multiple of the sum, and so not finite where that is not? */
static bool is_multiple(const Op *sum, Value *v) {
    v = value_row(v, sum->attr.axis);
    const Op *op = v->def;
    if (op == sum) return true;
    if (!op || (op->kind != OP_FDIV && op->kind != OP_FDIVRN && op->kind != OP_FMUL)) return false;
    return is_multiple(sum, op->args[0]) || (op->kind == OP_FMUL && is_multiple(sum, op->args[1]));
}

/* Is the mask one of those that `all` joins? */
static bool asks_for(const Value *all, const Value *mask) {
    const Op *op = all->def;
    if (all == mask) return true;
    return op && op->kind == OP_AND && (asks_for(op->args[0], mask) || asks_for(op->args[1], mask));
}

static bool is_zero(const Value *v) {
    double x;
    return value_const_float(v, &x) && x == 0;
}

/* Is v 0 wherever the mask is false? */
static bool is_within(const Value *v, const Value *mask) {
    const Op *op = v->def, *both = mask->def;
    if (both && both->kind == OP_AND) return is_within(v, both->args[0]) && is_within(v, both->args[1]);
    if (!op) return false;
    switch (op->kind) {
    case OP_FPEXT: return is_within(op->args[0], mask);
    case OP_FADD:
    case OP_FSUB: return is_within(op->args[0], mask) && is_within(op->args[1], mask);
    case OP_LOAD: return op->nargs > 1 && asks_for(op->args[1], mask) && (op->nargs < 3 || is_zero(op->args[2]));
    case OP_SELECT: return is_zero(op->args[2]) && (asks_for(op->args[0], mask) || is_within(op->args[1], mask));
    default: return false;
    }
}

/* Is d the difference of the sum's elements from something made of the sum? */
static bool match_difference(Spread *s, const Value *d) {
    const Op *op = d->def;
    Value *mask = NULL;
    if (op && op->kind == OP_SELECT && is_zero(op->args[2])) {
        mask = op->args[0];
        op = op->args[1]->def;
    }
    if (!op || op->kind != OP_FSUB || op->args[0] != s->mean->args[0]) return false;
    Value *row = value_row(op->args[1], s->mean->attr.axis);
    if (!is_multiple(s->mean, row) || (mask && !is_within(s->mean->args[0], mask))) return false;
    s->mask = mask;
    s->row = row;
    return true;
}

static Op *find_sum(const Spread *s, const Value *v) {
    for (const Use *u = v->uses; u; u = u->next)
        if (is_sum(u->op, s->mean->attr.axis) && u->op->parent == s->mean->parent) return u->op;
    return NULL;
}

/* Finds the sums over d. False if its squares are not summed. */
static bool match_sums(Spread *s, const Value *d) {
    if (!match_difference(s, d)) return false;
    for (const Use *u = d->uses; u; u = u->next) {
        bool is_square = u->op->kind == OP_FMUL && u->op->args[0] == d && u->op->args[1] == d;
        if (is_square && (s->squares = find_sum(s, u->op->results[0]))) break;
    }
    s->linear = find_sum(s, d);
    return s->squares != NULL;
}

static bool match(Op *op, Spread *s) {
    *s = (Spread){.mean = op};
    const Value *v = op->args[0];
    if (dtype_kind(v->type.dtype) != KIND_FLOAT || dtype_bits(v->type.dtype) < 32) return false;
    for (const Use *u = v->uses; u; u = u->next) {
        if (u->op->kind != OP_FSUB || u->index != 0) continue;
        const Value *d = u->op->results[0];
        if (match_sums(s, d)) return true;
        for (const Use *w = d->uses; w; w = w->next)
            if (w->op->kind == OP_SELECT && match_sums(s, w->op->results[0])) return true;
    }
    return false;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* What each warp has of the row, and behind the exchange what each had. */
typedef struct Numbers {
    Value *pivot, *count, *linear, *squares;
} Numbers;

enum {
    PARTS_LOG2 = 3,
    LEAST_REGISTERS = 4, /* of a thread, for the pivot */
    LEAST_SUMMED = 32,   /* elements of a thread: of fewer the exchange costs less than the numbers */
    MOST_NUMBERS = 4,    /* of each kind in a thread behind the exchange */
    JOINS = 2,           /* that make one tile of a warp's four numbers */
};

/* Has a warp that has any element one among its first places? So if the mask is places < n. */
static bool begins_live(const Value *mask) {
    const Op *op = mask ? mask->def : NULL;
    if (!mask) return true;
    if (!op || op->kind != OP_ICMP || (op->attr.pred != PRED_SLT && op->attr.pred != PRED_ULT)) return false;
    const Op *place = op->args[0]->def;
    while (place && (place->kind == OP_EXPAND || place->kind == OP_BROADCAST)) place = place->args[0]->def;
    bool is_place = place && (place->kind == OP_ARANGE || place->kind == OP_ROTATED || place->kind == OP_MOVED);
    return is_place && place->attr.start >= 0 && op->args[1]->def && op->args[1]->def->kind == OP_SPLAT;
}

/* log2 of the parts of which the first gives the pivot. Scattered results are of whole tiles. */
static uint32_t parts_log2(const Spread *s, const Partial *at) {
    uint32_t parts = layout_parts_log2(at->tile, at->axis), most = PARTS_LOG2;
    while (most && (layout_registers(at->tile) >> most) < LEAST_REGISTERS) most--;
    if (!begins_live(s->mask) || at->crossing.stored != at->crossing.partial) return 0;
    return parts < most ? parts : most;
}

static Value *first_part(Builder *b, const Partial *at, Value *v, const Layout *part) {
    if (!v || part == at->tile) return v;
    Value *zero = build0(b, OP_CONST, (Attr){0}, type_scalar(DT_I32));
    return op_build(b, OP_SLICE, (Value *[]){v, zero}, 2, (Attr){.axis = at->axis}, type_laid(v->type.dtype, part))
        ->results[0];
}

/* How many elements each warp has of a tile; without a mask all have as many. */
static Value *count_of(Builder *b, const Partial *at, Value *mask, const Layout *tile, DType d, Attr a) {
    ReducePlan plan = layout_reduce_plan(at->tile, at->axis);
    int warps = __builtin_popcount(plan.combine[IN_WARP]) + __builtin_popcount(plan.combine[IN_CTA]);
    Type t = type_laid(d, tile);
    if (!mask)
        return build_float(b, type_laid(d, at->crossing.stored), (double)(shape_size(t.shape, at->axis) >> warps));
    Value *one = build3(b, OP_SELECT, mask, build_float(b, t, 1.0), build_float(b, t, 0.0));
    return partial_within(b, at, one, a);
}

static Value *pivot_of(Builder *b, const Spread *s, const Partial *at, Value *count) {
    const Layout *part = layout_part(b->f->layouts, at->tile, at->axis, parts_log2(s, at));
    Value *v = first_part(b, at, s->mean->args[0], part), *mask = first_part(b, at, s->mask, part);
    if (part != at->tile) count = count_of(b, at, mask, part, v->type.dtype, s->mean->attr);
    if (mask) count = build2(b, OP_FMAX, count, build_float(b, count->type, 1.0));
    Value *c = build2(b, OP_FDIV, partial_within(b, at, v, s->mean->attr), count);
    Value *is_finite = build_compare(b, OP_FCMP, PRED_SLT, build1(b, OP_FABS, c), build_float(b, c->type, INFINITY));
    return build3(b, OP_SELECT, is_finite, c, build_float(b, c->type, 0.0));
}

static Numbers of_warp(Builder *b, const Spread *s, const Partial *at) {
    Value *v = s->mean->args[0];
    const Attr a = s->mean->attr;
    Numbers n = {.count = count_of(b, at, s->mask, at->tile, v->type.dtype, a)};
    n.pivot = pivot_of(b, s, at, n.count);
    Value *c = build_laid(b, n.pivot, at->crossing.partial);
    Value *d = build2(b, OP_FSUB, v, partial_to_elements(b, at, c, at->tile));
    if (s->mask) d = build3(b, OP_SELECT, s->mask, d, build_float(b, d->type, 0.0));
    n.linear = partial_within(b, at, d, a);
    n.squares = partial_within(b, at, build2(b, OP_FMUL, d, d), a);
    return n;
}

/* All numbers through shared memory, as one tile of four a warp. */
static Numbers exchange(Builder *b, const Partial *at, Numbers n) {
    Layouts *ls = b->f->layouts;
    Value *all = build_join(b, build_join(b, n.linear, n.squares), build_join(b, n.pivot, n.count));
    Type t = type_laid(n.linear->type.dtype, layout_join(ls, layout_join(ls, at->crossing.spread)));
    all = build1_to(b, OP_CONVERT, all, t);
    Value *sums = build_split(b, all, 0), *others = build_split(b, all, 1);
    return (Numbers){.linear = build_split(b, sums, 0), .squares = build_split(b, sums, 1),
                     .pivot = build_split(b, others, 0), .count = build_split(b, others, 1)};
}

static Op *earlier(Op *a, Op *b) {
    for (Op *op = a; op; op = op->next)
        if (op == b) return a;
    return b;
}

static void rewrite(Func *f, const Spread *s, const Partial *at) {
    Value *last;
    if (s->mask) value_raise(f, s->mask, s->mean, false);
    Builder b = builder_before(f, s->mean);
    const Attr a = s->mean->attr;
    Numbers n = exchange(&b, at, of_warp(&b, s, at));
    bool is_sum_itself = s->row == s->mean->results[0];
    Value *sum = partial_combine(&b, at, build3(&b, OP_FMA, n.count, n.pivot, n.linear), a, &last);
    Value *row = is_sum_itself ? last : s->row;
    op_replace(f, s->mean, sum);

    b = builder_before(f, s->linear ? earlier(s->squares, s->linear) : s->squares);
    Value *e = build2(&b, OP_FSUB, n.pivot, build_along(&b, row, at->axis, n.pivot->type));
    if (s->mask) {
        Value *none = build_float(&b, e->type, 0.0);
        e = build3(&b, OP_SELECT, build_compare(&b, OP_FCMP, PRED_EQ, n.count, none), none, e);
    }
    Value *linear = build3(&b, OP_FMA, n.count, e, n.linear);
    Value *squares = build3(&b, OP_FMA, e, build2(&b, OP_FADD, n.linear, linear), n.squares);
    squares = partial_combine(&b, at, squares, a, &last);
    if (s->linear) op_replace(f, s->linear, partial_combine(&b, at, linear, a, &last));
    op_replace(f, s->squares, squares);
}

static void visit(void *context, Op *op) {
    Func *f = context;
    Spread s;
    Partial at;
    if (!is_sum(op, op->attr.axis) || !match(op, &s) || !partial_plan(f, op, s.row, JOINS, &at)) return;
    bool is_long = layout_registers(at.tile) / layout_registers(at.crossing.stored) >= LEAST_SUMMED;
    if (!is_long || layout_registers(at.crossing.spread) > MOST_NUMBERS * layout_registers(at.crossing.last)) return;
    if (at.crossing.meet || (s.mask && !value_raise(f, s.mask, op, true))) return;
    rewrite(f, &s, &at);
}

void pass_welford(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, visit, f);
}
