/* consteval.c - operators on values known at compile time, with Python's meaning.
 *
 * In: two constants. Out: a constant; an error where Python would raise or where an integer leaves 64 bits.
 * Method: bool and int go through int.c (exact), anything with a float through double. A result is weak (adapts to the
 * tile that it meets) where all its operands are.
 */
#include "check/sema.h"

#include <math.h>
#include <string.h>

bool const_truth(const Sem *s) {
    switch (s->kind) {
    case SEM_NONE: return false;
    case SEM_BOOL:
    case SEM_INT: return s->i.mag != 0;
    case SEM_FLOAT: return s->f != 0;
    case SEM_STRING: return s->s[0] != '\0';
    case SEM_TUPLE: return s->count != 0;
    default: return true;
    }
}

static const Sem *as_weak_as(Checker *c, const Sem *r, const Sem *x, const Sem *y) {
    return x->weak && y->weak ? r : sem_strong(c, r);
}

static const Sem *overflow(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    diag(c->d, at, E_CONST_FIT, number_text(c, x), binary_text[op], number_text(c, y));
    return &sem_error;
}

static const Sem *by_zero(Checker *c, BinaryOp op, Span at) {
    diag(c->d, at, E_CONST_ZERO, binary_text[op]);
    return &sem_error;
}

static double as_double(const Sem *s) {
    return s->kind == SEM_FLOAT ? s->f : int_to_double(s->i);
}

static const Sem *int_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    Int r = {0}, rest = {0};
    bool ok = true;
    switch (op) {
    case BIN_ADD: ok = int_add(x->i, y->i, &r); break;
    case BIN_SUB: ok = int_sub(x->i, y->i, &r); break;
    case BIN_MUL: ok = int_mul(x->i, y->i, &r); break;
    case BIN_DIV:
        if (y->i.mag == 0) return by_zero(c, op, at);
        return sem_float(c, int_to_double(x->i) / int_to_double(y->i));
    case BIN_FLOORDIV:
        if (!int_divmod(x->i, y->i, &r, &rest)) return by_zero(c, op, at);
        break;
    case BIN_MOD:
        if (!int_divmod(x->i, y->i, &rest, &r)) return by_zero(c, op, at);
        break;
    case BIN_POW:
        if (y->i.neg) return x->i.mag ? sem_float(c, pow(as_double(x), as_double(y))) : by_zero(c, op, at);
        ok = int_pow(x->i, y->i, &r);
        break;
    case BIN_AND:
    case BIN_OR:
    case BIN_XOR:
        ok = int_bits(op == BIN_AND ? '&' : op == BIN_OR ? '|' : '^', x->i, y->i, &r);
        if (x->kind == SEM_BOOL && y->kind == SEM_BOOL) return sem_bool(c, r.mag != 0);
        break;
    case BIN_SHL:
    case BIN_SHR:
        if (y->i.neg) {
            diag(c->d, at, E_CONST_SHIFT, number_text(c, y));
            return &sem_error;
        }
        ok = int_shift(x->i, y->i, op == BIN_SHL, &r);
        break;
    default: return NULL;
    }
    return ok ? sem_int(c, r) : overflow(c, op, x, y, at);
}

static const Sem *float_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    double a = as_double(x), b = as_double(y), quotient, rest;
    bool divides = op == BIN_DIV || op == BIN_FLOORDIV || op == BIN_MOD;
    if (divides ? b == 0 : op == BIN_POW && a == 0 && b < 0) return by_zero(c, op, at);
    if (divides) rule_divide(a, b, &quotient, &rest);
    switch (op) {
    case BIN_ADD: return sem_float(c, a + b);
    case BIN_SUB: return sem_float(c, a - b);
    case BIN_MUL: return sem_float(c, a * b);
    case BIN_DIV: return sem_float(c, a / b);
    case BIN_FLOORDIV: return sem_float(c, quotient);
    case BIN_MOD: return sem_float(c, rest);
    case BIN_POW: return sem_float(c, pow(a, b));
    default:
        diag(c->d, at, E_INTEGERS, binary_text[op], sem_type_text(c, x->kind == SEM_FLOAT ? x : y));
        return &sem_error;
    }
}

static const Sem *tuple_join(Checker *c, const Sem *x, const Sem *y, Span at) {
    const Sem **items = NEW_ARRAY(c->a, const Sem *, x->count + y->count + 1);
    for (uint32_t i = 0; i < x->count; i++) items[i] = x->items[i];
    for (uint32_t i = 0; i < y->count; i++) items[x->count + i] = y->items[i];
    return sem_limited(c, sem_tuple(c, items, x->count + y->count), at);
}

/* Python's (a, b) * n, in either order. NULL: it is none. */
static const Sem *repeated(Checker *c, const Sem *x, const Sem *y, Span at) {
    const Sem *tuple = x->kind == SEM_TUPLE ? x : y, *times = tuple == x ? y : x;
    if (tuple->kind != SEM_TUPLE || times->kind != SEM_INT || tuple->count == 0) return NULL;
    uint64_t most = UINT16_MAX / tuple->count + 2; /* is too large by itself */
    uint64_t n = times->i.neg ? 0 : times->i.mag < most ? times->i.mag : most;
    uint32_t count = (uint32_t)n * tuple->count;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, count + 1u);
    for (uint32_t i = 0; i < count; i++) items[i] = tuple->items[i % tuple->count];
    return sem_limited(c, sem_tuple(c, items, count), at);
}

const Sem *const_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    if (!sem_is_const(x) || !sem_is_const(y)) return NULL;
    if (sem_is_number(x) && sem_is_number(y)) {
        bool is_float = x->kind == SEM_FLOAT || y->kind == SEM_FLOAT;
        const Sem *r = is_float ? float_binary(c, op, x, y, at) : int_binary(c, op, x, y, at);
        if (r) return as_weak_as(c, r, x, y);
    }
    if (op == BIN_ADD && x->kind == SEM_TUPLE && y->kind == SEM_TUPLE) return tuple_join(c, x, y, at);
    const Sem *many = op == BIN_MUL ? repeated(c, x, y, at) : NULL;
    if (many) return many;
    if (op == BIN_ADD && x->kind == SEM_STRING && y->kind == SEM_STRING) {
        return sem_limited(c, sem_string(c, arena_printf(c->a, "%s%s", x->s, y->s)), at);
    }
    diag(c->d, at, E_OPERANDS, binary_text[op], sem_type_text(c, x), sem_type_text(c, y));
    return &sem_error;
}

const Sem *const_unary(Checker *c, UnaryOp op, const Sem *x, Span at) {
    if (!sem_is_const(x)) return NULL;
    if (op == UN_NOT) return as_weak_as(c, sem_bool(c, !const_truth(x)), x, x);
    if (!sem_is_number(x) || (op == UN_INVERT && x->kind == SEM_FLOAT)) {
        diag(c->d, at, E_OPERAND, unary_text[op], sem_type_text(c, x));
        return &sem_error;
    }
    Int r = x->i; /* of a truth value, too: an int */
    switch (op) {
    case UN_POS: return x->kind == SEM_BOOL ? as_weak_as(c, sem_int(c, r), x, x) : x;
    case UN_NEG:
        if (x->kind == SEM_FLOAT) return as_weak_as(c, sem_float(c, -x->f), x, x);
        int_sub(int_from(0), x->i, &r);
        return as_weak_as(c, sem_int(c, r), x, x);
    default:
        if (x->kind == SEM_BOOL) {
            diag(c->d, at, W_INVERT_BOOL, number_text(c, x), x->i.mag ? "-2" : "-1");
            diag_note(c->d, at, "'not' turns a truth value round");
        }
        if (!int_sub(int_from(-1), x->i, &r)) {
            diag(c->d, at, E_CONST_INVERT, number_text(c, x));
            return &sem_error;
        }
        return as_weak_as(c, sem_int(c, r), x, x);
    }
}

/* -1, 0, 1; 2 where one is NaN. Exact between int and float. */
static int order(const Sem *x, const Sem *y) {
    if (x->kind != SEM_FLOAT && y->kind != SEM_FLOAT) return int_compare(x->i, y->i);
    if (x->kind == SEM_FLOAT && y->kind == SEM_FLOAT)
        return isnan(x->f) || isnan(y->f) ? 2 : (x->f > y->f) - (x->f < y->f);
    if (y->kind != SEM_FLOAT) {
        int r = order(y, x);
        return r == 2 ? 2 : -r;
    }
    Int whole;
    if (isnan(y->f)) return 2;
    if (!int_from_double(y->f, &whole)) return y->f > 0 ? -1 : 1;
    int r = int_compare(x->i, whole);
    if (r != 0) return r;
    double fraction = y->f - trunc(y->f);
    return (fraction < 0) - (fraction > 0);
}

static bool holds(CompareOp op, int r) {
    switch (op) {
    case CMP_EQ: return r == 0;
    case CMP_NE: return r != 0;
    case CMP_LT: return r == -1;
    case CMP_LE: return r == -1 || r == 0;
    case CMP_GT: return r == 1;
    case CMP_GE: return r == 1 || r == 0;
    default: return false;
    }
}

static bool equals(const Sem *x, const Sem *y) {
    if (sem_is_number(x) && sem_is_number(y)) return order(x, y) == 0;
    return sem_equal(x, y);
}

const Sem *const_compare(Checker *c, CompareOp op, const Sem *x, const Sem *y, Span at) {
    if (!sem_is_const(x) || !sem_is_const(y)) return NULL;
    bool negated = op == CMP_NE || op == CMP_IS_NOT || op == CMP_NOT_IN;
    spend_looking(c, x);
    spend_looking(c, y);
    if (op == CMP_IN || op == CMP_NOT_IN) {
        if (x->kind == SEM_STRING && y->kind == SEM_STRING) return sem_bool(c, (strstr(y->s, x->s) != NULL) != negated);
        if (y->kind == SEM_TUPLE) {
            bool found = false;
            for (uint32_t i = 0; i < y->count; i++) found |= equals(x, y->items[i]);
            return sem_bool(c, found != negated);
        }
    } else if (op == CMP_EQ || op == CMP_NE || op == CMP_IS || op == CMP_IS_NOT) {
        if (sem_is_number(x) && sem_is_number(y)) return sem_bool(c, holds(negated ? CMP_NE : CMP_EQ, order(x, y)));
        return sem_bool(c, equals(x, y) != negated);
    } else if (sem_is_number(x) && sem_is_number(y)) {
        return sem_bool(c, holds(op, order(x, y)));
    } else if (x->kind == SEM_STRING && y->kind == SEM_STRING) {
        int r = strcmp(x->s, y->s);
        return sem_bool(c, holds(op, (r > 0) - (r < 0)));
    }
    diag(c->d, at, E_OPERANDS, compare_text[op], sem_type_text(c, x), sem_type_text(c, y));
    return &sem_error;
}
