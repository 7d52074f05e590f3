/* math.c - elementwise ops as LLVM instructions: integers, comparisons, plain floating point, and the dispatch by op.
 *
 * In: an op and its operands, scalars or vectors. Out: the result.
 * Method: one switch. LLVM's undefined cases (division by zero, wide shifts, INT_MIN / -1) never reach LLVM: operands
 * are replaced before and results after, unless a constant operand shows that there is nothing to guard.
 */
#include "codegen/mathimpl.h"

/* ---- Integers ---------------------------------------------------------------------------------------------------------- */

static bool is_plain_constant(V x, int64_t *value) {
    if (!LLVMIsAConstantInt(x) || LLVMGetIntTypeWidth(LLVMTypeOf(x)) > 64) return false;
    *value = LLVMConstIntGetSExtValue(x);
    return true;
}

static V divide_plain(const Math *k, OpKind kind, V x, V y) {
    switch (kind) {
    case OP_SDIV: return LLVMBuildSDiv(k->m->at, x, y, "");
    case OP_UDIV: return LLVMBuildUDiv(k->m->at, x, y, "");
    case OP_SREM: return LLVMBuildSRem(k->m->at, x, y, "");
    default: return LLVMBuildURem(k->m->at, x, y, "");
    }
}

/* By zero: quotient 0, remainder x. By -1 (signed): -x and 0, which also covers INT_MIN. */
static V divide(const Math *k, OpKind kind, V x, V y) {
    bool is_signed = kind == OP_SDIV || kind == OP_SREM, is_quotient = kind == OP_SDIV || kind == OP_UDIV;
    int64_t c = 0;
    if (is_plain_constant(y, &c) && c != 0 && (c != -1 || !is_signed)) return divide_plain(k, kind, x, y);
    V zero = mk_int(x, 0), one = mk_int(x, 1);
    V by_zero = mk_icmp(k, LLVMIntEQ, y, zero);
    if (!is_signed) {
        V r = divide_plain(k, kind, x, mk_select(k, by_zero, one, y));
        return mk_select(k, by_zero, is_quotient ? zero : x, r);
    }
    V by_minus = mk_icmp(k, LLVMIntEQ, y, mk_int(y, -1));
    V r = divide_plain(k, kind, x, mk_select(k, mk_or(k, by_zero, by_minus), one, y));
    r = mk_select(k, by_minus, is_quotient ? mk_sub(k, zero, x) : zero, r);
    return mk_select(k, by_zero, is_quotient ? zero : x, r);
}

static V shift(const Math *k, OpKind kind, V x, V y) {
    LLVMTypeRef t = LLVMTypeOf(x);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    int64_t width = LLVMGetIntTypeWidth(t), c = 0;
    V wide = mk_icmp(k, LLVMIntUGE, y, mk_int(y, width));
    bool known = is_plain_constant(y, &c) && c >= 0 && c < width;
    if (kind == OP_ASHR) return LLVMBuildAShr(k->m->at, x, known ? y : mk_select(k, wide, mk_int(y, width - 1), y), "");
    V by = known ? y : mk_select(k, wide, mk_int(y, 0), y);
    V r = kind == OP_SHL ? LLVMBuildShl(k->m->at, x, by, "") : LLVMBuildLShr(k->m->at, x, by, "");
    return known ? r : mk_select(k, wide, mk_int(x, 0), r);
}

static LLVMIntPredicate int_predicate(Pred p) {
    static const LLVMIntPredicate of[] = {
        [PRED_EQ] = LLVMIntEQ,   [PRED_NE] = LLVMIntNE,   [PRED_SLT] = LLVMIntSLT, [PRED_SLE] = LLVMIntSLE,
        [PRED_SGT] = LLVMIntSGT, [PRED_SGE] = LLVMIntSGE, [PRED_ULT] = LLVMIntULT, [PRED_ULE] = LLVMIntULE,
        [PRED_UGT] = LLVMIntUGT, [PRED_UGE] = LLVMIntUGE,
    };
    return of[p];
}

/* The product in twice the width: selects to one instruction on most machines. */
static V multiply_high(const Math *k, V x, V y) {
    LLVMTypeRef t = LLVMTypeOf(x), scalar = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
    unsigned width = LLVMGetIntTypeWidth(scalar);
    LLVMTypeRef wide = LLVMIntTypeInContext(k->m->context, 2 * width);
    V product = LLVMBuildMul(k->m->at, mk_zext(k, x, wide), mk_zext(k, y, wide), "");
    return mk_trunc(k, mk_lshr(k, product, (int)width), scalar);
}

static V integer(const Math *k, OpKind kind, V x, V y) {
    switch (kind) {
    case OP_ADD: return mk_add(k, x, y);
    case OP_SUB: return mk_sub(k, x, y);
    case OP_MUL: return LLVMBuildMul(k->m->at, x, y, "");
    case OP_UMULHI: return multiply_high(k, x, y);
    case OP_AND: return mk_and(k, x, y);
    case OP_OR: return mk_or(k, x, y);
    case OP_XOR: return LLVMBuildXor(k->m->at, x, y, "");
    case OP_SHL:
    case OP_ASHR:
    case OP_LSHR: return shift(k, kind, x, y);
    case OP_SMAX: return llvm_binary(k->m, "llvm.smax", x, y);
    case OP_SMIN: return llvm_binary(k->m, "llvm.smin", x, y);
    case OP_UMAX: return llvm_binary(k->m, "llvm.umax", x, y);
    case OP_UMIN: return llvm_binary(k->m, "llvm.umin", x, y);
    default: return divide(k, kind, x, y);
    }
}

/* ---- Floating point ---------------------------------------------------------------------------------------------------- */

static LLVMRealPredicate real_predicate(Pred p) {
    switch (p) {
    case PRED_EQ: return LLVMRealOEQ;
    case PRED_NE: return LLVMRealUNE;
    case PRED_SLT: return LLVMRealOLT;
    case PRED_SLE: return LLVMRealOLE;
    case PRED_SGT: return LLVMRealOGT;
    case PRED_SGE: return LLVMRealOGE;
    default: bug("fcmp: predicate %d", (int)p);
    }
}

/* The larger or smaller number; a NaN operand loses. LLVM 22's maximumnum and minimumnum on x86 with AVX512DQ give NaN where it
 * knows that the first operand is none, so hosts choose around the forms that keep NaN. */
static V real_minmax(const Math *k, bool is_max, V x, V y) {
    if (k->native_minmax) return llvm_binary(k->m, is_max ? "llvm.maximumnum" : "llvm.minimumnum", x, y);
    V r = llvm_binary(k->m, is_max ? "llvm.maximum" : "llvm.minimum", x, y);
    V x_is_nan = LLVMBuildFCmp(k->m->at, LLVMRealUNO, x, x, ""), y_is_nan = LLVMBuildFCmp(k->m->at, LLVMRealUNO, y, y, "");
    return mk_select(k, x_is_nan, y, mk_select(k, y_is_nan, x, r));
}

static V real_plain(const Math *k, OpKind kind, DType d, V x, V y) {
    switch (kind) {
    case OP_FADD: return mk_fadd(k, x, y);
    case OP_FSUB: return mk_fsub(k, x, y);
    case OP_FMUL: return mk_fmul(k, x, y);
    case OP_FDIV: return math_fdiv(k, d, x, y);
    case OP_FDIVRN: return mk_fdiv(k, x, y);
    case OP_FREM: return math_frem(k, d, x, y);
    case OP_FMAX: return real_minmax(k, true, x, y);
    case OP_FMIN: return real_minmax(k, false, x, y);
    case OP_FMAXNAN: return llvm_binary(k->m, "llvm.maximum", x, y);
    case OP_FMINNAN: return llvm_binary(k->m, "llvm.minimum", x, y);
    default: bug("real_plain: %s", op_info[kind].name);
    }
}

/* fp16 and bf16 by way of fp32: + - * / of 11-bit numbers round the same in two steps as in one (24 >= 2 * 11 + 2). */
static V real_binary(const Math *k, OpKind kind, DType d, V x, V y) {
    bool is_half_op = d == DT_FP16 && k->native_fp16 && (kind == OP_FADD || kind == OP_FSUB || kind == OP_FMUL);
    if (!math_is_small(d) || is_half_op) return real_plain(k, kind, d, x, y);
    V xf = math_convert(k, d, DT_FP32, false, x), yf = math_convert(k, d, DT_FP32, false, y);
    return math_convert(k, DT_FP32, d, false, real_plain(k, kind, DT_FP32, xf, yf));
}

static V fma_op(const Math *k, DType d, V a, V b, V c) {
    if (!math_is_small(d) || (d == DT_FP16 && k->native_fma16) || (d == DT_BF16 && k->native_bf16))
        return math_fma(k, a, b, c);
    return math_fma16(k, d, a, b, c);
}

/* Sign changes act on the bits where LLVM's fneg is not one instruction. */
static V sign_op(const Math *k, OpKind kind, DType d, V x) {
    if (!math_is_small(d)) return kind == OP_FNEG ? LLVMBuildFNeg(k->m->at, x, "") : llvm_unary(k->m, "llvm.fabs", x);
    V b = mk_cast(k, x, LLVMIntTypeInContext(k->m->context, dtype_bits(d)));
    int64_t sign = INT64_C(1) << (dtype_bits(d) - 1);
    V r = kind == OP_FNEG ? LLVMBuildXor(k->m->at, b, mk_int(b, sign), "") : mk_and(k, b, mk_int(b, sign - 1));
    return mk_cast(k, r, llvm_type(k->m, d));
}

/* To an integer, exactly: fp16 and bf16 by way of fp32 lose nothing. */
static V round_op(const Math *k, OpKind kind, DType d, V x) {
    const char *name = kind == OP_FLOOR    ? "llvm.floor"
                       : kind == OP_CEIL   ? "llvm.ceil"
                       : kind == OP_FTRUNC ? "llvm.trunc"
                                           : "llvm.rint";
    if (!math_is_small(d)) return llvm_unary(k->m, name, x);
    return math_convert(k, DT_FP32, d, false, llvm_unary(k->m, name, math_convert(k, d, DT_FP32, false, x)));
}

static V compare_real(const Math *k, Pred p, DType d, V x, V y) {
    if (math_is_small(d)) {
        x = math_convert(k, d, DT_FP32, false, x);
        y = math_convert(k, d, DT_FP32, false, y);
    }
    return mk_fcmp(k, real_predicate(p), x, y);
}

static V bitcast(const Math *k, DType from, DType to, V x) {
    LLVMTypeRef t = llvm_like(llvm_type(k->m, to), LLVMTypeOf(x));
    if (to == DT_PTR && from != DT_PTR) return LLVMBuildIntToPtr(k->m->at, x, t, "");
    if (from == DT_PTR && to != DT_PTR) return LLVMBuildPtrToInt(k->m->at, x, t, "");
    return LLVMBuildBitCast(k->m->at, x, t, "");
}

static V convert_op(const Math *k, const Op *op, V x) {
    DType from = op->args[0]->type.dtype, to = op->results[0]->type.dtype;
    LLVMTypeRef t = llvm_like(llvm_type(k->m, to), LLVMTypeOf(x));
    switch (op->kind) {
    case OP_SEXT: return LLVMBuildSExt(k->m->at, x, t, "");
    case OP_ZEXT: return LLVMBuildZExt(k->m->at, x, t, "");
    case OP_TRUNC: return LLVMBuildTrunc(k->m->at, x, t, "");
    case OP_SITOFP:
    case OP_UITOFP: return math_itof(k, op->kind == OP_SITOFP, from, to, x);
    case OP_FPTOSI:
    case OP_FPTOUI: return math_ftoi(k, op->kind == OP_FPTOSI, from, to, x);
    case OP_FPEXT: return math_convert(k, from, to, false, x);
    case OP_FPTRUNC: return math_convert(k, from, to, op->attr.i == ROUND_ZERO, x);
    default: return bitcast(k, from, to, x);
    }
}

/* ---- Dispatch ---------------------------------------------------------------------------------------------------------- */

static bool is_integer_op(OpKind kind) {
    return kind >= OP_ADD && kind <= OP_UMIN;
}
static bool is_convert_op(OpKind kind) {
    return kind >= OP_SEXT && kind <= OP_BITCAST;
}

bool math_handles(OpKind kind) {
    return (kind >= OP_ADD && kind <= OP_BITCAST) || kind == OP_SELECT;
}

V math_binary(const Math *k, OpKind kind, DType d, V x, V y) {
    return is_integer_op(kind) ? integer(k, kind, x, y) : real_binary(k, kind, d, x, y);
}

V math_op(const Math *k, const Op *op, V *a) {
    OpKind kind = op->kind;
    if (is_convert_op(kind)) return convert_op(k, op, a[0]);
    DType d = op->args[0]->type.dtype;
    switch (kind) {
    case OP_ICMP: return mk_icmp(k, int_predicate((Pred)op->attr.i), a[0], a[1]);
    case OP_FCMP: return compare_real(k, (Pred)op->attr.i, d, a[0], a[1]);
    case OP_SELECT: return mk_select(k, a[0], a[1], a[2]);
    case OP_FMA: return fma_op(k, d, a[0], a[1], a[2]);
    case OP_FNEG:
    case OP_FABS: return sign_op(k, kind, d, a[0]);
    case OP_FLOOR:
    case OP_CEIL:
    case OP_FTRUNC:
    case OP_RINT: return round_op(k, kind, d, a[0]);
    case OP_EXP:
    case OP_EXP2:
    case OP_EXPNEAR:
    case OP_EXP2NEAR:
    case OP_EXPTERM:
    case OP_EXP2TERM:
    case OP_LOG:
    case OP_LOG2:
    case OP_SQRT:
    case OP_SQRTRN:
    case OP_RSQRT: return math_unary(k, kind, d, a[0]);
    default: return math_binary(k, kind, d, a[0], a[1]);
    }
}
