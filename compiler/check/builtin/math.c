/* math.c - arithmetic that is not an operator: exp and its kin, abs, fma, maximum, where, cdiv.
 *
 * In: a bound Call. Out: a Sem.
 * Method: on constants the value is computed here, in double; on run-time values types under 32 bits go through fp32
 * and are rounded once.
 */
#include "check/builtin/builtin.h"

#include <math.h>
#include <string.h>

static const Sem *refuse(Checker *c, Call *call, uint32_t arg, const char *wanted) {
    diag(c->d, call->at[arg], E_ARGUMENT_KIND, call->builtin->name, wanted, sem_type_text(c, call->arg[arg]));
    return &sem_error;
}

/* ---- What is an op: exp exp2 log log2 sqrt rsqrt floor … --------------------------------------------------------- */

static double number_of(const Sem *x) {
    return x->kind == SEM_FLOAT ? x->f : int_to_double(x->i);
}

/* The argument as fp32, or fp64 as it is; an error where it is no run-time float. */
static const Sem *float_operand(Checker *c, Call *call, uint32_t arg) {
    const Sem *x = call->arg[arg];
    if (x->kind == SEM_RUN && !x->is_pointer && stype_is_float(x->type))
        return stype_bits(x->type) < 32 ? convert_to(c, x, ST_FP32, call->span) : x;
    const Sem *r = refuse(c, call, arg, "a float");
    if (x->kind == SEM_RUN && x->is_pointer) diag_note(c->d, call->at[arg], "load what it points to, as in load(x)");
    if (sem_is_value(x)) diag_note(c->d, call->at[arg], "convert it first, as in %s(x.to(fp32))", call->builtin->name);
    return r;
}

const Sem *builtin_math(Checker *c, Call *call) {
    const Sem *x = call->arg[0];
    OpKind op = (OpKind)call->builtin->aux;
    if (sem_is_number(x)) return sem_float(c, op_value(op, number_of(x)));
    const Sem *in = float_operand(c, call, 0);
    if (sem_is_error(in)) return in;
    return convert_to(c, sem_run(c, in->type, build1(&c->b, op, in->v), NULL), x->type, call->span);
}

/* ---- Functions of the library: lib/math32.dsl, and lib/math64.dsl for fp64, or one file for both ----------------- */

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double exp10_of(double x) {
    return pow(10, x);
}

static double rcbrt_of(double x) {
    return 1 / cbrt(x);
}

/* x - 2n is exact for the even number 2n nearest to x, and so is what sends it to the first eighth of the circle. */
static double sinpi_of(double x) {
    double c = remainder(x, 2), k = rint(2 * c), f = 3.14159265358979323846 * (c - k / 2);
    double y = fmod(k, 2) != 0 ? cos(f) : sin(f);
    return k < 0 || k == 2 ? -y : y;
}

static double cospi_of(double x) {
    return sinpi_of(0.5 - fabs(remainder(x, 2)));
}

typedef struct Fold {
    const char *name;
    double (*of)(double);
    double (*of_two)(double, double);
} Fold;

static const Fold folds[] = {
    {"sigmoid", sigmoid, NULL},
    {"expm1", expm1, NULL},
    {"log1p", log1p, NULL},
    {"sin", sin, NULL},
    {"cos", cos, NULL},
    {"tanh", tanh, NULL},
    {"erf", erf, NULL},
    {"round", round, NULL},
    {"tan", tan, NULL},
    {"asin", asin, NULL},
    {"acos", acos, NULL},
    {"atan", atan, NULL},
    {"sinh", sinh, NULL},
    {"cosh", cosh, NULL},
    {"asinh", asinh, NULL},
    {"acosh", acosh, NULL},
    {"atanh", atanh, NULL},
    {"cbrt", cbrt, NULL},
    {"exp10", exp10_of, NULL},
    {"log10", log10, NULL},
    {"rcbrt", rcbrt_of, NULL},
    {"sinpi", sinpi_of, NULL},
    {"cospi", cospi_of, NULL},
    {"logb", logb, NULL},
    {"erfc", erfc, NULL},
    {"atan2", NULL, atan2},
    {"hypot", NULL, hypot},
    {"fmod", NULL, fmod},
    {"remainder", NULL, remainder},
    {"fdim", NULL, fdim},
    {"copysign", NULL, copysign},
};

static const Fold *fold_of(const char *name) {
    for (size_t i = 0; i < COUNT(folds); i++) {
        if (strcmp(folds[i].name, name) == 0) return &folds[i];
    }
    return NULL;
}

static const Sem *library_math(Checker *c, int where, const char *name, const Sem *const *in, uint32_t count, Span at) {
    const char *file = where & LIB_ARC          ? "arc"
                       : where & LIB_REAL       ? "real"
                       : in[0]->type == ST_FP64 ? "math64"
                                                : "math32";
    return call_function(c, library_function(c, file, name), in, count, at);
}

const Sem *builtin_math_library(Checker *c, Call *call) {
    const Sem *x = call->arg[0];
    const char *dot = strchr(call->builtin->name, '.'), *name = dot ? dot + 1 : call->builtin->name;
    const Fold *fold = fold_of(name);
    if (sem_is_number(x) && fold) return sem_float(c, fold->of(number_of(x)));
    if (sem_is_number(x)) x = call->arg[0] = to_run(c, sem_float(c, number_of(x)), call->at[0]);
    const Sem *in = float_operand(c, call, 0);
    if (sem_is_error(in)) return in;
    return convert_to(c, library_math(c, call->builtin->aux, name, &in, 1, call->span), x->type, call->span);
}

/* ---- Two floats: atan2 and its kin, pow, div_rn; and umulhi ------------------------------------------------------ */

/* Both operands in their common type's shape, as fp32 or fp64, or as_it_is; *t is that common type. */
static bool float_pair(Checker *c, const Sem *x, const Sem *y, const char *what, bool as_it_is, Span at,
                       const Sem *in[2], SType *t) {
    Shape shape;
    if (!check_promote(c, x, y, at, t) || !broadcast_shape(c, x, y, at, &shape)) return false;
    if (!stype_is_float(*t)) {
        diag(c->d, at, E_TAKES_FLOATS, what, sem_type_text(c, x), sem_type_text(c, y));
        diag_note(c->d, at, "convert one of them first, as in x.to(fp32)");
        return false;
    }
    SType wide = stype_bits(*t) < 32 && !as_it_is ? ST_FP32 : *t;
    in[0] = convert_to(c, x, wide, at);
    in[1] = convert_to(c, y, wide, at);
    if (sem_is_error(in[0]) || sem_is_error(in[1])) return false;
    for (int i = 0; i < 2; i++) in[i] = broadcast_to(c, in[i], shape);
    return true;
}

const Sem *builtin_math_pair(Checker *c, Call *call) {
    const Sem *x = call->arg[0], *y = call->arg[1], *in[2];
    const char *name = call->builtin->name;
    const Fold *fold = fold_of(name);
    SType t;
    if (!sem_is_value(x) || !sem_is_value(y)) return refuse(c, call, sem_is_value(x) ? 1 : 0, "floats");
    if (sem_is_number(x) && sem_is_number(y)) {
        if (fold) return sem_float(c, fold->of_two(number_of(x), number_of(y)));
        x = to_run(c, x, call->at[0]);
    }
    if (!float_pair(c, x, y, arena_printf(c->a, "'%s'", name), call->builtin->aux & LIB_AS_IT_IS, call->span, in, &t)) {
        return &sem_error;
    }
    return convert_to(c, library_math(c, call->builtin->aux, name, in, 2, call->span), t, call->span);
}

const Sem *builtin_ldexp(Checker *c, Call *call) {
    const Sem *x = call->arg[0], *n = call->arg[1];
    if (!sem_is_value(n) || stype_is_float(sem_natural(n))) return refuse(c, call, 1, "an integer");
    if (sem_is_number(x) && sem_is_number(n)) return sem_float(c, number_of(x) * exp2(number_of(n)));
    if (sem_is_number(x)) x = to_run(c, sem_float(c, number_of(x)), call->at[0]);
    if (sem_is_number(n)) n = to_run(c, n, call->at[1]);
    call->arg[0] = x;
    const Sem *in[] = {float_operand(c, call, 0), n};
    if (sem_is_error(in[0])) return in[0];
    return convert_to(c, library_math(c, LIB_REAL, "ldexp", in, 2, call->span), x->type, call->span);
}

const Sem *float_power(Checker *c, const Sem *x, const Sem *y, Span at) {
    const Sem *in[2];
    SType t;
    if (!float_pair(c, x, y, "a power", false, at, in, &t)) return &sem_error;
    return convert_to(c, library_math(c, 0, "pow", in, 2, at), t, at);
}

/* sanitize_overflow asks Triton's debug builds for a check; it changes no result. */
const Sem *builtin_binary(Checker *c, Call *call) {
    return arith_binary(c, (BinaryOp)call->builtin->aux, call->arg[0], call->arg[1], call->span);
}

const Sem *builtin_pow(Checker *c, Call *call) {
    return check_binary(c, BIN_POW, call->arg[0], call->arg[1], call->span);
}

static const Sem *divide_rounded(Checker *c, Call *call) {
    const Sem *x = call->arg[0], *y = call->arg[1], *in[2];
    SType t;
    if (sem_is_number(x) && sem_is_number(y)) return check_binary(c, BIN_DIV, x, y, call->span);
    if (!sem_is_value(x) || !sem_is_value(y)) return refuse(c, call, sem_is_value(x) ? 1 : 0, "floats");
    if (!float_pair(c, x, y, arena_printf(c->a, "'%s'", call->builtin->name), false, call->span, in, &t))
        return &sem_error;
    Value *v = build2(&c->b, OP_FDIVRN, in[0]->v, in[1]->v);
    return convert_to(c, sem_run(c, in[0]->type, v, NULL), t, call->span);
}

const Sem *builtin_div_rn(Checker *c, Call *call) {
    return divide_rounded(c, call);
}

const Sem *builtin_umulhi(Checker *c, Call *call) {
    const Sem *x = call->arg[0], *y = call->arg[1];
    Span at = call->span;
    SType t;
    Shape shape;
    if (!sem_is_value(x) || !sem_is_value(y)) return refuse(c, call, sem_is_value(x) ? 1 : 0, "integers");
    if (sem_is_number(x) && sem_is_number(y)) x = to_run(c, x, at);
    if (!check_promote(c, x, y, at, &t) || !broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    if (stype_is_float(t) || stype_bits(t) < 32) return refuse(c, call, 0, "integers of 32 or 64 bits");
    const Sem *a = convert_to(c, x, t, at), *b = convert_to(c, y, t, at);
    if (sem_is_error(a) || sem_is_error(b)) return &sem_error;
    Value *v = build2(&c->b, OP_UMULHI, broadcast_to(c, a, shape)->v, broadcast_to(c, b, shape)->v);
    return sem_run(c, t, v, NULL);
}

/* ---- abs fma ----------------------------------------------------------------------------------------------------- */

const Sem *builtin_abs(Checker *c, Call *call) {
    const Sem *x = call->arg[0];
    if (!sem_is_value(x)) return refuse(c, call, 0, "a number");
    if (x->kind == SEM_FLOAT) return x->weak ? sem_float(c, fabs(x->f)) : sem_strong(c, sem_float(c, fabs(x->f)));
    if (sem_is_number(x)) return x->i.neg ? const_unary(c, UN_NEG, x, call->span) : x;
    if (stype_is_unsigned(x->type)) return x;
    if (!stype_is_float(x->type)) {
        return arith_minmax(c, TAKE_MAX, false, x, arith_unary(c, UN_NEG, x, call->span), call->span);
    }
    const Sem *in = stype_bits(x->type) == 8 ? convert_to(c, x, ST_FP32, call->span) : x;
    return convert_to(c, sem_run(c, in->type, build1(&c->b, OP_FABS, in->v), NULL), x->type, call->span);
}

const Sem *builtin_fma(Checker *c, Call *call) {
    const Sem *x = call->arg[0], *y = call->arg[1], *z = call->arg[2];
    Span at = call->span;
    if (!sem_is_value(x) || !sem_is_value(y) || !sem_is_value(z))
        return refuse(c, call, sem_is_value(x) ? sem_is_value(y) ? 2 : 1 : 0, "numbers");
    if (sem_is_number(x) && sem_is_number(y) && sem_is_number(z)) {
        return check_binary(c, BIN_ADD, check_binary(c, BIN_MUL, x, y, at), z, at);
    }
    SType t, last;
    Shape shape, all;
    if (!check_promote(c, x, y, at, &t) || !broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    Sem product = {.kind = SEM_RUN, .type = t, .v = x->kind == SEM_RUN ? x->v : y->kind == SEM_RUN ? y->v : z->v};
    if (!check_promote(c, &product, z, at, &last)) return &sem_error;
    if (!stype_is_float(last)) return check_binary(c, BIN_ADD, check_binary(c, BIN_MUL, x, y, at), z, at);
    if (!shape_join(shape, sem_shape(z), &all)) {
        broadcast_shape(c, sem_shape(x).rank >= sem_shape(y).rank ? x : y, z, at, &all);
        return &sem_error;
    }
    SType in = stype_bits(last) == 8 ? ST_FP32 : last;
    const Sem *a = convert_to(c, x, in, at), *b = convert_to(c, y, in, at), *d = convert_to(c, z, in, at);
    if (sem_is_error(a) || sem_is_error(b) || sem_is_error(d)) return &sem_error;
    Value *v =
        build3(&c->b, OP_FMA, broadcast_to(c, a, all)->v, broadcast_to(c, b, all)->v, broadcast_to(c, d, all)->v);
    return convert_to(c, sem_run(c, in, v, NULL), last, at);
}

const Sem *builtin_fdiv(Checker *c, Call *call) {
    if (call_flag(call, 2, false)) return divide_rounded(c, call);
    return check_binary(c, BIN_DIV, call->arg[0], call->arg[1], call->span);
}

/* ---- maximum minimum clamp where --------------------------------------------------------------------------------- */

const Sem *check_minmax(Checker *c, MinMax which, bool propagate_nan, const Sem *x, const Sem *y, Span at) {
    if (!sem_is_number(x) || !sem_is_number(y)) return arith_minmax(c, which, propagate_nan, x, y, at);
    const Sem *less = const_compare(c, CMP_LT, which == TAKE_MAX ? x : y, which == TAKE_MAX ? y : x, at);
    if (x->kind == SEM_FLOAT && isnan(x->f)) return propagate_nan ? x : y;
    if (y->kind == SEM_FLOAT && isnan(y->f)) return propagate_nan ? y : x;
    return const_truth(less) ? y : x;
}

const Sem *builtin_maximum(Checker *c, Call *call) {
    return check_minmax(c, (MinMax)call->builtin->aux, call_flag(call, 2, false), call->arg[0], call->arg[1],
                        call->span);
}

const Sem *builtin_clamp(Checker *c, Call *call) {
    bool nan = call_flag(call, 3, false);
    const Sem *low = check_minmax(c, TAKE_MAX, nan, call->arg[0], call->arg[1], call->span);
    return check_minmax(c, TAKE_MIN, nan, low, call->arg[2], call->span);
}

const Sem *builtin_where(Checker *c, Call *call) {
    return arith_select(c, call->arg[0], call->arg[1], call->arg[2], call->span);
}

/* ---- cdiv next_power_of_2 ---------------------------------------------------------------------------------------- */

const Sem *builtin_cdiv(Checker *c, Call *call) {
    const Sem *x = call->arg[0], *y = call->arg[1];
    Span at = call->span;
    if (sem_is_number(x) && sem_is_number(y)) { /* -(-x // y) is exact for every sign */
        const Sem *floor = check_binary(c, BIN_FLOORDIV, const_unary(c, UN_NEG, x, at), y, at);
        return sem_is_error(floor) ? floor : const_unary(c, UN_NEG, floor, at);
    }
    const Sem *rest = check_binary(c, BIN_MOD, x, y, at);
    if (sem_is_error(rest)) return rest;
    if (stype_is_float(rest->type)) return refuse(c, call, stype_is_float(sem_natural(x)) ? 0 : 1, "integers");
    const Sem *more = arith_compare(c, CMP_GT, rest, sem_i64(c, 0), at);
    const Sem *quotient = check_binary(c, BIN_FLOORDIV, x, y, at);
    const Sem *sum = check_binary(c, BIN_ADD, quotient, convert_to(c, more, rest->type, at), at);
    return sem_is_error(sum) ? sum : sem_run(c, sum->type, sum->v, NULL);
}

const Sem *builtin_next_power_of_2(Checker *c, Call *call) {
    int64_t n;
    if (!sem_want_int(c, call->arg[0], call->at[0], "the argument of next_power_of_2", &n)) return &sem_error;
    uint64_t power = 1;
    while (n > 0 && power < (uint64_t)n) power <<= 1;
    return sem_int(c, int_unsigned(power));
}
