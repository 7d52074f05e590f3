/* arith.c - operators on run-time values: which type an operation has, and the ops that compute it.
 *
 * In: two Sems, at least one of them RUN (constants among themselves are consteval.c's). Out: a Sem, or an error.
 * Method: promote finds the common element type (numbers adapt to what they meet), both sides are converted and
 * broadcast, then one op follows; + - * on integers also build the 64-bit form that pointers and comparisons take
 * (sema.h).
 */
#include "check/sema.h"

#include <string.h>

enum { POWER_LIMIT = 1024 /* of an exponent that becomes multiplications */ };

/* ---- The common type --------------------------------------------------------------------------------------------- */

static SType promote_floats(SType x, SType y) {
    if (x == y) return x;
    if (!stype_is_float(x)) return y;
    if (!stype_is_float(y)) return x;
    if (stype_bits(x) == stype_bits(y)) return stype_bits(x) == 8 ? ST_FP16 : ST_FP32;
    return stype_bits(x) > stype_bits(y) ? x : y;
}

static SType promote_types(SType x, SType y) {
    if (stype_is_float(x) || stype_is_float(y)) return promote_floats(x, y);
    if (stype_bits(x) != stype_bits(y)) return stype_bits(x) > stype_bits(y) ? x : y;
    return stype_class(x) == CLASS_UNSIGNED ? x : y;
}

/* bool < int < float */
static int kind_rank(const Sem *s) {
    if (s->kind == SEM_RUN) return stype_class(s->type) == CLASS_BOOL ? 0 : stype_is_float(s->type) ? 2 : 1;
    return s->kind == SEM_BOOL ? 0 : s->kind == SEM_INT ? 1 : 2;
}

static bool adapts(const Sem *number, const Sem *to) {
    return sem_is_number(number) && number->weak && !(sem_is_number(to) && to->weak) &&
           kind_rank(number) <= kind_rank(to);
}

bool check_promote(Checker *c, const Sem *x, const Sem *y, Span at, SType *out) {
    if (!sem_is_value(x) || !sem_is_value(y)) {
        diag(c->d, at, E_COMMON_TYPE, sem_type_text(c, x), sem_type_text(c, y));
        return false;
    }
    if (adapts(x, y)) {
        *out = sem_natural(y);
    } else if (adapts(y, x)) {
        *out = sem_natural(x);
    } else {
        *out = promote_types(sem_natural(x), sem_natural(y));
    }
    return true;
}

static SType at_least_fp32(SType t) {
    return t == ST_FP64 ? ST_FP64 : ST_FP32;
}

bool mixes_signs(const Sem *x, const Sem *y) {
    if (adapts(x, y) || adapts(y, x)) return false;
    STypeClass a = stype_class(sem_natural(x)), b = stype_class(sem_natural(y));
    return (a == CLASS_SIGNED && b == CLASS_UNSIGNED) || (a == CLASS_UNSIGNED && b == CLASS_SIGNED);
}

/* ---- Building one op over two broadcast values ------------------------------------------------------------------- */

static Value *build_wide(Checker *c, OpKind op, const Sem *x, const Sem *y, Shape shape) {
    const Sem *a = sem_run(c, ST_I64, wide_value(c, x), NULL), *b = sem_run(c, ST_I64, wide_value(c, y), NULL);
    a = broadcast_to(c, a, shape);
    b = broadcast_to(c, b, shape);
    return build2(&c->b, op, a->v, b->v);
}

/* A negative integer that meets an unsigned one in a Triton file, where a name is of i32 or i64: it wraps. */
static bool number_wraps(const Checker *c, const Sem *number, SType t) {
    bool may = triton_rules(c) && number->kind == SEM_INT && number->i.neg && stype_is_unsigned(t) && t != ST_I1;
    return may && stype_bits(t) >= 32 && number_fits(number, stype_signed(t));
}

static const Sem *operand_to(Checker *c, const Sem *s, SType t, Span at) {
    if (number_wraps(c, s, t)) return sem_run(c, t, const_value(c, s, t, shape_scalar()), NULL);
    return convert_to(c, s, t, at);
}

static const Sem *build_pair(Checker *c, OpKind op, const Sem *x, const Sem *y, SType t, Shape shape, Span at) {
    const Sem *a = operand_to(c, x, t, at), *b = operand_to(c, y, t, at);
    if (sem_is_error(a) || sem_is_error(b)) return &sem_error;
    Value *v = build2(&c->b, op, broadcast_to(c, a, shape)->v, broadcast_to(c, b, shape)->v);
    return sem_run(c, t, v, NULL);
}

static bool has_wide(const Sem *s) {
    return s->kind == SEM_RUN && s->wide;
}

/* + - * have a wide form, and so has the remainder of a signed tile that has one: runs of it are runs of places. */
static const Sem *int_exact(Checker *c, OpKind op, const Sem *x, const Sem *y, SType t, Shape shape, Span at) {
    const Sem *r = build_pair(c, op, x, y, t, shape, at);
    bool makes = op == OP_ADD || op == OP_SUB || op == OP_MUL, keeps = op == OP_SREM && shape.rank && has_wide(x);
    if (sem_is_error(r) || (!makes && !keeps)) return r;
    if (!has_wide(x) && !has_wide(y) && stype_bits(t) == 64) return r;
    return sem_run(c, t, r->v, build_wide(c, op, x, y, shape));
}

/* fp8 has no arithmetic of its own: computed in fp32, rounded once. */
static const Sem *float_pair(Checker *c, OpKind op, const Sem *x, const Sem *y, SType t, Shape shape, Span at) {
    bool is_tiny = stype_bits(t) == 8;
    const Sem *r = build_pair(c, op, x, y, is_tiny ? ST_FP32 : t, shape, at);
    return is_tiny ? convert_to(c, r, t, at) : r;
}

/* ---- Pointers ---------------------------------------------------------------------------------------------------- */

static Value *offset_value(Checker *c, const Sem *s, bool negate) {
    if (negate) {
        const Sem *zero = sem_run(c, ST_I64, const_value(c, sem_i64(c, 0), ST_I64, shape_scalar()), NULL);
        return build_wide(c, OP_SUB, zero, s, sem_shape(s));
    }
    if (sem_is_number(s)) return const_value(c, s, sem_natural(s) == ST_I64 ? ST_I64 : ST_I32, shape_scalar());
    if (s->wide) return s->wide;
    if (stype_bits(s->type) == 64 || s->type == ST_I32) return s->v;
    if (s->type == ST_U32) return wide_value(c, s);
    return convert_rounded(c, s, ST_I32, ROUND_NEAREST)->v;
}

const Sem *pointer_add(Checker *c, const Sem *p, const Sem *offset, bool negate, Span at) {
    bool is_int = sem_is_value(offset) && !stype_is_float(sem_natural(offset));
    if (!is_int || (sem_is_number(offset) && !number_fits(offset, ST_I64))) {
        diag(c->d, at, E_POINTER_STEP, sem_type_text(c, offset));
        return &sem_error;
    }
    Shape shape;
    if (!broadcast_shape(c, p, offset, at, &shape)) return &sem_error;
    const Sem *by = sem_run(c, ST_I64, offset_value(c, offset, negate), NULL);
    Value *v = build2(&c->b, OP_ADDPTR, broadcast_to(c, p, shape)->v, broadcast_to(c, by, shape)->v);
    return sem_with(c, p, v, NULL);
}

static bool is_pointer(const Sem *s) {
    return s->kind == SEM_RUN && s->is_pointer;
}

static const Sem *pointer_arith(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    if (op == BIN_ADD && is_pointer(x) != is_pointer(y)) {
        return is_pointer(x) ? pointer_add(c, x, y, false, at) : pointer_add(c, y, x, false, at);
    }
    if (op == BIN_SUB && is_pointer(x) && !is_pointer(y)) return pointer_add(c, x, y, true, at);
    diag(c->d, at, E_OPERANDS, binary_text[op], sem_type_text(c, x), sem_type_text(c, y));
    diag_note(c->d, at, "a pointer can be moved by + and - with an integer, compared, loaded from and stored to");
    return &sem_error;
}

/* ---- Binary operators -------------------------------------------------------------------------------------------- */

static OpKind int_op(BinaryOp op, SType t) {
    bool is_unsigned = stype_is_unsigned(t);
    switch (op) {
    case BIN_ADD: return OP_ADD;
    case BIN_SUB: return OP_SUB;
    case BIN_MUL: return OP_MUL;
    case BIN_FLOORDIV: return is_unsigned ? OP_UDIV : OP_SDIV;
    case BIN_MOD: return is_unsigned ? OP_UREM : OP_SREM;
    case BIN_AND: return OP_AND;
    case BIN_OR: return OP_OR;
    case BIN_XOR: return OP_XOR;
    case BIN_SHL: return OP_SHL;
    case BIN_SHR: return is_unsigned ? OP_LSHR : OP_ASHR;
    default: bug("int_op: operator %s", binary_text[op]);
    }
}

static bool is_bitwise(BinaryOp op) {
    return op == BIN_AND || op == BIN_OR || op == BIN_XOR || op == BIN_SHL || op == BIN_SHR;
}

static const Sem *refuse_float(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    const Sem *culprit = stype_is_float(sem_natural(x)) ? x : y;
    diag(c->d, at, E_INTEGERS, binary_text[op], sem_type_text(c, culprit));
    if (op == BIN_FLOORDIV) diag_note(c->d, at, "divide with /, then convert with .to(i32)");
    else diag_note(c->d, at, "x.to(i32) is the number, and x.to(i32, bitcast=True) has the same bits");
    return &sem_error;
}

static const Sem *float_arith(Checker *c, BinaryOp op, const Sem *x, const Sem *y, SType t, Shape shape, Span at) {
    switch (op) {
    case BIN_ADD: return float_pair(c, OP_FADD, x, y, t, shape, at);
    case BIN_SUB: return float_pair(c, OP_FSUB, x, y, t, shape, at);
    case BIN_MUL: return float_pair(c, OP_FMUL, x, y, t, shape, at);
    case BIN_DIV: return float_pair(c, OP_FDIV, x, y, at_least_fp32(t), shape, at);
    case BIN_MOD: return float_pair(c, OP_FREM, x, y, at_least_fp32(t), shape, at);
    default: return refuse_float(c, op, x, y, at);
    }
}

/* In a Triton file truth values are integers of one bit, whose + - * // % << >> wrap at 2. */
static const Sem *bit_arith(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Shape shape, Span at) {
    switch (op) {
    case BIN_ADD:
    case BIN_SUB: return build_pair(c, OP_XOR, x, y, ST_I1, shape, at);
    case BIN_MUL:
    case BIN_FLOORDIV: return build_pair(c, OP_AND, x, y, ST_I1, shape, at); /* by 0: 0 */
    default: {
        const Sem *even = arith_unary(c, UN_INVERT, convert_to(c, y, ST_I1, at), at);
        return build_pair(c, OP_AND, x, even, ST_I1, shape, at); /* % 0: x; a shift by 1: 0 */
    }
    }
}

/* x ** y: repeated squaring for a known n >= 0, in fp32 where x is narrower; else the library's pow, of floats. */
static const Sem *power(Checker *c, const Sem *x, const Sem *y, Span at) {
    int64_t n = 0;
    if (y->kind != SEM_INT || !int_fits(y->i, &n) || n < 0 || n > POWER_LIMIT || x->kind != SEM_RUN) {
        bool floats = stype_is_float(sem_natural(x)) || stype_is_float(sem_natural(y));
        if (floats) return float_power(c, x, y, at);
        diag(c->d, at, E_POWER, POWER_LIMIT, sem_type_text(c, y));
        diag_note(c->d, at, "convert one side first, as in x.to(fp32) ** y");
        return &sem_error;
    }
    if (x->type == ST_I1) x = convert_to(c, x, ST_I32, at);
    if (stype_is_float(x->type) && stype_bits(x->type) < 32 && n > 1)
        return convert_to(c, power(c, convert_to(c, x, ST_FP32, at), y, at), x->type, at);
    const Sem *result = NULL, *square = x;
    for (; n; n >>= 1) {
        if (n & 1) result = result ? arith_binary(c, BIN_MUL, result, square, at) : square;
        if (n > 1) square = arith_binary(c, BIN_MUL, square, square, at);
    }
    if (result) return result;
    return broadcast_to(c, convert_to(c, sem_i64(c, 1), x->type, at), sem_shape(x));
}

const Sem *arith_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    if (sem_is_error(x) || sem_is_error(y)) return &sem_error;
    c->b.span = at;
    if (is_pointer(x) || is_pointer(y)) return pointer_arith(c, op, x, y, at);
    if (!sem_is_value(x) || !sem_is_value(y)) {
        diag(c->d, at, E_OPERANDS, binary_text[op], sem_type_text(c, x), sem_type_text(c, y));
        return &sem_error;
    }
    if (op == BIN_POW) return power(c, x, y, at);
    SType t;
    Shape shape;
    if (!check_promote(c, x, y, at, &t) || !broadcast_shape(c, x, y, at, &shape)) return &sem_error;
    bool divides = op == BIN_DIV || op == BIN_FLOORDIV || op == BIN_MOD;
    if (stype_is_float(t)) return float_arith(c, op, x, y, t, shape, at);
    if (divides && mixes_signs(x, y)) {
        diag(c->d, at, E_MIXED_SIGN, binary_text[op], sem_type_text(c, x), sem_type_text(c, y));
        diag_note(c->d, at, "convert one side first, as in x.to(i32) or x.to(u32)");
        return &sem_error;
    }
    if (op == BIN_DIV) return build_pair(c, OP_FDIV, x, y, ST_FP32, shape, at);
    bool as_number = !is_bitwise(op) || op == BIN_SHL || op == BIN_SHR;
    if (t == ST_I1 && as_number && triton_rules(c)) return bit_arith(c, op, x, y, shape, at);
    if (t == ST_I1 && as_number) t = ST_I32;
    return int_exact(c, int_op(op, t), x, y, t, shape, at);
}

/* ---- Unary operators --------------------------------------------------------------------------------------------- */

static const Sem *negate(Checker *c, const Sem *x, Span at) {
    bool is_bit = x->type == ST_I1 && triton_rules(c);
    if (!stype_is_float(x->type)) return arith_binary(c, BIN_SUB, is_bit ? sem_bool(c, false) : sem_i64(c, 0), x, at);
    const Sem *y = stype_bits(x->type) == 8 ? convert_to(c, x, ST_FP32, at) : x;
    return convert_to(c, sem_run(c, y->type, build1(&c->b, OP_FNEG, y->v), NULL), x->type, at);
}

static const Sem *logical_not(Checker *c, const Sem *x, Span at) {
    if (sem_is_tile(x) && !c->by_element) {
        diag(c->d, at, E_NOT_SCALAR, sem_type_text(c, x));
        diag_note(c->d, at, "per element write ~x for truth values, x == 0 for numbers");
        const char *text = diag_source_text(c->d, at);
        if (x->type == ST_I1 && strncmp(text, "not ", 4) == 0) diag_fix(c->d, at, "~(%s)", text + 4);
        return &sem_error;
    }
    const Sem *truth = condition_of(c, x, at, "the operand of 'not'");
    if (sem_is_error(truth)) return truth;
    return sem_run(c, ST_I1, build2(&c->b, OP_XOR, truth->v, build_int(&c->b, truth->v->type, 1)), NULL);
}

const Sem *arith_unary(Checker *c, UnaryOp op, const Sem *x, Span at) {
    if (sem_is_error(x)) return x;
    c->b.span = at;
    if (op == UN_NOT) return logical_not(c, x, at);
    if (x->is_pointer) {
        diag(c->d, at, E_POINTER_OPERAND, unary_text[op]);
        return &sem_error;
    }
    if (op == UN_POS) return x;
    if (op == UN_NEG) return negate(c, x, at);
    if (stype_is_float(x->type)) {
        diag(c->d, at, E_INVERT_INTEGERS, sem_type_text(c, x));
        return &sem_error;
    }
    return sem_run(c, x->type, build2(&c->b, OP_XOR, x->v, build_int(&c->b, x->v->type, x->type == ST_I1 ? 1 : -1)),
                   NULL);
}
