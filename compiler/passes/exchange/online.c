/* online.c - the pass online: the maximum and the sum of a softmax cross warps in one exchange, not in two.
 *
 * In: a Func at STAGE_SIMT, exchanges not spelled out: m = max x, e = exp(t (h - g)), s = sum e, over an axis that
 * crosses warps, where g is made of m as h is of x (softmax_match.c).
 * Out: each warp takes its own maximum m', its pivot c, e' = exp(t (h - c)) and s' = sum e'. The pairs (m', s') are one
 * exchange. Behind it m = max m' and s = sum of s' exp(t (c - g)); other uses of e get e' exp(t (c - g)).
 * Method: matched from the sum backwards, rebuilt before the maximum. softmax_factor and softmax_pivot say what keeps
 * NaN and infinities where they were.
 */
#include "passes/analysis/softmax_match.h"

#include <float.h>

enum {
    LEAST_ELEMENTS =
        /* in a thread, for each exponential that it has more than before: with fewer, they cost what a barrier does */
        16
};

/* The layouts of one rewriting. */
typedef struct Places {
    const Layout *tile;
    Crossing crossing;
} Places;

static Type laid(DType d, const Layout *l) {
    return (Type){.dtype = d, .shape = l->shape, .layout = l->shape.rank ? l : NULL};
}

/* ---- Does it pay, and can it be laid out? ------------------------------------------------------------------------ */

static bool reaches(Layouts *ls, const Layout *from, const Layout *to, uint32_t axis) {
    if (to->shape.rank == 1) return true; /* a splat */
    ConvertPlan plan;
    convert_broadcast(layout_expand(ls, from, axis), to, &plan);
    return plan.kind <= CONVERT_REGISTERS;
}

static bool find_places(Func *f, const SoftmaxMatch *p, Places *at) {
    const Layout *l = p->exp->results[0]->type.layout;
    uint32_t axis = p->axis;
    ReducePlan plan = layout_reduce_plan(l, axis);
    if (p->max->args[0]->type.layout != l || plan.mixed || l->shape.rank == SHAPE_RANK) return false;
    if (!plan.combine[IN_WARP] && !plan.combine[IN_CTA]) return false;
    if ((plan.keep_partial | plan.combine[IN_REGISTER]) + 1 != layout_registers(l)) return false;
    *at = (Places){l, crossing_plan(f, l, axis, true)};
    const Crossing *x = &at->crossing;
    if (layout_registers(l) / layout_registers(x->stored) < LEAST_ELEMENTS) return false;
    if (value_is_tile(p->row) && p->row->type.layout != x->result &&
        p->row->type.layout != layout_expand(f->layouts, x->result, axis))
        return false;
    const Layout *from[] = {x->result, x->last}, *to[] = {x->stored, x->spread};
    for (uint32_t i = 0; i < 4; i++)
        if (!reaches(f->layouts, from[i & 1], to[i >> 1], axis)) return false;
    return true;
}

/* ---- What is needed before the maximum --------------------------------------------------------------------------- */

static bool comes_after(const Op *op, const Op *where) {
    for (const Op *o = where->next; o; o = o->next)
        if (o == op) return true;
    return false;
}

/* Move what v is made of before `where`; with `try` only ask whether that can be. */
static bool raise_value(const Value *v, Op *where, bool try) {
    Op *d = v->def;
    if (d == where) return false;
    if (!d || d->parent != where->parent || !comes_after(d, where)) return true;
    if (!op_is_pure(d->kind) || d->nregions) return false;
    for (uint32_t i = 0; i < d->nargs; i++)
        if (!raise_value(d->args[i], where, try)) return false;
    if (!try) op_move_before(d, where);
    return true;
}

static bool raise_needs(const SoftmaxMatch *p, bool try) {
    const Op *d = p->difference;
    return (!p->scale || raise_value(p->scale, p->max, try)) && raise_value(d->args[0], p->max, try) &&
           (d->kind != OP_FMA || raise_value(d->args[1], p->max, try));
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* A scalar or a constant as a tile of type t. */
static Value *uniform(Builder *b, Value *v, Type t) {
    int64_t bits;
    if (value_const(v, &bits)) return build0(b, OP_CONST, (Attr){.bits = bits}, t);
    if (!t.shape.rank) return v;
    return build1_to(b, OP_SPLAT, v, t);
}

/* A value of the row, at every place of the axis in t. */
static Value *along(Builder *b, const SoftmaxMatch *p, Value *row, Type t) {
    if (!value_is_tile(row)) return uniform(b, row, t);
    if (row->type.shape.rank < t.shape.rank) row = build_expand(b, row, p->axis);
    return build1_to(b, OP_BROADCAST, row, t);
}

static Value *to_elements(Builder *b, const SoftmaxMatch *p, Value *v, const Layout *tile) {
    return op_build(b, OP_SPREADWARP, &v, 1, (Attr){.axis = p->axis}, laid(v->type.dtype, tile))->results[0];
}

Value *softmax_exponential(Builder *b, const SoftmaxMatch *p, Value *d) {
    if (p->scaling) {
        Value *args[] = {d, d};
        args[1 - p->scaled] = uniform(b, p->scale, d->type);
        d = op_build(b, p->scaling->kind, args, 2, (Attr){0}, d->type)->results[0];
    }
    return op_build(b, p->exp->kind, &d, 1, p->exp->attr, d->type)->results[0];
}

static Value *follow(Builder *b, const SoftmaxMatch *p, Value *m) {
    for (uint32_t i = p->nsteps; i-- > 0;) {
        const Op *step = p->steps[i];
        Type t = type_with_dtype(m->type, step->results[0]->type.dtype);
        bool is_product = step->kind != OP_FPEXT; /* of fmul and fma: by a positive constant */
        m = is_product ? build2(b, OP_FMUL, m, uniform(b, p->factors[i], t)) : build1_to(b, OP_FPEXT, m, t);
    }
    return m;
}

/* The pivot is finite where every element is -inf, for -inf - -inf is NaN: such a warp adds exp(-inf) = 0 to others. If
 * all warps are so, g is -inf, a factor exp(inf) = inf, and 0 * inf is NaN, as exp(-inf - -inf) was. Above it stays
 * infinite, so that +inf gives NaN as before, but where g is something else for an infinite maximum. */
Value *softmax_pivot(Builder *b, const SoftmaxMatch *p, Value *m) {
    Value *c = follow(b, p, m);
    double most = c->type.dtype == DT_FP64 ? DBL_MAX : (double)FLT_MAX;
    c = build2(b, OP_FMAX, c, build_float(b, c->type, -most));
    return p->is_guarded ? build2(b, OP_FMIN, c, build_float(b, c->type, most)) : c;
}

/* exp(t (c - g)), which is 1 where c is g: inf - inf would be NaN for the finite elements of a warp that holds +inf,
 * and what is 0 beside it must stay 0. */
Value *softmax_factor(Builder *b, const SoftmaxMatch *p, Value *c, Value *g) {
    Value *f = softmax_exponential(b, p, build2(b, OP_FSUB, c, g));
    Value *same = build_compare(b, OP_FCMP, PRED_EQ, c, g);
    return build3(b, OP_SELECT, same, build_float(b, c->type, 1.0), f);
}

static Value *factor_of(Builder *b, const SoftmaxMatch *p, Value *c) {
    return softmax_factor(b, p, c, along(b, p, p->row, c->type));
}

/* h - c: the source's difference with another subtrahend. */
static Value *difference_to(Builder *b, const SoftmaxMatch *p, Value *c, const Layout *tile) {
    const Op *d = p->difference;
    if (d->kind == OP_FSUB) return build2(b, OP_FSUB, d->args[0], to_elements(b, p, c, tile));
    return build3(b, OP_FMA, d->args[0], d->args[1], to_elements(b, p, build1(b, OP_FNEG, c), tile));
}

static Value *to_layout(Builder *b, Value *v, const Layout *l) {
    return v->type.layout == l || !v->type.shape.rank ? v : build1_to(b, OP_CONVERT, v, laid(v->type.dtype, l));
}

/* Both through shared memory as one tile of pairs, into layout `to`. */
static void exchange_pair(Builder *b, const Layout *to, Value **max, Value **sum) {
    DType d = (*max)->type.dtype, wide = (*sum)->type.dtype;
    Value *m = d == wide ? *max : build1_to(b, OP_FPEXT, *max, type_with_dtype((*max)->type, wide));
    Value *pair = build_join(b, m, *sum);
    pair = build1_to(b, OP_CONVERT, pair, laid(wide, layout_join(b->f->layouts, to)));
    m = build_split(b, pair, 0);
    *sum = build_split(b, pair, 1);
    *max = d == wide ? m : build1_to(b, OP_FPTRUNC, m, type_with_dtype(m->type, d));
}

/* Of all warps of the block: the sums below the largest of their maxima. */
static void meet_in_block(Builder *b, const SoftmaxMatch *p, const Crossing *x, Value **max, Value **sum) {
    exchange_pair(b, x->meet, max, sum);
    Value *each = softmax_pivot(b, p, *max);
    *max = op_build(b, OP_REDUCEWARP, max, 1, p->max->attr, laid((*max)->type.dtype, x->met))->results[0];
    Value *f = softmax_factor(b, p, each, to_elements(b, p, softmax_pivot(b, p, *max), x->meet));
    *sum = build2(b, OP_FMUL, *sum, f);
    *sum = op_build(b, OP_REDUCEWARP, sum, 1, p->sum->attr, laid((*sum)->type.dtype, x->met))->results[0];
    if (x->met->shape.rank == x->spread->shape.rank) return;
    *max = build_expand(b, *max, p->axis);
    *sum = build_expand(b, *sum, p->axis);
}

static void replace(Func *f, Op *op, Value *with) {
    with->name = op->results[0]->name;
    value_replace(f, op->results[0], with);
    op_erase(f, op);
}

/* e / s is e' (f / s) with one division a warp, and as exact: f <= s, and what is below the normal numbers is so either
 * way. Each quotient's register lives on as the product's. `last`: s as it is made. */
static void replace_quotients(Func *f, const SoftmaxMatch *p, const Crossing *x, Value *s, Value *last, Value *e,
                              Value *own) {
    for (Use *u = p->exp->results[0]->uses, *next; u; u = next) {
        Op *op = u->op;
        next = u->next;
        if (op->kind != OP_FDIV || u->index != 0 || value_row(op->args[1], p->axis) != s) continue;
        Builder b = builder_before(f, op);
        Value *share = factor_of(&b, p, own);
        share = build2(&b, OP_FDIV, share, along(&b, p, last, share->type));
        share = to_layout(&b, share, x->partial);
        replace(f, op, build2(&b, OP_FMUL, e, to_elements(&b, p, share, e->type.layout)));
    }
}

static Value *within_warp(Builder *b, Value *v, Attr a, const Crossing *x) {
    a.is_scattered = x->stored != x->partial;
    return op_build(b, OP_REDUCEWARP, &v, 1, a, laid(v->type.dtype, x->stored))->results[0];
}

/* The result in its layout; *last: where it is made. */
static Value *result_of(Builder *b, const Crossing *x, Value *v, Attr a, Value **last) {
    *last = op_build(b, OP_REDUCE, &v, 1, a, laid(v->type.dtype, x->last))->results[0];
    return to_layout(b, *last, x->result);
}

static void rewrite(Func *f, const SoftmaxMatch *p, const Places *at) {
    const Crossing *x = &at->crossing;
    raise_needs(p, false);
    Builder b = builder_before(f, p->max);
    Value *last, *max = within_warp(&b, p->max->args[0], p->max->attr, x);
    Value *own = softmax_pivot(&b, p, max);
    Value *e = softmax_exponential(&b, p, difference_to(&b, p, to_layout(&b, own, x->partial), at->tile));
    Value *part = within_warp(&b, e, p->sum->attr, x);
    if (x->meet) meet_in_block(&b, p, x, &max, &part);
    exchange_pair(&b, x->spread, &max, &part);
    Value *m = result_of(&b, x, max, p->max->attr, &last);
    SoftmaxMatch now = *p; /* the row's value may be the maximum itself */
    if (p->row == p->max->results[0]) now.row = last;
    replace(f, p->max, m);

    b = builder_before(f, p->sum);
    Value *all = factor_of(&b, &now, softmax_pivot(&b, p, max));
    all = build2(&b, OP_FMUL, part, all);
    Value *s = result_of(&b, x, all, p->sum->attr, &last);
    replace(f, p->sum, s);
    replace_quotients(f, &now, x, s, last, e, own);
    if (!value_used(p->exp->results[0])) return;
    b = builder_before(f, p->exp);
    Value *factor = to_layout(&b, factor_of(&b, &now, own), x->partial);
    replace(f, p->exp, build2(&b, OP_FMUL, e, to_elements(&b, p, factor, at->tile)));
}

static void visit(void *context, Op *op) {
    Func *f = context;
    SoftmaxMatch p;
    Places at;
    if (op->kind != OP_REDUCE || !softmax_match(op, &p) || !find_places(f, &p, &at) || !raise_needs(&p, true))
        return;
    rewrite(f, &p, &at);
}

void pass_online(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, visit, f);
}
