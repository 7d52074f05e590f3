/* dot.c - the product of two matrices, and the one by a matrix instruction: type rules, and the builder.
 *
 * In: operands a [.., m, k], b [.., k, n], c [.., m, n]. Out: the result's type, which is c's, or a clause that says
 * why not. In stage SIMT each thread holds the rows and columns that its elements of c need: layout_operand of c's
 * layout; of mma the operands are laid out as the instruction takes them.
 */
#include "ir/private.h"

bool dot_accumulator(DType a, DType b, DType *acc) {
    bool is_narrow = (dtype_is_fp8(a) && dtype_is_fp8(b)) || a == DT_FP16 || a == DT_BF16 || a == DT_FP32;
    *acc = a == DT_I8 ? DT_I32 : a == DT_FP64 ? DT_FP64 : DT_FP32;
    return (a == b || dtype_is_fp8(a)) && (is_narrow || a == DT_I8 || a == DT_FP64);
}

static bool shapes_fit(Infer *in, Shape a, Shape b, Shape c) {
    uint32_t n = c.rank;
    if (a.rank != n || b.rank != n || n < 2 || n > 3)
        return infer_fail(in, "operands of rank %u, %u and %u", a.rank, b.rank, n);
    bool is_batch = n == 2 || (a.log2[0] == c.log2[0] && b.log2[0] == c.log2[0]);
    if (!is_batch) return infer_fail(in, "operands of different batches");
    if (a.log2[n - 1] != b.log2[n - 2]) return infer_fail(in, "operand 0 has other columns than operand 1 has rows");
    bool is_result = a.log2[n - 2] == c.log2[n - 2] && b.log2[n - 1] == c.log2[n - 1];
    return is_result || infer_fail(in, "operand 2 has not the shape of the product");
}

static bool attribute_fits(Infer *in, DType a, DType b) {
    const Attr *x = &in->attr;
    if (x->precision > PRECISION_BF16X6) return infer_fail(in, "no such precision: %d", (int)x->precision);
    if (x->precision != PRECISION_IEEE && a != DT_FP32) return infer_fail(in, "a precision of %s", dtype_name(a));
    if (x->imprecise && !dtype_is_fp8(a)) return infer_fail(in, "imprecise sums of %s", dtype_name(a));
    bool has_sign = (x->is_unsigned[0] && a != DT_I8) || (x->is_unsigned[1] && b != DT_I8);
    return !has_sign || infer_fail(in, "unsigned operands of %s", dtype_name(a));
}

bool infer_dot(Infer *in) {
    Type a = in->args[0]->type, b = in->args[1]->type, c = in->args[2]->type;
    DType acc;
    if (!dot_accumulator(a.dtype, b.dtype, &acc))
        return infer_fail(in, "%s by %s", dtype_name(a.dtype), dtype_name(b.dtype));
    if (c.dtype != acc) return infer_fail(in, "operand 2 is %s, not %s", dtype_name(c.dtype), dtype_name(acc));
    if (!shapes_fit(in, a.shape, b.shape, c.shape) || !attribute_fits(in, a.dtype, b.dtype)) return false;
    in->result = c;
    if (!c.layout && !a.layout && !b.layout) return true;
    if (!c.layout || !a.layout || !b.layout) return infer_fail(in, "not all operands have a layout");
    uint32_t n = c.shape.rank;
    const Layout *rows = layout_operand(in->layouts, c.layout, n - 1u, a.shape.log2[n - 1]);
    const Layout *columns = layout_operand(in->layouts, c.layout, n - 2u, b.shape.log2[n - 2]);
    if (a.layout != rows) return infer_fail(in, "operand 0 is not laid out as operand 2 asks");
    return b.layout == columns || infer_fail(in, "operand 1 is not laid out as operand 2 asks");
}

Value *build_dot(Builder *b, Value *x, Value *y, Value *acc, Attr attr) {
    return op_build(b, OP_DOT, (Value *[]){x, y, acc}, 3, attr, acc->type)->results[0];
}

/* ---- By a matrix instruction ------------------------------------------------------------------------------------- */

DType mma_dtype(Mma instr, MmaOperand which) {
    switch (mma_info[instr].types[which]) {
    case MMA_F16: return DT_FP16;
    case MMA_BF16: return DT_BF16;
    case MMA_TF32:
    case MMA_F32: return DT_FP32;
    case MMA_E4M3: return DT_FP8E4NV;
    case MMA_E5M2: return DT_FP8E5;
    case MMA_S8:
    case MMA_U8: return DT_I8;
    case MMA_F64: return DT_FP64;
    case MMA_S32: return DT_I32;
    }
    bug("mma_dtype: %s", mma_info[instr].name);
}

const Layout *mma_layout(Layouts *ls, Attr attr, Shape s, uint32_t warps_log2, MmaOperand which) {
    uint32_t warps_m = attr.warps_m_log2 < warps_log2 ? attr.warps_m_log2 : warps_log2;
    return layout_mma(ls, s, attr.instr, warps_m, warps_log2 - warps_m, which);
}

bool infer_mma(Infer *in) {
    Type t[3];
    for (uint32_t i = 0; i < 3; i++) t[i] = in->args[i]->type;
    if (in->attr.instr >= MMA_COUNT) return infer_fail(in, "no such instruction: %d", (int)in->attr.instr);
    if (!shapes_fit(in, t[0].shape, t[1].shape, t[2].shape)) return false;
    for (uint32_t i = MMA_A; i <= MMA_C; i++) {
        DType d = mma_dtype(in->attr.instr, (MmaOperand)i);
        if (t[i].dtype != d)
            return infer_fail(in, "operand %u is %s, not %s", i, dtype_name(t[i].dtype), dtype_name(d));
        if (!mma_fits(in->attr.instr, t[i].shape, (MmaOperand)i))
            return infer_fail(in, "operand %u is not of whole fragments of %s", i, mma_info[in->attr.instr].name);
    }
    in->result = t[2];
    if (!t[0].layout && !t[1].layout && !t[2].layout) return true;
    for (uint32_t i = MMA_A; i <= MMA_C; i++) {
        if (!t[i].layout) return infer_fail(in, "not all operands have a layout");
        uint32_t warps = t[i].layout->bits[IN_WARP];
        if (in->attr.warps_m_log2 > warps) return infer_fail(in, "more warps along the rows than there are");
        if (t[i].layout != mma_layout(in->layouts, in->attr, t[i].shape, warps, (MmaOperand)i))
            return infer_fail(in, "operand %u is not laid out as %s takes it", i, mma_info[in->attr.instr].name);
    }
    return true;
}
