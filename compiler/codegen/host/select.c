/* select.c - what LLVM's selection for AVX-512 gets wrong is kept from it.
 *
 * In: a module after LLVM's passes. Out: the same values.
 * Method: LLVM 22 has a pattern for `c ? (a & m) | (b & ~m) : a` with b or m in memory, a masked vpternlog, that gives
 * the operands wrong places (tests/run/test_hosts.py has the cases). So a vector of merged bits goes through a fence,
 * which is no instruction, before a select sees it: no pattern then has both. And a masked store that narrows, of one
 * lane that is known, writes that lane's wide bits: it becomes a plain store.
 */
#include "codegen/host/host.h"

#include <string.h>

/* Where bits of two vectors are merged: as or, or as what LLVM's passes make of it. */
static bool merges(LLVMValueRef x) {
    if (!LLVMIsAInstruction(x) || LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMVectorTypeKind) return false;
    LLVMOpcode code = LLVMGetInstructionOpcode(x);
    if (code != LLVMCall) return code == LLVMOr || code == LLVMXor || code == LLVMAnd;
    static const char prefix[] = "llvm.copysign";
    size_t n = 0;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(x), &n);
    return n >= sizeof prefix - 1 && memcmp(name, prefix, sizeof prefix - 1) == 0;
}

static LLVMValueRef hide(Llvm *m, LLVMValueRef x, LLVMTypeRef real) {
    LLVMTypeRef t = LLVMTypeOf(x), reals = llvm_like(real, t);
    LLVMValueRef r = LLVMBuildBitCast(m->at, x, reals, "");
    return LLVMBuildBitCast(m->at, llvm_intrinsic(m, "llvm.arithmetic.fence", &reals, 1, &r, 1), t, "");
}

/* A select of vectors of 32 or 64 bits, one of which is merged, perhaps as numbers of another type. */
static void mend(Llvm *m, LLVMValueRef select) {
    LLVMTypeRef t = LLVMTypeOf(select), element = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
    bool is_wide = element == m->i64 || element == m->f64;
    if (element == t || !(is_wide || element == m->i32 || element == m->f32)) return;
    LLVMPositionBuilderBefore(m->at, select);
    for (unsigned i = 1; i <= 2; i++) {
        LLVMValueRef x = LLVMGetOperand(select, i), source = x;
        while (LLVMIsABitCastInst(source)) source = LLVMGetOperand(source, 0);
        if (merges(source)) LLVMSetOperand(select, i, hide(m, x, is_wide ? m->f64 : m->f32));
    }
}

static bool is_masked_store(LLVMValueRef x) {
    static const char prefix[] = "llvm.masked.store";
    LLVMValueRef callee = LLVMIsACallInst(x) ? LLVMGetCalledValue(x) : NULL;
    size_t n = 0;
    const char *name = callee ? LLVMGetValueName2(callee, &n) : "";
    return n >= sizeof prefix - 1 && memcmp(name, prefix, sizeof prefix - 1) == 0;
}

/* The only lane that a mask lets through, if its lanes are known; -1: another number of them. */
static int only_lane(LLVMValueRef mask) {
    int lane = -1;
    if (!LLVMIsConstant(mask)) return -1;
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(mask)); i++) {
        LLVMValueRef bit = LLVMGetAggregateElement(mask, i);
        if (!bit || !LLVMIsAConstantInt(bit)) return -1;
        if (!LLVMConstIntGetZExtValue(bit)) continue;
        if (lane >= 0) return -1;
        lane = (int)i;
    }
    return lane;
}

/* A masked store (value, address, mask) of one lane. */
static void mend_store(Llvm *m, LLVMValueRef store) {
    LLVMValueRef value = LLVMGetOperand(store, 0), ptr = LLVMGetOperand(store, 1);
    int lane = only_lane(LLVMGetOperand(store, LLVMGetNumArgOperands(store) - 1));
    if (lane < 0) return;
    LLVMPositionBuilderBefore(m->at, store);
    LLVMValueRef at = LLVMConstInt(m->i64, (unsigned)lane, false);
    LLVMValueRef to = LLVMBuildGEP2(m->at, LLVMGetElementType(LLVMTypeOf(value)), ptr, &at, 1, "");
    LLVMSetAlignment(LLVMBuildStore(m->at, LLVMBuildExtractElement(m->at, value, at, ""), to), 1);
    LLVMInstructionEraseFromParent(store);
}

void host_mend_selection(Llvm *m) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (LLVMIsASelectInst(i)) mend(m, i);
                else if (is_masked_store(i)) mend_store(m, i);
            }
}
