/* dot.c - dot: the product of two matrices, or of batches of them.
 *
 * In: a bound Call. Out: a Sem of the accumulator's type.
 * Method: shapes and types are asked one after another, so that the first thing that is wrong is what is said. An fp16
 * result is accumulated in fp32 and rounded once.
 */
#include "check/builtin/builtin.h"

#include <string.h>

enum { ARG_ACC = 2, ARG_PRECISION, ARG_TF32, ARG_IMPRECISE, ARG_OUT, ARG_TRANS };

static const Word precisions[] = {{"tf32", PRECISION_TF32},     {"ieee", PRECISION_IEEE},
                                  {"tf32x3", PRECISION_TF32X3}, {"bf16x3", PRECISION_BF16X3},
                                  {"bf16x6", PRECISION_BF16X6}, {NULL, 0}};

static bool is_fp8(SType t) {
    return t == ST_FP8E4NV || t == ST_FP8E5;
}

static const char *both(Checker *c, const Call *call) {
    return arena_printf(c->a, "%s and %s", sem_type_text(c, call->arg[0]), sem_type_text(c, call->arg[1]));
}

static bool shapes_fit(Checker *c, const Call *call) {
    Shape x = sem_shape(call->arg[0]), y = sem_shape(call->arg[1]);
    if (x.rank != y.rank || x.rank < 2) {
        diag(c->d, call->span, E_DOT_RANK, both(c, call));
        diag_note(c->d, call->span,
                  "it takes tiles of rank 2, or of more, whose first axes count matrices; x[:, None] adds an axis");
        return false;
    }
    uint32_t last = x.rank - 1u;
    unsigned long long k = shape_size(x, last), rows = shape_size(y, last - 1);
    if (k != rows) {
        diag(c->d, call->span, E_DOT_K, both(c, call), k, rows);
        bool would_fit = shape_size(y, last) == k;
        diag_note(c->d, call->at[1], would_fit ? "the second operand is [K, N]: transpose it, as in dot(x, y.T)"
                                               : "the operands are [M, K] and [K, N]");
        return false;
    }
    for (uint32_t i = 0; i < last - 1; i++) {
        if (x.log2[i] == y.log2[i]) continue;
        diag(c->d, call->span, E_DOT_BATCH, both(c, call), (unsigned long long)shape_size(x, i),
             (unsigned long long)shape_size(y, i));
        diag_note(c->d, call->span, "axis %u counts matrices, and each is multiplied by the one of its number", i);
        return false;
    }
    return true;
}

/* All axes that count matrices as one: a product in the IR has one at most. */
static Value *with_one_batch(Checker *c, Value *v) {
    Shape from = v->type.shape, to = {.rank = 3};
    if (from.rank <= 3) return v;
    for (uint32_t i = 0; i + 2 < from.rank; i++) to.log2[0] = (uint8_t)(to.log2[0] + from.log2[i]);
    to.log2[1] = from.log2[from.rank - 2];
    to.log2[2] = from.log2[from.rank - 1];
    return build_reshape(&c->b, v, to);
}

/* What the sums are added in. */
static bool types_fit(Checker *c, const Call *call, SType *acc) {
    SType x = call->arg[0]->type, y = call->arg[1]->type;
    DType d;
    bool has_bits = stype_bits(x) > 1 && stype_bits(y) > 1;
    if (has_bits && dot_accumulator(stype_dtype(x), stype_dtype(y), &d)) {
        *acc = d == DT_I32 ? ST_I32 : d == DT_FP64 ? ST_FP64 : ST_FP32;
        return true;
    }
    diag(c->d, call->span, E_DOT_TYPES, both(c, call));
    if (stype_dtype(x) == stype_dtype(y))
        diag_note(c->d, call->span,
                  "it multiplies fp8e4nv, fp8e5, fp16, bf16, fp32, fp64, i8 and u8: convert both, as in x.to(fp16)");
    else
        diag_note(c->d, call->span,
                  "both must be of one type, but for fp8e4nv with fp8e5 and i8 with u8: convert one, as in x.to(%s)",
                  stype_name(y));
    return false;
}

/* fp16 and fp8 may be asked for fp16. What Triton ignores is ignored in its files. */
static bool result_fits(Checker *c, const Call *call, SType acc, SType *result) {
    const Sem *out = result_type(call, ARG_OUT);
    SType x = call->arg[0]->type;
    *result = acc;
    if (!out || out->type == acc) return true;
    bool may_be_half = x == ST_FP16 || is_fp8(x);
    if (out->type == ST_FP16 && may_be_half) {
        *result = ST_FP16;
        return true;
    }
    if (triton_rules(c) && out->type != ST_BF16 && !may_be_half) return true;
    diag(c->d, call->at[ARG_OUT], E_DOT_OPTION, "out_dtype", stype_name(out->type));
    diag_note(c->d, call->at[ARG_OUT], "of %s it is %s%s; convert the result, as in dot(x, y).to(%s)", both(c, call),
              stype_name(acc), may_be_half ? " or fp16" : "", stype_name(out->type));
    return false;
}

static bool accumulator_fits(Checker *c, const Call *call, SType result, Shape shape) {
    const Sem *acc = call->arg[ARG_ACC];
    if (!acc || acc->kind == SEM_NONE) return true;
    bool is_value = acc->kind == SEM_RUN && !acc->is_pointer;
    if (is_value && acc->type == result && shape_equal(sem_shape(acc), shape)) return true;
    const char *wanted = type_text(c, result, false, shape);
    diag(c->d, call->at[ARG_ACC], E_DOT_ACC, sem_type_text(c, acc), both(c, call), wanted);
    if (is_value && shape_equal(sem_shape(acc), shape))
        diag_note(c->d, call->at[ARG_ACC], "convert it first, as in acc.to(%s)", stype_name(result));
    else
        diag_note(c->d, call->at[ARG_ACC], "leave it out, or begin with zeros of that shape and type");
    return false;
}

/* "TF32" is "tf32", as in Triton. */
static const Sem *lower_case(Checker *c, const Sem *s) {
    if (!s || s->kind != SEM_STRING) return s;
    char *text = arena_strndup(c->a, s->s, strlen(s->s));
    for (char *p = text; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    return sem_string(c, text);
}

static bool read_precision(Checker *c, Call *call, Attr *a) {
    call->arg[ARG_PRECISION] = lower_case(c, call->arg[ARG_PRECISION]);
    const Sem *given = call->arg[ARG_PRECISION], *tf32 = call->arg[ARG_TF32];
    uint8_t precision;
    bool is_given = given && given->kind != SEM_NONE, has_tf32 = tf32 && tf32->kind != SEM_NONE;
    if (is_given && has_tf32) {
        diag(c->d, call->at[ARG_TF32], E_DOT_PRECISION_TWICE);
        diag_note(c->d, call->at[ARG_TF32],
                  "leave allow_tf32 out: True is input_precision=\"tf32\", False is \"ieee\"");
        return false;
    }
    if (!word_argument(c, call, ARG_PRECISION, E_DOT_OPTION, "input_precision", precisions, &precision)) return false;
    if (has_tf32 && !const_truth(tf32)) precision = PRECISION_IEEE;
    a->precision = call->arg[0]->type == ST_FP32 ? (Precision)precision : PRECISION_IEEE;
    return true;
}

/* Of fp8 alone. */
static bool read_imprecise(Checker *c, const Call *call, Attr *a) {
    const Sem *s = call->arg[ARG_IMPRECISE];
    int64_t n = 0, k = (int64_t)shape_size(sem_shape(call->arg[0]), sem_shape(call->arg[0]).rank - 1u);
    if (s && s->kind != SEM_NONE &&
        !sem_want_int(c, s, call->at[ARG_IMPRECISE], argument_of(c, call, ARG_IMPRECISE), &n))
        return false;
    if (n < 0 || (n < k && n % 32)) {
        diag(c->d, call->at[ARG_IMPRECISE], E_DOT_OPTION, "max_num_imprecise_acc",
             arena_printf(c->a, "%lld", (long long)n));
        diag_note(c->d, call->at[ARG_IMPRECISE],
                  "it is a multiple of 32, or 0: so many products of fp8 may be added in less than fp32");
        return false;
    }
    a->imprecise = !is_fp8(call->arg[0]->type) ? 0 : n < INT32_MAX ? (uint32_t)n : INT32_MAX;
    return true;
}

/* trans_a, trans_b: of Triton before 2.1. */
static bool transpose_operands(Checker *c, Call *call) {
    for (uint32_t i = 0; i < 2; i++) {
        if (!call_flag(call, ARG_TRANS + i, false)) continue;
        call->arg[i] = check_transpose(c, call->builtin->name, call->arg[i], call->span);
        if (sem_is_error(call->arg[i])) return false;
    }
    return true;
}

const Sem *builtin_dot(Checker *c, Call *call) {
    if (!transpose_operands(c, call)) return &sem_error;
    const Sem *x = call->arg[0], *y = call->arg[1], *sum = call->arg[ARG_ACC];
    SType acc, result;
    Attr a = {.is_unsigned = {x->type == ST_U8, y->type == ST_U8}};
    if (!shapes_fit(c, call) || !types_fit(c, call, &acc)) return &sem_error;
    Shape shape = sem_shape(x);
    shape.log2[shape.rank - 1] = sem_shape(y).log2[shape.rank - 1];
    bool ok = result_fits(c, call, acc, &result) && accumulator_fits(c, call, result, shape) &&
              check_elements(c, shape, call->span);
    if (!ok || !read_precision(c, call, &a) || !read_imprecise(c, call, &a)) return &sem_error;
    c->b.span = call->span;
    bool has_sum = sum && sum->kind != SEM_NONE;
    Value *v = has_sum ? convert_to(c, sum, acc, call->span)->v
                       : build0(&c->b, OP_CONST, (Attr){0}, type_tile(stype_dtype(acc), shape));
    Value *product = build_dot(&c->b, with_one_batch(c, x->v), with_one_batch(c, y->v), with_one_batch(c, v), a);
    if (shape.rank > 3) product = build_reshape(&c->b, product, shape);
    return convert_to(c, sem_run(c, acc, product, NULL), result, call->span);
}
