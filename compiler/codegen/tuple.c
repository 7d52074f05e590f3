/* tuple.c - structs of n values of one type, as operands and results of device primitives.
 *
 * In: values, or a struct. Out: a struct, or its values. Method: a struct is made by one insertvalue a value; who takes
 * it apart walks this chain back, so that nothing is extracted that was just put in.
 */
#include "codegen/llvm.h"

LLVMTypeRef tuple_type(Llvm *m, LLVMTypeRef kind, uint32_t n) {
    LLVMTypeRef *types = NEW_ARRAY(m->o->arena, LLVMTypeRef, n);
    for (uint32_t i = 0; i < n; i++) types[i] = kind;
    return LLVMStructTypeInContext(m->context, types, n, 0);
}

LLVMValueRef tuple_make(Llvm *m, const LLVMValueRef *values, uint32_t n) {
    LLVMValueRef tuple = LLVMGetPoison(tuple_type(m, LLVMTypeOf(values[0]), n));
    for (uint32_t i = 0; i < n; i++) tuple = LLVMBuildInsertValue(m->at, tuple, values[i], i, "");
    return tuple;
}

bool tuple_is(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMStructTypeKind;
}

uint32_t tuple_length(LLVMTypeRef t) {
    return LLVMCountStructElementTypes(t);
}

LLVMValueRef *tuple_values(Llvm *m, LLVMValueRef tuple) {
    uint32_t n = tuple_length(LLVMTypeOf(tuple));
    LLVMValueRef *values = NEW_ARRAY(m->o->arena, LLVMValueRef, n), from = tuple;
    for (; LLVMIsAInsertValueInst(from); from = LLVMGetOperand(from, 0)) {
        uint32_t i = LLVMGetIndices(from)[0];
        if (!values[i]) values[i] = LLVMGetOperand(from, 1);
    }
    for (uint32_t i = 0; i < n; i++)
        if (!values[i]) values[i] = LLVMBuildExtractValue(m->at, from, i, "");
    return values;
}

void tuple_drop(LLVMValueRef tuple) {
    while (LLVMIsAInsertValueInst(tuple) && !LLVMGetFirstUse(tuple)) {
        LLVMValueRef from = LLVMGetOperand(tuple, 0);
        LLVMInstructionEraseFromParent(tuple);
        tuple = from;
    }
}
