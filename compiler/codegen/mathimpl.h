/* mathimpl.h - what math.c, convert.c, expo.c and fmod.c share: one-line names for LLVM's builder calls.
 *
 * Every function takes and returns scalars or vectors; constants take the shape of the value beside them.
 */
#ifndef FSC_CODEGEN_MATHIMPL_H
#define FSC_CODEGEN_MATHIMPL_H

#include "codegen/math.h"

typedef LLVMValueRef V;

static inline V mk_int(V like, int64_t i) { return llvm_int(LLVMTypeOf(like), i); }
static inline V mk_real(V like, double x) { return llvm_real(LLVMTypeOf(like), x); }
static inline V mk_add(const Math *k, V x, V y) { return LLVMBuildAdd(k->m->at, x, y, ""); }
static inline V mk_sub(const Math *k, V x, V y) { return LLVMBuildSub(k->m->at, x, y, ""); }
static inline V mk_and(const Math *k, V x, V y) { return LLVMBuildAnd(k->m->at, x, y, ""); }
static inline V mk_or(const Math *k, V x, V y) { return LLVMBuildOr(k->m->at, x, y, ""); }
static inline V mk_shl(const Math *k, V x, int n) { return LLVMBuildShl(k->m->at, x, mk_int(x, n), ""); }
static inline V mk_lshr(const Math *k, V x, int n) { return LLVMBuildLShr(k->m->at, x, mk_int(x, n), ""); }
static inline V mk_fadd(const Math *k, V x, V y) { return LLVMBuildFAdd(k->m->at, x, y, ""); }
static inline V mk_fsub(const Math *k, V x, V y) { return LLVMBuildFSub(k->m->at, x, y, ""); }
static inline V mk_fmul(const Math *k, V x, V y) { return LLVMBuildFMul(k->m->at, x, y, ""); }
static inline V mk_fdiv(const Math *k, V x, V y) { return LLVMBuildFDiv(k->m->at, x, y, ""); }
static inline V mk_select(const Math *k, V c, V x, V y) { return LLVMBuildSelect(k->m->at, c, x, y, ""); }
static inline V mk_icmp(const Math *k, LLVMIntPredicate p, V x, V y) { return LLVMBuildICmp(k->m->at, p, x, y, ""); }
static inline V mk_fcmp(const Math *k, LLVMRealPredicate p, V x, V y) { return LLVMBuildFCmp(k->m->at, p, x, y, ""); }
/* The same bits as `scalar` of the operand's shape. */
static inline V mk_cast(const Math *k, V x, LLVMTypeRef scalar) {
    return LLVMBuildBitCast(k->m->at, x, llvm_like(scalar, LLVMTypeOf(x)), "");
}
static inline V mk_zext(const Math *k, V x, LLVMTypeRef scalar) {
    return LLVMBuildZExt(k->m->at, x, llvm_like(scalar, LLVMTypeOf(x)), "");
}
static inline V mk_trunc(const Math *k, V x, LLVMTypeRef scalar) {
    return LLVMBuildTrunc(k->m->at, x, llvm_like(scalar, LLVMTypeOf(x)), "");
}

/* x * y + z with one rounding. */
V math_fma(const Math *k, V x, V y, V z);
/* x * y + z where one rounding or two make no difference to the error bound: an fma where that is an instruction. */
V math_mad(const Math *k, V x, V y, V z);
/* Horner's rule: c[n-1] x^(n-1) + ... + c[0]. */
V math_poly(const Math *k, V x, const double *c, unsigned n);
/* The target's instruction, or NULL. */
V math_approx(const Math *k, Approx which, V x, V y);
/* fp64 to fp32 rounded to odd: a later rounding to 22 bits or fewer is then as if done in one step. */
V math_odd32(const Math *k, V x);
/* Of fp32 and fp64. */
V math_exp(const Math *k, bool base2, Accuracy accuracy, DType d, V x);
V math_log(const Math *k, bool base2, DType d, V x);
V math_sqrt(const Math *k, DType d, V x);
V math_rsqrt(const Math *k, DType d, V x);
V math_fdiv(const Math *k, DType d, V x, V y);
V math_frem(const Math *k, DType d, V x, V y);
/* a * b + c of fp16 or bf16, rounded once, where the target has no such instruction. */
V math_fma16(const Math *k, DType d, V a, V b, V c);
V math_itof(const Math *k, bool is_signed, DType from, DType to, V x);
V math_ftoi(const Math *k, ToInt how, DType from, DType to, V x);
static inline bool math_is_small(DType d) { return dtype_bits(d) < 32; }

#endif
