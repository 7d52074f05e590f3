/* convert.c - conversions between float types and between floats and integers, as LLVM instructions.
 *
 * In: a value of one element type. Out: the value of another, rounded once.
 * Method: fp32 is the hub. What no instruction converts is done on the bits: normal numbers by adding half an ulp,
 * subnormals by letting the adder round at a magic constant. A wider source reaches fp32 rounded to odd, so that the
 * second rounding cannot see the first (the sticky bit is in the value).
 */
#include "codegen/mathimpl.h"

/* A small float format: mantissa bits, exponent bias, codes of infinity (or the largest number, if it has none)
 * and NaN. */
typedef struct Small {
    int mantissa, bias, bits;
    int64_t top, nan;
} Small;

static Small small_of(DType d) {
    switch (d) {
    case DT_FP16: return (Small){10, 15, 16, 0x7c00, 0x7e00};
    case DT_FP8E5: return (Small){2, 15, 8, 0x7c, 0x7e};
    case DT_FP8E4NV: return (Small){3, 7, 8, 0x7e, 0x7f};
    default: bug("small_of: %s", dtype_name(d));
    }
}

static V as_int_bits(const Math *k, V x, DType d) {
    return mk_cast(k, x, LLVMIntTypeInContext(k->m->context, dtype_bits(d)));
}

static double power_of_two(int e) {
    double x = 1;
    for (; e > 0; e--) x *= 2;
    for (; e < 0; e++) x /= 2;
    return x;
}

/* ---- To fp32 and wider: always exact ----------------------------------------------------------------------------- */

static V widen_bits(const Math *k, DType d, V x) {
    Small s = small_of(d);
    V b = mk_zext(k, as_int_bits(k, x, d), k->m->i32);
    V sign = mk_shl(k, mk_lshr(k, b, s.bits - 1), 31);
    V mag = mk_and(k, b, mk_int(b, (INT64_C(1) << (s.bits - 1)) - 1));
    V f = mk_cast(k, mk_shl(k, mag, 23 - s.mantissa), k->m->f32);
    V r = mk_cast(k, mk_fmul(k, f, mk_real(f, power_of_two(127 - s.bias))), k->m->i32);
    if (d == DT_FP8E4NV) {
        r = mk_select(k, mk_icmp(k, LLVMIntEQ, mag, mk_int(b, s.nan)), mk_int(r, 0x7fc00000), r);
    } else {
        V special = mk_or(k, mk_shl(k, mag, 23 - s.mantissa), mk_int(r, 0x7f800000));
        r = mk_select(k, mk_icmp(k, LLVMIntUGE, mag, mk_int(b, s.top)), special, r);
    }
    return mk_cast(k, mk_or(k, r, sign), k->m->f32);
}

/* Is x a vector that the target converts between bf16 and fp32 in its own way? A constant is folded the other way. */
static bool is_bf16_vector(const Math *k, V x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    bool is_vector = LLVMGetTypeKind(t) == LLVMVectorTypeKind;
    return k->bf16_lanes && is_vector && LLVMGetVectorSize(t) == k->bf16_lanes && !LLVMIsConstant(x);
}

static V widen_bf16(const Math *k, V x) {
    V bits = mk_cast(k, x, k->m->i16);
    if (is_bf16_vector(k, x)) return k->from_bf16(k, bits);
    return mk_cast(k, mk_shl(k, mk_zext(k, bits, k->m->i32), 16), k->m->f32);
}

static V to_fp32(const Math *k, DType from, V x) {
    switch (from) {
    case DT_FP32: return x;
    case DT_BF16: return widen_bf16(k, x);
    case DT_FP16:
        if (math_has(k, FEATURE_FP16)) return LLVMBuildFPExt(k->m->at, x, llvm_like(k->m->f32, LLVMTypeOf(x)), "");
        return widen_bits(k, from, x);
    case DT_FP8E4NV:
        if (!k->from_e4m3) return widen_bits(k, from, x);
        x = k->from_e4m3(k, mk_zext(k, x, k->m->i32));
        return to_fp32(k, DT_FP16, mk_cast(k, mk_trunc(k, x, k->m->i16), llvm_type(k->m, DT_FP16)));
    default: return widen_bits(k, from, x);
    }
}

/* ---- From fp32, to nearest even ---------------------------------------------------------------------------------- */

static V narrow_bits(const Math *k, DType d, V x) {
    Small s = small_of(d);
    int cut = 23 - s.mantissa;
    V b = mk_cast(k, x, k->m->i32);
    V a = mk_and(k, b, mk_int(b, 0x7fffffff));
    V odd = mk_and(k, mk_lshr(k, a, cut), mk_int(a, 1));
    V up = mk_add(k, mk_add(k, a, mk_int(a, (INT64_C(1) << (cut - 1)) - 1)), odd);
    V normal = mk_sub(k, mk_lshr(k, up, cut), mk_int(a, (int64_t)(127 - s.bias) << s.mantissa));
    V af = mk_cast(k, a, k->m->f32);
    V magic = mk_real(af, power_of_two(24 - s.bias - s.mantissa));
    V sub = mk_sub(k, mk_cast(k, mk_fadd(k, af, magic), k->m->i32), mk_cast(k, magic, k->m->i32));
    V is_sub = mk_icmp(k, LLVMIntULT, a, mk_int(a, (int64_t)(128 - s.bias) << 23));
    V mag = mk_select(k, is_sub, sub, normal);
    mag = mk_select(k, mk_icmp(k, LLVMIntUGT, mag, mk_int(mag, s.top)), mk_int(mag, s.top), mag);
    mag = mk_select(k, mk_icmp(k, LLVMIntUGT, a, mk_int(a, 0x7f800000)), mk_int(mag, s.nan), mag);
    V sign = mk_shl(k, mk_lshr(k, b, 31), s.bits - 1);
    V r = mk_trunc(k, mk_or(k, mag, sign), s.bits == 16 ? k->m->i16 : k->m->i8);
    return mk_cast(k, r, llvm_type(k->m, d));
}

static V narrow_bf16(const Math *k, V x) {
    if (math_has(k, FEATURE_BF16) || math_has(k, FEATURE_NARROW_BF16)) {
        LLVMTypeRef t = llvm_like(LLVMBFloatTypeInContext(k->m->context), LLVMTypeOf(x));
        return mk_cast(k, LLVMBuildFPTrunc(k->m->at, x, t, ""), k->m->bf16);
    }
    if (is_bf16_vector(k, x)) return mk_cast(k, k->to_bf16(k, x), k->m->bf16);
    V b = mk_cast(k, x, k->m->i32);
    V odd = mk_and(k, mk_lshr(k, b, 16), mk_int(b, 1));
    V r = mk_lshr(k, mk_add(k, mk_add(k, b, mk_int(b, 0x7fff)), odd), 16);
    V quiet = mk_or(k, mk_lshr(k, b, 16), mk_int(b, 0x40));
    r = mk_select(k, mk_fcmp(k, LLVMRealUNO, x, x), quiet, r);
    return mk_cast(k, mk_trunc(k, r, k->m->i16), k->m->bf16);
}

static V from_fp32(const Math *k, DType to, V x) {
    if (to == DT_BF16) return narrow_bf16(k, x);
    if (to == DT_FP16 && math_has(k, FEATURE_FP16))
        return LLVMBuildFPTrunc(k->m->at, x, llvm_like(k->m->f16, LLVMTypeOf(x)), "");
    if (to == DT_FP8E4NV && k->to_e4m3) return mk_trunc(k, k->to_e4m3(k, x, mk_real(x, 0)), k->m->i8);
    return narrow_bits(k, to, x);
}

/* One step toward zero where the rounded value |r| is above the exact |x|; both given in the wide type. */
static V step_back(const Math *k, DType to, V r, V wide, V x) {
    V above = mk_fcmp(k, LLVMRealOGT, llvm_unary(k->m, "llvm.fabs", wide), llvm_unary(k->m, "llvm.fabs", x));
    V bits = as_int_bits(k, r, to);
    V less = mk_sub(k, bits, mk_zext(k, above, LLVMIntTypeInContext(k->m->context, dtype_bits(to))));
    return mk_cast(k, less, llvm_type(k->m, to));
}

V math_odd32(const Math *k, V x) {
    V r = LLVMBuildFPTrunc(k->m->at, x, llvm_like(k->m->f32, LLVMTypeOf(x)), "");
    V wide = LLVMBuildFPExt(k->m->at, r, LLVMTypeOf(x), "");
    V low = step_back(k, DT_FP32, r, wide, x);
    V inexact = mk_zext(k, mk_fcmp(k, LLVMRealONE, wide, x), k->m->i32);
    return mk_cast(k, mk_or(k, mk_cast(k, low, k->m->i32), inexact), k->m->f32);
}

static V convert_fp64(const Math *k, DType to, bool zero, V x) {
    if (to == DT_FP32) {
        V r = LLVMBuildFPTrunc(k->m->at, x, llvm_like(k->m->f32, LLVMTypeOf(x)), "");
        return zero ? step_back(k, to, r, LLVMBuildFPExt(k->m->at, r, LLVMTypeOf(x), ""), x) : r;
    }
    return math_convert(k, DT_FP32, to, zero, math_odd32(k, x));
}

V math_convert(const Math *k, DType from, DType to, bool zero, V x) {
    if (from == to) return x;
    if (from == DT_FP64) return convert_fp64(k, to, zero, x);
    V f = to_fp32(k, from, x);
    if (to == DT_FP32) return f;
    if (to == DT_FP64) return LLVMBuildFPExt(k->m->at, f, llvm_like(k->m->f64, LLVMTypeOf(x)), "");
    V r = from_fp32(k, to, f);
    return zero ? step_back(k, to, r, to_fp32(k, to, r), f) : r;
}

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

static V itof_plain(const Math *k, bool is_signed, LLVMTypeRef to, V x) {
    LLVMTypeRef t = llvm_like(to, LLVMTypeOf(x));
    return is_signed ? LLVMBuildSIToFP(k->m->at, x, t, "") : LLVMBuildUIToFP(k->m->at, x, t, "");
}

/* To fp32 rounded to odd: the nearest, moved toward zero if it went past x, its last bit set where it is inexact. */
static V itof_odd32(const Math *k, bool is_signed, V x) {
    V a = x;
    V negative = mk_icmp(k, LLVMIntSLT, x, mk_int(x, 0));
    if (is_signed) a = mk_select(k, negative, mk_sub(k, mk_int(x, 0), x), x);
    V f = itof_plain(k, false, k->m->f32, a);
    LLVMTypeRef over[] = {LLVMTypeOf(a), LLVMTypeOf(f)};
    V back = llvm_intrinsic(k->m, "llvm.fptoui.sat", over, 2, &f, 1);
    V past = mk_zext(k, mk_icmp(k, LLVMIntUGT, back, a), k->m->i32);
    V inexact = mk_zext(k, mk_icmp(k, LLVMIntNE, back, a), k->m->i32);
    V bits = mk_or(k, mk_sub(k, mk_cast(k, f, k->m->i32), past), inexact);
    if (is_signed) bits = mk_or(k, bits, mk_shl(k, mk_zext(k, negative, k->m->i32), 31));
    return mk_cast(k, bits, k->m->f32);
}

V math_itof(const Math *k, bool is_signed, DType from, DType to, V x) {
    if (to == DT_FP32 || to == DT_FP64) return itof_plain(k, is_signed, llvm_type(k->m, to), x);
    /* Beyond 2^24, where fp32 rounds, fp16 and fp8 are past their range: only bf16 could see two roundings. */
    bool two_roundings = to == DT_BF16 && dtype_bits(from) >= 32;
    V f = two_roundings ? itof_odd32(k, is_signed, x) : itof_plain(k, is_signed, k->m->f32, x);
    return math_convert(k, DT_FP32, to, false, f);
}

/* What is beyond `to`, of fewer bits than x, becomes its least or largest number. */
static V saturated(const Math *k, ToInt how, DType to, V x) {
    int64_t most = (INT64_C(1) << (dtype_bits(to) - (how != TO_UNSIGNED))) - 1;
    V low = how == TO_UNSIGNED ? x : llvm_binary(k->m, "llvm.smax", x, mk_int(x, -most - 1));
    return llvm_binary(k->m, how == TO_UNSIGNED ? "llvm.umin" : "llvm.smin", low, mk_int(x, most));
}

V math_ftoi(const Math *k, ToInt how, DType from, DType to, V x) {
    V f = math_is_small(from) ? math_convert(k, from, DT_FP32, false, x) : x;
    if (k->to_int && from != DT_FP64 && dtype_bits(to) <= 32) {
        V r = k->to_int(k, how, f);
        return dtype_bits(to) == 32 ? r : mk_trunc(k, saturated(k, how, to, r), llvm_type(k->m, to));
    }
    if (how == TO_NEAREST) f = llvm_unary(k->m, "llvm.rint", f);
    LLVMTypeRef over[] = {llvm_like(llvm_type(k->m, to), LLVMTypeOf(x)), LLVMTypeOf(f)};
    return llvm_intrinsic(k->m, how == TO_UNSIGNED ? "llvm.fptoui.sat" : "llvm.fptosi.sat", over, 2, &f, 1);
}
