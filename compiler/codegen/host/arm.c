/* arm.c - instructions of AArch64 that LLVM's own operations do not select to: the larger of two.
 *
 * In: fp32 or fp64, a scalar or a vector. Out: the same shape.
 * Method: fmaxnm gives the number beside a quiet NaN, and the right zero, but a signalling NaN wins. So operands are
 * made quiet first. LLVM has an instruction for that at the lengths of NEON; of SVE's it is a product by a one of which
 * LLVM does not know that it is one.
 */
#include "codegen/host/host.h"

static LLVMValueRef quiet(const Math *k, LLVMValueRef x) {
    return host_is_quiet(x) ? x : llvm_unary(k->m, "llvm.canonicalize", x);
}

static LLVMValueRef quiet_sve(const Math *k, LLVMValueRef x) {
    Llvm *m = k->m;
    LLVMTypeRef t = LLVMTypeOf(x);
    if (host_is_quiet(x) || LLVMGetTypeKind(t) != LLVMVectorTypeKind) return quiet(k, x);
    LLVMTypeRef element = LLVMGetElementType(t);
    LLVMValueRef one = llvm_unary(m, "llvm.arithmetic.fence", llvm_real(element, 1)), lane = llvm_int(m->i32, 0);
    LLVMValueRef first = LLVMBuildInsertElement(m->at, LLVMGetPoison(t), one, lane, "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(m->i32, LLVMGetVectorSize(t)));
    LLVMValueRef ones = LLVMBuildShuffleVector(m->at, first, LLVMGetPoison(t), zeros, "");
    return LLVMBuildFMul(m->at, x, ones, "");
}

LLVMValueRef host_minmax_neon(const Math *k, bool is_max, LLVMValueRef x, LLVMValueRef y) {
    return llvm_binary(k->m, is_max ? "llvm.maxnum" : "llvm.minnum", quiet(k, x), quiet(k, y));
}

LLVMValueRef host_minmax_sve(const Math *k, bool is_max, LLVMValueRef x, LLVMValueRef y) {
    return llvm_binary(k->m, is_max ? "llvm.maxnum" : "llvm.minnum", quiet_sve(k, x), quiet_sve(k, y));
}
