/* math.c - elementwise ops as LLVM instructions: integers, comparisons, plain floating point, and the dispatch by op.
 *
 * In: an op and its operands, scalars or vectors. Out: the result.
 * Method: one switch, which does not compile until it has every elementwise op of ops.def. LLVM's undefined cases
 * (division by zero, wide shifts, INT_MIN / -1) never reach LLVM: operands are replaced before and results after,
 * unless a constant operand shows that there is nothing to guard.
 */
#include "codegen/mathimpl.h"

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

static bool is_plain_constant(V x, int64_t *value) {
    if (!LLVMIsAConstantInt(x) || LLVMGetIntTypeWidth(LLVMTypeOf(x)) > 64) return false;
    *value = LLVMConstIntGetSExtValue(x);
    return true;
}

static V divide_plain(const Math *k, bool is_signed, bool is_quotient, V x, V y) {
    if (is_quotient) return is_signed ? LLVMBuildSDiv(k->m->at, x, y, "") : LLVMBuildUDiv(k->m->at, x, y, "");
    return is_signed ? LLVMBuildSRem(k->m->at, x, y, "") : LLVMBuildURem(k->m->at, x, y, "");
}

/* By zero: quotient 0, remainder x. By -1 (signed): -x and 0, which also covers INT_MIN. */
static V divide(const Math *k, OpKind kind, V x, V y) {
    bool is_signed = kind == OP_SDIV || kind == OP_SREM, is_quotient = kind == OP_SDIV || kind == OP_UDIV;
    int64_t c = 0;
    if (is_plain_constant(y, &c) && c != 0 && (c != -1 || !is_signed))
        return divide_plain(k, is_signed, is_quotient, x, y);
    V zero = mk_int(x, 0), one = mk_int(x, 1);
    V by_zero = mk_icmp(k, LLVMIntEQ, y, zero);
    if (!is_signed) {
        V r = divide_plain(k, is_signed, is_quotient, x, mk_select(k, by_zero, one, y));
        return mk_select(k, by_zero, is_quotient ? zero : x, r);
    }
    V by_minus = mk_icmp(k, LLVMIntEQ, y, mk_int(y, -1));
    V r = divide_plain(k, is_signed, is_quotient, x, mk_select(k, mk_or(k, by_zero, by_minus), one, y));
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

/* ---- Floating point ---------------------------------------------------------------------------------------------- */

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

/* By compares. Of equal numbers the bits' and, or their or, is the right zero. */
static V choose_minmax(const Math *k, bool is_max, DType d, V x, V y) {
    V r = mk_select(k, mk_fcmp(k, is_max ? LLVMRealOGT : LLVMRealOLT, x, y), x, y);
    LLVMTypeRef bits = dtype_bits(d) == 64 ? k->m->i64 : k->m->i32;
    V xb = mk_cast(k, x, bits), yb = mk_cast(k, y, bits);
    V zero = mk_cast(k, is_max ? mk_and(k, xb, yb) : mk_or(k, xb, yb), llvm_type(k->m, d));
    r = mk_select(k, mk_fcmp(k, LLVMRealOEQ, x, y), zero, r);
    return mk_select(k, mk_fcmp(k, LLVMRealUNO, y, y), x, r);
}

/* A constant without NaN and zeros. */
static bool is_plain_real(V x) {
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind;
    for (unsigned i = 0; i < (is_vector ? LLVMGetVectorSize(LLVMTypeOf(x)) : 1); i++) {
        V element = !is_vector ? x : LLVMIsConstant(x) ? LLVMGetAggregateElement(x, i) : NULL;
        LLVMBool is_inexact;
        double value = element && LLVMIsAConstantFP(element) ? LLVMConstRealGetDouble(element, &is_inexact) : 0;
        if (!(value < 0 || value > 0)) return false;
    }
    return true;
}

/* The larger or smaller number; a NaN operand loses, and -0 is less than +0. LLVM 22's maximumnum and minimumnum on x86
 * with AVX512DQ give NaN where it knows that the first operand is none, so hosts choose around the forms that keep
 * NaN. */
static V real_minmax(const Math *k, bool is_max, DType d, V x, V y) {
    if (math_has(k, FEATURE_CHOOSE) && (is_plain_real(x) || is_plain_real(y))) { /* a compare, which a NaN fails */
        V limit = is_plain_real(y) ? y : x, other = limit == y ? x : y;
        return mk_select(k, mk_fcmp(k, is_max ? LLVMRealOGT : LLVMRealOLT, other, limit), other, limit);
    }
    if (k->minmax) return k->minmax(k, is_max, x, y);
    if (math_has(k, FEATURE_MINMAX)) return llvm_binary(k->m, is_max ? "llvm.maximumnum" : "llvm.minimumnum", x, y);
    if (math_has(k, FEATURE_CHOOSE)) return choose_minmax(k, is_max, d, x, y);
    V r = llvm_binary(k->m, is_max ? "llvm.maximum" : "llvm.minimum", x, y);
    V x_is_nan = LLVMBuildFCmp(k->m->at, LLVMRealUNO, x, x, ""),
      y_is_nan = LLVMBuildFCmp(k->m->at, LLVMRealUNO, y, y, "");
    return mk_select(k, x_is_nan, y, mk_select(k, y_is_nan, x, r));
}

static V fma_op(const Math *k, DType d, V a, V b, V c) {
    if (!math_is_small(d) || (d == DT_FP16 && math_has(k, FEATURE_FMA16)) ||
        (d == DT_BF16 && math_has(k, FEATURE_BF16)))
        return math_fma(k, a, b, c);
    return math_fma16(k, d, a, b, c);
}

V math_factor(const Math *k, DType from, DType to, bool is_unsigned, V x) {
    if (from == to) return x;
    if (dtype_kind(from) == KIND_FLOAT) return math_convert(k, from, to, false, x);
    LLVMTypeRef t = llvm_like(llvm_type(k->m, to), LLVMTypeOf(x));
    return is_unsigned ? LLVMBuildZExt(k->m->at, x, t, "") : LLVMBuildSExt(k->m->at, x, t, "");
}

V math_multiply_add(const Math *k, DType d, V x, V y, V c) {
    if (dtype_kind(d) != KIND_FLOAT) return LLVMBuildAdd(k->m->at, LLVMBuildMul(k->m->at, x, y, ""), c, "");
    if (math_has(k, FEATURE_FMA)) return math_fma(k, x, y, c);
    return LLVMBuildFAdd(k->m->at, LLVMBuildFMul(k->m->at, x, y, ""), c, "");
}

/* Sign changes act on the bits where LLVM's fneg is not one instruction. */
static V sign_op(const Math *k, OpKind kind, DType d, V x) {
    if (!math_is_small(d)) return kind == OP_FNEG ? LLVMBuildFNeg(k->m->at, x, "") : llvm_unary(k->m, "llvm.fabs", x);
    V b = mk_cast(k, x, LLVMIntTypeInContext(k->m->context, dtype_bits(d)));
    int64_t sign = INT64_C(1) << (dtype_bits(d) - 1);
    V r = kind == OP_FNEG ? LLVMBuildXor(k->m->at, b, mk_int(b, sign), "") : mk_and(k, b, mk_int(b, sign - 1));
    return mk_cast(k, r, llvm_type(k->m, d));
}

static V bitcast(const Math *k, DType from, DType to, V x) {
    LLVMTypeRef t = llvm_like(llvm_type(k->m, to), LLVMTypeOf(x));
    if (to == DT_PTR && from != DT_PTR) return LLVMBuildIntToPtr(k->m->at, x, t, "");
    if (from == DT_PTR && to != DT_PTR) return LLVMBuildPtrToInt(k->m->at, x, t, "");
    return LLVMBuildBitCast(k->m->at, x, t, "");
}

/* ---- Dispatch ---------------------------------------------------------------------------------------------------- */

/* Floats under 32 bits are computed in fp32 and rounded: + - * / of 11-bit numbers round the same in two steps as in
 * one (24 >= 2 * 11 + 2), rounding to an integer is exact. What acts on bits, and what has an instruction, is not. */
static bool goes_by_fp32(const Math *k, OpKind kind, DType from, DType to) {
    bool is_small = dtype_kind(from) == KIND_FLOAT && math_is_small(from) && (to == from || to == DT_I1);
    bool has_half =
        from == DT_FP16 && math_has(k, FEATURE_FP16) && (kind == OP_FADD || kind == OP_FSUB || kind == OP_FMUL);
    return is_small && !has_half && kind != OP_FNEG && kind != OP_FABS && kind != OP_FMA && kind != OP_BITCAST;
}

static V apply(const Math *k, OpKind kind, const Attr *attr, DType from, DType to, const V *a);

static V by_fp32(const Math *k, OpKind kind, const Attr *attr, DType from, DType to, const V *a) {
    V wide[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < COUNT(wide) && a[i]; i++) wide[i] = math_convert(k, from, DT_FP32, false, a[i]);
    V r = apply(k, kind, attr, DT_FP32, to == from ? DT_FP32 : to, wide);
    return to == from ? math_convert(k, DT_FP32, to, false, r) : r;
}

/* clang-format off */
static V apply(const Math *k, OpKind kind, const Attr *attr, DType from, DType to, const V *a) {
    if (goes_by_fp32(k, kind, from, to)) return by_fp32(k, kind, attr, from, to, a);
    V x = a[0], y = a[1];
    LLVMTypeRef t = llvm_like(llvm_type(k->m, to), LLVMTypeOf(x));
    switch (kind) {
    case OP_ADD: return mk_add(k, x, y);
    case OP_SUB: return mk_sub(k, x, y);
    case OP_MUL: return LLVMBuildMul(k->m->at, x, y, "");
    case OP_UMULHI: return multiply_high(k, x, y);
    case OP_SDIV: case OP_UDIV: case OP_SREM: case OP_UREM: return divide(k, kind, x, y);
    case OP_AND: return mk_and(k, x, y);
    case OP_OR: return mk_or(k, x, y);
    case OP_XOR: return LLVMBuildXor(k->m->at, x, y, "");
    case OP_SHL: case OP_ASHR: case OP_LSHR: return shift(k, kind, x, y);
    case OP_SMAX: return llvm_binary(k->m, "llvm.smax", x, y);
    case OP_SMIN: return llvm_binary(k->m, "llvm.smin", x, y);
    case OP_UMAX: return llvm_binary(k->m, "llvm.umax", x, y);
    case OP_UMIN: return llvm_binary(k->m, "llvm.umin", x, y);
    case OP_ICMP: return mk_icmp(k, int_predicate(attr->pred), x, y);
    case OP_FADD: return mk_fadd(k, x, y);
    case OP_FSUB: return mk_fsub(k, x, y);
    case OP_FMUL: return mk_fmul(k, x, y);
    case OP_FDIV: return math_fdiv(k, from, x, y);
    case OP_FDIVRN: return mk_fdiv(k, x, y);
    case OP_FREM: return math_frem(k, from, x, y);
    case OP_FNEG: case OP_FABS: return sign_op(k, kind, from, x);
    case OP_FLOOR: return llvm_unary(k->m, "llvm.floor", x);
    case OP_CEIL: return llvm_unary(k->m, "llvm.ceil", x);
    case OP_FTRUNC: return llvm_unary(k->m, "llvm.trunc", x);
    case OP_RINT: return llvm_unary(k->m, "llvm.rint", x);
    case OP_FMA: return fma_op(k, from, x, y, a[2]);
    case OP_FMAX: return real_minmax(k, true, from, x, y);
    case OP_FMIN: return real_minmax(k, false, from, x, y);
    case OP_FMAXNAN: return llvm_binary(k->m, "llvm.maximum", x, y);
    case OP_FMINNAN: return llvm_binary(k->m, "llvm.minimum", x, y);
    case OP_FCMP: return mk_fcmp(k, real_predicate(attr->pred), x, y);
    case OP_EXP: return math_exp(k, false, attr->accuracy, from, x);
    case OP_EXP2: return math_exp(k, true, attr->accuracy, from, x);
    case OP_LOG: return math_log(k, false, from, x);
    case OP_LOG2: return math_log(k, true, from, x);
    case OP_SQRT: return math_sqrt(k, from, x);
    case OP_SQRTRN: return llvm_unary(k->m, "llvm.sqrt", x);
    case OP_RSQRT: return math_rsqrt(k, from, x);
    case OP_SEXT: return LLVMBuildSExt(k->m->at, x, t, "");
    case OP_ZEXT: return LLVMBuildZExt(k->m->at, x, t, "");
    case OP_TRUNC: return LLVMBuildTrunc(k->m->at, x, t, "");
    case OP_SITOFP: return math_itof(k, true, from, to, x);
    case OP_UITOFP: return math_itof(k, false, from, to, x);
    case OP_FPTOSI: return math_ftoi(k, TO_SIGNED, from, to, x);
    case OP_FPTOSIRN: return math_ftoi(k, TO_NEAREST, from, to, x);
    case OP_FPTOUI: return math_ftoi(k, TO_UNSIGNED, from, to, x);
    case OP_FPEXT: return math_convert(k, from, to, false, x);
    case OP_FPTRUNC: return math_convert(k, from, to, attr->round == ROUND_ZERO, x);
    case OP_BITCAST: return bitcast(k, from, to, x);
    case OP_SELECT: return mk_select(k, x, y, a[2]);
    case OP_ADDPTR: /* each target has addresses of its own */
#define CASE_ELEMENT(other)
#define CASE_OTHER(other) case other:
#include "ir/cases.def"
    case OP_COUNT: break;
    }
    bug("'%s' is no arithmetic", op_info[kind].name);
}
/* clang-format on */

V math_binary(const Math *k, OpKind kind, DType d, V x, V y) {
    return apply(k, kind, &(Attr){0}, d, d, (V[]){x, y, NULL});
}

V math_op(const Math *k, const Op *op, const V *a) {
    return apply(k, op->kind, &op->attr, op->args[0]->type.dtype, op->results[0]->type.dtype, a);
}
