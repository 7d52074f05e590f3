/* rounded.c - the pass rounded: what is rounded to few bits is made by fewer instructions, to the same bits.
 *
 * In: a Func at STAGE_SIMT. Out:
 *   - A quotient fdiv_rn by what a row has in common, of which no more is left than an integer or 8 or 16 bits, is
 *     two products and two fma. The reciprocal is made once.
 *   - rint and the conversion to an integer behind it are fptosi_rn, also with bounds between them.
 *   - What bounds keep within 8 or 16 bits is converted to 32 bits, by one instruction, and cut.
 * Method: quotients. With r = 1 / s rounded, q = x r and e = s q - x, which an fma gives exactly, q - e r rounded is
 * the rounded x / s (Markstein, IBM J. of Res. and Dev. 34, 1990; Brisebarre, Muller, Raina, IEEE Trans. Comp. 53,
 * 2004). That holds while nothing is subnormal or overflows:
 *   - s is scaled by 2^64 or 2^-64 beyond 2^-60 and 2^60, and so is x. Then 1 / s is a normal number.
 *   - e is not exact where |x / s| < 2^-40: of that no more is left than its sign.
 *   - e is not finite where s is 0 or infinite, where x is, and where q overflows: q is the quotient then. It can be
 *     infinite for the largest number; what is left of either is the same.
 * Zeros keep their signs as s is taken without its sign, and x with it: e is +0 then, e r is -0 or 0 of q's sign.
 */
#include "passes/private.h"

#include <math.h>

/* ---- Quotients --------------------------------------------------------------------------------------------------- */

typedef struct Rounded {
    Func *f;
    uint32_t known; /* values before the pass */
    uint8_t *asked; /* by value id: 0, YES, NO */
} Rounded;

enum { YES = 1, NO };

static bool is_kept_small(const Rounded *r, const Value *v);

/* Is nothing left of what is used that tells numbers apart below 2^-40, or beyond 2^124, where x scaled overflows? */
static bool keeps_little(const Rounded *r, const Use *u) {
    const Op *op = u->op;
    if (op_is_idempotent(op->kind)) return is_kept_small(r, op->results[0]); /* a maximum or minimum */
    switch (op->kind) {
    case OP_FPTOSI: case OP_FPTOSIRN: case OP_FPTOUI: return true;
    case OP_FPTRUNC: {
        DType to = op->results[0]->type.dtype;
        return op->attr.round == ROUND_NEAREST && (to == DT_FP16 || dtype_bits(to) == 8);
    }
    case OP_SELECT: return u->index > 0 && is_kept_small(r, op->results[0]);
    case OP_RINT: case OP_CONVERT: return is_kept_small(r, op->results[0]);
    default: return false;
    }
}

/* What the pass makes stands in front of what is asked for. */
static bool is_kept_small(const Rounded *r, const Value *v) {
    if (v->id >= r->known) return false;
    uint8_t *asked = &r->asked[v->id];
    bool is_kept = *asked != NO;
    for (const Use *u = v->uses; u && !*asked && is_kept; u = u->next) is_kept = keeps_little(r, u);
    *asked = is_kept ? YES : NO;
    return is_kept;
}

static bool repeats(const Value *v) {
    return v->def && op_class(v->def->kind) == CLASS_REPEAT;
}

/* What v repeats. Not through another layout, to which three tiles would have to go, not one. */
static Value *repeated(Value *v) {
    while (repeats(v)) v = v->def->args[0];
    return v;
}

/* `with` as v is there, which repeats another. */
static Value *as_repeated(Builder *b, const Value *v, Value *with) {
    if (!repeats(v)) return with;
    Value *of = as_repeated(b, v->def->args[0], with);
    return op_build(b, v->def->kind, &of, 1, v->def->attr, v->type)->results[0];
}

static Value *number(Builder *b, const Value *like, double x) {
    return build_float(b, like->type, x);
}

/* x where v is so, else y. */
static Value *choose(Builder *b, Pred p, Value *v, double than, double x, Value *y) {
    return build3(b, OP_SELECT, build_compare(b, OP_FCMP, p, v, number(b, v, than)), number(b, v, x), y);
}

typedef struct Divider {
    Value *factor;     /* of x: the scale, with the opposite of s's sign */
    Value *size;       /* |s| scaled */
    Value *reciprocal; /* -1 / size */
} Divider;

static Divider divider_of(Builder *b, Value *s) {
    Type bits = type_with_dtype(s->type, DT_I32);
    Value *size = build1(b, OP_FABS, s);
    Value *scale = choose(b, PRED_SGT, size, 0x1p60, 0x1p-64, number(b, s, 1));
    scale = choose(b, PRED_SLT, size, 0x1p-60, 0x1p64, scale);
    Value *sign = build2(b, OP_AND, build1_to(b, OP_BITCAST, s, bits), build_int(b, bits, INT32_MIN));
    sign = build2(b, OP_XOR, sign, build_int(b, bits, INT32_MIN));
    sign = build2(b, OP_OR, sign, build1_to(b, OP_BITCAST, scale, bits));
    size = build2(b, OP_FMUL, size, scale);
    return (Divider){build1_to(b, OP_BITCAST, sign, s->type), size,
                     build2(b, OP_FDIVRN, number(b, s, -1), size)};
}

static Value *quotient(Builder *b, Value *x, const Value *by, Divider d) {
    Value *size = as_repeated(b, by, d.size), *reciprocal = as_repeated(b, by, d.reciprocal);
    x = build2(b, OP_FMUL, x, as_repeated(b, by, d.factor));
    Value *q = build2(b, OP_FMUL, x, reciprocal), *e = build3(b, OP_FMA, size, q, x);
    Value *better = build3(b, OP_FMA, e, reciprocal, q);
    Value *finite = build_compare(b, OP_FCMP, PRED_SLT, build1(b, OP_FABS, e), number(b, e, (double)INFINITY));
    return build3(b, OP_SELECT, finite, better, q);
}

static void divide(const Rounded *r, Op *op) {
    Value *x = op->args[0], *by = op->args[1], *s = repeated(by);
    bool is_shared = shape_elements(s->type.shape) < shape_elements(by->type.shape);
    if (x->type.dtype != DT_FP32 || !is_shared || !is_kept_small(r, op->results[0])) return;
    Builder b = builder_before(r->f, op);
    op_replace(r->f, op, quotient(&b, x, by, divider_of(&b, s)));
}

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

static bool is_bound(const Op *op, double *bound) {
    bool bounds = op && (op->kind == OP_FMAX || op->kind == OP_FMIN);
    return bounds && value_const_float(op->args[1], bound) && !isnan(*bound);
}

/* Is v a number from lo to hi? Each bound has to be, as v may be that bound. */
static bool is_within(const Value *v, double lo, double hi) {
    double bound;
    bool is_above = false, is_below = false;
    for (; is_bound(v->def, &bound); v = v->def->args[0]) {
        if (bound < lo || bound > hi) return false;
        if (v->def->kind == OP_FMAX) is_above = true;
        else is_below = true;
    }
    return is_above && is_below;
}

/* v without the rint behind which it is bounded by integers: rounded then, it is what it was. NULL: there is none. */
static Value *unrounded(Builder *b, Value *v) {
    double bound;
    if (v->def && v->def->kind == OP_RINT) return v->def->args[0];
    if (!is_bound(v->def, &bound) || bound != floor(bound)) return NULL;
    Value *of = unrounded(b, v->def->args[0]);
    return of ? build2(b, v->def->kind, of, v->def->args[1]) : NULL;
}

static void to_integer(Func *f, Op *op) {
    Builder b = builder_before(f, op);
    Type t = op->results[0]->type;
    Value *v = op->kind == OP_FPTOSI ? unrounded(&b, op->args[0]) : NULL;
    OpKind kind = v ? OP_FPTOSIRN : op->kind;
    if (!v) v = op->args[0];
    double most = ldexp(1, (int)dtype_bits(t.dtype) - (kind != OP_FPTOUI)), least = kind == OP_FPTOUI ? 0 : -most;
    if (dtype_bits(t.dtype) < 32 && is_within(v, least, most - 1)) {
        Value *wide = build1_to(&b, kind, v, type_with_dtype(t, DT_I32));
        op_replace(f, op, build1_to(&b, OP_TRUNC, wide, t));
    } else if (kind != op->kind) {
        op_replace(f, op, build1_to(&b, kind, v, t));
    }
}

static void visit(void *context, Op *op) {
    Rounded *r = context;
    if (op->kind == OP_FDIVRN) divide(r, op);
    else if (op->kind == OP_FPTOSI || op->kind == OP_FPTOUI) to_integer(r->f, op);
}

void pass_rounded(Func *f, PassContext *c) {
    Rounded r = {f, f->next_value, NEW_ARRAY(c->scratch, uint8_t, f->next_value)};
    func_walk(f, visit, &r);
}
