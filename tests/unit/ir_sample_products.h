/* ir_sample_products.h - products of matrices of the samples of ir_sample.h. */
#ifndef IR_SAMPLE_PRODUCTS_H
#define IR_SAMPLE_PRODUCTS_H

#include "ir_sample_base.h"

static inline void sample_dot(Sample *s, DType a, DType b, DType sum, uint32_t rank, Attr attr) {
    Shape c = shape_make(rank, rank == 3 ? (const uint8_t[]){1, 4, 5} : (const uint8_t[]){4, 5});
    Type t = type_tile(sum, c), x = type_tile(a, c), y = type_tile(b, c);
    x.shape.log2[rank - 1] = y.shape.log2[rank - 2] = 3;
    if (s->f->stage == STAGE_SIMT) {
        t.layout = layout_dot(s->f->layouts, c, 5, 2, 0);
        x.layout = layout_operand(s->f->layouts, t.layout, rank - 1, 3);
        y.layout = layout_operand(s->f->layouts, t.layout, rank - 2, 3);
    }
    build_dot(&s->b, sample_value(s, x), sample_value(s, y), sample_value(s, t), attr);
}

static inline void sample_dots(Sample *s) {
    for (Precision p = PRECISION_IEEE; p <= PRECISION_BF16X6; p++)
        sample_dot(s, DT_FP32, DT_FP32, DT_FP32, 2 + p % 2, (Attr){.precision = p});
    sample_dot(s, DT_FP16, DT_FP16, DT_FP32, 2, (Attr){0});
    sample_dot(s, DT_BF16, DT_BF16, DT_FP32, 3, (Attr){0});
    sample_dot(s, DT_FP64, DT_FP64, DT_FP64, 2, (Attr){0});
    sample_dot(s, DT_FP8E4NV, DT_FP8E5, DT_FP32, 2, (Attr){.imprecise = 64});
    for (uint32_t i = 0; i < 4; i++) sample_dot(s, DT_I8, DT_I8, DT_I32, 2, (Attr){.is_unsigned = {i & 1, i & 2}});
}

/* By every instruction, by warps along the rows, the columns and both. */
static inline void sample_mmas(Sample *s) {
    for (Mma i = 0; i < MMA_COUNT; i++) {
        Attr attr = {.instr = i, .warps_m_log2 = (uint8_t)(i % 3)};
        const uint8_t sizes[3][2] = {{6, 6}, {6, 4}, {6, 4}};
        Value *args[3];
        if (mma_is_grouped(i)) attr.warps_m_log2 = 2;
        for (uint32_t k = MMA_A; k <= MMA_C; k++) {
            Type t = type_tile(mma_dtype(i, (MmaOperand)k), shape_make(2, sizes[k]));
            if (s->f->stage == STAGE_SIMT) t.layout = mma_layout(s->f->layouts, attr, t.shape, 2, (MmaOperand)k);
            args[k] = sample_value(s, t);
        }
        op_build(&s->b, OP_MMA, args, 3, attr, args[MMA_C]->type);
    }
}

/* A tile goes where products take it. */
static inline void sample_shown(Sample *s, DType d, Shape shape, uint32_t buffer) {
    Type t = type_tile(d, shape);
    t.layout = layout_blocked(s->f->layouts, shape, NULL, 3, 5, 2, 0);
    Value *v = sample_value(s, t);
    op_build(&s->b, OP_SHSTORE, &v, 1, (Attr){.buffer = buffer, .scope = SCOPE_BLOCK}, t);
    op_build(&s->b, OP_PROXYFENCE, NULL, 0, (Attr){0}, s->n->type);
}

/* By every instruction of four warps, of one stage and of more; b lies transposed, a also in registers. */
static inline void sample_products(Sample *s) {
    for (Mma i = 0; i < MMA_COUNT; i++) {
        if (!mma_is_grouped(i)) continue;
        Attr attr = {.instr = i, .warps_m_log2 = 2}, of[2] = {{0}, attr_perm((const uint8_t[]){1, 0}, 2)};
        Value *args[3];
        uint32_t bits = mma_bits(mma_info[i].types[MMA_A]), row = 32 * bits / 8; /* bytes of k */
        for (uint32_t k = MMA_A; k <= MMA_B; k++) {
            Shape lies = shape_make(2, k == MMA_A ? (const uint8_t[]){6, 5} : (const uint8_t[]){3, 5});
            Buffer b = {.dtype = mma_dtype(i, (MmaOperand)k), .stages = 1 + 2 * k, .align = 512,
                        .places = layout_swizzled(s->f->layouts, lies, 1, bits, row)};
            of[k].buffer = buffer_add(s->f, b);
            if (k == MMA_A) sample_shown(s, b.dtype, lies, of[k].buffer);
            args[k] = op_build(&s->b, OP_SHMATRIX, &s->n, k, of[k], s->n->type)->results[0];
        }
        Type t = type_tile(mma_dtype(i, MMA_C), shape_make(2, (const uint8_t[]){6, 3}));
        t.layout = mma_layout(s->f->layouts, attr, t.shape, 2, MMA_C);
        args[MMA_C] = sample_value(s, t);
        Value *sum = op_build(&s->b, OP_DOTASYNC, args, 3, attr, t)->results[0];
        op_build(&s->b, OP_DOTWAIT, &sum, 1, (Attr){.pending = i % 2}, t);
        if (bits != 16) continue;
        Type a = type_tile(mma_dtype(i, MMA_A), shape_make(2, (const uint8_t[]){6, 5}));
        a.layout = mma_layout(s->f->layouts, attr, a.shape, 2, MMA_A);
        args[MMA_A] = sample_value(s, a);
        sum = op_build(&s->b, OP_DOTASYNC, args, 3, attr, t)->results[0];
        op_build(&s->b, OP_DOTWAIT, &sum, 1, (Attr){0}, t);
    }
}

#endif
