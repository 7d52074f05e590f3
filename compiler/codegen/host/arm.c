/* arm.c - instructions of AArch64 that LLVM's own operations do not select to: the larger of two.
 *
 * In: fp32 or fp64, a scalar or a vector. Out: the same shape.
 * Method: fmaxnm gives the number beside a quiet NaN, and the right zero, but a signalling NaN wins. So operands are
 * made quiet first. LLVM 22 has no instruction for that at the lengths of SVE. So of a vector it is a product by a one
 * of which LLVM does not know that it is one.
 */
#include "codegen/host/host.h"

static LLVMValueRef quiet(const Math *k, LLVMValueRef x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    if (host_is_quiet(x)) return x;
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return llvm_unary(k->m, "llvm.canonicalize", x);
    LLVMValueRef one = llvm_unary(k->m, "llvm.arithmetic.fence", llvm_real(LLVMGetElementType(t), 1));
    return LLVMBuildFMul(k->m->at, x, llvm_splat(k->m, one, LLVMGetVectorSize(t)), "");
}

LLVMValueRef host_minmax_arm(const Math *k, bool is_max, LLVMValueRef x, LLVMValueRef y) {
    return llvm_binary(k->m, is_max ? "llvm.maxnum" : "llvm.minnum", quiet(k, x), quiet(k, y));
}
