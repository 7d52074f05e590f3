/* relax_exp.c - the pass relax_exp: relaxes exp when its result is rounded to 16 bits or only feeds a sum below its
 * maximum.
 *
 * In: a Func, on the way to a GPU at STAGE_SIMT. Out: `exp` and `exp2` of fp32 have the accuracy `relaxed` where each
 * way their results take ends in a rounding to 16 bits or fewer, and no op on it makes a relative error much larger:
 * products, quotients, choices, sums of what is not negative, and c less what is c/2 at most. They have `term` where
 * all that they are is terms of a sum below its maximum, of which e^0 is one, and weights of the same terms: rounded to
 * 16 bits they are multiplied as matrices. The maximum may be that of all rounds of a loop: then e^0 is a term of this
 * round or of one before, and what sums shrink by when the maximum grows has `term`, too.
 * Method: backwards, each value gets the error that its uses allow, in units of that of `relaxed`; a product shares it
 * between its factors. Any other difference allows none, nor do comparisons, memory in fp32 and loops.
 */
#include "passes/analysis/softmax_match.h"

#include <math.h>

enum {
    ANY_ERROR = 255, /* of what nothing uses */
    DEPTH = 16,      /* of the ops that make a value not negative */

    /* Allowed where rounding follows, of 7e-6 each: together an eighth of what the rounding itself may err by.
     * (`online` may add half as much.) */
    UNITS_FP16 = 4,
    UNITS_BF16 = 32, /* and types of 8 bits */
};

typedef struct Relax {
    Arena *scratch;
    uint8_t *allowed; /* by value id */
    VEC(Op *) ops;    /* of the function, in order, those of regions behind their owner */
} Relax;

static bool is_not_negative(const Value *v, uint32_t depth) {
    const Op *d = v->def;
    if (!d || !depth) return false;
    switch (d->kind) {
    case OP_EXP: case OP_EXP2: case OP_FABS: return true;
    case OP_CONST: {
        int64_t bits;
        return v->type.dtype == DT_FP32 && value_const(v, &bits) && (bits & 0x80000000) == 0;
    }
    case OP_REDUCE: return d->attr.combine == OP_FADD && is_not_negative(d->args[0], depth - 1);
    case OP_SELECT: return is_not_negative(d->args[1], depth - 1) && is_not_negative(d->args[2], depth - 1);
    case OP_FMUL:
    case OP_FDIV:
    case OP_FADD: return is_not_negative(d->args[0], depth - 1) && is_not_negative(d->args[1], depth - 1);
    default: return op_moves(d->kind) && d->nargs == 1 && is_not_negative(d->args[0], depth - 1);
    }
}

/* 2^min(.., n) is 2^n at most; INFINITY: nothing is known. */
static double most_of(const Value *v) {
    const Op *power = v->def && v->def->kind == OP_EXP2 ? v->def : NULL, *least = power ? power->args[0]->def : NULL;
    double n;
    for (uint32_t i = 0; least && least->kind == OP_FMIN && i < 2; i++)
        if (value_const_float(least->args[i], &n)) return exp2(n);
    return (double)INFINITY;
}

/* What an op allows operand i, if its result may err by so much. */
static uint32_t allowed_by(const Op *op, uint32_t i, uint32_t result) {
    switch (op->kind) {
    case OP_FPTRUNC: {
        uint32_t own = op->results[0]->type.dtype == DT_FP16 ? UNITS_FP16 : UNITS_BF16;
        bool is_relaxed = op->attr.round == ROUND_NEAREST; /* toward zero a little less than 2 is not 2 */
        return is_relaxed && dtype_bits(op->results[0]->type.dtype) <= 16 ? own : 0;
    }
    case OP_FMUL: case OP_FDIV: return result == ANY_ERROR ? ANY_ERROR : result / 2;
    case OP_SELECT: return i > 0 ? result : ANY_ERROR;
    case OP_FNEG: case OP_FABS: return result;
    case OP_REDUCE:
        if (op->attr.combine == OP_FADD) return is_not_negative(op->args[0], DEPTH) ? result : 0;
        return op->attr.combine == OP_FMAX || op->attr.combine == OP_FMIN ? result : 0;
    case OP_FSUB: { /* c - x errs by no more of itself than x does where x is half of c at most */
        double c;
        if (i == 0 || !value_const_float(op->args[0], &c) || !isfinite(c)) return 0;
        return 2 * most_of(op->args[1]) <= c ? result : 0;
    }
    case OP_FADD: return is_not_negative(op->args[0], DEPTH) && is_not_negative(op->args[1], DEPTH) ? result : 0;
    default: return op_moves(op->kind) || op_is_idempotent(op->kind) ? result : 0; /* of a maximum or minimum */
    }
}

/* What an arm of an if gives it: that may err as the if's result. */
static bool op_gives_if(const Op *op) {
    return op->kind == OP_YIELD && op->parent->owner->kind == OP_IF;
}

static bool is_only_multiplied(const Value *v) {
    for (const Use *u = v->uses; u; u = u->next)
        if (op_class(u->op->kind) != CLASS_MATRIX &&
            (u->op->kind != OP_CONVERT || !is_only_multiplied(u->op->results[0])))
            return false;
    return true;
}

static bool is_weight(const Op *op) {
    if (op->kind != OP_FPTRUNC) return false;
    const Value *v = op->results[0];
    return dtype_bits(v->type.dtype) <= 16 && is_only_multiplied(v);
}

/* Is v the least number, or what a loop that began there has as its maximum? */
static bool is_so_far(const Value *v) {
    while (v->def && v->def->kind == OP_FOR) {
        const Op *next = v->def->regions[0]->last->args[v->index]->def;
        if (!next || next->kind != OP_FMAX) return false;
        v = v->def->args[3 + v->index];
    }
    double x;
    return value_const_float(v, &x) && isinf(x) && x < 0;
}

/* Of max(m, ..) the m that a loop carries of it; NULL: it carries none. */
static const Value *running(const Op *max) {
    for (uint32_t i = 0; max && max->kind == OP_FMAX && i < 2; i++) {
        const Value *m = max->args[i];
        const Op *loop = m->def ? NULL : m->block->owner;
        if (!loop || loop->kind != OP_FOR || m->index == 0) continue;
        if (m->block->last->args[m->index - 1] == max->results[0] && is_so_far(loop->args[2 + m->index])) return m;
    }
    return NULL;
}

/* sum e^(h - m) with m the maximum of h, and e nothing but its terms and weights. */
static bool shorten_term(Op *op) {
    Op *sum = NULL;
    for (const Use *u = op->results[0]->uses; u; u = u->next) {
        if (u->op->kind == OP_REDUCE && !sum) sum = u->op;
        else if (!is_weight(u->op)) return false;
    }
    SoftmaxMatch p;
    if (!sum || !softmax_find(sum, &p)) return false;
    return (!p.is_larger || running(p.larger)) && softmax_shorten(&p, op);
}

static bool is_only_factor(const Value *v) {
    for (const Use *u = v->uses; u; u = u->next) {
        bool multiplies = u->op->kind == OP_FMUL || (u->op->kind == OP_FMA && u->index < 2);
        if (!multiplies && (!op_moves(u->op->kind) || !is_only_factor(u->op->results[0]))) return false;
    }
    return true;
}

/* 2^(t (m - g)), with m the maximum so far and g the next one, and it multiplies what was summed below m: g's term is
 * 1, beside which what comes of the others may err. */
static bool shorten_factor(Op *op) {
    const Op *d = op->args[0]->def;
    bool is_exact;
    for (uint32_t i = 0; d && d->kind == OP_FMUL && i < 2; i++)
        if (d->args[i]->def && d->args[i]->def->kind == OP_FSUB) d = d->args[i]->def;
    if (op->kind != OP_EXP2 || !d || d->kind != OP_FSUB || !is_only_factor(op->results[0])) return false;
    const Op *g = d->args[1]->def;
    if (g && g->kind == OP_SELECT) {
        const Value *kept = softmax_guarded(g, &is_exact);
        g = kept ? kept->def : NULL;
    }
    if (!g || running(g) != d->args[0]) return false;
    op->attr.accuracy = ACCURACY_TERM;
    return true;
}

static void list_op(void *context, Op *op) {
    Relax *n = context;
    vec_push(n->scratch, &n->ops, op);
}

void pass_relax_exp(Func *f, PassContext *c) {
    Relax n = {.scratch = c->scratch};
    n.allowed = NEW_ARRAY(n.scratch, uint8_t, f->next_value);
    for (uint32_t i = 0; i < f->next_value; i++) n.allowed[i] = ANY_ERROR;
    func_walk(f, list_op, &n);
    for (uint32_t at = n.ops.len; at-- > 0;) {
        Op *op = n.ops.at[at];
        uint32_t result = op->nresults == 1 && !op->nregions ? n.allowed[op->results[0]->id] : 0;
        for (uint32_t i = 0; i < op->nargs; i++) {
            uint32_t most = op_gives_if(op) ? n.allowed[op->parent->owner->results[i]->id] : allowed_by(op, i, result);
            uint8_t *known = &n.allowed[op->args[i]->id];
            if (most < *known) *known = (uint8_t)most;
        }
        bool is_exp = (op->kind == OP_EXP || op->kind == OP_EXP2) && op->attr.accuracy == ACCURACY_FULL;
        if (!is_exp || op->results[0]->type.dtype != DT_FP32) continue;
        bool is_term = shorten_term(op) || shorten_factor(op), is_relaxed = !is_term && result && result != ANY_ERROR;
        if (is_relaxed) op->attr.accuracy = ACCURACY_RELAXED;
    }
}
