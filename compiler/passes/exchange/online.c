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
#include "passes/exchange/partial.h"

#include <float.h>

/* ---- What is needed before the maximum --------------------------------------------------------------------------- */

static bool raise_needs(Func *f, const SoftmaxMatch *p, bool try) {
    const Op *d = p->difference;
    return (!p->scale || value_raise(f, p->scale, p->max, try)) && value_raise(f, d->args[0], p->max, try) &&
           (d->kind != OP_FMA || value_raise(f, d->args[1], p->max, try));
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

Value *softmax_exponential(Builder *b, const SoftmaxMatch *p, Value *d) {
    if (p->scaling) {
        Value *args[] = {d, d};
        args[1 - p->scaled] = build_uniform(b, p->scale, d->type);
        d = op_build(b, p->scaling->kind, args, 2, (Attr){0}, d->type)->results[0];
    }
    return op_build(b, p->exp->kind, &d, 1, p->exp->attr, d->type)->results[0];
}

static Value *follow(Builder *b, const SoftmaxMatch *p, Value *m) {
    for (uint32_t i = p->nsteps; i-- > 0;) {
        const Op *step = p->steps[i];
        Type t = type_with_dtype(m->type, step->results[0]->type.dtype);
        bool is_product = step->kind != OP_FPEXT; /* of fmul and fma: by a positive constant */
        m = is_product ? build2(b, OP_FMUL, m, build_uniform(b, p->factors[i], t)) : build1_to(b, OP_FPEXT, m, t);
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
    return softmax_factor(b, p, c, build_along(b, p->row, p->axis, c->type));
}

/* h - c: the source's difference with another subtrahend. */
static Value *difference_to(Builder *b, const SoftmaxMatch *p, const Partial *at, Value *c) {
    const Op *d = p->difference;
    if (d->kind == OP_FSUB) return build2(b, OP_FSUB, d->args[0], partial_to_elements(b, at, c, at->tile));
    c = partial_to_elements(b, at, build1(b, OP_FNEG, c), at->tile);
    return build3(b, OP_FMA, d->args[0], d->args[1], c);
}

/* Both through shared memory as one tile of pairs, into layout `to`. */
static void exchange_pair(Builder *b, const Layout *to, Value **max, Value **sum) {
    DType d = (*max)->type.dtype, wide = (*sum)->type.dtype;
    Value *m = d == wide ? *max : build1_to(b, OP_FPEXT, *max, type_with_dtype((*max)->type, wide));
    Value *pair = build_join(b, m, *sum);
    pair = build1_to(b, OP_CONVERT, pair, type_laid(wide, layout_join(b->f->layouts, to)));
    m = build_split(b, pair, 0);
    *sum = build_split(b, pair, 1);
    *max = d == wide ? m : build1_to(b, OP_FPTRUNC, m, type_with_dtype(m->type, d));
}

/* Of all warps of the block: the sums below the largest of their maxima. */
static void meet_in_block(Builder *b, const SoftmaxMatch *p, const Partial *at, Value **max, Value **sum) {
    const Crossing *x = &at->crossing;
    exchange_pair(b, x->meet, max, sum);
    Value *each = softmax_pivot(b, p, *max);
    *max = op_build(b, OP_REDUCEWARP, max, 1, p->max->attr, type_laid((*max)->type.dtype, x->met))->results[0];
    Value *f = softmax_factor(b, p, each, partial_to_elements(b, at, softmax_pivot(b, p, *max), x->meet));
    *sum = build2(b, OP_FMUL, *sum, f);
    *sum = op_build(b, OP_REDUCEWARP, sum, 1, p->sum->attr, type_laid((*sum)->type.dtype, x->met))->results[0];
    if (x->met->shape.rank == x->spread->shape.rank) return;
    *max = build_expand(b, *max, p->axis);
    *sum = build_expand(b, *sum, p->axis);
}

/* e / s is e' (f / s) with one division a warp, and as exact: f <= s, and what is below the normal numbers is so either
 * way. Each quotient's register lives on as the product's. `last`: s as it is made. */
static void replace_quotients(Func *f, const SoftmaxMatch *p, const Partial *at, Value *s, Value *last, Value *e,
                              Value *own) {
    for (Use *u = p->exp->results[0]->uses, *next; u; u = next) {
        Op *op = u->op;
        next = u->next;
        if (op->kind != OP_FDIV || u->index != 0 || value_row(op->args[1], p->axis) != s) continue;
        Builder b = builder_before(f, op);
        Value *share = factor_of(&b, p, own);
        share = build2(&b, OP_FDIV, share, build_along(&b, last, p->axis, share->type));
        share = build_laid(&b, share, at->crossing.partial);
        op_replace(f, op, build2(&b, OP_FMUL, e, partial_to_elements(&b, at, share, e->type.layout)));
    }
}

static void rewrite(Func *f, const SoftmaxMatch *p, const Partial *at) {
    const Crossing *x = &at->crossing;
    raise_needs(f, p, false);
    Builder b = builder_before(f, p->max);
    Value *last, *max = partial_within(&b, at, p->max->args[0], p->max->attr);
    Value *own = softmax_pivot(&b, p, max);
    Value *e = softmax_exponential(&b, p, difference_to(&b, p, at, build_laid(&b, own, x->partial)));
    Value *part = partial_within(&b, at, e, p->sum->attr);
    if (x->meet) meet_in_block(&b, p, at, &max, &part);
    exchange_pair(&b, x->spread, &max, &part);
    Value *m = partial_combine(&b, at, max, p->max->attr, &last);
    SoftmaxMatch now = *p; /* the row's value may be the maximum itself */
    if (p->row == p->max->results[0]) now.row = last;
    op_replace(f, p->max, m);

    b = builder_before(f, p->sum);
    Value *all = factor_of(&b, &now, softmax_pivot(&b, p, max));
    all = build2(&b, OP_FMUL, part, all);
    Value *s = partial_combine(&b, at, all, p->sum->attr, &last);
    op_replace(f, p->sum, s);
    replace_quotients(f, &now, at, s, last, e, own);
    if (!value_used(p->exp->results[0])) return;
    b = builder_before(f, p->exp);
    Value *factor = build_laid(&b, factor_of(&b, &now, own), x->partial);
    op_replace(f, p->exp, build2(&b, OP_FMUL, e, partial_to_elements(&b, at, factor, at->tile)));
}

static void visit(void *context, Op *op) {
    Func *f = context;
    SoftmaxMatch p;
    Partial at;
    if (op->kind != OP_REDUCE || !softmax_match(op, &p) || p.max->args[0]->type.layout != op->args[0]->type.layout ||
        !partial_plan(f, op, p.row, 1, &at) || !raise_needs(f, &p, true))
        return;
    rewrite(f, &p, &at);
}

void pass_online(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, visit, f);
}
