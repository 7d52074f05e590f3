/* softmax_match.c - the softmax match: is a sum one of exponentials below a maximum of the same elements?
 *
 * In: a reduction by fadd. Out: the ops of the pattern s = sum exp(t (h - g)), if the sum may be taken below any other
 * pivot than g and scaled afterwards.
 * Method: from the sum through exp to the difference, then from the subtrahend g back to the maximum. On the way are
 * accepted: the ops that make h of x (fpext, a positive constant factor), a maximum with anything more (what a loop has
 * seen so far), and 0 in place of what is not finite. The rewrite must leave NaN and infinities where they are; a form
 * that would change them at single elements matches only if these have no other use than the sum.
 */
#include "passes/analysis/softmax_match.h"

#include <math.h>

static Value *row_of(const SoftmaxMatch *p, Value *v) {
    return value_row(v, p->axis);
}

/* A scalar that v repeats, or v itself where it is constant; else NULL. */
static Value *uniform_of(Value *v) {
    int64_t bits;
    if (value_const(v, &bits)) return v;
    return v->def && v->def->kind == OP_SPLAT ? v->def->args[0] : NULL;
}

static bool is_positive(const Value *v) {
    double x;
    return value_const_float(v, &x) && x > 0 && isfinite(x);
}

static bool same_constant(const Value *a, const Value *b) {
    int64_t x, y;
    return a->type.dtype == b->type.dtype && value_const(a, &x) && value_const(b, &y) && x == y;
}

/* ---- The subtrahend ---------------------------------------------------------------------------------------------- */

Value *softmax_guarded(const Op *op, bool *is_exact) {
    const Op *test = op->args[0]->def;
    double limit, zero;
    if (!test || test->kind != OP_FCMP || !value_const_float(test->args[1], &limit) || !isinf(limit)) return NULL;
    Pred p = test->attr.pred;
    bool is_less = p == PRED_SLT || p == PRED_SLE, is_greater = p == PRED_SGT || p == PRED_SGE;
    bool if_finite = p == PRED_NE || (limit > 0 ? is_less : is_greater);
    Value *kept = op->args[if_finite ? 1 : 2], *tested = test->args[0];
    if (!value_const_float(op->args[if_finite ? 2 : 1], &zero) || zero != 0) return NULL;
    *is_exact = tested == kept && limit < 0 && (p == PRED_EQ || p == PRED_NE);
    bool is_size = tested->def && tested->def->kind == OP_FABS && tested->def->args[0] == kept;
    return tested == kept || is_size ? kept : NULL;
}

static bool match_row(SoftmaxMatch *p, Value *g, Value *h);

/* g = g' * c and h = h' * c; h is NULL where the product is part of the difference's fma. */
static bool match_product(SoftmaxMatch *p, const Op *g, const Value *h) {
    const Op *product = h ? h->def : p->difference;
    if (!product || (h && product->kind != OP_FMUL) || p->nsteps == MOST_STEPS) return false;
    for (uint32_t i = 0; i < 4; i++) {
        Value *c = uniform_of(g->args[i & 1]), *factor = uniform_of(product->args[i >> 1]);
        if (!c || !factor) continue;
        bool is_known = is_positive(c) && same_constant(c, factor);
        if (!is_known && c != factor) continue;
        p->is_turned |= !is_known;
        p->factors[p->nsteps] = factor;
        p->steps[p->nsteps++] = product;
        return match_row(p, g->args[1 - (i & 1)], product->args[1 - (i >> 1)]);
    }
    return false;
}

static bool match_larger(SoftmaxMatch *p, Op *op, Value *h) {
    p->larger = p->is_larger ? NULL : op;
    p->is_plain = false;
    p->is_larger = true;
    SoftmaxMatch before = *p;
    if (match_row(p, op->args[0], h)) return true;
    *p = before;
    return match_row(p, op->args[1], h);
}

static bool match_guard(SoftmaxMatch *p, const Op *op, Value *h) {
    bool is_exact = false;
    Value *kept = softmax_guarded(op, &is_exact);
    p->is_plain = false;
    p->is_guarded |= !is_exact;
    return kept && match_row(p, kept, h);
}

static bool match_max(SoftmaxMatch *p, Op *op, const Value *h) {
    bool is_max = op->attr.combine == OP_FMAX || op->attr.combine == OP_FMAXNAN;
    p->max = op;
    return is_max && op->attr.axis == p->axis && op->args[0] == h && op->parent == p->sum->parent;
}

/* Is g at least what h is at the maximum, wherever that is finite? */
static bool match_row(SoftmaxMatch *p, Value *g, Value *h) {
    g = row_of(p, g);
    Op *d = g->def;
    if (!d) return false;
    switch (d->kind) {
    case OP_REDUCE: return match_max(p, d, h);
    case OP_FMUL: return match_product(p, d, h);
    case OP_FMAX:
    case OP_FMAXNAN: return match_larger(p, d, h);
    case OP_SELECT: return match_guard(p, d, h);
    case OP_FPEXT:
        if (!h || !h->def || h->def->kind != OP_FPEXT || p->nsteps == MOST_STEPS) return false;
        p->factors[p->nsteps] = NULL;
        p->steps[p->nsteps++] = h->def;
        return match_row(p, d->args[0], h->def->args[0]);
    default: return false;
    }
}

/* ---- The exponential --------------------------------------------------------------------------------------------- */

/* Every use of e but the sum multiplies or divides it by a value made of the sum:
 * what is NaN there is NaN in e's place too. */
static bool meets_sum(const SoftmaxMatch *p) {
    const Value *s = p->sum->results[0];
    for (const Use *u = p->exp->results[0]->uses; u; u = u->next) {
        if (u->op == p->sum) continue;
        if (u->op->kind != OP_FDIV && u->op->kind != OP_FDIVRN && u->op->kind != OP_FMUL) return false;
        const Value *by = row_of(p, u->op->args[1 - u->index]);
        bool is_made = by->def && (by->def->kind == OP_FDIV || by->def->kind == OP_FDIVRN);
        if (by != s && !(is_made && (by->def->args[0] == s || by->def->args[1] == s))) return false;
    }
    return true;
}

/* The scale t is finite and not 0, or 0 and infinity give the same NaN. */
static bool scale_is_sound(const SoftmaxMatch *p) {
    double x;
    if (!p->scaling) return true;
    if (value_const_float(p->scale, &x)) return isfinite(x) && x != 0;
    return p->is_plain && meets_sum(p);
}

static Op *find_difference(SoftmaxMatch *p) {
    Op *d = p->exp->args[0]->def;
    if (d && (d->kind == OP_FMUL || d->kind == OP_FDIV)) {
        for (p->scaled = 0; p->scaled < (d->kind == OP_FDIV ? 1u : 2u); p->scaled++)
            if ((p->scale = uniform_of(d->args[1 - p->scaled]))) break;
        if (!p->scale) return NULL;
        p->scaling = d;
        d = d->args[p->scaled]->def;
    }
    return d && (d->kind == OP_FSUB || d->kind == OP_FMA) ? d : NULL;
}

static bool match_difference(SoftmaxMatch *p) {
    p->difference = find_difference(p);
    if (!p->difference) return false;
    Value *g = p->difference->args[1], *h = p->difference->args[0];
    if (p->difference->kind == OP_FMA) { /* its addend is -g */
        const Op *minus = row_of(p, p->difference->args[2])->def;
        if (!minus || minus->kind != OP_FNEG) return false;
        g = minus->args[0];
        h = NULL;
    }
    p->row = row_of(p, g);
    return match_row(p, g, h);
}

bool softmax_shorten(const SoftmaxMatch *p, Op *e) {
    double scale = 1;
    bool is_below = !p->is_turned && (!p->scaling || (value_const_float(p->scale, &scale) && scale > 0));
    is_below |= e->kind == OP_EXP2;
    if (!is_below || e->results[0]->type.dtype != DT_FP32 || e->attr.accuracy != ACCURACY_FULL) return false;
    e->attr.accuracy = ACCURACY_TERM;
    return true;
}

bool softmax_find(Op *op, SoftmaxMatch *p) {
    Op *e = op->args[0]->def;
    *p = (SoftmaxMatch){.sum = op, .exp = e, .axis = op->attr.axis, .is_plain = true};
    if (op->attr.combine != OP_FADD || !e || (e->kind != OP_EXP && e->kind != OP_EXP2) || e->parent != op->parent)
        return false;
    return match_difference(p);
}

bool softmax_match(Op *op, SoftmaxMatch *p) {
    if (!softmax_find(op, p) || p->is_turned || !scale_is_sound(p)) return false;
    return !p->is_guarded || value_used_once(p->exp->results[0]);
}
