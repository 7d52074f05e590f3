/* split_dot.c - the pass split_dot: products that become several, each of which the target has an instruction for.
 *
 * In: stage TILE. Out: a dot of fp32 that may be tf32x3, bf16x3 or bf16x6 is a sum of dots of tf32 or bf16; a dot of
 * rank 3 is one of rank 2 for each matrix, where they are few. What no instruction takes stays as it is: multiply-adds
 * make one exact product of it.
 * Method: x is the sum of its parts, each the nearest to what those before it leave. The small products are summed on
 * their own, the smallest first. Where that sum is not finite it counts 0: the product of the first parts says then
 * what the result is. The axis of a batch becomes the last one, which is split in halves.
 */
#include "passes/private.h"

#include <math.h>

enum { MOST_PARTS = 3, BATCH_LOG2 = 3 /* of matrices in code: the code is as long as they are many */ };

typedef struct Split {
    Func *f;
    const PassContext *c;
} Split;

/* ---- Parts of numbers -------------------------------------------------------------------------------------------- */

static uint32_t parts_of_precision(Precision p) {
    return p == PRECISION_BF16X6 ? 3 : p == PRECISION_TF32X3 || p == PRECISION_BF16X3 ? 2 : 1;
}

/* The nearest number of tf32, in fp32. */
static Value *nearest_tf32(Builder *b, Value *x) {
    enum { BELOW = 1 << 13 };
    Type integers = type_with_dtype(x->type, DT_I32);
    Value *bits = build1_to(b, OP_BITCAST, tf32_rounded(b, x), integers);
    return build1_to(b, OP_BITCAST, build2(b, OP_AND, bits, build_int(b, integers, -BELOW)), x->type);
}

static void split(Builder *b, Value *x, Precision p, Value **parts) {
    uint32_t count = parts_of_precision(p);
    for (uint32_t i = 0; i < count; i++) {
        Value *wide = NULL;
        if (p == PRECISION_TF32X3) {
            parts[i] = wide = i + 1 < count ? nearest_tf32(b, x) : x; /* the last is rounded by who multiplies */
        } else {
            parts[i] = build1_to(b, OP_FPTRUNC, x, type_with_dtype(x->type, DT_BF16));
            wide = build1_to(b, OP_FPEXT, parts[i], x->type);
        }
        if (i + 1 < count) x = build2(b, OP_FSUB, x, wide);
    }
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

static Value *product_of_parts(Builder *b, Value *const *args, Precision p) {
    static const uint8_t pairs[][2] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}};
    Value *x[MOST_PARTS], *y[MOST_PARTS], *c = args[MMA_C];
    Attr attr = {.precision = p == PRECISION_TF32X3 ? PRECISION_TF32 : PRECISION_IEEE};
    split(b, args[MMA_A], p, x);
    split(b, args[MMA_B], p, y);
    Value *small = build_float(b, c->type, 0);
    for (uint32_t i = p == PRECISION_BF16X6 ? 0 : 3; i < COUNT(pairs); i++)
        small = build_dot(b, x[pairs[i][0]], y[pairs[i][1]], small, attr);
    Value *size = build1(b, OP_FABS, small);
    Value *is_finite = build_compare(b, OP_FCMP, PRED_SLT, size, build_float(b, c->type, INFINITY));
    small = build3(b, OP_SELECT, is_finite, small, build_float(b, c->type, 0));
    return build_dot(b, x[0], y[0], build2(b, OP_FADD, c, small), attr);
}

static Value *product(Builder *b, Value *const *args, Attr attr) {
    bool has_parts = parts_of_precision(attr.precision) > 1;
    return has_parts ? product_of_parts(b, args, attr.precision)
                     : build_dot(b, args[MMA_A], args[MMA_B], args[MMA_C], attr);
}

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

static const uint8_t batch_last[] = {1, 2, 0}, batch_first[] = {2, 0, 1};

static Shape one_matrix(Shape s) {
    return (Shape){.rank = 2, .log2 = {s.log2[1], s.log2[2]}};
}

/* The matrices of v [.., .., n], in their order: out[0], out[step], … */
static void take_apart(Builder *b, Value *v, uint32_t batch_log2, Value **out, uint32_t step) {
    Shape s = v->type.shape;
    if (batch_log2 == 0) {
        out[0] = build_reshape(b, v, (Shape){.rank = 2, .log2 = {s.log2[0], s.log2[1]}});
        return;
    }
    Shape pairs = {.rank = 4, .log2 = {s.log2[0], s.log2[1], (uint8_t)(batch_log2 - 1), 1}};
    Value *both = build_reshape(b, v, pairs);
    for (uint32_t half = 0; half < 2; half++)
        take_apart(b, build_split(b, both, half), batch_log2 - 1, out + half * step, 2 * step);
}

static Value *put_together(Builder *b, Value **in, uint32_t batch_log2, uint32_t step) {
    Shape s = in[0]->type.shape;
    if (batch_log2 == 0) return build_reshape(b, in[0], (Shape){.rank = 3, .log2 = {s.log2[0], s.log2[1], 0}});
    Value *even = put_together(b, in, batch_log2 - 1, 2 * step);
    Value *odd = put_together(b, in + step, batch_log2 - 1, 2 * step);
    Shape whole = {.rank = 3, .log2 = {s.log2[0], s.log2[1], (uint8_t)batch_log2}};
    return build_reshape(b, build_join(b, even, odd), whole);
}

static Value *product_of_batch(Builder *b, const Op *op) {
    Value *matrices[3][1 << BATCH_LOG2], *results[1 << BATCH_LOG2];
    uint32_t batch_log2 = op->args[MMA_C]->type.shape.log2[0];
    for (uint32_t i = 0; i < 3; i++) {
        Value *v = op->args[i];
        if (batch_log2) take_apart(b, build_trans(b, v, batch_last), batch_log2, matrices[i], 1);
        else matrices[i][0] = build_reshape(b, v, one_matrix(v->type.shape));
    }
    for (uint32_t k = 0; k < 1u << batch_log2; k++) {
        Value *args[] = {matrices[MMA_A][k], matrices[MMA_B][k], matrices[MMA_C][k]};
        results[k] = product(b, args, op->attr);
    }
    if (!batch_log2) return build_reshape(b, results[0], op->results[0]->type.shape);
    return build_trans(b, put_together(b, results, batch_log2, 1), batch_first);
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

static void visit(void *context, Op *op) {
    Split *x = context;
    Mma instr;
    bool widens;
    if (op->kind != OP_DOT || !dot_instr(x->c, op, false, &instr, &widens)) return;
    Shape s = op->args[MMA_C]->type.shape;
    bool is_batch = s.rank == 3;
    if (is_batch ? s.log2[0] > BATCH_LOG2 : parts_of_precision(op->attr.precision) == 1) return;
    Builder b = builder_before(x->f, op);
    Value *r = is_batch ? product_of_batch(&b, op) : product(&b, op->args, op->attr);
    r->name = op->results[0]->name;
    value_replace(x->f, op->results[0], r);
    op_erase(x->f, op);
}

void pass_split_dot(Func *f, PassContext *c) {
    if (f->num_ctas > 1) return; /* instructions do not lie over blocks */
    Split x = {.f = f, .c = c};
    func_walk(f, visit, &x);
}
