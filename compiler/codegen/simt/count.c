/* count.c - counters in the code: how often each basic block ran, and what it holds of each source line.
 *
 * In: a module with line info, for this machine. Out: the same with an atomic addition at the head of each block,
 * and a table.
 * Method: an instruction counts for the line it was built for. What becomes no instruction of a machine (phi, casts of
 * one width, pieces of aggregates, what thread this is) counts nothing, yet its line has run.
 */
#include "codegen/count.h"

#include <string.h>

#include "codegen/simt/simt.h"
#include "runtime/base/arch.h"

/* ---- What an instruction counts as ------------------------------------------------------------------------------- */

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

/* COUNT_INSTRUCTIONS: nothing special. */
static Count count_of_prim(Prim p) {
    switch (p) {
    case PRIM_EX2: return COUNT_EX2;
    case PRIM_LG2: return COUNT_LG2;
    case PRIM_RCP: return COUNT_RCP;
    case PRIM_RSQRT: return COUNT_RSQRT;
    case PRIM_SQRT: return COUNT_SQRT;
    case PRIM_DIV: return COUNT_DIV;
    case PRIM_SHFL_BFLY:
    case PRIM_SHFL_IDX: return COUNT_SHUFFLE;
    case PRIM_BAR_WARP: return COUNT_WARP_BARRIER;
    case PRIM_BAR_BLOCK:
    case PRIM_BAR_GRID: return COUNT_BLOCK_BARRIER; /* the words are the rest of it */
    case PRIM_BAR_CLUSTER:
    case PRIM_MBARRIER_WAIT:
    case PRIM_CLUSTER_BEGUN: return COUNT_CLUSTER_BARRIER;
    default: return COUNT_INSTRUCTIONS;
    }
}

/* Who waits for bulk copies meets nobody, as who waits for the other blocks of a cluster does. No kernel has both. */
static bool waits_for_copies(Prim p, LLVMValueRef callee) {
    LLVMValueRef f = p == PRIM_MBARRIER_WAIT ? LLVMGetFirstFunction(LLVMGetGlobalParent(callee)) : NULL;
    size_t length = 0;
    while (f && !begins(LLVMGetValueName2(f, &length), "fsc.bulk.load")) f = LLVMGetNextFunction(f);
    return f != NULL;
}

/* Operands without operands: who the thread is, which a machine reads from a register. */
static bool is_register(Prim p) {
    return prim_info[p].operands[0] == '\0' && prim_info[p].result[0] == 'w';
}

static bool is_float(LLVMValueRef x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    LLVMTypeKind k = LLVMGetTypeKind(t);
    return k == LLVMHalfTypeKind || k == LLVMBFloatTypeKind || k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind;
}

/* A warp makes one together, or four do: each thread has its share. */
static void count_matrix(CodeLine *row, Prim p, LLVMValueRef call) {
    enum { INSTR = 3 }; /* of its operands: prims.def */
    uint64_t what = LLVMConstIntGetZExtValue(LLVMGetOperand(call, INSTR));
    bool is_grouped = p != PRIM_MMA;
    const MmaInfo *m = &mma_info[is_grouped ? (uint64_t)group_unpack(what).instr : what];
    uint32_t n = is_grouped ? 2 * tuple_length(LLVMTypeOf(call)) : m->n; /* two of a row of the sum in each thread */
    uint32_t flops = 2u * m->m * n * m->k / ((uint32_t)ARCH_WARP << m->warps_log2);
    row->counts[COUNT_MATRIX_INSTRS]++;
    row->counts[COUNT_MATRIX_FLOPS] += flops;
    row->counts[COUNT_MATRIX_WORK] += flops * mma_bits(m->types[MMA_A]) / 16;
}

static void count_call(CodeLine *row, LLVMValueRef call) {
    size_t length = 0;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *name = LLVMGetValueName2(callee, &length);
    Prim p;
    Access a;
    if (begins(name, "llvm.dbg") || begins(name, "llvm.lifetime") || begins(name, "llvm.assume")) return;
    if (prim_find(name, &p, &a)) {
        if (is_register(p)) return;
        if (p == PRIM_MMA || p == PRIM_WGMMA || p == PRIM_WGMMA_HELD) count_matrix(row, p, call);
        Count more = waits_for_copies(p, callee) ? COUNT_INSTRUCTIONS : count_of_prim(p);
        if (more != COUNT_INSTRUCTIONS) row->counts[more]++;
    } else if (is_float(call)) {
        if (begins(name, "llvm.sqrt"))
            row->counts[COUNT_EXACT_SQRT]++;
        else if (begins(name, "llvm.fma"))
            row->counts[COUNT_FLOPS] += 2;
        else if (begins(name, "llvm.max") || begins(name, "llvm.min"))
            row->counts[COUNT_FLOPS]++;
    }
    row->counts[COUNT_INSTRUCTIONS]++;
}

static void count_instruction(CodeLine *row, LLVMValueRef at) {
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMPHI:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMExtractValue:
    case LLVMInsertValue:
    case LLVMAlloca:
    case LLVMFreeze:
    case LLVMUnreachable: return;
    case LLVMCall: count_call(row, at); return;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul: row->counts[COUNT_FLOPS]++; break;
    case LLVMFDiv:
    case LLVMFRem: row->counts[COUNT_EXACT_DIV]++; break;
    default: break;
    }
    row->counts[COUNT_INSTRUCTIONS]++;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* 0: none, or of another file than the kernel's. */
static uint32_t line_of(const Llvm *m, LLVMValueRef at) {
    uint32_t line = LLVMGetDebugLocLine(at);
    unsigned length = 0;
    const char *file = line ? LLVMGetDebugLocFilename(at, &length) : NULL;
    return file && length == strlen(m->scope_file) && memcmp(file, m->scope_file, length) == 0 ? line : 0;
}

static CodeLine *row_of(Llvm *m, Counting *out, uint32_t first, uint32_t line) {
    for (uint32_t i = first; i < out->lines.len; i++)
        if (out->lines.at[i].line == line) return &out->lines.at[i];
    CodeLine row = {.block = out->blocks, .line = line};
    vec_push(m->o->arena, &out->lines, row);
    return &out->lines.at[out->lines.len - 1];
}

static void count_block(Llvm *m, LLVMBasicBlockRef b, LLVMValueRef counters, Counting *out) {
    uint32_t first = out->lines.len;
    LLVMValueRef head = NULL;
    for (LLVMValueRef at = LLVMGetFirstInstruction(b); at; at = LLVMGetNextInstruction(at)) {
        if (!head && !LLVMIsAPHINode(at) && !LLVMIsAAllocaInst(at)) head = at;
        count_instruction(row_of(m, out, first, line_of(m, at)), at);
    }
    LLVMPositionBuilderBefore(m->at, head);
    LLVMSetCurrentDebugLocation2(m->at, NULL);
    LLVMValueRef index = llvm_int(m->i64, out->blocks++);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(m->at, m->i64, counters, &index, 1, "");
    LLVMBuildAtomicRMW(m->at, LLVMAtomicRMWBinOpAdd, place, llvm_int(m->i64, 1), LLVMAtomicOrderingMonotonic, false);
}

void count_blocks(Llvm *m, LLVMValueRef function, Counting *out) {
    unsigned n = LLVMCountBasicBlocks(function);
    LLVMTypeRef type = LLVMArrayType2(m->i64, n);
    LLVMValueRef counters = LLVMAddGlobal(m->module, type, COUNTERS);
    LLVMSetInitializer(counters, LLVMConstNull(type));
    *out = (Counting){0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        count_block(m, b, counters, out);
    LLVMStripModuleDebugInfo(m->module);
}
