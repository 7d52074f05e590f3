/* convert.c - values between element types and shapes: casts, constants, broadcasting, conditions.
 *
 * In: Sems. Out: Sems of the wanted type or shape, with the ops that make them at the checker's builder.
 * Method: numbers known at compile time become constants of the wanted type; run-time values get conversion ops. The
 * wide form of an integer survives widening and broadcasting, and ends at every narrowing (language rule: offsets).
 */
#include "check/sema.h"

#include <math.h>

static Type element_type(DType d, Shape shape) {
    return shape.rank ? type_tile(d, shape) : type_scalar(d);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

bool number_fits(const Sem *number, SType t) {
    if (stype_is_float(t)) return true;
    if (number->kind == SEM_FLOAT) return false;
    uint32_t bits = stype_bits(t);
    if (stype_is_unsigned(t)) return !number->i.neg && (bits == 64 || number->i.mag >> bits == 0);
    uint64_t top = (uint64_t)1 << (bits - 1);
    return number->i.neg ? number->i.mag <= top : number->i.mag < top;
}

Value *const_value(Checker *c, const Sem *number, SType t, Shape shape) {
    Type type = element_type(stype_dtype(t), shape);
    if (stype_is_float(t)) {
        return build_float(&c->b, type, number->kind == SEM_FLOAT ? number->f : int_to_double(number->i));
    }
    Int i = number->i;
    if (number->kind == SEM_FLOAT && !int_from_double(number->f, &i)) i = int_from(0);
    if (t == ST_I1) return build_int(&c->b, type, number->kind == SEM_FLOAT ? number->f != 0 : i.mag != 0);
    uint64_t bits = i.neg ? 0 - i.mag : i.mag;
    uint32_t drop = 64 - stype_bits(t);
    return build_int(&c->b, type, (int64_t)(bits << drop) >> drop);
}

const Sem *to_run(Checker *c, const Sem *s, Span at) {
    if (s->kind == SEM_RUN || sem_is_error(s)) return s;
    if (!sem_is_number(s)) {
        diag(c->d, at, E_NO_VALUE, sem_type_text(c, s));
        return &sem_error;
    }
    SType t = sem_natural(s);
    return sem_run(c, t, const_value(c, s, t, shape_scalar()), NULL);
}

/* ---- Casts ------------------------------------------------------------------------------------------------------- */

static Value *truth_value(Checker *c, const Sem *s) {
    Value *v = s->v;
    if (!stype_is_float(s->type)) return build_compare(&c->b, OP_ICMP, PRED_NE, v, build_int(&c->b, v->type, 0));
    if (stype_bits(s->type) == 8) v = build1_to(&c->b, OP_FPEXT, v, element_type(DT_FP32, sem_shape(s)));
    return build_compare(&c->b, OP_FCMP, PRED_NE, v, build_float(&c->b, v->type, 0));
}

static Value *float_to_float(Checker *c, Value *v, SType from, SType to, Round round) {
    Shape shape = v->type.shape;
    if (stype_bits(to) > stype_bits(from)) return build1_to(&c->b, OP_FPEXT, v, element_type(stype_dtype(to), shape));
    if (stype_bits(to) == stype_bits(from)) v = build1_to(&c->b, OP_FPEXT, v, element_type(DT_FP32, shape));
    Attr attr = {.round = round};
    return op_build(&c->b, OP_FPTRUNC, &v, 1, attr, element_type(stype_dtype(to), shape))->results[0];
}

static Value *cast_value(Checker *c, const Sem *s, SType to, Round round) {
    SType from = s->type;
    Type type = element_type(stype_dtype(to), sem_shape(s));
    if (to == ST_I1) return truth_value(c, s);
    if (stype_is_float(from) && stype_is_float(to)) return float_to_float(c, s->v, from, to, round);
    if (stype_is_float(from)) {
        Value *v = s->v;
        if (stype_bits(from) < 32) v = build1_to(&c->b, OP_FPEXT, v, element_type(DT_FP32, sem_shape(s)));
        return build1_to(&c->b, stype_is_unsigned(to) ? OP_FPTOUI : OP_FPTOSI, v, type);
    }
    if (stype_is_float(to)) {
        Value *v = s->v;
        if (stype_bits(to) == 8) { /* through fp32: eight bits hold few integers exactly anyway */
            v = build1_to(&c->b, stype_is_unsigned(from) ? OP_UITOFP : OP_SITOFP, v,
                          element_type(DT_FP32, sem_shape(s)));
            return float_to_float(c, v, ST_FP32, to, round);
        }
        return build1_to(&c->b, stype_is_unsigned(from) ? OP_UITOFP : OP_SITOFP, v, type);
    }
    if (stype_bits(to) == stype_bits(from)) return s->v;
    OpKind op = stype_bits(to) < stype_bits(from) ? OP_TRUNC : stype_is_unsigned(from) ? OP_ZEXT : OP_SEXT;
    return build1_to(&c->b, op, s->v, type);
}

const Sem *convert_rounded(Checker *c, const Sem *s, SType t, Round round) {
    if (s->type == t) return s;
    Value *v = cast_value(c, s, t, round);
    bool widens = !stype_is_float(s->type) && !stype_is_float(t) && stype_bits(t) > stype_bits(s->type);
    /* a negative number is another as unsigned */
    bool keeps_value = stype_is_unsigned(s->type) || !stype_is_unsigned(t);
    return sem_run(c, t, v, widens && keeps_value ? s->wide : NULL);
}

/* i8 holds -128 to 127 */
static const char *range_text(Checker *c, SType t) {
    uint64_t top = UINT64_MAX >> (64 - stype_bits(t) + !stype_is_unsigned(t));
    Int most = int_unsigned(top), least = {top + 1, true};
    if (stype_is_unsigned(t)) return arena_printf(c->a, "%s holds 0 to %s", stype_name(t), int_text(c->a, most));
    return arena_printf(c->a, "%s holds %s to %s", stype_name(t), int_text(c->a, least), int_text(c->a, most));
}

const Sem *convert_to(Checker *c, const Sem *s, SType t, Span at) {
    if (sem_is_error(s)) return s;
    if (s->kind == SEM_RUN && !s->is_pointer) return convert_rounded(c, s, t, ROUND_NEAREST);
    if (sem_is_number(s)) {
        if (number_fits(s, t)) return sem_run(c, t, const_value(c, s, t, shape_scalar()), NULL);
        if (s->kind == SEM_FLOAT) {
            diag(c->d, at, E_LITERAL_FLOAT, number_text(c, s), stype_name(t));
            diag_note(c->d, at, "write an integer, or convert the other side with .to(fp32)");
        } else {
            diag(c->d, at, E_LITERAL_FIT, number_text(c, s), stype_name(t));
            diag_note(c->d, at, "%s; convert what it meets to a wider type first, as in x.to(i64)", range_text(c, t));
        }
        return &sem_error;
    }
    diag(c->d, at, E_CONVERT, sem_type_text(c, s), stype_name(t));
    return &sem_error;
}

static Type pointer_like(SType pointee, Shape shape) {
    Type t = type_pointer(stype_memory(pointee));
    return shape.rank ? type_with_shape(t, shape) : t;
}

const Sem *bitcast_to(Checker *c, const Sem *s, SType t, bool is_pointer, Span at) {
    if (sem_is_error(s)) return s;
    s = to_run(c, s, at);
    if (sem_is_error(s)) return s;
    uint32_t from = s->is_pointer ? 64 : stype_bits(s->type), to = is_pointer ? 64 : stype_bits(t);
    if (from != to) {
        diag(c->d, at, E_BITCAST, sem_type_text(c, s), from, type_text(c, t, is_pointer, sem_shape(s)), to);
        diag_note(c->d, at, "a bitcast keeps the width; a plain .to(...) converts the value");
        return &sem_error;
    }
    Type type = is_pointer ? pointer_like(t, sem_shape(s)) : element_type(stype_dtype(t), sem_shape(s));
    Value *v = type_equal(type, s->v->type) ? s->v : build1_to(&c->b, OP_BITCAST, s->v, type);
    return is_pointer ? sem_pointer(c, t, v) : sem_run(c, t, v, NULL);
}

Value *wide_value(Checker *c, const Sem *s) {
    if (sem_is_number(s)) return const_value(c, s, ST_I64, shape_scalar());
    if (s->wide) return s->wide;
    if (stype_bits(s->type) == 64) return s->v;
    return build1_to(&c->b, stype_is_unsigned(s->type) ? OP_ZEXT : OP_SEXT, s->v, element_type(DT_I64, sem_shape(s)));
}

Value *narrow_value(Checker *c, Value *wide, SType t) {
    if (stype_bits(t) == 64) return wide;
    return build1_to(&c->b, OP_TRUNC, wide, element_type(stype_dtype(t), wide->type.shape));
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

const Sem *condition_of(Checker *c, const Sem *s, Span at, const char *what) {
    if (sem_is_error(s)) return s;
    if (sem_is_const(s)) return sem_bool(c, const_truth(s));
    if (sem_is_tile(s) && triton_rules(c) && shape_elements(sem_shape(s)) == 1) /* as there: its only element */
        s = call_function(c, library_function(c, "test", "item"), &s, 1, at);
    if (sem_is_tile(s) && c->by_element) {
        bool is_truth = s->type == ST_I1 && !s->is_pointer;
        return is_truth ? s : arith_compare(c, CMP_NE, s, sem_i64(c, 0), at);
    }
    if (sem_is_tile(s)) {
        diag(c->d, at, E_CONDITION_SCALAR, what, sem_type_text(c, s));
        diag_note(c->d, at, "choose per element with where(condition, a, b), or reduce it with max(condition)");
        return &sem_error;
    }
    if (s->is_pointer && triton_rules(c)) { /* as there: true unless it is null */
        c->b.span = at;
        return check_compare(c, CMP_NE, bitcast_to(c, s, ST_I64, false, at), sem_i64(c, 0), at);
    }
    if (s->is_pointer) {
        diag(c->d, at, E_CONDITION_POINTER, what);
        return &sem_error;
    }
    return s->type == ST_I1 ? s : sem_run(c, ST_I1, truth_value(c, s), NULL);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

bool dimension_log2(Checker *c, int64_t size, Span at, uint8_t *log2) {
    if (size < 1) {
        diag(c->d, at, E_TILE_EMPTY, (long long)size);
        diag_note(c->d, at, "every dimension is a power of two, 1 at least");
        return false;
    }
    uint8_t n = 0;
    while (n < 62 && ((int64_t)1 << n) < size) n++;
    if (((int64_t)1 << n) != size) {
        diag(c->d, at, E_POWER_OF_TWO, (long long)size);
        diag_note(c->d, at, "the next power of two is %lld; mask off what is too much", (long long)1 << n);
        return false;
    }
    if (n > TILE_BITS) {
        diag(c->d, at, E_TILE_LARGE, (long long)size);
        diag_note(c->d, at, "at most %d elements; walk over the data in a loop", 1 << TILE_BITS);
        return false;
    }
    *log2 = n;
    return true;
}

bool check_elements(Checker *c, Shape s, Span at) {
    if (shape_log2(s) <= TILE_BITS) return true;
    Text size = {0};
    shape_print(s, &size);
    diag(c->d, at, E_TILE_HUGE, size.at);
    diag_note(c->d, at, "at most %d elements; walk over the data in a loop", 1 << TILE_BITS);
    text_free(&size);
    return false;
}

bool shape_join(Shape x, Shape y, Shape *out) {
    Shape r = x.rank >= y.rank ? x : y, s = x.rank >= y.rank ? y : x;
    for (uint32_t i = 0; i < s.rank; i++) {
        uint32_t k = i + r.rank - s.rank;
        if (r.log2[k] != s.log2[i] && r.log2[k] != 0 && s.log2[i] != 0) return false;
        if (s.log2[i] > r.log2[k]) r.log2[k] = s.log2[i];
    }
    *out = r;
    return true;
}

bool broadcast_shape(Checker *c, const Sem *x, const Sem *y, Span at, Shape *out) {
    if (!shape_join(sem_shape(x), sem_shape(y), out)) {
        diag(c->d, at, E_BROADCAST, sem_type_text(c, x), sem_type_text(c, y));
        diag_note(c->d, at, "dimensions are matched from the last; each must be equal or 1 (x[:, None] adds one)");
        return false;
    }
    return check_elements(c, *out, at);
}

Value *broadcast_value(Checker *c, Value *v, Shape shape) {
    if (!v || shape_equal(v->type.shape, shape)) return v;
    if (v->type.shape.rank == 0) return build_splat(&c->b, v, shape);
    while (v->type.shape.rank < shape.rank) v = build_expand(&c->b, v, 0);
    return shape_equal(v->type.shape, shape) ? v : build_broadcast(&c->b, v, shape);
}

const Sem *broadcast_to(Checker *c, const Sem *s, Shape shape) {
    if (shape_equal(sem_shape(s), shape)) return s;
    return sem_with(c, s, broadcast_value(c, s->v, shape), broadcast_value(c, s->wide, shape));
}

const Sem *expand_at(Checker *c, const Sem *s, uint32_t axis) {
    if (s->v->type.shape.rank == 0) {
        Shape one = shape_row(0);
        return broadcast_to(c, s, one);
    }
    return sem_with(c, s, build_expand(&c->b, s->v, axis), s->wide ? build_expand(&c->b, s->wide, axis) : NULL);
}
