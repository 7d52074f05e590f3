/* rule.c - the evaluator, checker and printer of launch-rule code (record.h has the language).
 *
 * In: postfix text and an environment. Out: a value, or a status with a sentence.
 * Method: a stack of slots. A slot holds a value or the failure that its expression met; `and`, `or` and `sel` drop the
 * slot they do not need, with its failure, so what Python would not evaluate cannot fail here either.
 */
#include "runtime/base/number.h"
#include "runtime/record/rulecode.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STACK = 64 };

typedef enum Form { INFIX, PREFIX, CALL, CHOICE, MEMBER } Form;

static const struct {
    const char *token;
    uint8_t operands, form, strength;
    const char *shown;
} ops[] = {
#define RULE(e, token, operands, form, strength, shown) {token, operands, form, strength, shown},
#include "runtime/record/rule.def"
#undef RULE
};

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

RuleValue rule_int(int64_t i) {
    return (RuleValue){.is_float = false, .i = i};
}

RuleValue rule_float(double f) {
    return (RuleValue){.is_float = true, .f = f};
}

bool rule_dtype(const char *name, size_t length, RuleValue *out) {
    char text[16];
    if (length >= sizeof text) return false;
    memcpy(text, name, length);
    text[length] = '\0';
    fsc_dtype t = fsc_dtype_find(text);
    *out = (RuleValue){.is_dtype = true, .i = t};
    return t != FSC_DTYPE_NONE;
}

bool rule_dtype_bits(int64_t dtype, int64_t *bits) {
    bool is_one = dtype > FSC_DTYPE_NONE && dtype <= FSC_FP64;
    *bits = !is_one ? 0 : dtype == FSC_I1 ? 1 : 8 * (int64_t)fsc_dtype_size((fsc_dtype)dtype);
    return is_one;
}

bool rule_is_int(RuleValue v) {
    return !v.is_float && !v.is_dtype;
}

bool rule_truth(RuleValue v) {
    return v.is_float ? v.f != 0 : v.i != 0;
}

int rule_operands(const RuleToken *t) {
    return t->op < RULE_COUNT ? ops[t->op].operands : 0;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static RuleOp op_find(const char *at, uint32_t length) {
    for (int i = 0; i < RULE_COUNT; i++) {
        const char *token = ops[i].token;
        if (token[0] == at[0] && strlen(token) == length && memcmp(token, at, length) == 0) return (RuleOp)i;
    }
    return RULE_UNKNOWN;
}

bool rule_token(const char **p, RuleToken *t) {
    const char *s = *p;
    while (is_blank(*s)) s++;
    if (*s == '\0') return false;
    *t = (RuleToken){.op = RULE_UNKNOWN, .at = s};
    while (*s && !is_blank(*s)) s++;
    t->length = (uint32_t)(s - t->at);
    *p = s;

    char c = t->at[0], d = t->at[1];
    if (c == '$') {
        if (d >= '0' && d <= '9' && number_read_int(t->at + 1, t->length - 1, &t->value.i)) t->op = RULE_PARAM;
    } else if ((c >= '0' && c <= '9') || c == '.' || (c == '-' && t->length > 1)) {
        if (number_read_int(t->at, t->length, &t->value.i))
            t->op = RULE_NUMBER;
        else if (memchr(t->at, '.', t->length) || memchr(t->at, 'e', t->length) || memchr(t->at, 'i', t->length)) {
            t->value.is_float = true;
            if (number_read(t->at, t->length, &t->value.f)) t->op = RULE_NUMBER;
        }
    } else if (t->length == 3 && (memcmp(t->at, "inf", 3) == 0 || memcmp(t->at, "nan", 3) == 0)) {
        t->op = RULE_NUMBER;
        t->value = rule_float(c == 'i' ? (double)INFINITY : (double)NAN);
    } else {
        t->op = op_find(t->at, t->length);
        if (t->op == RULE_UNKNOWN && rule_dtype(t->at, t->length, &t->value)) t->op = RULE_NUMBER;
    }
    return true;
}

/* ---- Evaluation -------------------------------------------------------------------------------------------------- */

typedef struct Slot {
    RuleStatus status;
    RuleOp op; /* what failed, and its token */
    uint32_t length;
    const char *at;
    RuleValue v, b; /* the value; or the operands of what failed */
} Slot;

static Slot slot_value(RuleValue v) {
    return (Slot){.status = RULE_OK, .v = v};
}

static Slot slot_int(int64_t i) {
    return slot_value(rule_int(i));
}

static Slot slot_fail(RuleStatus s, const RuleToken *t, RuleValue a, RuleValue b) {
    return (Slot){.status = s, .op = t->op, .length = t->length, .at = t->at, .v = a, .b = b};
}

static double to_double(RuleValue v) {
    return v.is_float ? v.f : (double)v.i;
}

/* -1, 0, 1, or 2 where one is not a number; exact. */
static int compare_int_float(int64_t i, double f) {
    if (isnan(f)) return 2;
    if (f >= 0x1p63) return -1;
    if (f < -0x1p63) return 1;
    double whole = trunc(f);
    int64_t w = (int64_t)whole;
    if (i != w) return i < w ? -1 : 1;
    return f > whole ? -1 : f < whole ? 1 : 0;
}

static int compare(RuleValue a, RuleValue b) {
    if (!a.is_float && !b.is_float) return a.i < b.i ? -1 : a.i > b.i;
    if (!a.is_float) return compare_int_float(a.i, b.f);
    if (!b.is_float) {
        int c = compare_int_float(b.i, a.f);
        return c == 2 ? 2 : -c;
    }
    if (isnan(a.f) || isnan(b.f)) return 2;
    return a.f < b.f ? -1 : a.f > b.f;
}

static Slot divide_int(const RuleToken *t, int64_t a, int64_t b) {
    if (b == 0) return slot_fail(RULE_DIVISION, t, rule_int(a), rule_int(b));
    if (b == -1) { /* INT64_MIN / -1 is the one quotient that does not fit */
        if (t->op == RULE_MOD) return slot_int(0);
        return a == INT64_MIN ? slot_fail(RULE_OVERFLOW, t, rule_int(a), rule_int(b)) : slot_int(-a);
    }
    int64_t q = a / b, r = a % b;
    bool inexact = r != 0, negative = (a < 0) != (b < 0);
    if (t->op == RULE_CDIV) return slot_int(q + (inexact && !negative));
    if (t->op == RULE_FLOORDIV) return slot_int(q - (inexact && negative));
    return slot_int(inexact && negative ? r + b : r);
}

void rule_divide(double a, double b, double *quotient, double *rest) {
    double r = fmod(a, b);
    bool turns = r != 0 && (r < 0) != (b < 0);
    double q = (a - r) / b - turns;
    *rest = r == 0 ? copysign(0, b) : turns ? r + b : r;
    *quotient = q == 0 ? copysign(0, a / b) : round(q); /* it is whole up to rounding */
}

static Slot arithmetic(const RuleToken *t, RuleValue a, RuleValue b) {
    if (a.is_float || b.is_float) {
        double x = to_double(a), y = to_double(b), quotient, rest;
        if (t->op == RULE_CDIV) return slot_fail(RULE_TYPE, t, a, b);
        if (t->op == RULE_FLOORDIV || t->op == RULE_MOD) {
            if (y == 0) return slot_fail(RULE_DIVISION, t, rule_float(x), rule_float(y));
            rule_divide(x, y, &quotient, &rest);
            return slot_value(rule_float(t->op == RULE_MOD ? rest : quotient));
        }
        return slot_value(rule_float(t->op == RULE_ADD ? x + y : t->op == RULE_SUB ? x - y : x * y));
    }
    int64_t z = 0;
    bool over = false;
    switch (t->op) {
    case RULE_ADD: over = __builtin_add_overflow(a.i, b.i, &z); break;
    case RULE_SUB: over = __builtin_sub_overflow(a.i, b.i, &z); break;
    case RULE_MUL: over = __builtin_mul_overflow(a.i, b.i, &z); break;
    default: return divide_int(t, a.i, b.i);
    }
    return over ? slot_fail(RULE_OVERFLOW, t, a, b) : slot_int(z);
}

static Slot next_power(const RuleToken *t, RuleValue a) {
    if (!rule_is_int(a)) return slot_fail(RULE_TYPE, t, a, a);
    if (a.i > (int64_t)1 << 62) return slot_fail(RULE_OVERFLOW, t, a, a);
    int64_t p = 1;
    while (p < a.i) p *= 2;
    return slot_int(p);
}

static Slot negate(const RuleToken *t, RuleValue a) {
    if (a.is_dtype) return slot_fail(RULE_TYPE, t, a, a);
    if (a.is_float) return slot_value(rule_float(-a.f));
    return a.i == INT64_MIN ? slot_fail(RULE_OVERFLOW, t, a, a) : slot_int(-a.i);
}

static Slot bits_of(const RuleToken *t, RuleValue a) {
    int64_t bits = 0;
    return a.is_dtype && rule_dtype_bits(a.i, &bits) ? slot_int(bits) : slot_fail(RULE_TYPE, t, a, a);
}

static Slot compare_types(const RuleToken *t, RuleValue a, RuleValue b) {
    bool is_question = t->op == RULE_EQ || t->op == RULE_NE;
    if (!is_question || !a.is_dtype || !b.is_dtype) return slot_fail(RULE_TYPE, t, a, b);
    return slot_int((a.i == b.i) == (t->op == RULE_EQ));
}

static Slot apply_binary(const RuleToken *t, Slot a, Slot b) {
    if (a.status != RULE_OK) return a;
    if (t->op == RULE_AND) return rule_truth(a.v) ? b : a;
    if (t->op == RULE_OR) return rule_truth(a.v) ? a : b;
    if (b.status != RULE_OK) return b;
    if (a.v.is_dtype || b.v.is_dtype) return compare_types(t, a.v, b.v);
    int c = compare(a.v, b.v);
    switch (t->op) {
    case RULE_LT: return slot_int(c == -1);
    case RULE_LE: return slot_int(c == -1 || c == 0);
    case RULE_GT: return slot_int(c == 1);
    case RULE_GE: return slot_int(c == 1 || c == 0);
    case RULE_EQ: return slot_int(c == 0);
    case RULE_NE: return slot_int(c != 0);
    case RULE_MIN: return c == 1 ? b : a;
    case RULE_MAX: return c == -1 ? b : a;
    default: return arithmetic(t, a.v, b.v);
    }
}

static Slot apply_unary(const RuleToken *t, Slot a) {
    if (a.status != RULE_OK) return a;
    if (t->op == RULE_NOT) return slot_int(!rule_truth(a.v));
    if (t->op == RULE_BITS) return bits_of(t, a.v);
    return t->op == RULE_NEG ? negate(t, a.v) : next_power(t, a.v);
}

/* The operands at top become the result there. Not inlined: so the compiler need not see that the stack is filled. */
__attribute__((noinline)) static void apply(const RuleToken *t, Slot *top) {
    if (rule_operands(t) == 1)
        *top = apply_unary(t, top[0]);
    else if (rule_operands(t) == 2)
        *top = apply_binary(t, top[0], top[1]);
    else if (top[0].status == RULE_OK)
        *top = rule_truth(top[0].v) ? top[1] : top[2];
}

static Slot device_fact(const RuleToken *t, const RuleEnv *env) {
    int64_t v = 0;
    RuleStatus s = RULE_OK;
    switch (t->op) {
    case RULE_NUM_SMS: v = env->num_sms; break;
    case RULE_MAX_SHARED: v = env->max_shared; break;
    case RULE_NUM_REGS: v = env->num_regs; break;
    case RULE_WARP_SIZE: v = env->warp_size; break;
    default: s = env->occupancy ? env->occupancy(env->context, &v) : RULE_UNBOUND;
    }
    if (t->op != RULE_OCCUPANCY && v == 0) s = RULE_UNBOUND;
    return s == RULE_OK ? slot_int(v) : slot_fail(s, t, rule_int(0), rule_int(0));
}

static Slot operand(const RuleToken *t, const RuleEnv *env) {
    if (t->op == RULE_NUMBER) return slot_value(t->value);
    if (t->op != RULE_PARAM) return device_fact(t, env);
    uint64_t i = (uint64_t)t->value.i;
    if (i < env->num_values && env->values[i].known) return slot_value(env->values[i].value);
    return slot_fail(RULE_UNBOUND, t, t->value, rule_int(0));
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static RuleStatus fail(RuleStatus s, char *err, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static RuleStatus fail(RuleStatus s, char *err, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (err && size) vsnprintf(err, size, fmt, args);
    va_end(args);
    return s;
}

char *rule_value_print(RuleValue v, char *out, size_t size) {
    if (v.is_float) return number_print(v.f, out, size);
    if (v.is_dtype) {
        snprintf(out, size, "%s", fsc_dtype_name((fsc_dtype)v.i));
        return out;
    }
    snprintf(out, size, "%lld", (long long)v.i);
    return out;
}

static const char *name_of(const Slot *s, const RuleEnv *env) {
    if (s->op == RULE_PARAM && (uint64_t)s->v.i < env->num_values) return env->values[s->v.i].name;
    return s->op < RULE_COUNT ? ops[s->op].shown : NULL;
}

static RuleStatus explain(const Slot *s, const RuleEnv *env, char *err, size_t size) {
    if (s->status == RULE_UNBOUND) {
        const char *name = name_of(s, env);
        int length = name ? (int)strlen(name) : (int)s->length;
        return fail(s->status, err, size, "%.*s", length, name ? name : s->at);
    }
    char a[40], b[40];
    rule_value_print(s->v, a, sizeof a);
    rule_value_print(s->b, b, sizeof b);
    const char *shown = ops[s->op].shown;
    const char *what = s->status == RULE_DIVISION   ? "divides by zero"
                       : s->status == RULE_OVERFLOW ? "is beyond 64 bits"
                       : s->v.is_dtype || s->b.is_dtype ? "is no question about a type: == and != compare two"
                                                        : "needs integers";
    int n = ops[s->op].operands;
    if (n == 0) return fail(s->status, err, size, "%s() has no value here", shown);
    if (s->op == RULE_BITS) return fail(s->status, err, size, "%s.%s needs a type", a, shown);
    if (n == 1) return fail(s->status, err, size, "%s(%s) %s", shown, a, what);
    if (ops[s->op].form == CALL) return fail(s->status, err, size, "%s(%s, %s) %s", shown, a, b, what);
    return fail(s->status, err, size, "%s %s %s %s", a, shown, b, what);
}

RuleStatus rule_eval(const char *code, const RuleEnv *env, RuleValue *out, char *err, size_t errsize) {
    Slot stack[STACK];
    stack[0].status = RULE_MALFORMED;
    int depth = 0;
    RuleToken t;
    for (const char *p = code; rule_token(&p, &t);) {
        int n = rule_operands(&t);
        if (t.op == RULE_UNKNOWN)
            return fail(RULE_MALFORMED, err, errsize, "'%.*s' is no launch-rule operation", (int)t.length, t.at);
        if (depth < n || depth - n >= STACK)
            return fail(RULE_MALFORMED, err, errsize, "the launch-rule code is not well formed at '%.*s'",
                        (int)t.length, t.at);
        Slot *top = stack + depth - n;
        if (n)
            apply(&t, top);
        else
            *top = operand(&t, env);
        depth += 1 - n;
    }
    if (depth != 1) return fail(RULE_MALFORMED, err, errsize, "the launch-rule code leaves %d values, not one", depth);
    if (stack[0].status != RULE_OK) return explain(&stack[0], env, err, errsize);
    *out = stack[0].v;
    return RULE_OK;
}

RuleStatus rule_eval_int(const char *code, const RuleEnv *env, int64_t *out, char *err, size_t errsize) {
    RuleValue v;
    RuleStatus s = rule_eval(code, env, &v, err, errsize);
    if (s != RULE_OK) return s;
    if (v.is_dtype)
        return fail(RULE_TYPE, err, errsize, "%s is a type, not an integer", fsc_dtype_name((fsc_dtype)v.i));
    if (v.is_float) {
        char text[40];
        if (!(v.f >= -0x1p63 && v.f < 0x1p63) || trunc(v.f) != v.f)
            return fail(RULE_TYPE, err, errsize, "%s is not a 64-bit integer", number_print(v.f, text, sizeof text));
        v.i = (int64_t)v.f;
    }
    *out = v.i;
    return RULE_OK;
}

/* ---- Checking and printing --------------------------------------------------------------------------------------- */

bool rule_check(const char *code, uint32_t num_values, char *err, size_t errsize) {
    int depth = 0;
    RuleToken t;
    for (const char *p = code; rule_token(&p, &t);) {
        int n = rule_operands(&t), length = (int)t.length;
        if (t.op == RULE_UNKNOWN) {
            fail(RULE_MALFORMED, err, errsize, "'%.*s' is no launch-rule operation", length, t.at);
            return false;
        }
        if (t.op == RULE_PARAM && (uint64_t)t.value.i >= num_values) {
            fail(RULE_MALFORMED, err, errsize, "'%.*s' is beyond the %u parameters", length, t.at, num_values);
            return false;
        }
        if (depth < n || depth - n >= STACK) {
            fail(RULE_MALFORMED, err, errsize, "the launch-rule code is not well formed at '%.*s'", length, t.at);
            return false;
        }
        depth += 1 - n;
    }
    if (depth != 1) fail(RULE_MALFORMED, err, errsize, "the launch-rule code leaves %d values, not one", depth);
    return depth == 1;
}

bool rule_uses(const char *code, uint32_t index) {
    RuleToken t;
    for (const char *p = code; rule_token(&p, &t);) {
        if (t.op == RULE_PARAM && t.value.i == (int64_t)index) return true;
    }
    return false;
}

enum { SHOWN_TOKENS = 256 };

typedef struct Shown {
    RuleToken tokens[SHOWN_TOKENS];
    uint32_t starts[SHOWN_TOKENS]; /* the first token of the expression that ends here */
    const char *const *names;
    uint32_t num_names;
    char *out;
    size_t size, used;
} Shown;

static void put(Shown *s, const char *text, size_t length) {
    for (size_t i = 0; i < length && s->used + 1 < s->size; i++) s->out[s->used++] = text[i];
}

static void put0(Shown *s, const char *text) {
    put(s, text, strlen(text));
}

static int strength_of(const RuleToken *t) {
    return t->op < RULE_COUNT ? ops[t->op].strength : 9;
}

/* The expression that ends at token `end`, in brackets where it binds more weakly than `least`. */
static void show(Shown *s, uint32_t end, int least) {
    const RuleToken *t = &s->tokens[end];
    int n = rule_operands(t), strength = strength_of(t);
    uint32_t arg[3] = {0};
    for (uint32_t i = (uint32_t)n, last = end; i-- > 0;) {
        arg[i] = last - 1;
        last = s->starts[arg[i]];
    }
    if (t->op == RULE_PARAM && (uint64_t)t->value.i < s->num_names && s->names[t->value.i]) {
        put0(s, s->names[t->value.i]);
        return;
    }
    if (t->op >= RULE_COUNT) {
        put(s, t->at, t->length);
        return;
    }
    if (strength < least) put0(s, "(");
    switch (ops[t->op].form) {
    case CALL:
        put0(s, ops[t->op].shown);
        put0(s, "(");
        for (int i = 0; i < n; i++) {
            if (i) put0(s, ", ");
            show(s, arg[i], 0);
        }
        put0(s, ")");
        break;
    case MEMBER:
        show(s, arg[0], strength);
        put0(s, ".");
        put0(s, ops[t->op].shown);
        break;
    case PREFIX:
        put0(s, ops[t->op].shown);
        show(s, arg[0], strength);
        break;
    case CHOICE:
        show(s, arg[1], 1);
        put0(s, " if ");
        show(s, arg[0], 1);
        put0(s, " else ");
        show(s, arg[2], 0);
        break;
    default:
        show(s, arg[0], strength + (strength == 4)); /* a comparison of a comparison would chain */
        put0(s, " ");
        put0(s, ops[t->op].shown);
        put0(s, " ");
        show(s, arg[1], strength + 1);
    }
    if (strength < least) put0(s, ")");
}

void rule_print(const char *code, const char *const *names, uint32_t num_names, char *out, size_t size) {
    Shown s = {.names = names, .num_names = num_names, .out = out, .size = size};
    uint32_t n = 0, stack[STACK], depth = 0;
    if (size == 0) return;
    bool fits = rule_check(code, UINT32_MAX, NULL, 0);
    for (const char *p = code; fits && rule_token(&p, &s.tokens[n]);) {
        depth -= (uint32_t)rule_operands(&s.tokens[n]);
        s.starts[n] = rule_operands(&s.tokens[n]) ? stack[depth] : n;
        stack[depth++] = s.starts[n];
        fits = ++n < SHOWN_TOKENS;
    }
    if (fits)
        show(&s, n - 1, 0);
    else
        put0(&s, code);
    out[s.used] = '\0';
}
