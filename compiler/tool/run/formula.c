/* formula.c - expressions over arrays, evaluated while they are read.
 *
 * In: text such as "exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)". Out: an array of long double.
 * Method: precedences are Python's; an axis that is reduced stays, with length 1, so that the result broadcasts.
 */
#include "tool/run/formula.h"

#include "check/check.h"
#include "runtime/base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_ARGS = 3, MOST_DEPTH = 200 };

typedef struct Formula {
    Arena *arena;
    const char *text, *at; /* at: the next character */
    FormulaLookup *lookup;
    void *context;
    const char *why;
    int depth;
} Formula;

static Values *expression(Formula *f, int level);

static Values *fail(Formula *f, const char *why) {
    if (!f->why) f->why = arena_printf(f->arena, "%s, at '%.20s'", why, *f->at ? f->at : "the end");
    return NULL;
}

static void skip(Formula *f) {
    while (*f->at == ' ' || *f->at == '\t') f->at++;
}

static bool eat(Formula *f, const char *token) {
    skip(f);
    size_t n = strlen(token);
    if (strncmp(f->at, token, n) != 0) return false;
    f->at += n;
    return true;
}

/* ---- What there is ----------------------------------------------------------------------------------------------- */

#define REAL(name, value)                                                                                              \
    static Real name(const Real *x) {                                                                                  \
        return (value);                                                                                                \
    }
REAL(add, x[0] + x[1])
REAL(subtract, x[0] - x[1])
REAL(multiply, x[0] * x[1])
REAL(divide, x[0] / x[1])
REAL(floor_divide, floorl(x[0] / x[1]))
REAL(modulo, x[0] - x[1] * floorl(x[0] / x[1]))
REAL(power, powl(x[0], x[1]))
REAL(negative, -x[0])
REAL(invert, (Real) ~(int64_t)x[0])
REAL(is_less, x[0] < x[1])
REAL(is_at_most, x[0] <= x[1])
REAL(is_greater, x[0] > x[1])
REAL(is_at_least, x[0] >= x[1])
REAL(is_equal, x[0] == x[1])
REAL(is_unequal, x[0] != x[1])
REAL(bit_and, (Real)((int64_t)x[0] & (int64_t)x[1]))
REAL(bit_or, (Real)((int64_t)x[0] | (int64_t)x[1]))
REAL(bit_xor, (Real)((int64_t)x[0] ^ (int64_t)x[1]))
REAL(shift_left, (Real)((uint64_t)(int64_t)x[0] << ((uint64_t)x[1] & 63)))
REAL(shift_right, (Real)((int64_t)x[0] >> ((uint64_t)x[1] & 63)))
REAL(maximum, isnan(x[0]) || x[0] > x[1] ? x[0] : x[1])
REAL(minimum, isnan(x[0]) || x[0] < x[1] ? x[0] : x[1])
REAL(where, x[0] != 0 ? x[1] : x[2])
REAL(clip, fminl(fmaxl(x[0], x[1]), x[2]))
REAL(rsqrt, 1 / sqrtl(x[0]))
REAL(sigmoid, 1 / (1 + expl(-x[0])))
REAL(is_nan, isnan(x[0]))
REAL(exp_, expl(x[0]))
REAL(exp2_, exp2l(x[0]))
REAL(expm1_, expm1l(x[0]))
REAL(log_, logl(x[0]))
REAL(log2_, log2l(x[0]))
REAL(log1p_, log1pl(x[0]))
REAL(sqrt_, sqrtl(x[0]))
REAL(sin_, sinl(x[0]))
REAL(cos_, cosl(x[0]))
REAL(tanh_, tanhl(x[0]))
REAL(erf_, erfl(x[0]))
REAL(abs_, fabsl(x[0]))
REAL(floor_, floorl(x[0]))
REAL(ceil_, ceill(x[0]))
REAL(rint_, rintl(x[0]))

static const struct {
    const char *name;
    uint32_t arity;
    Real (*fn)(const Real *x);
} functions[] = {
    {"exp", 1, exp_},        {"exp2", 1, exp2_},      {"expm1", 1, expm1_}, {"log", 1, log_},
    {"log2", 1, log2_},      {"log1p", 1, log1p_},    {"sqrt", 1, sqrt_},   {"rsqrt", 1, rsqrt},
    {"sin", 1, sin_},        {"cos", 1, cos_},        {"tanh", 1, tanh_},   {"erf", 1, erf_},
    {"sigmoid", 1, sigmoid}, {"abs", 1, abs_},        {"floor", 1, floor_}, {"ceil", 1, ceil_},
    {"rint", 1, rint_},      {"isnan", 1, is_nan},    {"where", 3, where},  {"clip", 3, clip},
    {"maximum", 2, maximum}, {"minimum", 2, minimum},
};

static const struct {
    const char *name;
    Reduce kind;
} reductions[] = {{"sum", REDUCE_SUM}, {"mean", REDUCE_MEAN},     {"prod", REDUCE_PROD},     {"max", REDUCE_MAX},
                  {"min", REDUCE_MIN}, {"argmax", REDUCE_ARGMAX}, {"argmin", REDUCE_ARGMIN}, {"cumsum", REDUCE_CUMSUM}};

/* Longer ones first where one begins another. */
static const struct {
    const char *token;
    int level;
    Real (*fn)(const Real *x); /* NULL: the product of matrices */
} operators[] = {
    {"<<", 5, shift_left}, {">>", 5, shift_right}, {"<=", 1, is_at_most}, {">=", 1, is_at_least},  {"==", 1, is_equal},
    {"!=", 1, is_unequal}, {"<", 1, is_less},      {">", 1, is_greater},  {"|", 2, bit_or},        {"^", 3, bit_xor},
    {"&", 4, bit_and},     {"+", 6, add},          {"-", 6, subtract},    {"//", 7, floor_divide}, {"*", 7, multiply},
    {"/", 7, divide},      {"%", 7, modulo},       {"@", 7, NULL},
};
enum { LEVELS = 7 };

static Values *apply(Formula *f, Real (*fn)(const Real *x), const Values *const *args, uint32_t n) {
    const char *why = NULL;
    Values *v = values_apply(f->arena, fn, args, n, &why);
    return v ? v : fail(f, why);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

typedef struct Call {
    Values *args[MOST_ARGS];
    uint32_t n;
    int64_t axis;
    bool has_axis;
} Call;

static bool read_call(Formula *f, Call *call) {
    for (bool is_first = true; !eat(f, ")"); is_first = false) {
        if (!is_first && !eat(f, ",")) return fail(f, "',' or ')' is expected") != NULL;
        if (!is_first && eat(f, ")")) return true;
        skip(f);
        call->has_axis = strncmp(f->at, "axis", 4) == 0 && f->at[4 + strspn(f->at + 4, " ")] == '=';
        if (call->has_axis) f->at = strchr(f->at, '=') + 1;
        if (!call->has_axis && call->n == MOST_ARGS) return fail(f, "too many arguments") != NULL;
        Values *v = expression(f, 1);
        if (!v) return false;
        if (!call->has_axis)
            call->args[call->n++] = v;
        else if (v->count != 1)
            return fail(f, "an axis is a number") != NULL;
        else
            call->axis = (int64_t)v->at[0];
    }
    return true;
}

static Values *unknown_function(Formula *f, const char *name) {
    const char *names[COUNT(functions) + COUNT(reductions) + 2] = {"arange", "take"};
    uint32_t n = 2;
    for (size_t i = 0; i < COUNT(functions); i++) names[n++] = functions[i].name;
    for (size_t i = 0; i < COUNT(reductions); i++) names[n++] = reductions[i].name;
    const char *meant = nearest_name(name, names, n), *all = "";
    for (uint32_t i = 0; i < n; i++) all = arena_printf(f->arena, "%s %s", all, names[i]);
    f->why = meant
                 ? arena_printf(f->arena, "there is no function '%s'; did you mean '%s'?", name, meant)
                 : arena_printf(f->arena, "there is no function '%s'; there are%s, and types, which round", name, all);
    return NULL;
}

static Values *round_all(Formula *f, const char *dtype, const Values *v) {
    Values *out = NEW(f->arena, Values);
    *out = *v;
    out->at = NEW_ARRAY(f->arena, Real, v->count + 1);
    for (uint64_t i = 0; i < v->count; i++) (void)real_round(dtype, v->at[i], &out->at[i]);
    return out;
}

static Values *call_function(Formula *f, const char *name) {
    Call call = {.n = 0};
    const char *why = NULL, *dtype = dtype_canonical(name);
    if (!read_call(f, &call)) return NULL;
    for (size_t i = 0; i < COUNT(functions); i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        if (call.n == functions[i].arity && !call.has_axis)
            return apply(f, functions[i].fn, (const Values *const *)call.args, call.n);
        return fail(f, arena_printf(f->arena, "%s takes %u argument%s%s", name, functions[i].arity,
                                    functions[i].arity == 1 ? "" : "s", call.has_axis ? " and no axis" : ""));
    }
    for (size_t i = 0; i < COUNT(reductions); i++) {
        if (strcmp(reductions[i].name, name) != 0) continue;
        if (call.n == 2 && !call.has_axis && call.args[1]->count == 1) {
            call.axis = (int64_t)call.args[1]->at[0];
            call.has_axis = true;
            call.n = 1;
        }
        if (call.n != 1) return fail(f, arena_printf(f->arena, "%s takes an array and an axis", name));
        Values *v = values_reduce(f->arena, reductions[i].kind, call.args[0], call.has_axis ? &call.axis : NULL, &why);
        return v ? v : fail(f, why);
    }
    if (strcmp(name, "arange") == 0 && call.n == 1 && call.args[0]->count == 1)
        return values_arange(f->arena, (int64_t)call.args[0]->at[0]);
    if (strcmp(name, "take") == 0 && call.n == 2) {
        Values *v = values_take(f->arena, call.args[0], call.args[1], &why);
        return v ? v : fail(f, why);
    }
    if (dtype && call.n == 1) return round_all(f, dtype, call.args[0]);
    return unknown_function(f, name);
}

/* ---- Terms ------------------------------------------------------------------------------------------------------- */

static bool read_bound(Formula *f, int64_t *out) {
    Values *v = expression(f, 1);
    if (v && v->count != 1) return fail(f, "a number is expected between the brackets; rows are take(x, i)") != NULL;
    if (v) *out = (int64_t)v->at[0];
    return v != NULL;
}

static Values *index_of(Formula *f, const Values *v) {
    Index index[ARRAY_RANK_MAX];
    uint32_t n = 0;
    const char *why = NULL;
    while (!eat(f, "]")) {
        if (n && !eat(f, ",")) return fail(f, "',' or ']' is expected");
        if (n && eat(f, "]")) break;
        if (n == ARRAY_RANK_MAX) return fail(f, "too many axes");
        Index *x = &index[n++];
        *x = (Index){.kind = INDEX_RANGE};
        if (eat(f, "None")) {
            x->kind = INDEX_NEW;
            continue;
        }
        skip(f);
        if (*f->at != ':') {
            if (!read_bound(f, &x->low)) return NULL;
            x->has_low = true;
        }
        if (!eat(f, ":")) {
            x->kind = INDEX_AT;
            continue;
        }
        skip(f);
        x->has_high = *f->at != ',' && *f->at != ']';
        if (x->has_high && !read_bound(f, &x->high)) return NULL;
    }
    Values *out = values_index(f->arena, v, index, n, &why);
    return out ? out : fail(f, why);
}

static Values *read_name(Formula *f) {
    size_t n = 0;
    while (isalnum((unsigned char)f->at[n]) || f->at[n] == '_') n++;
    const char *name = arena_strndup(f->arena, f->at, n), *begin = f->at;
    f->at += n;
    if (eat(f, "(")) return call_function(f, name);
    Values *v = f->lookup(f->context, f->arena, name);
    if (v) return v;
    if (strcmp(name, "inf") == 0) return values_number(f->arena, (Real)INFINITY);
    if (strcmp(name, "nan") == 0) return values_number(f->arena, (Real)NAN);
    if (strcmp(name, "pi") == 0) return values_number(f->arena, acosl(-1));
    f->at = begin;
    return fail(f, arena_printf(f->arena, "'%s' is no parameter of the kernel with a value", name));
}

static Values *read_number(Formula *f) {
    size_t n = 0;
    double x = 0;
    int64_t i = 0;
    while (isalnum((unsigned char)f->at[n]) || f->at[n] == '.' ||
           ((f->at[n] == '-' || f->at[n] == '+') && n && tolower((unsigned char)f->at[n - 1]) == 'e'))
        n++;
    bool is_int = number_read_int(f->at, n, &i);
    if (!is_int && !number_read(f->at, n, &x)) return fail(f, "that is no number");
    f->at += n;
    return values_number(f->arena, is_int ? (Real)i : (Real)x);
}

static Values *primary(Formula *f) {
    Values *v = NULL;
    skip(f);
    if (eat(f, "(")) {
        v = expression(f, 1);
        if (v && !eat(f, ")")) return fail(f, "')' is expected");
    } else if (isdigit((unsigned char)*f->at) || *f->at == '.') {
        v = read_number(f);
    } else if (isalpha((unsigned char)*f->at) || *f->at == '_') {
        v = read_name(f);
    } else {
        return fail(f, "a name, a number or '(' is expected");
    }
    while (v) {
        const char *why = NULL;
        if (eat(f, "[")) {
            v = index_of(f, v);
        } else if (v->rank > 2 && eat(f, ".T")) {
            return fail(f, ".T is for two axes; .mT swaps the last two");
        } else if (eat(f, ".T") || eat(f, ".mT")) {
            v = values_transpose(f->arena, v, &why);
            if (!v) fail(f, why);
        } else {
            break;
        }
    }
    return v;
}

static Values *unary(Formula *f) {
    if (++f->depth > MOST_DEPTH) return fail(f, "that is nested too deeply");
    Real (*fn)(const Real *) = eat(f, "-") ? negative : eat(f, "~") ? invert : NULL;
    Values *v = fn ? unary(f) : primary(f);
    if (!fn && v && eat(f, "**")) {
        const Values *args[] = {v, unary(f)};
        v = args[1] ? apply(f, power, args, 2) : NULL;
    }
    if (fn && v) v = apply(f, fn, (const Values *const[]){v}, 1);
    f->depth--;
    return v;
}

static Values *expression(Formula *f, int level) {
    if (level > LEVELS) return unary(f);
    Values *left = expression(f, level + 1);
    while (left) {
        size_t i = 0;
        skip(f);
        while (i < COUNT(operators) && strncmp(f->at, operators[i].token, strlen(operators[i].token)) != 0) i++;
        if (i == COUNT(operators) || operators[i].level != level) break;
        f->at += strlen(operators[i].token);
        const char *why = NULL;
        const Values *args[] = {left, expression(f, level + 1)};
        if (!args[1]) return NULL;
        left = operators[i].fn ? apply(f, operators[i].fn, args, 2) : values_product(f->arena, left, args[1], &why);
        if (!left && why) fail(f, why);
    }
    return left;
}

Values *formula_evaluate(Arena *arena, const char *text, FormulaLookup *lookup, void *context, const char **why) {
    Formula f = {.arena = arena, .text = text, .at = text, .lookup = lookup, .context = context};
    Values *v = expression(&f, 1);
    skip(&f);
    if (v && *f.at) v = fail(&f, "nothing more is expected");
    *why = f.why;
    return v;
}
